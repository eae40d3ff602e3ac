#!/usr/bin/env python3
"""Where message bodies come to lie, and what that costs: copied into a buffer or a ring, or left where libzmq put them.

    PIXHIST_PLAYER=... bench/message_memory/message_memory.py --bin build/bench/bench/message_memory [--quick | --all]

bench_message_memory receives from pixhist-player at full speed. All ways live side by side and take turns, each round
beginning with another; ratios are medians of the ratios within a round, to the first way: what the bare receiver of
bench/end_to_end does. CPU seconds are of all threads of the receiver. With --device cuda, rings and pool are
page-locked and each batch is copied to the device. --io-threads compares numbers of ZeroMQ's I/O threads instead, with
the ring as the service has it. Needs pyzmq and NumPy; Linux.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys

for folder in ("tests/system", "bench/process", "bench/end_to_end"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / folder))
os.environ.setdefault("PIXHIST_TEST_SLOWNESS", "6")

from configurations import MIB, Configuration  # noqa: E402
from harness import Player  # noqa: E402
from process_cost import cpu_by_thread, page_faults  # noqa: E402
from receivers import BenchReceiver  # noqa: E402

ALL = [Configuration(size, streams) for size in ("320 kB", "1 MiB", "8 MiB", "32 MiB") for streams in (1, 4)]
CORE = [row for row in ALL if (row.size, row.sources) not in (("320 kB", 1), ("8 MiB", 1), ("32 MiB", 4))]
IO_THREADS = [Configuration("320 kB", 4), Configuration("1 MiB", 4), Configuration("1 MiB", 8)]
QUICK = [Configuration("1 MiB", 1), Configuration("32 MiB", 1)]

BUFFERS = {
    "buffer of a frame": ["--way", "buffer"],
    "buffer of 64 MiB": ["--way", "buffer", "--buffer-bytes", str(64 * MIB)],
    "buffer of 256 MiB": ["--way", "buffer", "--buffer-bytes", str(256 * MIB)],
    "buffer of 256 MiB, streaming": ["--way", "buffer", "--buffer-bytes", str(256 * MIB), "--stores", "streaming"],
}


def ways(arguments):
    """By name, the options of bench_message_memory. The first is what the others are compared with."""
    if arguments.io_threads:
        ring = ["--way", "ring", "--stores", "streaming", "--io-threads"]
        return {f"{n} I/O thread{'s' if n > 1 else ''}": [*ring, str(n)] for n in (1, 2, 4, 8)}
    if arguments.device == "cuda":
        ring = {"not copied": "none", "one copy a batch": "copy"}
        pool = {"one copy a frame": "copy", "grouped copies": "grouped"}
    else:
        ring = pool = {"not read": "none", "pages touched": "touch"}
    result = dict(BUFFERS)
    for name, copy in ring.items():
        for stores in ("cached", "streaming"):
            text = "" if stores == "cached" else ", streaming"
            result[f"ring{text}, {name}"] = ["--way", "ring", "--stores", stores, "--device-copy", copy]
    for name, copy in pool.items():
        result[f"pool, {name}"] = ["--way", "pool", "--device-copy", copy]
    first = next(iter(result))
    return {k: v for k, v in result.items() if k == first or not arguments.ways or any(w in k for w in arguments.ways)}


class Way:
    """One receiver, fed on its own endpoints."""

    def __init__(self, name, receiver, configuration, arguments):
        self.name, self._receiver = name, receiver
        self._configuration, self._arguments = configuration, arguments
        self._sent = {"frames": 0, "end_marks": 0}

    def play(self, frames):
        pid = self._receiver.pid
        cpu, faults = cpu_by_thread(pid), page_faults(pid)
        of = self._configuration
        with Player(*of.player_arguments(self._receiver.endpoints, frames, self._arguments.seconds)) as player:
            report = player.finish(timeout=600)
        for key in self._sent:
            self._sent[key] += report[key]
        end = self._receiver.wait_for(self._sent["frames"], self._sent["end_marks"])
        gigabytes = report["frames"] * of.frame_bytes * 1e-9
        by_thread = {name: (s - cpu.get(name, 0)) / gigabytes for name, s in cpu_by_thread(pid).items()}
        assert self._receiver.account()["accumulated"] == self._sent["frames"], self._sent
        return {
            "gb_per_s": gigabytes / (end - report["began_monotonic_s"]),
            "cpu_s_per_gb": sum(by_thread.values()),
            "io": by_thread.get("ZMQbg", 0), "recv": by_thread.get("recv", 0),
            "consumer": by_thread.get("consumer", 0),
            "faults_per_frame": (page_faults(pid) - faults) / report["frames"],
            "outside_pool": self._receiver.report()["outside_pool"],
        }  # fmt: skip


def measure(configuration, arguments):
    config = configuration.service_config(arguments, "")
    program = pathlib.Path(arguments.bin) / "bench_message_memory"
    with contextlib.ExitStack() as stack:
        running = [
            Way(name, stack.enter_context(BenchReceiver(name, program, config, *options)), configuration, arguments)
            for name, options in ways(arguments).items()
        ]
        frames = max(4, (16 if arguments.quick else 256) * MIB // configuration.frame_bytes // configuration.sources)
        for _ in range(2):
            rates = [way.play(frames)["gb_per_s"] for way in running]
            per_source = 1e9 * arguments.seconds / configuration.frame_bytes / configuration.sources
            frames = max(4, round(statistics.median(rates) * per_source))
        rounds = []
        for number in range(arguments.rounds):
            first = number % len(running)
            rounds.append({way.name: way.play(frames) for way in running[first:] + running[:first]})
    return rounds


def median_of(rounds, way, key):
    return statistics.median(r[way][key] for r in rounds)


def median_ratio(rounds, way, key, base):
    return statistics.median(r[way][key] / r[base][key] for r in rounds)


def print_rows(configuration, rounds):
    names = list(rounds[0])
    base = names[0]
    for way in names:
        of = lambda key, form: format(median_of(rounds, way, key), form)  # noqa: E731
        print(
            f"| {configuration.name} | {way} | {of('gb_per_s', '.2f')} | {of('cpu_s_per_gb', '.3f')} "
            f"| {of('io', '.3f')} / {of('recv', '.3f')} / {of('consumer', '.3f')} | {of('faults_per_frame', '.1f')} "
            f"| {median_ratio(rounds, way, 'gb_per_s', base):.2f} | {median_ratio(rounds, way, 'cpu_s_per_gb', base):.2f} "
            f"| {median_ratio(rounds, way, 'recv', base):.2f} | {max(r[way]['outside_pool'] for r in rounds)} |",
            flush=True,
        )


def chosen(arguments):
    rows = QUICK if arguments.quick else ALL if arguments.all else IO_THREADS if arguments.io_threads else CORE
    return [row for row in rows if not arguments.only or any(text in row.name for text in arguments.only)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of bench_message_memory")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="two rows, two short rounds")
    size.add_argument("--all", action="store_true", help="every size, from one and from four senders")
    parser.add_argument("--io-threads", action="store_true", help="1 to 8 I/O threads, nothing else")
    parser.add_argument("--only", action="append", help="rows whose name has this text; may be repeated")
    parser.add_argument("--ways", action="append", help="ways whose name has this text, and the first; may be repeated")
    parser.add_argument("--rounds", type=int, help="of each row; default 5, with --quick 2")
    parser.add_argument("--seconds", type=float, help="of each run, about; default 0.4, with --quick 0.2")
    parser.add_argument("--device", choices=["cpu", "cuda"], default=os.environ.get("PIXHIST_TEST_DEVICE", "cpu"))
    parser.add_argument("--json", help="write the results to this file")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (2 if arguments.quick else 5)
    arguments.seconds = arguments.seconds or (0.2 if arguments.quick else 0.4)
    arguments.bins, arguments.count_bytes = 16, 0  # nothing is counted
    print(
        f"{arguments.device}; medians of {arguments.rounds} rounds of about {arguments.seconds:g} s\n\n"
        "| row | way | GB/s | CPU s per GB | of I/O / receive / consumer threads | page faults a frame | GB/s ÷ first way "
        f"| CPU ÷ first way | receive threads' | bodies outside the pool |\n|{' --- |' * 10}",
        flush=True,
    )
    results = []
    for configuration in chosen(arguments):
        rounds = measure(configuration, arguments)
        print_rows(configuration, rounds)
        results.append({"name": configuration.name, "rounds": rounds})
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"bench": "message_memory", "rows": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
