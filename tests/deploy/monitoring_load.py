"""A load that moves every metric: frames in order and out of it, lost, refused, unbinned; requests good and bad."""

import contextlib
import threading
import time

import numpy as np

from array10 import Sender
from client import Client, QueryError
from harness import ANY_PORT, Player, Service, make_config

ROWS, COLS = 128, 128
FOREVER = ("--seconds", 600, "--images", 50)


def config(http_port):
    """Three sources with rings of four frames: `upper` drops what it has no room for, the others wait. The map leaves
    values without a bin for every reason."""

    def source(name, row, on_full):
        return {"name": name, "endpoint": ANY_PORT, "socket": "pull", "bind": True, "on_full": on_full,
                "shape": [ROWS, COLS], "origin": [row, 0]}  # fmt: skip

    return make_config(
        3 * ROWS, COLS,
        sources=[source("upper", 0, "drop"), source("lower", ROWS, "wait"), source("words", 2 * ROWS, "wait")],
        axis={"bins": 100, "min": 2000, "max": 3000, "map": "adc_g0"},
        ring={"bytes": 3 * 4 * ROWS * COLS * 2},
        device={"cpu_threads": 1},
        http={"listen": f"127.0.0.1:{http_port}"},
    )  # fmt: skip


class Load:
    """A service at rest on entry; start() begins the load, which goes on in threads of its own until the end."""

    def __init__(self, http_port):
        self._config = config(http_port)
        self._stack = contextlib.ExitStack()
        self._ending = threading.Event()
        self.service = None

    def __enter__(self):
        self.service = Service(self._config)
        self.service.__enter__()
        return self

    def __exit__(self, *_):
        self._end_load()
        self.service.__exit__(None, None, None)

    def start(self):
        upper, lower, _ = self.service.data_endpoints
        geometry = ("--rows", ROWS, "--cols", COLS)
        self._stack.enter_context(Player(*geometry, "--connect", upper, *FOREVER))
        self._stack.enter_context(
            Player(*geometry, "--connect", lower, *FOREVER, "--rate", 50, "--run", "a", "--skip", "every:11",
                   "--duplicate", "every:13", "--bad-header", "every:17", "--wrong-size", "every:19", "--reorder", "every:7")
        )  # fmt: skip
        for work in (self._send_raw_words, self._ask, self._ask_and_never_read):
            thread = threading.Thread(target=work)
            thread.start()
            self._stack.callback(thread.join)
        self._stack.callback(self._ending.set)

    def stop_and_start(self):
        with Client(self.service.query_endpoint) as client:
            client.ask("stop")
            time.sleep(1.5)  # longer than a scrape interval
            client.ask("start")

    def restart(self):
        """Ends the load; the same service again, at rest."""
        self._end_load()
        self.service.stop()
        self.service.__exit__(None, None, None)
        self.service = Service(self._config)
        self.service.__enter__()

    def _end_load(self):
        self._stack.close()

    def _send_raw_words(self):
        """Words of every gain stage, in sequences that begin again and again."""
        words = np.random.default_rng(1).integers(0, 65536, (ROWS, COLS), "u2")
        with Sender(self.service.data_endpoints[2]) as sender:
            number = 0
            while not self._ending.wait(0.1):
                sender.frame(words, number % 4)
                number += 1

    def _ask(self):
        with Client(self.service.query_endpoint) as client:
            while not self._ending.wait(0.01):
                for _ in range(6):
                    client.send("values", fresh=True)
                client.send("pixel", row=1, col=1)
                client.send("pixel", row=ROWS * 99, col=0)
                for _ in range(8):
                    with contextlib.suppress(QueryError):
                        client.receive()

    def _ask_and_never_read(self):
        with Client(self.service.query_endpoint, RCVHWM=1, RCVBUF=65536) as client:
            while not self._ending.wait(0.3):
                client.send("values", fresh=True)
