"""From the send of a frame to the first answer that counts it, from outside: a sender that remembers when, and a client
that asks for a pixel again and again. The service's bound is from receipt, without the way to it and without asking."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from configurations import MIB, SHAPES, Configuration
from harness import die_with_parent, merged
from query_client import ask, connect, request
from queries_under_load import batch_milliseconds
from receivers import PixelService
from table import percentile

ROW = Configuration("1 MiB", 1)
SENDER = pathlib.Path(__file__).resolve().parent / "paced_sender.py"
BATCHES = [  # bytes, max_age_ms; the first are the defaults
    (64 * MIB, 200),
    (64 * MIB, 20),
    (4 * MIB, 200),
]
RATES = [0.1, 0.5, None]  # of full speed; None: unpaced


class Feed:
    """A service, its sender and its client."""

    def __init__(self, service, seconds):
        self._service = service
        self._seconds = seconds
        self._socket = connect(service.query_endpoint)
        self._frames = 0  # sent so far

    def close(self):
        self._socket.close()

    def run(self, rate, fresh):
        """Seconds from send to sight of each frame."""
        message = request("pixel", {"row": 100, "col": 200, "fresh": fresh})
        rows, cols = SHAPES[ROW.size]
        with tempfile.TemporaryFile("w+") as report:  # a pipe that nobody reads before the end could be too small
            sender = subprocess.Popen(
                [sys.executable, str(SENDER), self._service.endpoints[0],
                 *map(str, (rows, cols, self._frames, rate, self._seconds))],
                stdout=report, preexec_fn=die_with_parent,
            )  # fmt: skip
            seen = []  # when an answer came, and the frames counted in it
            while sender.poll() is None:
                seen.append(self._look(message))
            report.seek(0)
            sent = json.load(report)["sent"]
        deadline = time.monotonic() + 60
        while seen[-1][1] < self._frames + len(sent):
            assert time.monotonic() < deadline, f"{seen[-1]} of {self._frames + len(sent)} frames are counted"
            seen.append(self._look(message))
        latencies = since_sent(sent, self._frames, seen)
        self._frames += len(sent)
        return latencies, len(sent) / (sent[-1] - sent[0])

    def _look(self, message):
        head, _ = ask(self._socket, message)
        assert head["ok"], head
        return time.monotonic(), head["result"]["cut"]["totals"]["frames"]


def since_sent(sent, before, seen):
    """Of each frame: when the first answer came that has it, less when it was sent. `before`: frames sent earlier."""
    latencies, looks = [], iter(seen)
    when, counted = next(looks)
    for number, at in enumerate(sent):
        while counted < before + number + 1:
            when, counted = next(looks)
        latencies.append(when - at)
    return latencies


def own_latency(service):
    """Sum and count of what the service itself says: receipt of a batch's first frame to its accumulation."""
    text = service.get("/metrics")[1]
    name = "pixhist_frame_latency_seconds"
    return [float(re.search(rf"^{name}_{what} (\S+)", text, re.M)[1]) for what in ("sum", "count")]


def config_of(batch_bytes, max_age_ms, arguments):
    base = ROW.service_config(arguments, "")
    # What waits in queues before the receipt is none of the service's; four frames may.
    queue = {"ring": {"rcvhwm_bytes": 4 * ROW.frame_bytes}}
    return merged(base, queue | {"batch": {"bytes": batch_bytes, "max_age_ms": max_age_ms}})


def print_row(of):
    print(
        f"| {of['batch_bytes'] // MIB} MiB, {of['max_age_ms']} ms | {of['load']} | {of['gb_per_s']:.2f} "
        f"| {'yes' if of['fresh'] else 'no'} | {of['p50_ms']:.1f} | {of['p99_ms']:.1f} | {of['max_ms']:.1f} "
        f"| {of['own_mean_ms']:.1f} | {of['batch_ms']:.2f} | {of['bound_ms']:.0f} |",
        flush=True,
    )


def look_at(feed, service, load, rate, fresh, batch):
    before = own_latency(service)
    latencies, sent_rate = feed.run(rate, fresh)
    total, count = (after - b for after, b in zip(own_latency(service), before))
    t = batch_milliseconds(service)
    ms = [1e3 * s for s in latencies]
    return {
        "batch_bytes": batch[0], "max_age_ms": batch[1], "load": load, "fresh": fresh, "frames": len(ms),
        "gb_per_s": sent_rate * ROW.frame_bytes * 1e-9, "p50_ms": percentile(ms, 0.5),
        "p99_ms": percentile(ms, 0.99), "max_ms": max(ms), "own_mean_ms": 1e3 * total / count if count else 0.0,
        "batch_ms": t, "bound_ms": batch[1] + (ROW.sources + 1) * t + 5,
    }  # fmt: skip


def measure(arguments):
    columns = [
        "batch.bytes, max_age_ms", "rate", "GB/s", "fresh", "p50 ms", "p99 ms", "max ms", "service's own mean ms",
        "T ms", "bound: max_age + 2T + 5",
    ]  # fmt: skip
    print(f"\nSend to sight, {ROW.name}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)
    rows = []
    for batch in BATCHES if arguments.all else BATCHES[:2]:
        with PixelService(config_of(*batch, arguments)) as service:
            feed = Feed(service, max(0.5, arguments.seconds))
            _, full = feed.run(0, False)
            for part in RATES:
                for fresh in (False, True):
                    load = "full" if part is None else f"{100 * part:.0f} %"
                    rows.append(look_at(feed, service, load, full * (part or 0), fresh, batch))
                    print_row(rows[-1])
            feed.close()
    return rows
