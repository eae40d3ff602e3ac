"""PUB and SUB: a publisher throws away what a slow subscriber does not take. Each such frame is missing, exactly."""

import contextlib
import json
import time
import unittest

import numpy as np
import zmq

import sls
from array10 import frame_header
from client import Client
from faults import BACK_WITHIN, Patterns, Stall
from harness import TIMEOUT, Service, make_config, wait_until

ROWS, COLS = 128, 128
FRAME = 2 * ROWS * COLS
AXIS = {"bins": 16, "min": 0, "max": 1600}
HEAD = 10  # frames that are published before anybody listens


class Array10:
    name = "array10"
    first = 0
    tells_how_many = True

    def frame(self, pixels, number, run):
        return [frame_header(pixels, number, run), pixels.tobytes()]

    def end(self, frames, run):
        return [json.dumps({"htype": "array-1.0", "end": True, "run": run, "frames": frames}).encode()]


class Sls:
    """Numbers go on from run to run, and an end marker does not say how many frames there were."""

    name = "sls"
    first = 1001
    tells_how_many = False

    def frame(self, pixels, number, run):
        return [sls.header(pixels, number, first=self.first), pixels.tobytes()]

    def end(self, frames, run):
        return [sls.END]


class Publisher:
    """A PUB socket that says what it throws away: XPUB refuses, where PUB would be silent."""

    def __init__(self, queue):
        self.socket = zmq.Context.instance().socket(zmq.XPUB)
        self.socket.SNDHWM = queue
        self.socket.LINGER = 0
        self.socket.setsockopt(zmq.XPUB_NODROP, 1)
        self.socket.bind("tcp://127.0.0.1:*")
        self.endpoint = self.socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def wait_for_subscriber(self):
        assert self.socket.poll(int(1000 * TIMEOUT)), "nobody subscribes"
        assert self.socket.recv() == b"\1"

    def offer(self, parts):
        """Whether the message was taken, all of it or nothing."""
        for i, part in enumerate(parts):
            more = zmq.SNDMORE if i + 1 < len(parts) else 0
            while True:
                try:
                    self.socket.send(part, zmq.NOBLOCK | more)
                    break
                except zmq.Again:
                    if i == 0:
                        return False
                    time.sleep(0.001)
        return True

    def insist(self, parts):
        wait_until(lambda: self.offer(parts), "the publisher has room again")


class Run:
    """What of one run was published, and what of it was handed over to the subscriber."""

    def __init__(self, wire, publisher, patterns, key="a"):
        self._wire, self._publisher, self._patterns, self._key = wire, publisher, patterns, key
        self._number = wire.first
        self.handed_over = []

    @property
    def published(self):
        return self._number - self._wire.first

    def publish(self, to_nobody=False):
        """Whether the frame was handed over."""
        number, self._number = self._number, self._number + 1
        parts = self._wire.frame(self._patterns.frame(number), number, self._key)
        if not self._publisher.offer(parts):
            return False
        if not to_nobody:
            self.handed_over.append(number)
        return True

    def end(self):
        self._publisher.insist(self._wire.end(self.published, self._key))

    def missing(self, came):
        """Of what must be missing when the numbers of `came` have come: all, or, where the wire does not tell, all
        between the first and the last of them."""
        if self._wire.tells_how_many:
            return self.published - len(came)
        return came[-1] - came[0] + 1 - len(came)


class PubSubLossTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.patterns = Patterns(ROWS, COLS, AXIS["bins"], AXIS["max"])

    @contextlib.contextmanager
    def subscribed(self, wire, queue, on_full):
        """A run whose head nobody heard; the service has subscribed since."""
        with Stall() as stall, Publisher(queue) as publisher:
            run = Run(wire, publisher, self.patterns)
            for _ in range(HEAD):
                self.assertTrue(run.publish(to_nobody=True))
            source = {"endpoint": publisher.endpoint, "socket": "sub", "on_full": on_full, "format": wire.name}
            config = make_config(
                ROWS, COLS, axis=AXIS, sources=[source], ring={"bytes": 16 * FRAME, "rcvhwm_bytes": 4 * FRAME}
            )
            with Service(config, env=stall.environment) as service, Client(service.query_endpoint) as client:
                publisher.wait_for_subscriber()
                yield stall, service, client, run

    def publish_until_refused(self, service, run, times=100):
        """Until the device's stall has filled everything and the publisher throws away."""

        def ring_is_full():
            for _ in range(50):
                run.publish()
            ring = service.status()["sources"]["module0"]["rings"][0]
            return ring["used_bytes"] + FRAME > ring["bytes"]

        wait_until(ring_is_full, "the ring is full")
        refused = 0

        def refused_often():
            nonlocal refused
            refused += not run.publish()
            return refused >= times

        wait_until(refused_often, "the publisher throws away")

    def assert_exact(self, service, client, run, came, dropped=0):
        service.wait_account(control=1, received=len(run.handed_over))
        counts = client.array("values", fresh=True)  # behind the end mark
        account = service.account()
        missing = run.missing(came)
        self.assertEqual((account["received"], account["accumulated"]), (len(run.handed_over), len(came)))
        self.assertEqual((account["missing"], account["open"], account["dropped"]), (missing, 0, dropped))
        self.assertEqual((account["rejected"], account["discarded"], account["late"]), ({}, {}, 0))
        self.assertIn(f'pixhist_frames_missing_total{{source="module0"}} {missing}\n', service.get("/metrics")[1])
        self.assertTrue(np.array_equal(counts, self.patterns.counts(came)))

    def test_what_the_publisher_throws_away_is_missing(self):
        for wire in (Array10(), Sls()):
            with self.subTest(wire.name), self.subscribed(wire, queue=4, on_full="wait") as (stall, service, client, run):
                for _ in range(2):  # lost at the head, in the middle and, the second time, at the tail
                    wait_until(run.publish, "a frame is taken")
                    service.wait_account(accumulated=len(run.handed_over))
                    stall.begin()
                    self.publish_until_refused(service, run)
                    stall.end()
                    service.wait_account(accumulated=len(run.handed_over), timeout=BACK_WITHIN)
                run.end()
                self.assertGreater(run.published - len(run.handed_over), 200 + HEAD)
                self.assert_exact(service, client, run, run.handed_over)

    def test_what_the_ring_does_not_hold_is_dropped_and_missing(self):
        for wire in (Array10(), Sls()):
            with self.subTest(wire.name), self.subscribed(wire, 10_000, on_full="drop") as (stall, service, client, run):
                stall.begin()
                for _ in range(300):
                    self.assertTrue(run.publish())
                account = service.wait_account(received=300)
                self.assertGreater(account["dropped"], 200)
                dropped, taken = account["dropped"], account["accepted"]
                stall.end()
                service.wait_account(accumulated=taken, timeout=BACK_WITHIN)
                for _ in range(4):  # less than the ring holds
                    self.assertTrue(run.publish())
                run.end()
                self.assert_exact(service, client, run, run.handed_over[:taken] + run.handed_over[-4:], dropped)


if __name__ == "__main__":
    unittest.main()
