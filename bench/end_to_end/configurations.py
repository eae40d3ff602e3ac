"""The rows of P2: transport, socket, size of a frame, number of sources; and the configurations that make them."""

import contextlib
import dataclasses
import random
import socket

MIB = 1 << 20
SHAPES = {"320 kB": (400, 400), "1 MiB": (512, 1024), "8 MiB": (2048, 2048), "32 MiB": (4096, 4096)}  # u16


PORTS = range(21000, 29000)  # below those that Linux gives to outgoing connections: nobody takes one before it is bound


def free_port():
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"no free TCP port in {PORTS} on 127.0.0.1")


@dataclasses.dataclass(frozen=True)
class Configuration:
    size: str
    sources: int
    socket: str = "pull"
    transport: str = "tcp"
    fan_out: int = 1  # sockets of each source

    @property
    def name(self):
        over = f" over {self.fan_out} sockets" if self.fan_out > 1 else ""
        return f"{self.transport} {self.socket.upper()} {self.size} × {self.sources}{over}"

    @property
    def frame_bytes(self):
        return 2 * self.pixels

    @property
    def pixels(self):
        """Of a frame."""
        rows, cols = SHAPES[self.size]
        return rows * cols

    def bins(self, arguments):
        """As many as asked for, or as many as the memory for counts has room for."""
        fit = arguments.count_bytes // (4 * self.pixels * self.sources) - 4
        return max(16, min(arguments.bins, fit))

    def endpoint(self, path, number):
        if self.transport == "ipc":
            return f"ipc://{path}-{number}"
        # Who subscribes names a port that the publisher will bind.
        return f"tcp://127.0.0.1:{free_port()}" if self.socket == "sub" else "tcp://127.0.0.1:*"

    def service_config(self, arguments, path):
        """Of all three receivers; `path` begins the names of ipc endpoints."""
        rows, cols = SHAPES[self.size]
        sources = [
            {
                "name": f"m{i}", "socket": self.socket,
                "endpoints": [self.endpoint(path, i * self.fan_out + k) for k in range(self.fan_out)],
                "bind": self.socket == "pull", "shape": [rows, cols], "origin": [i * rows, 0],
                # A publisher that is not waited for leaves frames out by itself, and says how many.
                "on_full": "wait",
            }
            for i in range(self.sources)
        ]  # fmt: skip
        bins = self.bins(arguments)  # each of a whole number of values; all values of the player are inside
        # Four batches of the default size in each ring, and four frames of the largest.
        ring = max(4 * self.frame_bytes, (16 if arguments.quick else 256) * MIB)
        return {
            "detector": {"rows": rows * self.sources, "cols": cols, "pixel_type": "u16"},
            "axis": {"bins": bins, "min": 0, "max": bins * -(-16384 // bins)},
            "sources": sources,
            "device": {"kind": arguments.device},
            "ring": {"bytes": ring * self.sources, "rcvhwm_bytes": (16 if arguments.quick else 128) * MIB},
            "query": {"endpoint": "tcp://127.0.0.1:*"},
            "http": {"listen": "127.0.0.1:0"},
        }

    def player_arguments(self, endpoints, frames, seconds):
        """PUSH sends `frames` of each source; PUB never waits, so it is told to go on for `seconds` instead."""
        rows, cols = SHAPES[self.size]
        # More than the caches hold, in all sources together.
        images = max(2, 128 * MIB // self.frame_bytes // self.sources)
        peer = ["--connect", ",".join(endpoints)]
        stop = ["--frames", frames]
        if self.socket == "sub":
            peer = ["--socket", "pub", "--bind", ",".join(endpoints), "--wait-subscriber", 30]
            stop = ["--seconds", seconds]
        return [
            "--modules", f"{self.sources}x1", "--rows", rows, "--cols", cols, "--images", images,
            "--sockets", self.fan_out, "--queue-bytes", 64 * MIB, *peer, *stop,
        ]  # fmt: skip


CORE = [
    *[Configuration("1 MiB", n) for n in (1, 2, 4, 8)],
    Configuration("320 kB", 4),
    Configuration("8 MiB", 4),
    Configuration("32 MiB", 1),
    Configuration("1 MiB", 4, "sub"),
]
QUICK = [
    Configuration("1 MiB", 1),
    Configuration("320 kB", 4),
    Configuration("32 MiB", 1),
    Configuration("1 MiB", 2, "sub"),
    Configuration("1 MiB", 1, "pull", "ipc"),
]
FAN_OUT = [Configuration("1 MiB", 1, fan_out=4), Configuration("8 MiB", 1, fan_out=4)]
MATRIX = [
    Configuration(size, n, kind, transport)
    for transport in ("tcp", "ipc")
    for kind in ("pull", "sub")
    for size in SHAPES
    for n in (1, 2, 4, 8)
]


def chosen(arguments):
    rows = QUICK if arguments.quick else CORE
    if arguments.all:
        rows = CORE + [c for c in MATRIX if c not in CORE] + FAN_OUT
    return [c for c in rows if not arguments.only or any(text in c.name for text in arguments.only)]
