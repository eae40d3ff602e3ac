"""A real Prometheus scrapes pixhistd under load: every panel of the dashboard gets data, every metric that rules and
dashboard name is there and moves, alerts fire. Skips (77) where there is no prometheus or promtool."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "deploy" / "lib")]

from harness import TIMEOUT, wait_until  # noqa: E402

from children import Children, free_port  # noqa: E402
from local_prometheus import LocalPrometheus, PrometheusError  # noqa: E402
from monitoring_load import Load  # noqa: E402

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
ALERTS_TEST = ROOT / "deploy" / "prometheus" / "alerts_test.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboards" / "pixhist.json"
DEPLOYMENT = ROOT / "docs" / "deployment.md"

METRIC = re.compile(r"\b(?:pixhist|process)_[a-z0-9_]+\b")
LEGEND_LABEL = re.compile(r"\{\{(\w+)\}\}")
VARIABLE = re.compile(r"label_values\((.*), (\w+)\)$")
# What Grafana puts in for a panel, here for scrapes a second apart.
BUILT_IN = {"$__rate_interval": "5s", "$__range": "30s", "$instance": ".*", "$source": ".*"}
# Everything else that rules or dashboard name must change while the load goes on.
CONSTANT = {
    "pixhist_build_info": "facts of the build",
    "pixhist_ring_bytes": "memory taken at the start",
    "pixhist_pinned_bytes": "memory taken at the start; 0 without a GPU",
    "pixhist_device_memory_bytes": "memory taken at the start; 0 without a GPU",
    "pixhist_cells_saturated": "takes 2^32 counts; cap_and_saturation_test.cpp fills cells so far",
    "process_max_fds": "a limit",
    "pixhist_frames_incomplete_total": "array10, which the load speaks, has no incomplete frames",
    # Of the copy to a device there is none on a CPU; its bucket of times stays empty.
    "pixhist_batch_copy_seconds_sum": "0 without a GPU",
    "pixhist_batch_copy_seconds_count": "0 without a GPU",
}


def panels():
    return [p for p in json.loads(DASHBOARD.read_text())["panels"] if p["type"] != "row"]


def variables():
    """Name, query and label of the variables that Grafana fills from metrics."""
    listed = json.loads(DASHBOARD.read_text())["templating"]["list"]
    return [(v["name"], *VARIABLE.match(v["query"]["query"]).groups()) for v in listed if v["type"] == "query"]


def filled(expression):
    for name, value in BUILT_IN.items():
        expression = expression.replace(name, value)
    return expression


def alert_names():
    return re.findall(r"^ *- alert: (\w+)$", ALERTS.read_text(), re.MULTILINE)


def metrics_named():
    expressions = [t["expr"] for p in panels() for t in p["targets"]]
    expressions += [query for _, query, _ in variables()]
    expressions += re.findall(r"expr: (.*(?:\n {10,}.*)*)", ALERTS.read_text())
    return set(METRIC.findall(" ".join(expressions)))


def promtool(*arguments, text=None):
    done = subprocess.run(["promtool", *map(str, arguments)], input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


class FilesTest(unittest.TestCase):
    def test_promtool_has_nothing_to_say(self):
        for arguments in (("check", "rules", ALERTS), ("test", "rules", ALERTS_TEST)):
            code, said = promtool(*arguments)
            self.assertEqual(code, 0, said)
            self.assertIn("SUCCESS", said)

    def test_each_alert_is_tested_both_ways_and_has_its_line_in_the_runbook(self):
        told = ALERTS_TEST.read_text()
        headings = DEPLOYMENT.read_text()
        self.assertGreater(len(alert_names()), 8)
        for name in alert_names():
            silent = re.findall(rf"alertname: {name}, exp_alerts: \[\]", told)
            firing = re.findall(rf"alertname: {name}\n +exp_alerts:( \*| &|\n)", told)
            self.assertGreaterEqual(len(silent), 2, f"{name}: before and after")
            self.assertGreaterEqual(len(firing), 1, name)
            self.assertRegex(ALERTS.read_text(), rf"runbook: docs/deployment.md#{name.lower()}\n")
            self.assertRegex(headings, rf"(?m)^### {name}$")

    def test_the_dashboard_names_its_panels_and_data_source(self):
        self.assertGreaterEqual(len(panels()), 20)
        rows = [p["title"] for p in json.loads(DASHBOARD.read_text())["panels"] if p["type"] == "row"]
        self.assertEqual(rows, ["Overview", "Account", "Pipeline", "Requests", "Process"])
        self.assertEqual(len({p["id"] for p in panels()}), len(panels()))
        for panel in panels():
            self.assertTrue(panel["targets"], panel["title"])
            for target in panel["targets"]:
                self.assertEqual(target["datasource"], {"type": "prometheus", "uid": "${datasource}"})


class ScrapeTest(unittest.TestCase):
    """One service, one Prometheus and one load for all tests of the class: the seconds are theirs."""

    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(children := Children())
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="pixhist-test-"))
        cls.port = free_port(0)
        cls.prometheus = LocalPrometheus(children, folder, [f"127.0.0.1:{cls.port}"], port=0, interval="1s")
        cls.load = cls.enterClassContext(Load(cls.port))
        # Scraped once at rest, so that what is busy later is seen to move.
        cls.prometheus.wait_ready(3 * TIMEOUT)
        cls.load.start()

    def values(self, expression):
        return [value for _, value in self.prometheus.query(expression) if value == value]  # not NaN

    def test_1_every_panel_gets_data(self):
        for panel in panels():
            for target in panel["targets"]:
                expression = filled(target["expr"])
                self.assertNotIn("$", expression)
                with self.subTest(panel["title"], expression=expression):
                    wait_until(lambda e=expression: self.values(e), expression, 3 * TIMEOUT)
                    for labels, _ in self.prometheus.query(expression):
                        # A label that is not there would show as an empty name.
                        wanted = set(LEGEND_LABEL.findall(target["legendFormat"])) - {"reason", "code", "op"}
                        self.assertLessEqual(wanted, set(labels), expression)

    def test_2_the_variables_have_values(self):
        for name, query, label in variables():
            found = {labels[label] for labels, _ in self.prometheus.query(f"group by ({label}) ({filled(query)})")}
            wanted = {"instance": {f"127.0.0.1:{self.port}"}, "source": {"upper", "lower", "words"}}
            self.assertEqual(found, wanted[name])

    def test_3_every_metric_named_is_there_and_moves(self):
        named = metrics_named()
        self.assertGreater(len(named), 40)
        self.assertLessEqual(set(CONSTANT), named)
        self.load.stop_and_start()  # run_state and the start of the run
        for metric in sorted(named):
            with self.subTest(metric):
                self.assertTrue(self.prometheus.query(metric), "not exported")
        # The start of the process moves in test_6.
        still = named - set(CONSTANT) - {"process_start_time_seconds"}

        def all_moved():
            for metric in sorted(still):
                if self.values(f"(max_over_time({metric}[5m]) - min_over_time({metric}[5m])) > 0"):
                    still.discard(metric)
            return not still

        wait_until(all_moved, lambda: f"never moved: {sorted(still)}", 6 * TIMEOUT)

    def test_4_promtool_has_nothing_to_say_of_the_metrics(self):
        code, said = promtool("check", "metrics", text=self.load.service.get("/metrics")[1])
        self.assertEqual((code, said), (0, ""))

    def test_5_alerts_fire(self):
        for rule in self.prometheus.rules():
            self.assertEqual((rule["health"], rule.get("lastError", "")), ("ok", ""), rule["name"])
        self.assertEqual({rule["name"] for rule in self.prometheus.rules()}, set(alert_names()))
        wanted = {"PixhistFramesLost", "PixhistFramesRejected", "PixhistFramesDiscarded", "PixhistRingHighWater"}
        wait_until(lambda: wanted <= self.prometheus.firing(), lambda: f"firing: {self.prometheus.firing()}", 3 * TIMEOUT)
        self.assertNotIn("PixhistRestarted", self.prometheus.firing())
        self.assertNotIn("PixhistDown", self.prometheus.firing())

    def test_6_a_restart_is_seen(self):
        self.load.restart()
        wait_until(lambda: "PixhistRestarted" in self.prometheus.firing(), "the alert of a restart", 3 * TIMEOUT)

    def test_7_a_query_that_is_wrong_says_so(self):
        with self.assertRaises(PrometheusError):
            self.prometheus.query("sum(")


if __name__ == "__main__":
    missing = [program for program in ("prometheus", "promtool") if shutil.which(program) is None]
    if missing:
        print(f"SKIPPED: no {' and no '.join(missing)}; deploy/install-dependencies --test")
        sys.exit(77)
    unittest.main()
