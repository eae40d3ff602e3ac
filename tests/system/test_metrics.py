"""/metrics: parses, has the agreed names and labels, moves, and says what /status says."""

import re
import time
import unittest

import numpy as np

import reference
from array10 import Sender
from client import Client
from harness import ANY_PORT, FATES, Service, make_config, play, run_pixhistd, wait_until

SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')

# Name: kind and label names. What operations lists and this version has.
AGREED = {
    **{
        f"pixhist_frames_{fate}_total": ("counter", {"source"})
        for fate in FATES
    },
    "pixhist_frames_open": ("gauge", {"source"}),
    "pixhist_frames_rejected_total": ("counter", {"source", "reason"}),
    "pixhist_frames_discarded_total": ("counter", {"source", "reason"}),
    "pixhist_received_bytes_total": ("counter", {"source"}),
    "pixhist_pixel_bytes_total": ("counter", {"source"}),
    "pixhist_ring_bytes": ("gauge", {"source"}),
    "pixhist_ring_used_bytes": ("gauge", {"source"}),
    "pixhist_ring_high_water_bytes": ("gauge", {"source"}),
    "pixhist_ring_frames": ("gauge", {"source"}),
    "pixhist_frames_in_flight": ("gauge", {"source"}),
    "pixhist_batches_total": ("counter", set()),
    "pixhist_batch_kernel_seconds": ("histogram", set()),
    "pixhist_frame_latency_seconds": ("histogram", set()),
    "pixhist_socket_events_total": ("counter", {"socket", "event"}),
    "pixhist_stage_busy_ratio": ("gauge", {"stage"}),
    "pixhist_snapshot_seconds": ("histogram", set()),
    "pixhist_request_seconds": ("histogram", {"op"}),
    "pixhist_requests_total": ("counter", {"op", "code"}),
    "pixhist_requests_pending": ("gauge", set()),
    "pixhist_requests_shared_total": ("counter", set()),
    "pixhist_replies_dropped_total": ("counter", {"reason"}),
    "pixhist_snapshot_bytes": ("gauge", set()),
    "pixhist_snapshot_kept_bytes": ("gauge", set()),
    "pixhist_device_memory_bytes": ("gauge", {"kind"}),
    "pixhist_pinned_bytes": ("gauge", set()),
    "pixhist_last_frame_timestamp_seconds": ("gauge", {"source"}),
    "pixhist_last_accumulated_timestamp_seconds": ("gauge", {"source"}),
    "pixhist_values_below_total": ("counter", {"source"}),
    "pixhist_values_above_total": ("counter", {"source"}),
    "pixhist_values_invalid_total": ("counter", {"source"}),
    "pixhist_cells_saturated": ("gauge", {"source"}),
    "pixhist_run_state": ("gauge", {"state"}),
    "pixhist_run_started_timestamp_seconds": ("gauge", set()),
    "pixhist_build_info": ("gauge", {"version", "cuda", "zmq"}),
    "process_cpu_seconds_total": ("counter", set()),
    "process_resident_memory_bytes": ("gauge", set()),
    "process_virtual_memory_bytes": ("gauge", set()),
    "process_open_fds": ("gauge", set()),
    "process_max_fds": ("gauge", set()),
    "process_start_time_seconds": ("gauge", set()),
}


class Exposition:
    """The text format, version 0.0.4, strictly: every sample belongs to the family announced last, none comes twice."""

    def __init__(self, text):
        assert text.endswith("\n")
        self.types, self.samples = {}, {}
        helped = set()
        for line in text.splitlines():
            if line.startswith("# HELP "):
                name = line.split(" ", 3)[2]
                assert name not in helped, f"{name}: HELP twice"
                helped.add(name)
            elif line.startswith("# TYPE "):
                _, _, family, kind = line.split(" ")
                assert family not in self.types, f"{family}: TYPE twice"
                assert family in helped, f"{family}: no HELP"
                self.types[family] = kind
            else:
                self._add(line, family, kind)

    def _add(self, line, family, kind):
        match = SAMPLE.match(line)
        assert match, f"no sample: {line!r}"
        name, labels, value = match.groups()
        suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        assert name in {family + s for s in suffixes}, f"{name} stands under {family}"
        pairs = LABEL.findall(labels or "")
        assert "".join(f'{k}="{v}",' for k, v in pairs).rstrip(",") == (labels or ""), line
        key = (name, frozenset(pairs))
        assert len(dict(pairs)) == len(pairs) and key not in self.samples, f"twice: {line}"
        self.samples[key] = float(value)

    def value(self, name, /, **labels):
        return self.samples[(name, frozenset(labels.items()))]

    def of(self, name):
        """Labels and value of every sample of that name."""
        return [(dict(labels), value) for (n, labels), value in self.samples.items() if n == name]


def scrape(service):
    code, text = service.get("/metrics")
    assert code == 200
    return Exposition(text)


class MetricsTest(unittest.TestCase):
    def assert_well_formed(self, metrics):
        for family, kind in metrics.types.items():
            self.assertIn(kind, ("counter", "gauge", "histogram"))
            self.assertEqual(kind == "counter", family.endswith("_total"), family)
            self.assertRegex(family, "^(pixhist|process)_")
            if kind == "histogram":
                self.assert_histogram(metrics, family)

    def assert_histogram(self, metrics, family):
        series = {}
        for labels, value in metrics.of(family + "_bucket"):
            bound = float(labels.pop("le"))
            series.setdefault(frozenset(labels.items()), []).append((bound, value))
        self.assertTrue(series)
        for labels, buckets in series.items():
            bounds, counts = zip(*buckets)
            self.assertEqual(list(bounds), sorted(bounds))
            self.assertEqual(list(counts), sorted(counts), family)
            self.assertEqual(bounds[-1], float("inf"))
            self.assertGreaterEqual(bounds[-2], 30, "the top bucket exceeds every time-out")
            self.assertEqual(counts[-1], metrics.value(family + "_count", **dict(labels)))
            self.assertGreaterEqual(metrics.value(family + "_sum", **dict(labels)), 0)

    def assert_as_status(self, service):
        """At rest, so that nothing moves between the two."""
        metrics, status = scrape(service), service.status()
        for source, of_source in status["sources"].items():
            account = of_source["lifetime"]
            for fate in FATES:
                self.assertEqual(
                    metrics.value(f"pixhist_frames_{fate}_total", source=source), account[fate], fate
                )
            for fate in ("rejected", "discarded"):
                told = {
                    labels["reason"]: value
                    for labels, value in metrics.of(f"pixhist_frames_{fate}_total")
                    if labels["source"] == source and value
                }
                self.assertEqual(told, account[fate])
            self.assertEqual(metrics.value("pixhist_frames_open", source=source), account["open"])
            self.assertEqual(metrics.value("pixhist_ring_frames", source=source), account["in_ring"])
            self.assertEqual(metrics.value("pixhist_frames_in_flight", source=source), account["in_flight"])
            for key in ("received_bytes", "pixel_bytes"):
                self.assertEqual(metrics.value(f"pixhist_{key}_total", source=source), account[key])
            for key in ("bytes", "used_bytes", "high_water_bytes"):
                total = sum(ring[key] for ring in of_source["rings"])
                self.assertEqual(metrics.value(f"pixhist_ring_{key}", source=source), total)
        self.assertEqual(metrics.value("pixhist_batches_total"), status["batches"]["total"])
        self.assertEqual(metrics.value("pixhist_pinned_bytes"), status["memory"]["pinned_bytes"])
        states = {labels["state"]: value for labels, value in metrics.of("pixhist_run_state")}
        self.assertEqual([s for s, value in states.items() if value == 1], [status["state"]])
        self.assertEqual(set(states), {"starting", "running", "stopped", "draining", "device_lost"})
        return metrics

    def test_names_and_labels(self):
        with Service(make_config(4, 5)) as service, Client(service.query_endpoint) as client:
            with Sender(service.data_endpoint) as sender:
                sender.frames([np.zeros((4, 5), "u2")] * 10)
                service.wait_account(accumulated=10)
            client.ask("values")
            metrics = scrape(service)
            self.assert_well_formed(metrics)
            for name, (kind, labels) in AGREED.items():
                self.assertEqual(metrics.types.get(name), kind, name)
                for found, _ in metrics.of(name if kind != "histogram" else name + "_count"):
                    self.assertEqual(set(found), labels, name)
            build = metrics.of("pixhist_build_info")[0][0]
            self.assertIn(build["version"], run_pixhistd("--version").stdout)

    def test_counters_equal_the_status(self):
        geometry = ("--rows", 6, "--cols", 8)
        sources = [
            {
                "name": name,
                "endpoint": ANY_PORT,
                "socket": "pull",
                "bind": True,
                "shape": [6, 8],
                "origin": [0, col],
            }
            for name, col in (("left", 0), ("right", 8))
        ]
        begin = time.time()
        with Service(make_config(6, 16, sources=sources)) as service, Client(
            service.query_endpoint
        ) as client:
            self.assert_well_formed(self.assert_as_status(service))
            left = play(
                *geometry, "--connect", service.data_endpoints[0], "--frames", 2000, "--skip", "every:11",
                "--duplicate", "every:13", "--bad-header", "every:17", "--wrong-size", "every:19", "--reorder", "every:23",
            )  # fmt: skip
            right = play(*geometry, "--connect", service.data_endpoints[1], "--frames", 700)
            service.wait_account("left", control=1, received=left["messages"])
            service.wait_account("right", control=1, accumulated=700)
            client.ask("stop")
            metrics = self.assert_as_status(service)
            self.assert_well_formed(metrics)
            self.assertEqual(metrics.value("pixhist_frames_accumulated_total", source="left"), left["frames"])
            self.assertEqual(
                metrics.value("pixhist_frames_accumulated_total", source="right"), right["frames"]
            )
            self.assertEqual(
                metrics.value("pixhist_frames_rejected_total", source="left", reason="size"),
                left["wrong_size"],
            )
            for source in ("left", "right"):
                came, counted = (
                    metrics.value(f"pixhist_last_{what}_timestamp_seconds", source=source)
                    for what in ("frame", "accumulated")
                )
                self.assertLessEqual(begin, came + 0.001)  # cut to milliseconds
                self.assertLessEqual(came, counted)
                self.assertLessEqual(counted, time.time())
            self.assertEqual(
                metrics.value("pixhist_batch_kernel_seconds_count"), metrics.value("pixhist_batches_total")
            )

    def test_values_outside_the_axis(self):
        stack = np.random.default_rng(1).integers(0, 65536, (40, 5, 7), "u2")
        config = make_config(5, 7, axis={"bins": 10, "min": 9000, "max": 50000})
        config["sources"][0]["invalid"] = [int(stack[0, 0, 0]), int(stack[3, 2, 1])]
        wanted = reference.histogram(stack, 10, 9000, 50000, invalid_values=config["sources"][0]["invalid"])
        with Service(config) as service, Sender(service.data_endpoint) as sender:
            sender.frames(stack)
            service.wait_account(accumulated=40)

            def told():
                metrics = scrape(service)
                return [
                    metrics.value(f"pixhist_values_{w}_total", source="module0")
                    for w in ("below", "above", "invalid")
                ]

            totals = [int(x.sum()) for x in (wanted.below, wanted.above, wanted.invalid)]
            wait_until(lambda: told() == totals, lambda: f"{told()} become {totals}")

    def test_requests_are_counted_by_op_and_code(self):
        with Service(make_config(4, 5)) as service, Client(service.query_endpoint) as client:
            for _ in range(5):
                client.ask("ping")
            client.ask("values")
            client.refusal("pixel", row=99, col=0)
            client.refusal("nonsense")
            metrics = scrape(service)
            told = {
                (labels["op"], labels["code"]): value
                for labels, value in metrics.of("pixhist_requests_total")
            }
            self.assertEqual(told.pop(("ping", "ok")), 5)
            self.assertEqual(told.pop(("values", "ok")), 1)
            self.assertEqual({code for _, code in told}, {"pixel_out_of_range", "unknown_op"})
            self.assertEqual(metrics.value("pixhist_request_seconds_count", op="ping"), 5)
            self.assertEqual(metrics.value("pixhist_snapshot_seconds_count"), 1)

    def test_a_scrape_in_full_flow(self):
        with Service(make_config(16, 16, batch={"frames": 16})) as service:
            with Sender(service.data_endpoint) as sender:
                before = 0
                for i in range(20):
                    sender.frames([np.zeros((16, 16), "u2")] * 100, first=100 * i)
                    metrics = scrape(service)
                    self.assert_well_formed(metrics)
                    accumulated = metrics.value("pixhist_frames_accumulated_total", source="module0")
                    self.assertGreaterEqual(accumulated, before)
                    before = accumulated
                service.wait_account(accumulated=2000)
            self.assert_as_status(service)


if __name__ == "__main__":
    unittest.main()
