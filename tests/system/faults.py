"""What the fault tests share: a device that stalls, the memory of the service, and a watch over its answers.

Environment: PIXHIST_TEST_STALL_SECONDS is how long a device stalls (default 2).
"""

import os
import pathlib
import re
import tempfile
import time

import numpy as np

import reference
from client import Client
from harness import SLOWNESS, TIMEOUT

STALL_SECONDS = float(os.environ.get("PIXHIST_TEST_STALL_SECONDS") or 2)
BACK_WITHIN = 10 * SLOWNESS  # seconds from the end of a fault until frames are accumulated again
# Instrumented programs need many times the memory, and keep what they free.
MEMORY_TELLS = not os.environ.get("PIXHIST_TEST_SANITIZE")
MIB = 1 << 20


class Stall:
    """A device that finishes nothing between begin() and end(), for a service with env=stall.environment."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="pixhist-stall-")
        self._file = pathlib.Path(self._folder.name) / "stalled"
        self.environment = {"PIXHIST_TEST_STALL_FILE": str(self._file)}
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def begin(self):
        self._file.touch()

    def end(self):
        self._file.unlink()


def resident(service):
    """Bytes of memory of the service: now, and the most there were."""
    text = pathlib.Path(f"/proc/{service.process.pid}/status").read_text()
    return tuple(1024 * int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) for name in ("VmRSS", "VmHWM"))


def socket_events(service, event, source="module0"):
    pattern = rf'pixhist_socket_events_total\{{socket="{source}",event="{event}"\}} (\d+)'
    return int(re.search(pattern, service.get("/metrics")[1])[1])


def kernel_buffers():
    """Bytes that may lie between a sender and a receiver on one machine, at most."""
    return sum(int(pathlib.Path(f"/proc/sys/net/ipv4/tcp_{way}mem").read_text().split()[2]) for way in "rw")


class AnswersWatch:
    """Asks everything that must be answered at once, whatever the device and other clients do."""

    def __init__(self, test, service, at_most=1.0 * SLOWNESS):
        self._test = test
        self._service = service
        self._at_most = at_most
        self.slowest = 0.0

    def _timed(self, name, ask):
        begin = time.monotonic()
        answer = ask()
        took = time.monotonic() - begin
        self.slowest = max(self.slowest, took)
        self._test.assertLess(took, self._at_most, name)
        return answer

    def ask_once(self):
        """The status, after all others were asked."""
        with Client(self._service.query_endpoint) as client:
            self._timed("ping", lambda: client.ask("ping"))
            self._timed("info", lambda: client.ask("info"))
            self._timed("status", lambda: client.ask("status"))
        self._test.assertEqual(self._timed("/metrics", lambda: self._service.get("/metrics"))[0], 200)
        self._test.assertEqual(self._timed("/healthz", lambda: self._service.get("/healthz")), (200, "ok\n"))
        return self._timed("/status", self._service.status)

    def ask_for(self, seconds, check=lambda status: None):
        until = time.monotonic() + seconds
        while True:
            check(self.ask_once())
            if time.monotonic() > until:
                return
            time.sleep(0.02)


class Patterns:
    """Frames of a few images in turn, so that the counts of any of them are known without counting each."""

    def __init__(self, rows, cols, bins, high, images=16, seed=1):
        self._images = np.random.default_rng(seed).integers(0, high, (images, rows, cols), "u2")
        self._counts = [reference.histogram(image[None], bins, 0, high).counts for image in self._images]

    def frame(self, number):
        return self._images[number % len(self._images)]

    def counts(self, numbers):
        times = np.bincount(np.asarray(list(numbers)) % len(self._images), minlength=len(self._images))
        return sum(int(n) * counts for n, counts in zip(times, self._counts))


def patient(sender):
    """The sender waits through a whole stall."""
    sender.socket.SNDTIMEO = int(1000 * (STALL_SECONDS + 4 * TIMEOUT))
    return sender
