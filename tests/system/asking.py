"""Many clients at once, each a connection of its own, all read in turn into one buffer: replies of any size cost next to no
memory here."""

import json
import selectors
import time

import numpy as np

import zmtp

ASK_AGAIN_AFTER = 0.02  # seconds
BUFFER = memoryview(bytearray(1 << 20))


class Counts:
    """An array of <u4, looked at piece by piece."""

    def __init__(self):
        self.bytes = self.sum = self.nonzero = self.highest = 0
        self._rest = b""

    def add(self, piece):
        self.bytes += len(piece)
        if self._rest or len(piece) % 4:
            piece = self._rest + bytes(piece)
            whole = len(piece) // 4 * 4
            piece, self._rest = piece[:whole], piece[whole:]
        values = np.frombuffer(piece, "<u4")
        if values.size:
            self.sum += int(values.sum(dtype="u8"))
            self.nonzero += int(np.count_nonzero(values))
            self.highest = max(self.highest, int(values.max()))

    def are_of(self, shape, frames):
        """Whether they can be those of `frames` frames that have one value in each pixel."""
        rows, cols, bins = shape
        pixels = rows * cols
        wanted = (4 * pixels * bins, pixels * frames, pixels if frames else 0, frames)
        return (self.bytes, self.sum, self.nonzero, self.highest) == wanted


def gather(size):
    data = b""
    while len(data) < size:
        data += yield size - len(data)
    return data


class AskingClient:
    """Asks for values until it has them: what is retryable it asks again a little later."""

    def __init__(self, endpoint, **args):
        self.peer = zmtp.connect(endpoint, "DEALER")
        self.socket = self.peer.socket
        self.args = args
        self.refusals = []  # codes
        self.ask_at = None  # when to ask again
        self.result = None  # once it has come
        self.counts = None
        self._replies = self._read_replies()
        self._wanted = next(self._replies)

    def ask(self):
        self.ask_at = None
        request = {"v": 1, "id": len(self.refusals), "op": "values", "args": self.args}
        self.peer.part(json.dumps(request).encode())

    def read(self):
        """When there is something to read: some of it."""
        size = self.socket.recv_into(BUFFER[: min(self._wanted, len(BUFFER))])
        if not size:
            raise ConnectionError("the service closed the connection")
        self._wanted = self._replies.send(BUFFER[:size])

    def _frame_head(self):
        (flags,) = yield from gather(1)
        size = yield from gather(8 if flags & zmtp.LONG else 1)
        return bool(flags & zmtp.MORE), int.from_bytes(size, "big")

    def _read_replies(self):
        """Yields how many bytes it wants, at most; is sent some of them."""
        while True:
            more, size = yield from self._frame_head()
            reply = json.loads((yield from gather(size)))
            assert reply["id"] == len(self.refusals), reply
            counts = Counts()
            while more:
                more, size = yield from self._frame_head()
                while size:
                    piece = yield size
                    counts.add(piece)
                    size -= len(piece)
            self._take(reply, counts)

    def _take(self, reply, counts):
        if reply["ok"]:
            self.result, self.counts = reply["result"], counts
            return
        error = reply["error"]
        assert error["retryable"] and error["code"] in ("busy", "no_memory"), error
        self.refusals.append(error["code"])
        self.ask_at = time.monotonic() + ASK_AGAIN_AFTER


def ask_all(clients, seconds):
    """All ask at once. Returns when each has its answer; fails after so many seconds."""
    until = time.monotonic() + seconds
    with selectors.DefaultSelector() as readable:
        for client in clients:
            readable.register(client.socket, selectors.EVENT_READ, client)
            client.ask()
        waiting = set(clients)
        while waiting:
            for key, _ in readable.select(ASK_AGAIN_AFTER):
                key.data.read()
                if key.data.result is not None:
                    waiting.discard(key.data)
            now = time.monotonic()
            for client in waiting:
                if client.ask_at is not None and client.ask_at <= now:
                    client.ask()
            assert now < until, f"{len(waiting)} of {len(clients)} clients have no answer within {seconds:g} s"
