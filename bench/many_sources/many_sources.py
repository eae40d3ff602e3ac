#!/usr/bin/env python3
"""What many sources cost: CPU seconds of pixhistd per frame with N sources, against one source.

    PIXHISTD=... PIXHIST_PLAYER=... bench/many_sources/many_sources.py [--sources 32] [--frames 128000] [--rounds 5]

Each run plays the same number of frames in all, of the same shape, in batches of the same number of frames, through
PULL sockets that make the players wait; the players' own CPU time is not counted. Runs with one source and with N take
turns; the ratio is that of the medians. --rate paces the players to so many frames a second in all: then the cost of
waking up shows. A run fails if the account is not exact. Linux only.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "system"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))
os.environ.setdefault("PIXHIST_TEST_SLOWNESS", "20")

from harness import ANY_PORT, Player, Service, make_config, wait_until  # noqa: E402
from process_cost import cpu_by_thread  # noqa: E402


def run_once(sources, arguments):
    rows, cols, frames = arguments.rows, arguments.cols, arguments.frames // sources
    frame_bytes = rows * cols * 2
    config = make_config(
        rows * sources,
        cols,
        sources=[
            {
                "name": f"m{i}", "endpoint": ANY_PORT, "socket": "pull", "bind": True,
                "shape": [rows, cols], "origin": [i * rows, 0],
            }
            for i in range(sources)
        ],
        axis={"bins": arguments.bins, "min": 0, "max": 16384},
        device={"kind": "cpu", "cpu_threads": 1},
        batch={"frames": arguments.batch, "max_age_ms": 60000},
        # The same memory for frames on the way, however many sources share it.
        ring={
            "bytes": 16 * arguments.batch * frame_bytes * arguments.sources,
            "rcvhwm_bytes": 128 * frame_bytes * arguments.sources // sources,
        },
    )  # fmt: skip
    with Service(config) as service, contextlib.ExitStack() as players:
        before = cpu_by_thread(service.process.pid)
        pace = ["--rate", arguments.rate / sources] if arguments.rate else []
        running = [
            players.enter_context(
                Player(
                    "--rows", rows, "--cols", cols, "--connect", endpoint, "--frames", frames, "--seed", i,
                    "--images", 64, "--queue-bytes", 64 * frame_bytes, *pace,
                )
            )
            for i, endpoint in enumerate(service.data_endpoints)
        ]  # fmt: skip
        for player in running:
            assert player.finish(timeout=600)["frames"] == frames
        wait_until(
            lambda: all(s["lifetime"]["accumulated"] == frames for s in service.status()["sources"].values()),
            "every frame is accumulated",
        )
        batches = service.status()["batches"]["total"]
        after = cpu_by_thread(service.process.pid)
    used = {name: after[name] - before.get(name, 0) for name in after}
    return sum(used.values()) / (frames * sources), used, frames * sources / batches


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=32)
    parser.add_argument("--frames", type=int, default=128_000, help="in all, of each run")
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--cols", type=int, default=64)
    parser.add_argument("--bins", type=int, default=256)
    parser.add_argument("--batch", type=int, default=50, help="frames of a batch; divides the frames of a source")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", type=float, default=0, help="frames a second in all; 0: as fast as they are taken")
    arguments = parser.parse_args()
    assert arguments.frames % (arguments.sources * arguments.batch) == 0, "batches would differ at the end"

    results = {1: [], arguments.sources: []}
    for round_number in range(arguments.rounds):
        for sources, taken in results.items():
            per_frame, used, per_batch = run_once(sources, arguments)
            taken.append(per_frame)
            threads = {name: round(seconds, 2) for name, seconds in sorted(used.items()) if seconds >= 0.005}
            print(
                f"round {round_number}: {sources:2d} sources: {per_frame * 1e6:.2f} us of CPU a frame, "
                f"{per_batch:.1f} frames a batch, {threads}",
                flush=True,
            )
    medians = {sources: statistics.median(taken) for sources, taken in results.items()}
    ratio = medians[arguments.sources] / medians[1]
    print(json.dumps({**vars(arguments), "us_per_frame": {k: v * 1e6 for k, v in medians.items()}, "ratio": ratio}))


if __name__ == "__main__":
    main()
