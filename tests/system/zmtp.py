"""A ZeroMQ peer byte by byte (ZMTP 3.0, NULL mechanism): it can send what no library would, and stop in the middle."""

import contextlib
import socket
import struct

from harness import TIMEOUT

GREETING = b"\xff" + b"\0" * 8 + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" + b"\0" * 31
MORE, LONG, COMMAND = 1, 2, 4


def address(endpoint):
    host, port = endpoint.removeprefix("tcp://").rsplit(":", 1)
    return host, int(port)


class Peer:
    """One connection, after the handshake. kind: what it says it is, PUSH, PUB, DEALER."""

    def __init__(self, connection, kind):
        self.socket = connection
        self.socket.settimeout(TIMEOUT)
        self.socket.sendall(GREETING)
        self._take(len(GREETING))
        ready = b"\x05READY\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind.encode()
        self.socket.sendall(struct.pack("BB", COMMAND, len(ready)) + ready)
        self.frame()  # its READY

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _take(self, size):
        taken = b""
        while len(taken) < size:
            some = self.socket.recv(size - len(taken))
            if not some:
                raise ConnectionError("closed by the other side")
            taken += some
        return taken

    def frame_head(self):
        """Flags and size of the next frame; its bytes are still to be read."""
        flags = self._take(1)[0]
        (size,) = struct.unpack(">Q", self._take(8)) if flags & LONG else self._take(1)
        return flags, size

    def frame(self):
        flags, size = self.frame_head()
        return flags, self._take(size)

    def announce(self, size, more=False):
        """Of a part only how long it will be."""
        self.socket.sendall(struct.pack(">BQ", LONG | (MORE if more else 0), size))

    def part(self, data, more=False):
        self.announce(len(data), more)
        self.socket.sendall(data)

    def message(self, *parts):
        for i, data in enumerate(parts):
            self.part(data, i + 1 < len(parts))

    def reset(self):
        """Ends as a machine does that was switched off, when it is back: RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def hang_up(self):
        """Ends as a process does that is killed: FIN."""
        self.socket.close()

    def is_cut(self):
        """Whether the other side closes the connection; waits for it."""
        try:
            while self.socket.recv(65536):
                pass
            return True
        except ConnectionError:
            return True
        except TimeoutError:
            return False


def connect(endpoint, kind):
    return Peer(socket.create_connection(address(endpoint), timeout=TIMEOUT), kind)


@contextlib.contextmanager
def listening():
    """A port that the service connects to; yields its endpoint and what accepts a peer there."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(TIMEOUT)
        endpoint = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        yield endpoint, lambda kind: Peer(listener.accept()[0], kind)
