#!/usr/bin/env python3
"""What pixhistd costs over ZeroMQ itself: GB/s and CPU seconds per GB, against a null sink and a bare receiver.

    PIXHISTD=... PIXHIST_PLAYER=... bench/end_to_end/end_to_end.py --bin build/bench/bench/end_to_end [--quick | --all]

pixhist-player sends at full speed, from images made before, as many modules as there are sources. pixhistd, the null
sink (same configuration, sockets, threads and ring; frames thrown away) and the bare receiver (libzmq and one memcpy)
live side by side and take turns; a ratio is the median over the rounds of the ratios within a round. The time of a run
is from the first send to the last frame being there: counted by the service, taken from the ring by the null sink,
copied by the bare receiver. After each run the account must hold: what was sent is accumulated, what a publisher
could not send is missing, and all counts together are one for each pixel of each frame.

--queries adds values and pixel queries under full ingest, idle cost and time to ready. Needs pyzmq and NumPy; Linux.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "system"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("PIXHIST_TEST_SLOWNESS", "6")

import table  # noqa: E402
import under_queries  # noqa: E402
from configurations import chosen  # noqa: E402
from harness import PIXHISTD, PLAYER, Player, wait_until  # noqa: E402
from process_cost import cpu_by_thread, page_faults  # noqa: E402
from receivers import BenchReceiver, PixelService  # noqa: E402


class Bench:
    """One configuration with its receivers running, each fed on its own endpoints."""

    def __init__(self, configuration, arguments):
        self.configuration = configuration
        self.arguments = arguments
        self._stack = contextlib.ExitStack()
        self._sent = {}  # frames and numbers by receiver, since its start
        self.receivers = []

    def __enter__(self):
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="pixhist-bench-"))
        config = lambda kind: self.configuration.service_config(self.arguments, f"{folder}/{kind}")  # noqa: E731
        programs = pathlib.Path(self.arguments.bin)
        for receiver in (
            PixelService(config("service")),
            BenchReceiver("null_sink", programs / "bench_null_sink", config("null_sink")),
            BenchReceiver("bare", programs / "bench_bare_receiver", config("bare")),
        ):
            self.receivers.append(self._stack.enter_context(receiver))
            self._sent[receiver.kind] = {"frames": 0, "numbers": 0, "end_marks": 0}
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)

    @property
    def service(self):
        return self.receivers[0]

    def play(self, receiver, frames):
        """`frames` of each source to one receiver: what it took and cost, after the account was checked."""
        of = self.configuration
        cpu, faults = cpu_by_thread(receiver.pid), page_faults(receiver.pid)
        with Player(*of.player_arguments(receiver.endpoints, frames, self.arguments.seconds)) as player:
            report = player.finish(timeout=600)
        sent = self._sent[receiver.kind]
        for key in sent:
            sent[key] += report[key]
        end = receiver.wait_for(sent["frames"], sent["end_marks"])
        gigabytes = report["frames"] * of.frame_bytes * 1e-9
        threads = {name: (s - cpu.get(name, 0)) / gigabytes for name, s in cpu_by_thread(receiver.pid).items()}
        faults = page_faults(receiver.pid) - faults
        lost = self._check(receiver)
        began = report["began_monotonic_s"]
        return {
            "gb_per_s": gigabytes / (end - began),
            "cpu_s_per_gb": sum(threads.values()),
            "threads": threads,
            "faults_per_frame": faults / report["frames"],
            "frames": report["frames"],
            "refused": report["refused"],
            "lost": lost,
            "seconds": end - began,
            "began": began,
            "ended": end,
        }

    def _check(self, receiver):
        """The account of all that was sent since the receiver started; frames lost."""
        sent = self._sent[receiver.kind]
        wanted = {"accumulated": sent["frames"]}
        if receiver is self.service:
            lost = sent["numbers"] - sent["frames"]
            wanted |= {"received": sent["frames"], "missing": lost, "dropped": 0, "rejected": 0}
        account = {}

        def holds():  # the end marks may still be on their way
            account.update(receiver.account())
            return {key: account[key] for key in wanted} == wanted

        wait_until(holds, lambda: f"{receiver.kind}: the account is {account}, wanted {wanted}")
        if receiver is self.service:
            counts, wanted_counts = receiver.counts(), sent["frames"] * self.configuration.pixels
            assert counts == wanted_counts, f"{counts} counts in all; one for each pixel of each frame: {wanted_counts}"
        return sent["frames"] - account["accumulated"]

    def warm_up(self):
        """Runs that are not counted; returns the frames of a source, by receiver, that take about as long as wanted."""
        frames = dict.fromkeys(self._sent, max(4, self.arguments.warm_up_bytes // self.configuration.frame_bytes))
        for _ in range(2):
            rates = {r.kind: self.play(r, frames[r.kind])["gb_per_s"] for r in self.receivers}
            # All the same beside a device, of which only the first batches are slow; on the CPU counting sets the pace.
            if self.arguments.device == "cuda":
                rates["service"] = max(rates["service"], rates["null_sink"] / 2)
            of_source = 1e9 * self.arguments.seconds / self.configuration.frame_bytes / self.configuration.sources
            frames = {kind: max(4, round(rate * of_source)) for kind, rate in rates.items()}
        if self.arguments.device == "cuda":
            frames = dict.fromkeys(frames, max(frames.values()))
        return frames


def measure(configuration, arguments):
    """Where memory and threads come to lie is chance, and stays for the life of a process: so there are several."""
    rounds, high_waters, frames = [], [], None
    for _ in range(arguments.lives):
        with Bench(configuration, arguments) as bench:
            if frames is None:
                frames = bench.warm_up()
            else:
                for receiver in bench.receivers:
                    bench.play(receiver, frames[receiver.kind])
            for number in range(arguments.rounds):
                # In turns, each round beginning with another one.
                order = [bench.receivers[(number + i) % 3] for i in range(3)]
                rounds.append({r.kind: bench.play(r, frames[r.kind]) for r in order})
            high_waters.append({r.kind: r.ring_high_water() for r in bench.receivers})
    return table.summary(configuration, rounds, high_waters, arguments)


def machine():
    import zmq

    with contextlib.suppress(OSError, StopIteration):
        info = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
        return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "libzmq": zmq.zmq_version()}
    return {"cores": os.cpu_count(), "libzmq": zmq.zmq_version()}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of bench_null_sink and bench_bare_receiver")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a few small rows, under two minutes on two cores")
    size.add_argument("--all", action="store_true", help="the whole matrix, ipc and SUB too")
    parser.add_argument("--only", action="append", help="rows whose name has this text; may be repeated")
    parser.add_argument("--lives", type=int, help="of the receivers, for each row; default 3, with --quick 1")
    parser.add_argument("--rounds", type=int, help="of each life; default 2")
    parser.add_argument("--seconds", type=float, help="of each run, about; default 0.6, with --quick 0.2")
    parser.add_argument("--device", choices=["cpu", "cuda"], default=os.environ.get("PIXHIST_TEST_DEVICE", "cpu"))
    parser.add_argument("--bins", type=int, default=1000, help="fewer where the counts would not fit")
    parser.add_argument("--no-throughput", action="store_true", help="leave the P2 rows out")
    under_queries.add_options(parser)
    parser.add_argument("--json", help="write the results to this file")
    arguments = parser.parse_args()
    sinks = [pathlib.Path(arguments.bin) / name for name in ("bench_null_sink", "bench_bare_receiver")]
    for what, program in [("PIXHISTD", PIXHISTD), ("PIXHIST_PLAYER", PLAYER), *(("--bin", sink) for sink in sinks)]:
        if not shutil.which(program):
            parser.error(f"{what}: there is no program {program}; cmake --preset bench && cmake --build --preset bench")
    arguments.lives = arguments.lives or (1 if arguments.quick else 3)
    arguments.rounds = arguments.rounds or 2
    arguments.seconds = arguments.seconds or (0.2 if arguments.quick else 0.6)
    arguments.warm_up_bytes = (16 if arguments.quick else 256) << 20
    arguments.count_bytes = (256 << 20) if arguments.quick else (2 << 30) if arguments.device == "cpu" else (80 << 30)
    return arguments


def main():
    arguments = parse_arguments()
    begin = time.monotonic()
    document = {"bench": "end_to_end", "machine": machine(), "arguments": vars(arguments), "throughput": [], "queries": {}}

    def keep():
        """What is there so far: a run that is cut off has lost nothing else."""
        document["seconds"] = time.monotonic() - begin
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps(document, indent=1) + "\n")

    if not arguments.no_throughput:
        table.print_head(arguments)
        for configuration in chosen(arguments):
            document["throughput"].append(measure(configuration, arguments))
            table.print_row(document["throughput"][-1])
            keep()
        table.print_threads(document["throughput"])
    for name, result in under_queries.measure(arguments, Bench):
        document["queries"][name] = result
        keep()
    print(f"\n{document['seconds']:.0f} s in all; every account exact, every sum of counts right")


if __name__ == "__main__":
    main()
