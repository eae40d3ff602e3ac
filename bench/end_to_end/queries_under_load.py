"""What questions cost the ingest (P4), and what ingest costs the questions (P5): clients that ask back to back, each in
a process of its own, while frames come in at full speed."""

import collections
import contextlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

from harness import die_with_parent
from table import percentile, verdict

CLIENT = pathlib.Path(__file__).resolve().parent / "query_client.py"
OPS = {
    "values": {"roi": [0, 400, 0, 400]},
    "pixel": {"row": 100, "col": 200},
    "spectrum": {},
    "image": {},
}
HEAVY = "values"  # an answer may take as long as a run, so
LONGER = 3  # times as many frames are played
MANY_ROUNDS = 3  # at most, of many clients: to start them takes longer than a run


def client_counts(arguments):
    return (1, 4) if arguments.quick else (1, 16)


@contextlib.contextmanager
def clients(service, op, number):
    """So many processes that ask back to back; their reports are in the list once the block is left."""
    reports, processes = [], []
    try:
        for _ in range(number):
            processes.append(
                subprocess.Popen(
                    [sys.executable, str(CLIENT), service.query_endpoint, op, json.dumps(OPS.get(op, {}))],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent,
                )
            )  # fmt: skip
        for process in processes:
            assert process.stdout.readline(), f"a client of {op} ended with {process.wait()}"
        yield reports
        for process in processes:
            process.stdin.close()
        for process in processes:
            reports.append(json.loads(process.stdout.read()))
    finally:
        for process in processes:
            process.kill()
            process.wait()


def batch_milliseconds(service):
    """T: mean copy and kernel time of a batch so far."""
    text = service.get("/metrics")[1]

    def mean(name):
        total, count = (float(re.search(rf"^{name}_{what} (\S+)", text, re.M)[1]) for what in ("sum", "count"))
        return total / count if count else 0.0

    return 1e3 * (mean("pixhist_batch_copy_seconds") + mean("pixhist_batch_kernel_seconds"))


def within(reports, begin, end):
    """Milliseconds of the answered requests that were in flight then, how many answers and bytes fall into that time (of
    one that began earlier or ended later, the part), and the number of refused ones by code."""
    milliseconds, refused = [], collections.Counter()
    answers = size = 0.0
    for report in reports:
        for when, ms, refusal in report["requests"]:
            until = when + 1e-3 * ms
            if until < begin or when > end:
                continue
            if refusal is not None:
                refused[refusal] += 1
                continue
            milliseconds.append(ms)
            part = (min(until, end) - max(when, begin)) / (until - when)
            answers += part
            size += part * report["reply_bytes"]
    return milliseconds, answers, size, refused


def ask_under_load(bench, frames, op, number, arguments):
    """Ingest alone and with clients take turns."""
    longer = LONGER if op == HEAVY and not arguments.quick else 1
    frames *= longer
    result = collections.defaultdict(list)
    refused = collections.Counter()
    seconds = answers = size = 0
    rounds = arguments.rounds * arguments.lives
    for _ in range(rounds if number == 1 else min(rounds, MANY_ROUNDS)):
        result["alone_gb_per_s"].append(bench.play(bench.service, frames)["gb_per_s"])
        with clients(bench.service, op, number) as reports:
            run = bench.play(bench.service, frames)
        result["asked_gb_per_s"].append(run["gb_per_s"])
        milliseconds, answered, answered_bytes, refusals = within(reports, run["began"], run["ended"])
        result["ms"] += milliseconds
        refused += refusals
        seconds += run["seconds"]
        answers += answered
        size += answered_bytes
    ratio = statistics.median(a / b for a, b in zip(result["asked_gb_per_s"], result["alone_gb_per_s"]))
    ms = result.pop("ms")
    return dict(result) | {
        "op": op, "clients": number, "ratio": ratio, "refused": dict(refused), "requests": len(ms),
        "answers_per_s": answers / seconds, "answers_gb_per_s": size * 1e-9 / seconds,
        "p50_ms": percentile(ms, 0.5), "p99_ms": percentile(ms, 0.99),
    }  # fmt: skip


def print_row(of):
    refused = of["refused"]
    print(
        f"| {of['op']} | {of['clients']} | {of['answers_per_s']:.1f} | {of['answers_gb_per_s']:.2f} "
        f"| {of['p50_ms']:.2f} | {of['p99_ms']:.2f} | {statistics.median(of['asked_gb_per_s']):.2f} "
        f"| {statistics.median(of['alone_gb_per_s']):.2f} | {of['ratio']:.2f} "
        f"| {refused.get('busy', 0)} | {refused.get('no_memory', 0)} |",
        flush=True,
    )


def judge_values(of, arguments):
    ratio = of["ratio"]
    print(
        f"P4 ingest while a client takes values back to back ÷ without: {ratio:.2f}, target ≥ 0.95"
        f"{verdict(ratio >= 0.95, arguments)}"
    )


def idle_milliseconds(bench, op, arguments):
    with clients(bench.service, op, 1) as reports:
        time.sleep(max(0.5, arguments.seconds))
    return [ms for _, ms, _ in reports[0]["requests"]]


def judge_pixel(of, bench, arguments):
    t = batch_milliseconds(bench.service)
    # A ping gets no further than the query thread: what ZeroMQ, the client and the machine take of it all.
    ping, idle = (idle_milliseconds(bench, op, arguments) for op in ("ping", "pixel"))
    p50, p99, idle_p99 = of["p50_ms"], of["p99_ms"], percentile(idle, 0.99)
    print(
        f"P5 pixel under full ingest, {of['requests']} requests: p50 {p50:.2f} ms (target ≤ T + 1 = {t + 1:.2f})"
        f"{verdict(p50 <= t + 1, arguments)}, p99 {p99:.2f} ms (≤ 2T + 3 = {2 * t + 3:.2f})"
        f"{verdict(p99 <= 2 * t + 3, arguments)}, T = {t:.2f} ms; idle: p50 {percentile(idle, 0.5):.2f}, "
        f"p99 {idle_p99:.2f} ms (≤ 0.5){verdict(idle_p99 <= 0.5, arguments)}; a ping then: "
        f"p50 {percentile(ping, 0.5):.2f}, p99 {percentile(ping, 0.99):.2f} ms"
    )
    return {
        "batch_ms": t, "idle_p50_ms": percentile(idle, 0.5), "idle_p99_ms": idle_p99,
        "ping_p50_ms": percentile(ping, 0.5), "ping_p99_ms": percentile(ping, 0.99),
    }  # fmt: skip


def measure(bench, frames, ops, arguments):
    columns = [
        "op", "clients", "answers/s", "GB/s of answers", "p50 ms", "p99 ms", "ingest GB/s", "without", "ratio", "busy",
        "no_memory",
    ]  # fmt: skip
    print(f"\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)
    rows = []
    for op in ops:
        for number in client_counts(arguments):
            rows.append(ask_under_load(bench, frames, op, number, arguments))
            print_row(rows[-1])
    print()
    for of in rows:
        if of["clients"] == 1 and of["op"] == "values":
            judge_values(of, arguments)
        elif of["clients"] == 1 and of["op"] == "pixel":
            of |= judge_pixel(of, bench, arguments)
    return rows
