"""A device that finishes nothing for a while: bounded memory, answers all the same, and nothing lost or miscounted."""

import contextlib
import signal
import threading
import time
import unittest

import numpy as np

from array10 import Sender
from client import Client
from faults import (
    BACK_WITHIN,
    MEMORY_TELLS,
    MIB,
    STALL_SECONDS,
    AnswersWatch,
    Patterns,
    Stall,
    kernel_buffers,
    patient,
    resident,
)
from harness import ANY_PORT, TIMEOUT, Service, make_config, wait_until

ROWS, COLS = 64, 64
FRAME = 2 * ROWS * COLS
AXIS = {"bins": 16, "min": 0, "max": 1600}
RING = 32 * FRAME
QUEUE = 8 * FRAME  # ZeroMQ's share


def config(on_full="wait", **changes):
    source = {"endpoint": ANY_PORT, "socket": "pull", "bind": True, "on_full": on_full}
    ring = {"bytes": RING, "rcvhwm_bytes": QUEUE}
    return make_config(ROWS, COLS, sources=[source], axis=AXIS, ring=ring, **changes)


class StalledDeviceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.patterns = Patterns(ROWS, COLS, AXIS["bins"], AXIS["max"])

    @contextlib.contextmanager
    def stalling(self, configuration):
        with Stall() as stall, Service(configuration, env=stall.environment) as service:
            self.assertRegex(service.log(), r"(?i)warn.*FOR TESTS ONLY")
            yield stall, service

    def send(self, sender, numbers):
        for number in numbers:
            sender.frame(self.patterns.frame(number), number)

    def wait_for_full_ring(self, service):
        def full():
            status = service.status()
            ring = status["sources"]["module0"]["rings"][0]
            return ring["used_bytes"] + FRAME > ring["bytes"] and status["batches"]["in_flight"] == 2

        wait_until(full, "the ring is full")

    def test_a_source_that_waits_loses_nothing(self):
        frames = (kernel_buffers() * 5 // 4 + RING + QUEUE) // FRAME
        with self.stalling(config()) as (stall, service), patient(
            Sender(service.data_endpoint, queue=4)
        ) as sender, Client(service.query_endpoint) as client:
            self.send(sender, range(100))
            service.wait_account(accumulated=100)
            before = resident(service)[0]
            stall.begin()
            sending = threading.Thread(target=self.send, args=(sender, range(100, frames)), daemon=True)
            sending.start()
            self.wait_for_full_ring(service)
            client.send("values", fresh=True)
            accumulated = service.account()["accumulated"]

            def bounded(status):
                source = status["sources"]["module0"]
                self.assertEqual(source["lifetime"]["accumulated"], accumulated)
                self.assertEqual(source["lifetime"]["dropped"], 0)
                self.assertLessEqual(source["rings"][0]["used_bytes"], RING)
                self.assertEqual(status["batches"]["in_flight"], 2)

            AnswersWatch(self, service).ask_for(STALL_SECONDS, bounded)
            self.assertTrue(sending.is_alive(), "the sender was not held up")
            self.assertFalse(client.socket.poll(0), "an answer that cannot be true yet")
            if MEMORY_TELLS:
                self.assertLess(resident(service)[1] - before, 2 * QUEUE + 4 * MIB)
            stall.end()
            wait_until(
                lambda: service.account()["accumulated"] > accumulated, "frames are accumulated again", BACK_WITHIN
            )
            reply, _ = client.receive()
            self.assertTrue(reply["ok"], reply)
            sending.join(4 * TIMEOUT)
            self.assertFalse(sending.is_alive())
            account = service.wait_account(received=frames, accumulated=frames, dropped=0, timeout=4 * TIMEOUT)
            self.assertEqual((account["missing"], account["discarded"], account["rejected"]), (0, {}, {}))
            self.assertTrue(np.array_equal(client.array("values"), self.patterns.counts(range(frames))))

    def test_a_source_that_drops_counts_each_frame(self):
        frames, more = 500, 8
        with self.stalling(config("drop")) as (stall, service), Sender(service.data_endpoint) as sender, Client(
            service.query_endpoint
        ) as client:
            stall.begin()
            self.send(sender, range(frames))
            account = service.wait_account(received=frames)
            taken = account["accepted"]
            self.assertGreater(taken, 0)
            self.assertEqual(account["dropped"], frames - taken)
            self.assertGreater(account["dropped"], frames // 2)

            def unchanged(status):
                now = status["sources"]["module0"]["lifetime"]
                self.assertEqual((now["accepted"], now["accumulated"], now["dropped"]), (taken, 0, frames - taken))

            AnswersWatch(self, service).ask_for(STALL_SECONDS, unchanged)
            stall.end()
            service.wait_account(accumulated=taken, timeout=BACK_WITHIN)
            self.send(sender, range(frames, frames + more))  # fewer than the ring holds
            sender.end(frames=frames + more)
            service.wait_account(control=1, accepted=taken + more)
            counts = client.array("values", fresh=True)  # behind the end mark
            account = service.account()
            self.assertEqual(account["accumulated"], taken + more)
            # Of the dropped the account says so twice: their numbers never come.
            self.assertEqual((account["dropped"], account["missing"]), (frames - taken, frames - taken))
            numbers = [*range(taken), *range(frames, frames + more)]
            self.assertTrue(np.array_equal(counts, self.patterns.counts(numbers)))

    def test_a_reset_waits_for_the_device_and_holds_up_nobody(self):
        frames = 12  # two batches at most
        with self.stalling(config()) as (stall, service), Sender(service.data_endpoint) as sender, Client(
            service.query_endpoint
        ) as client:
            stall.begin()
            self.send(sender, range(frames))
            service.wait_account(accepted=frames)
            client.send("reset")
            AnswersWatch(self, service).ask_for(STALL_SECONDS)
            self.assertFalse(client.socket.poll(0), "reset is answered before the run is complete")
            stall.end()
            reply, _ = client.receive()
            cut = reply["result"]["cut"]
            self.assertEqual(cut["totals"]["frames"], frames)
            self.assertEqual(cut["totals"]["account"]["accumulated"], frames)
            self.send(sender, range(frames, 2 * frames))
            service.wait_account(accumulated=2 * frames)
            counts = client.array("values", fresh=True)
            self.assertTrue(np.array_equal(counts, self.patterns.counts(range(frames, 2 * frames))))

    def test_the_end_of_the_process_waits_for_the_end_of_the_stall(self):
        frames = 200
        with self.stalling(config(shutdown={"timeout_s": int(STALL_SECONDS + 4 * TIMEOUT)})) as (stall, service):
            with patient(Sender(service.data_endpoint)) as sender:
                stall.begin()
                self.send(sender, range(frames))
                self.wait_for_full_ring(service)
                service.signal(signal.SIGTERM)
                wait_until(lambda: service.status()["state"] == "draining", "the service is draining")
                self.assertEqual(service.get("/healthz"), (200, "ok\n"))
                stall.end()
                service.wait(0, 4 * TIMEOUT)
            final = service.final_account()
            self.assertEqual((final["received"], final["accumulated"], final["missing"]), (frames, frames, 0))

    def test_a_second_signal_does_not_wait_for_the_device(self):
        frames = 12  # all of them on the device
        with self.stalling(config(shutdown={"timeout_s": 3600})) as (stall, service):
            with Sender(service.data_endpoint) as sender:
                stall.begin()
                self.send(sender, range(frames))
                service.wait_account(accepted=frames, in_flight=frames)
                service.signal(signal.SIGTERM)
                wait_until(lambda: service.status()["state"] == "draining", "the service is draining")
                service.signal(signal.SIGTERM)
                begin = time.monotonic()
                log = service.wait(1, TIMEOUT)
                self.assertLess(time.monotonic() - begin, TIMEOUT)
            self.assertIn("cut short", log)
            self.assertIn(f"{frames} frames were received and not accumulated", log)


if __name__ == "__main__":
    unittest.main()
