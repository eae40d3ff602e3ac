"""What questions cost the ingest (P4) and what ingest costs the questions (P5); the idle service (P8); its start (P7).

All on the row 1 MiB × 4. Each is an option of end_to_end.py and prints a row of its own.
"""

import contextlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

from configurations import Configuration
from receivers import BenchReceiver, PixelService, cpu_seconds

ROW = Configuration("1 MiB", 4)
QUICK_ROW = Configuration("1 MiB", 2)
CLIENT = pathlib.Path(__file__).resolve().parent / "query_client.py"


def add_options(parser):
    group = parser.add_argument_group("under queries")
    group.add_argument("--queries", action="store_true", help="all of the following")
    group.add_argument("--values", action="store_true", help="P4: ingest while a client takes values")
    group.add_argument("--pixel", action="store_true", help="P5: latency of pixel under full ingest, and idle")
    group.add_argument("--idle", action="store_true", help="P8: CPU use of the idle service")
    group.add_argument("--start", action="store_true", help="P7: start to ready")


@contextlib.contextmanager
def client(service, op, **args):
    """A process that asks back to back; its report is in the list once the block is left."""
    reports = []
    process = subprocess.Popen(
        [sys.executable, str(CLIENT), service.query_endpoint, op, json.dumps(args)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout.readline(), f"the client of {op} ended with {process.wait()}"
        yield reports
        reports.append(json.loads(process.communicate()[0]))
    finally:
        process.kill()
        process.wait()


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def batch_milliseconds(service):
    """T: mean copy and kernel time of a batch so far."""
    text = service.get("/metrics")[1]

    def mean(name):
        total, count = (float(re.search(rf"^{name}_{what} (\S+)", text, re.M)[1]) for what in ("sum", "count"))
        return total / count if count else 0.0

    return 1e3 * (mean("pixhist_batch_copy_seconds") + mean("pixhist_batch_kernel_seconds"))


def verdict(good, arguments):
    return "" if arguments.device == "cpu" else " (met)" if good else " (**not met**)"


def values_back_to_back(bench, frames, arguments):
    rates = {"alone": [], "asked": []}
    answers = []
    for _ in range(arguments.rounds):
        rates["alone"].append(bench.play(bench.service, frames)["gb_per_s"])
        with client(bench.service, "values", roi=[0, 400, 0, 400]) as reports:
            rates["asked"].append(bench.play(bench.service, frames)["gb_per_s"])
        answers.append(reports[0]["bytes"] * 1e-9 / reports[0]["seconds"])
    ratio = statistics.median(asked / alone for asked, alone in zip(rates["asked"], rates["alone"]))
    print(
        f"P4 ingest while a client takes values of 400×400×{bench.configuration.bins(arguments)} back to back "
        f"({statistics.median(answers):.2f} GB/s of answers): {statistics.median(rates['asked']):.2f} against "
        f"{statistics.median(rates['alone']):.2f} GB/s, ratio {ratio:.2f}, target ≥ 0.95"
        f"{verdict(ratio >= 0.95, arguments)}"
    )
    return {"rates": rates, "answers_gb_per_s": answers, "ratio": ratio}


def pixel_latency(bench, frames, arguments):
    under_load = []
    for _ in range(arguments.rounds):
        with client(bench.service, "pixel", row=100, col=200) as reports:
            run = bench.play(bench.service, frames)
        under_load += [ms for when, ms in reports[0]["requests"] if run["began"] <= when <= run["ended"]]
    t = batch_milliseconds(bench.service)
    with client(bench.service, "pixel", row=100, col=200) as reports:
        time.sleep(max(0.5, arguments.seconds))
    idle = [ms for _, ms in reports[0]["requests"]]
    p50, p99, idle_p99 = percentile(under_load, 0.5), percentile(under_load, 0.99), percentile(idle, 0.99)
    print(
        f"P5 pixel under full ingest, {len(under_load)} requests: p50 {p50:.2f} ms (target ≤ T + 1 = {t + 1:.2f})"
        f"{verdict(p50 <= t + 1, arguments)}, p99 {p99:.2f} ms (≤ 2T + 3 = {2 * t + 3:.2f})"
        f"{verdict(p99 <= 2 * t + 3, arguments)}, T = {t:.2f} ms; idle: p50 {percentile(idle, 0.5):.2f}, "
        f"p99 {idle_p99:.2f} ms (≤ 0.5){verdict(idle_p99 <= 0.5, arguments)}"
    )
    return {"p50_ms": p50, "p99_ms": p99, "batch_ms": t, "idle_p99_ms": idle_p99, "requests": len(under_load)}


def idle_cost(bench, arguments):
    seconds = 2 if arguments.quick else 5
    time.sleep(0.5)  # what ingest set off has come to rest
    before, begin = cpu_seconds(bench.service.pid), time.monotonic()
    time.sleep(seconds)
    share = (cpu_seconds(bench.service.pid) - before) / (time.monotonic() - begin)
    good = " (met)" if share < 0.02 else " (**not met**)"
    print(f"P8 idle service: {100 * share:.2f} % of a core, target < 2 %{good}")
    return {"cores": share}


def start_to_ready(bench, arguments):
    """The null sink opens the same device and page-locks the same rings, so what that takes is not the service's. Both
    start beside the bench's own receivers: the driver is loaded."""
    rows = []
    for _ in range(3):
        config = bench.configuration.service_config(arguments, "")
        with BenchReceiver("null_sink", pathlib.Path(arguments.bin) / "bench_null_sink", config) as null_sink:
            of = null_sink.start
        with PixelService(config) as service:
            rows.append(of | {"seconds": service.ready_seconds})
            rows[-1]["beyond"] = rows[-1]["seconds"] - of["device_seconds"] - of["memory_seconds"]
    rows.sort(key=lambda row: row["beyond"])
    of = rows[1]
    print(
        f"P7 start to ready: {of['seconds']:.2f} s, of which opening the device {of['device_seconds']:.2f} s and "
        f"{of['memory_bytes'] / 2**30:.2f} GiB of {of['memory']} rings {of['memory_seconds']:.2f} s "
        f"({of['memory_bytes'] * 1e-9 / of['memory_seconds']:.1f} GB/s), both as the null sink has them; beyond these "
        f"{of['beyond']:.2f} s, target ≤ 2{' (met)' if of['beyond'] <= 2 else ' (**not met**)'}"
    )
    return rows


def measure(arguments, make_bench):
    wanted = {name for name in ("values", "pixel", "idle", "start") if getattr(arguments, name) or arguments.queries}
    if not wanted:
        return {}
    results = {}
    row = QUICK_ROW if arguments.quick else ROW
    print(f"\n{row.name}, {row.bins(arguments)} bins:")
    with make_bench(row, arguments) as bench:
        if "start" in wanted:
            results["start"] = start_to_ready(bench, arguments)
        if "idle" in wanted:
            results["idle"] = idle_cost(bench, arguments)
        if wanted & {"values", "pixel"}:
            frames = bench.warm_up()["service"]
        if "values" in wanted:
            results["values"] = values_back_to_back(bench, frames, arguments)
        if "pixel" in wanted:
            results["pixel"] = pixel_latency(bench, frames, arguments)
    return results
