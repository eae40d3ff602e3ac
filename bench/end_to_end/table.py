"""From runs to rows: medians, ratios of a round, targets."""

import math
import statistics

# Of P2, beside a device. On the CPU, counting sets the pace, so the service's ratios have no target there.
TARGETS = {"service_to_null_sink": 0.95, "null_sink_to_bare": 0.90, "cpu_service_to_bare": 1.15}


def percentile(values, part):
    """The smallest of the values that at least `part` of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)] if ordered else math.nan


def verdict(good, arguments):
    """On the CPU counting sets the pace: no target."""
    return "" if arguments.device == "cpu" else " (met)" if good else " (**not met**)"


def median_of(rounds, kind, key):
    return statistics.median(r[kind][key] for r in rounds)


def max_or_none(values):
    """Of a receiver without a ring there are none."""
    return max((v for v in values if v is not None), default=None)


def threads_of(rounds, kind):
    """CPU seconds per GB by kind of thread."""
    names = sorted({name for r in rounds for name in r[kind]["threads"]})
    return {name: statistics.median(r[kind]["threads"].get(name, 0) for r in rounds) for name in names}


def median_ratio(rounds, key, of, to):
    """Within a round, so that what slows the machine down for a while slows both."""
    return statistics.median(r[of][key] / r[to][key] for r in rounds)


def summary(configuration, rounds, high_waters, arguments):
    kinds = list(rounds[0])
    keys = [key for key in rounds[0][kinds[0]] if key != "threads"]
    ratios = {
        "service_to_null_sink": median_ratio(rounds, "gb_per_s", "service", "null_sink"),
        "null_sink_to_bare": median_ratio(rounds, "gb_per_s", "null_sink", "bare"),
        "cpu_service_to_bare": median_ratio(rounds, "cpu_s_per_gb", "service", "bare"),
        "cpu_null_sink_to_bare": median_ratio(rounds, "cpu_s_per_gb", "null_sink", "bare"),
    }
    met = {"null_sink_to_bare": ratios["null_sink_to_bare"] >= TARGETS["null_sink_to_bare"]}
    if arguments.device == "cuda":
        met["service_to_null_sink"] = ratios["service_to_null_sink"] >= TARGETS["service_to_null_sink"]
        met["cpu_service_to_bare"] = ratios["cpu_service_to_bare"] <= TARGETS["cpu_service_to_bare"]
    return {
        "name": configuration.name,
        "bins": configuration.bins(arguments),
        "medians": {k: {key: median_of(rounds, k, key) for key in keys} for k in kinds},
        "threads": {k: threads_of(rounds, k) for k in kinds},
        "ring_high_water": {k: max_or_none(of[k] for of in high_waters) for k in kinds},
        "ratios": ratios,
        "met": met,
        "rounds": rounds,
    }


def print_head(arguments):
    targets = ["≥ 0.95", "≥ 0.90", "≤ 1.15"] if arguments.device == "cuda" else ["-", "≥ 0.90", "-"]
    columns = [
        "row, bins", "GB/s", "CPU s per GB", "page faults a frame", "ring high water", "refused by PUB", "lost",
        f"service ÷ null sink ({targets[0]})", f"null sink ÷ bare ({targets[1]})",
        f"CPU service ÷ bare ({targets[2]})",
    ]  # fmt: skip
    print(
        f"{arguments.device}; medians of {arguments.lives} × {arguments.rounds} rounds of about {arguments.seconds:g} s; "
        f"service / null sink / bare. Lost: sent, and not accumulated.\n\n"
        f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}",
        flush=True,
    )


def print_row(row):
    of = row["medians"]

    def three(key, form):
        return " / ".join(format(of[kind][key], form) for kind in ("service", "null_sink", "bare"))

    def ratio(key):
        text = f"{row['ratios'][key]:.2f}"
        return text if row["met"].get(key, True) else f"**{text}**"

    high = row["ring_high_water"]
    print(
        f"| {row['name']}, {row['bins']} | {three('gb_per_s', '.2f')} | {three('cpu_s_per_gb', '.3f')} "
        f"| {three('faults_per_frame', '.1f')} | {high['service']:.2f} / {high['null_sink']:.2f} "
        f"| {of['service']['refused']:.0f} | {three('lost', '.0f')} | {ratio('service_to_null_sink')} "
        f"| {ratio('null_sink_to_bare')} | {ratio('cpu_service_to_bare')} |",
        flush=True,
    )


def print_threads(rows):
    """Where the CPU time goes. ZMQbg: ZeroMQ's own threads, which copy out of the kernel."""
    print("\n| row | CPU s per GB by thread |\n| --- | --- |")
    for row in rows:
        parts = (
            f"{kind}: " + ", ".join(f"{name} {s:.3f}" for name, s in threads.items() if s >= 0.0005)
            for kind, threads in row["threads"].items()
        )
        print(f"| {row['name']} | {'; '.join(parts)} |", flush=True)
