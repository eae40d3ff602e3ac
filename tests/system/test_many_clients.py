"""Many clients that ask for much at once, and clients that never read, while frames come as fast as they can.

Environment: PIXHIST_TEST_REPLY_MIB is the size of a large answer (default 8, instrumented 1), PIXHIST_TEST_CLIENTS how many
ask for it at once (default 200).
"""

import contextlib
import os
import pathlib
import struct
import tempfile
import unittest

import numpy as np

import zmtp
from array10 import frame_header
from asking import AskingClient, ask_all
from client import Client
from faults import MEMORY_TELLS, MIB, AnswersWatch, resident
from harness import TIMEOUT, Player, Service, make_config, wait_until

ROWS, COLS = 256, 256
REPLY = int(os.environ.get("PIXHIST_TEST_REPLY_MIB") or (8 if MEMORY_TELLS else 1)) * MIB
BINS = REPLY // (4 * ROWS * COLS)
CLIENTS = int(os.environ.get("PIXHIST_TEST_CLIENTS") or 200)
SNAPSHOTS = 6 * REPLY  # far less than they ask for
QUEUE = 8 * MIB  # ZeroMQ's share of incoming frames
IMAGE = (np.arange(ROWS * COLS) % BINS).astype("u2").reshape(ROWS, COLS)
# A full answer has to be made, sent and looked at, on a machine that has other work.
PATIENCE = (4 + CLIENTS * REPLY / (100 * MIB)) * TIMEOUT


def config():
    return make_config(
        ROWS, COLS, axis={"bins": BINS, "min": 0, "max": BINS}, snapshot={"max_bytes": SNAPSHOTS},
        ring={"bytes": 8 * MIB, "rcvhwm_bytes": QUEUE},
    )  # fmt: skip


class IngestAllTheWhile(contextlib.AbstractContextManager):
    """Frames of one image, as fast as the service takes them; at the end every one of them is accounted for."""

    def __init__(self, test, service):
        self._test, self._service = test, service

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pixhist-test-")))
            recording = folder / "image.zmqrec"
            parts = [frame_header(IMAGE), IMAGE.tobytes()]
            recording.write_bytes(
                struct.pack("<I", len(parts)) + b"".join(struct.pack("<Q", len(part)) + part for part in parts)
            )
            self._player = stack.enter_context(
                Player("replay", recording, "--connect", self._service.data_endpoint, "--loop", 0)
            )
            self._begun = self._progress(0)
            self._stack = stack.pop_all()
        return self

    def _progress(self, before):
        wait_until(lambda: self._service.account()["accumulated"] > before, "frames are accumulated")
        return self._service.account()["accumulated"]

    def __exit__(self, kind, *_):
        with self._stack:
            if kind is not None:
                return
            self._progress(self._begun)
            self._player.process.terminate()
            sent = self._player.finish()["messages"]
        account = self._service.wait_account(received=sent, accumulated=sent, timeout=4 * TIMEOUT)
        told = {key: account[key] for key in ("dropped", "missing", "rejected", "discarded")}
        self._test.assertEqual(told, {"dropped": 0, "missing": 0, "rejected": {}, "discarded": {}})


class ManyClientsTest(unittest.TestCase):
    def assert_all_is_given_back(self, service):
        wait_until(lambda: service.status()["memory"]["snapshot_bytes"] == 0, "result memory is given back")
        wait_until(lambda: service.status()["queues"]["requests_pending"] == 0, "nothing waits")

    def check_storm(self, args_of):
        with Service(config()) as service, Client(service.query_endpoint) as client:
            client.ask("values")
            with IngestAllTheWhile(self, service):
                before = resident(service)[0]
                with contextlib.ExitStack() as stack:
                    clients = [AskingClient(service.query_endpoint, **args_of(i)) for i in range(CLIENTS)]
                    for asking in clients:
                        stack.enter_context(asking.peer)
                    accumulated = service.account()["accumulated"]
                    ask_all(clients, PATIENCE)
                    self.assertGreater(service.account()["accumulated"], accumulated, "ingest stood still")
                    for asking in clients:
                        frames = asking.result["cut"]["totals"]["frames"]
                        shape = asking.result["shape"]
                        self.assertTrue(asking.counts.are_of(shape, frames), (shape, frames, vars(asking.counts)))
                    if MEMORY_TELLS:
                        self.assertLess(resident(service)[1] - before, SNAPSHOTS + 2 * QUEUE + 32 * MIB)
                self.assert_all_is_given_back(service)
            return clients

    def test_all_ask_for_the_same(self):
        self.check_storm(lambda i: {})

    def test_each_asks_for_something_else(self):
        clients = self.check_storm(lambda i: {"roi": [0, ROWS - i % (ROWS // 4), 0, COLS - i // (ROWS // 4)]})
        self.assertEqual(len({tuple(client.result["shape"]) for client in clients}), CLIENTS)
        refused = [code for client in clients for code in client.refusals]
        self.assertTrue(refused, "there was memory for all of them: this test shows nothing")

    def test_clients_that_never_read(self):
        with Service(config()) as service, Client(service.query_endpoint) as client:
            with IngestAllTheWhile(self, service), contextlib.ExitStack() as stack:
                for _ in range(3):  # a quarter of the memory each, at most
                    deaf = AskingClient(service.query_endpoint)
                    stack.enter_context(deaf.peer)
                    for _ in range(8):
                        deaf.ask()
                for endpoint in (service.query_endpoint, service.data_endpoint):  # and some that never say a word
                    for kind in ("DEALER", "PUSH"):
                        stack.enter_context(zmtp.connect(endpoint, kind))
                AnswersWatch(self, service).ask_for(0.5)
                for op, args in (("pixel", {"row": 1, "col": 2}), ("spectrum", {}), ("image", {})):
                    self.assertGreater(client.result(op, fresh=True, **args)["cut"]["totals"]["frames"], 0)
                asking = AskingClient(service.query_endpoint)
                stack.enter_context(asking.peer)
                ask_all([asking], 4 * TIMEOUT)
                frames = asking.result["cut"]["totals"]["frames"]
                self.assertTrue(asking.counts.are_of(asking.result["shape"], frames))
            self.assert_all_is_given_back(service)


if __name__ == "__main__":
    unittest.main()
