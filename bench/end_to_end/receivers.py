"""The three receivers that end_to_end.py compares, behind one face: pixhistd, the null sink, the bare receiver."""

import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "system"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))

from client import Client  # noqa: E402
from harness import TIMEOUT, Service, die_with_parent, wait_until  # noqa: E402


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

    def wait_for(self, frames, end_marks):
        """Time at which the last of so many frames since the start of the process was accumulated, to a millisecond: the
        service says it. Nobody looks while the run goes on, since that takes time from what is measured."""
        del end_marks  # it says when a frame is counted

        def counted():
            return self.account()["accumulated"]

        wait_until(lambda: counted() >= frames, lambda: f"{counted()} of {frames} frames are accumulated", 6 * TIMEOUT)
        last = max(s["accumulated_at"] for s in self._service.status()["sources"].values())
        wall = datetime.datetime.fromisoformat(last.replace("Z", "+00:00")).timestamp()
        return wall + 0.0005 - (time.time() - time.monotonic())  # it was cut to milliseconds

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
