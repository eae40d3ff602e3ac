"""The end: what senders handed over is accumulated and accounted for, or the exit code says that it is not."""

import json
import os
import signal
import threading
import time
import unittest

import numpy as np

from array10 import Sender
from client import Client
from harness import FINAL_ACCOUNT, SLOWNESS, TIMEOUT, Player, Service, make_config, merged, wait_until

# Large enough that counting takes longer than sending: a queue forms, in the ring, in ZeroMQ and in the sender.
ROWS, COLS = 512, 512


def slow_config(**changes):
    base = {
        "axis": {"bins": 16, "max": 256},
        "device": {"cpu_threads": 1},
        "ring": {"bytes": 8 * ROWS * COLS, "rcvhwm_bytes": 16 * ROWS * COLS},
        "shutdown": {"receive_grace_ms": int(5000 * SLOWNESS), "timeout_s": int(100 * SLOWNESS)},
    }
    return merged(make_config(ROWS, COLS, "u8", **base), changes)


class EndlessSender:
    """Sends from its own thread until the block is left, so that draining never ends: in bursts, so that something
    is on its way also while a busy machine keeps that thread waiting."""

    def __init__(self, service, shape):
        self._service = service
        self._frame = np.zeros(shape, "u2")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)

    def _send(self):
        with Sender(self._service.data_endpoint) as sender:
            while not self._over.wait(0.002):
                for _ in range(100):
                    sender.frame(self._frame)

    def __enter__(self):
        self._thread.start()
        wait_until(lambda: self._service.account()["accepted"], "frames come")
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


class DrainTest(unittest.TestCase):
    def test_a_queue_is_drained(self):
        frames = 400
        with Service(slow_config(log={"format": "json"})) as service, Sender(service.data_endpoint) as sender:
            sender.frames([np.zeros((ROWS, COLS), "u1")] * frames)
            wait_until(lambda: service.account()["accumulated"] > 3, "counting has begun")
            queued = frames - service.account()["accumulated"]
            if queued == 0 and os.environ.get("PIXHIST_TEST_DEVICE") == "cuda":
                self.skipTest("the device keeps up with the sender: nothing was queued to drain")
            self.assertGreater(queued, 0, "nothing is queued: this test shows nothing")
            log = service.stop()
            messages = [json.loads(line)["message"] for line in log.splitlines()]
            finals = [match for match in map(FINAL_ACCOUNT.match, messages) if match]
            self.assertEqual(len(finals), 1)
            final = finals[0].groupdict()
            self.assertEqual((int(final["received"]), int(final["accumulated"])), (frames, frames))
            self.assertEqual(int(final["last_frame"]), frames - 1)
            self.assertEqual(messages[-1], "drained")

    def test_the_player_and_the_service_agree_to_the_last_frame(self):
        with Service(slow_config()) as service:
            with Player(
                "--rows", ROWS, "--cols", COLS, "--type", "u8", "--images", 4, "--queue-bytes", 4 << 20,
                "--connect", service.data_endpoint,
            ) as player:  # fmt: skip
                wait_until(lambda: service.account()["accumulated"] > 20, "counting has begun")
                player.process.terminate()
                report = player.finish()
            service.stop()
            final = service.final_account()
            self.assertEqual(final["accumulated"], report["frames"])
            self.assertEqual(final["last_frame"], report["last_frame"])
            self.assertEqual((final["missing"], final["dropped"]), (0, 0))

    def test_numbers_still_open_are_missing_at_the_end(self):
        with Service(make_config(4, 5)) as service, Sender(service.data_endpoint) as sender:
            for number in (1, 2, 5, 9):
                sender.frame(np.zeros((4, 5), "u2"), number, "a")
            service.wait_account(accepted=4)
            service.stop()
            final = service.final_account()
            self.assertEqual((final["accumulated"], final["missing"], final["last_frame"]), (4, 5, 9))

    def test_an_idle_service_and_sigint(self):
        with Service(make_config(4, 5)) as service:
            begin = time.monotonic()
            service.signal(signal.SIGINT)
            service.wait(0)
            self.assertLess(time.monotonic() - begin, 2 * SLOWNESS)
            self.assertEqual(service.final_account()["last_frame"], "none")

    def test_answers_on_their_way_still_go_out(self):
        with Service(make_config(128, 128)) as service, Client(service.query_endpoint) as client:
            for _ in range(3):
                client.send("values", fresh=True)
            client.receive()
            service.stop()
            for _ in range(2):
                reply, binary = client.receive()
                self.assertTrue(reply["ok"] or reply["error"]["code"] == "wrong_state")


class CutShortTest(unittest.TestCase):
    def test_a_second_signal(self):
        config = make_config(4, 5, shutdown={"receive_grace_ms": 600_000, "timeout_s": 3600})
        with Service(config) as service, EndlessSender(service, (4, 5)):
            service.signal(signal.SIGTERM)
            wait_until(lambda: service.status()["state"] == "draining", "the service is draining")
            before = service.account()["accumulated"]
            wait_until(lambda: service.account()["accumulated"] > before + 10, "it still takes what comes")
            self.assertIsNone(service.process.poll())
            service.signal(signal.SIGTERM)
            log = service.wait(1, TIMEOUT)
            self.assertIn("cut short", log)
            final = service.final_account()
            self.assertGreater(final["accumulated"], 0)

    def test_the_time_out(self):
        config = make_config(4, 5, shutdown={"receive_grace_ms": 600_000, "timeout_s": 1})
        with Service(config) as service, EndlessSender(service, (4, 5)):
            self.assertIn("cut short", service.stop(1, TIMEOUT))

    def test_the_grace_ends_an_endless_sender(self):
        config = make_config(4, 5, shutdown={"receive_grace_ms": 300})
        with Service(config) as service, EndlessSender(service, (4, 5)):
            service.stop(0, TIMEOUT)
            final = service.final_account()
            self.assertEqual(final["accumulated"], final["received"])


if __name__ == "__main__":
    unittest.main()
