"""Questions and their price: under load (P4, P5), the time of a large answer (P6), latency; the idle service (P8); its
start (P7). Each is an option of end_to_end.py and prints rows of its own."""

import pathlib
import time

import latency
import queries_under_load
import reply_time
from configurations import Configuration
from process_cost import cpu_seconds
from receivers import BenchReceiver, PixelService

ROW = Configuration("1 MiB", 4)
QUICK_ROW = Configuration("1 MiB", 2)
CORE_OPS = ("values", "pixel")


def add_options(parser):
    group = parser.add_argument_group("under queries")
    group.add_argument("--queries", action="store_true", help="all of the following; spectrum and image with --all")
    group.add_argument("--values", action="store_true", help="P4: ingest while 1 and 16 clients take values")
    group.add_argument("--pixel", action="store_true", help="P5: pixel by 1 and 16 clients under full ingest, and idle")
    group.add_argument("--spectrum", action="store_true", help="the same with spectrum")
    group.add_argument("--image", action="store_true", help="the same with image")
    group.add_argument("--values-latency", action="store_true", help="P6: time of one large answer against its ceiling")
    group.add_argument("--latency", action="store_true", help="send to sight at several rates and batch sizes")
    group.add_argument("--idle", action="store_true", help="P8: CPU use of the idle service")
    group.add_argument("--start", action="store_true", help="P7: start to ready")


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


def chosen_ops(arguments):
    every = arguments.queries and arguments.all
    return [
        op
        for op in queries_under_load.OPS
        if getattr(arguments, op) or every or (arguments.queries and op in CORE_OPS)
    ]


def beside_ingest(wanted, ops, arguments, make_bench):
    row = QUICK_ROW if arguments.quick else ROW
    print(f"\n{row.name}, {row.bins(arguments)} bins:")
    with make_bench(row, arguments) as bench:
        if "start" in wanted:
            yield "start", start_to_ready(bench, arguments)
        if "idle" in wanted:
            yield "idle", idle_cost(bench, arguments)
        if ops:
            frames = bench.warm_up()["service"]
            yield "under_load", queries_under_load.measure(bench, frames, ops, arguments)


def measure(arguments, make_bench):
    """Names and results, as they come."""
    names = ("start", "idle", "values_latency", "latency")
    wanted = {name for name in names if getattr(arguments, name) or arguments.queries}
    ops = chosen_ops(arguments)
    if ops or wanted & {"start", "idle"}:
        yield from beside_ingest(wanted, ops, arguments, make_bench)
    if "values_latency" in wanted:
        yield "values_latency", reply_time.measure(arguments)
    if "latency" in wanted:
        yield "latency", latency.measure(arguments)
