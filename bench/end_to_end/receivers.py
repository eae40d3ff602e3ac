"""The three receivers that end_to_end.py compares, behind one face: pixhistd, the null sink, the bare receiver."""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "system"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))

from client import Client  # noqa: E402
from harness import TIMEOUT, Service, die_with_parent, wait_until  # noqa: E402


LOOK_EVERY = 0.002  # seconds


class PixelService:
    """pixhistd. What is received is what is accumulated."""

    kind = "service"

    def __init__(self, config):
        self._config = config

    def __enter__(self):
        begin = time.monotonic()
        self._service = Service(self._config)
        self._service.__enter__()
        self.ready_seconds = time.monotonic() - begin
        self.pid = self._service.process.pid
        self.endpoints = self._service.data_endpoints
        self.query_endpoint = self._service.query_endpoint
        self.get = self._service.get
        self._client = Client(self.query_endpoint)
        return self

    def __exit__(self, *error):
        self._client.__exit__()
        return self._service.__exit__(*error)

    @contextlib.contextmanager
    def watched(self, seconds):
        """Looks how many frames are counted while a run of about so many seconds goes on: rarely at first, since looking
        costs time that others would have. A sender's end says nothing: it is gone some 10 ms later."""
        stopped, begin, self._seen = threading.Event(), time.monotonic(), []

        def look():
            while not stopped.is_set():
                self._look()
                stopped.wait(max(LOOK_EVERY, (begin + 0.9 * seconds - time.monotonic()) / 2))

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            yield
        finally:
            stopped.set()
            watcher.join()

    def _look(self):
        counted = self.account()["accumulated"]
        self._seen.append((time.monotonic(), counted))
        return counted

    def wait_for(self, frames, end_marks):
        """Time at which so many frames were first seen counted, since the start of the process."""
        del end_marks  # it says when a frame is counted
        deadline = time.monotonic() + 6 * TIMEOUT
        while (counted := self._look()) < frames:
            assert time.monotonic() < deadline, f"{counted} of {frames} frames are accumulated, and no more"
            time.sleep(LOOK_EVERY)
        return next(when for when, counted in self._seen if counted >= frames)

    def account(self):
        """Sums over the sources, since the start of the process."""
        sources = self._service.status()["sources"].values()
        lifetimes = [s["lifetime"] for s in sources]
        account = {key: sum(of[key] for of in lifetimes) for key in ("received", "accumulated", "missing", "dropped")}
        return account | {"rejected": sum(sum(of["rejected"].values()) for of in lifetimes)}

    def counts(self):
        """All counts of all pixels: one for each pixel of each frame."""
        self._client.send("spectrum", fresh=True)
        reply, binary = self._client.receive(6 * TIMEOUT)
        assert reply["ok"], reply
        return sum(memoryview(binary[0]).cast("Q"))

    def ring_high_water(self):
        """The fullest ring's, as a part of its size."""
        rings = [ring for s in self._service.status()["sources"].values() for ring in s["rings"]]
        return max(ring["high_water_bytes"] / ring["bytes"] for ring in rings)


class BenchReceiver:
    """A program that answers each line with a report: bench_null_sink, bench_bare_receiver, bench_message_memory."""

    def __init__(self, kind, program, config, *options):
        self.kind = kind
        self._program = program
        self._config = config
        self._options = options

    def __enter__(self):
        with tempfile.TemporaryDirectory(prefix="pixhist-bench-") as folder:
            path = pathlib.Path(folder) / "config.json"
            path.write_text(json.dumps(self._config))
            begin = time.monotonic()
            self._process = subprocess.Popen(
                [self._program, "--config", str(path), *self._options],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent,
            )  # fmt: skip
            self.pid = self._process.pid
            self.start = self._line()
        self.ready_seconds = time.monotonic() - begin
        self.endpoints = self.start["ready"]
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        try:
            self._process.wait(TIMEOUT)
        finally:
            self._process.kill()
        self._process.stdout.close()

    def _line(self):
        line = self._process.stdout.readline()
        assert line, f"{self._program} ended with {self._process.wait(TIMEOUT)}"
        return json.loads(line)

    def watched(self, seconds):
        """It remembers by itself when the last frame came."""
        del seconds
        return contextlib.nullcontext()

    def report(self):
        print(file=self._process.stdin, flush=True)
        return self._line()

    def wait_for(self, frames, end_marks):
        last = {}

        def there():
            last.update(self.report())
            return last["frames"] >= frames and last["others"] >= end_marks

        wait_until(there, lambda: f"{frames} frames have come; {last}", 6 * TIMEOUT)
        return last["last_monotonic_s"]

    def account(self):
        return {"accumulated": self.report()["frames"]}

    def ring_high_water(self):
        report = self.report()
        return report["ring_high_water_bytes"] / report["ring_bytes"] if report["ring_bytes"] else None
