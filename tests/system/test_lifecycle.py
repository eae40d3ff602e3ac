"""Start and run: configuration and its errors, exit codes, health, logs, memory."""

import glob
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

import numpy as np
import zmq

from array10 import Sender
from client import Client
from harness import PIXHISTD, TIMEOUT, Service, config_file, make_config, run_pixhistd, wait_until

# Every key of docs/configuration.md, its groups nested; the list of sources has one element.
KEYS = {
    "detector": ["rows", "cols", "pixel_type"],
    "axis": ["bins", "min", "max", "type", "map", "unit"],
    "sources": [
        "name", "endpoint", "endpoints", "socket", "bind", "topic", "format", "origin", "shape", "channel", "on_full",
        "on_incomplete", "invalid", "mask_file", "sequence", "curve_server_key", "forward",
    ],
    "device": ["kind", "index", "policy", "cpu_threads"],
    "batch": ["frames", "bytes", "max_age_ms"],
    "ring": ["bytes", "rcvhwm_bytes"],
    "runs": ["policy", "close_after_s", "autostart"],
    "query": ["endpoint", "max_reply_bytes", "max_pending", "max_pending_per_client", "allow_control"],
    "snapshot": ["max_bytes", "max_held", "ttl_s"],
    "publish": ["endpoint", "every_ms"],
    "http": ["listen"],
    "live": ["listen"],
    "checkpoint": ["directory", "every_s", "compress"],
    "save": ["directory"],
    "curve": ["secret_key_file", "clients_dir"],
    "log": ["format", "level", "file"],
    "shutdown": ["receive_grace_ms", "timeout_s"],
}  # fmt: skip


def listening_socket():
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    return taken, "127.0.0.1:%d" % taken.getsockname()[1]


class ConfigurationTest(unittest.TestCase):
    def test_all_errors_at_once(self):
        wrong = {
            "detector": {"rows": 0, "cols": "many", "pixel_type": "u12"},
            "axis": {"bins": 70000, "min": 5, "max": 5},
            "batch": {"max_age": 5, "frames": 1.5},
            "ring": {"bytes": "2 GiBi"},
            "sources": [{"socket": "rep", "bind": 1, "format": "stins", "endpoint": "udp://x"}],
            "log": {"level": "loud"},
            "nonsense": {},
        }
        keys = (
            "detector.rows", "detector.cols", "detector.pixel_type", "axis.bins", "batch.max_age", "batch.frames", "ring.bytes",
            "sources.0.socket", "sources.0.bind", "sources.0.format", "sources.0.endpoint", "log.level", "nonsense",
            "query.max_pending", "http.listem", "device.kind",
        )  # fmt: skip
        with config_file(wrong) as path:
            done = run_pixhistd(
                "--config",
                path,
                "--set",
                "query.max_pending=-1",
                "--set",
                "http.listem=127.0.0.1:1",
                env={"PIXHIST__DEVICE__KIND": "tpu"},
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            lines = done.stderr.splitlines()
            for key in keys:
                self.assertTrue(
                    any(line.startswith(key + ":") for line in lines),
                    f"{key} is not named in:\n{done.stderr}",
                )
            self.assertIn("did you mean batch.max_age_ms?", done.stderr)
            self.assertIn("did you mean http.listen?", done.stderr)
            checked = run_pixhistd("--config", path, "--check-config", "--json")
            self.assertEqual(checked.returncode, 2)
            paths = {error["path"] for error in json.loads(checked.stdout)["errors"]}
            self.assertLessEqual(
                {k for k in keys if k not in ("query.max_pending", "http.listem", "device.kind")}, paths
            )

    def test_files_that_are_no_configuration(self):
        for text in ("", "{", "[]", '{"detector":{"rows":1,"rows":2}}', '{"a":1}x', '{"detector.rows":5}'):
            with self.subTest(text), config_file(text) as path:
                self.assertEqual(run_pixhistd("--config", path).returncode, 2)
        missing = run_pixhistd("--config", "/nowhere/at/all.json")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("/nowhere/at/all.json", missing.stderr)
        for arguments in (["--nonsense"], ["--set", "axis.bins"], ["--check-config", "--print-schema"]):
            self.assertEqual(run_pixhistd(*arguments).returncode, 2, arguments)

    def test_what_does_not_fit_together(self):
        two = [{"name": n, "origin": [0, 0], "shape": [4, 4]} for n in "ab"]
        for config, named in (
            (make_config(4, 4, axis={"map": "adc"}, pixel_type="u8"), "axis.map"),
            (make_config(4, 4, axis={"type": "double"}), "axis.type"),
            (make_config(4, 8, sources=two), "sources"),
            (make_config(4, 8, sources=[two[0], {"name": "b", "shape": [4, 4]}]), "sources.1.origin"),
            (make_config(4, 8, sources=[two[0], {"name": "b", "origin": [0, 4]}]), "sources.1.shape"),
            (make_config(4, 8, sources=[two[0], dict(two[1], origin=[0, 5])]), "sources"),
            (make_config(512, 1024, ring={"bytes": "1MiB"}), "ring.bytes"),
        ):
            with self.subTest(named), config_file(config) as path:
                done = run_pixhistd("--config", path, "--check-config")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, rf"(?m)^{re.escape(named)}:")

    def test_what_is_not_built_is_refused_unless_at_its_default(self):
        for key, value in (
            ("publish.endpoint", "tcp://127.0.0.1:1"), ("live.listen", "127.0.0.1:1"), ("checkpoint.directory", "/tmp"),
            ("save.directory", "/tmp"), ("sources.0.format", "stins"),
        ):  # fmt: skip
            done = run_pixhistd("--check-config", "--set", f"{key}={value}")
            self.assertEqual(done.returncode, 2, key)
            self.assertRegex(done.stderr, rf"(?m)^{re.escape(key)}:.*not built yet")
        checked = run_pixhistd("--check-config", "--json")
        self.assertEqual(checked.returncode, 0, checked.stderr)
        with config_file(json.loads(checked.stdout)["config"]) as path:
            self.assertEqual(run_pixhistd("--config", path, "--check-config").returncode, 0)

    def test_flag_beats_environment_beats_file(self):
        environment = {
            "PIXHIST__BATCH__MAX_AGE_MS": "200", "PIXHIST__batch__frames": "20", "PIXHIST_IGNORED": "x",
            "PIXHIST__SOURCES__0__NAME": "east",
        }  # fmt: skip
        with config_file({"batch": {"max_age_ms": 100, "frames": 10, "bytes": "1MiB"}}) as path:
            done = run_pixhistd(
                "--config", path, "--set", "batch.max_age_ms=300", "--check-config", "--json", env=environment
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        checked = json.loads(done.stdout)
        batch = checked["config"]["batch"]
        self.assertEqual((batch["max_age_ms"], batch["frames"]), (300, 20))
        self.assertIn(batch["bytes"], (1 << 20, "1MiB"))
        self.assertEqual(checked["config"]["sources"][0]["name"], "east")
        self.assertEqual(checked["origins"]["batch.max_age_ms"], "--set")

    def test_what_cannot_be_printed_is_said(self):
        with open("/dev/full", "w") as full:
            for arguments in (["--print-schema"], ["--check-config"], ["--check-config", "--json"], ["--help"]):
                with self.subTest(arguments):
                    done = subprocess.run(
                        [PIXHISTD, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT
                    )
                    self.assertEqual(done.returncode, 5)
                    self.assertIn("standard output", done.stderr)

    def test_schema_names_every_key(self):
        done = run_pixhistd("--print-schema")
        self.assertEqual(done.returncode, 0)
        groups = json.loads(done.stdout)["properties"]
        self.assertEqual(set(groups), set(KEYS))
        for group, keys in KEYS.items():
            schema = groups[group]["items"] if group == "sources" else groups[group]
            self.assertEqual(set(schema["properties"]), set(keys), group)
            self.assertFalse(schema["additionalProperties"])
        self.assertEqual(
            set(groups["sources"]["items"]["properties"]["sequence"]["properties"]), {"window", "step"}
        )

    def test_check_config_warns_of_a_comb(self):
        done = run_pixhistd("--check-config", "--set", "axis.bins=1000")
        self.assertEqual(done.returncode, 0)
        self.assertIn("comb", done.stdout)
        self.assertNotIn("comb", run_pixhistd("--check-config").stdout)


class ExitTest(unittest.TestCase):
    def test_cuda_asked_for_and_not_there(self):
        if glob.glob("/dev/nvidia[0-9]*"):
            self.skipTest("this machine has a GPU: " + ", ".join(glob.glob("/dev/nvidia[0-9]*")))
        with config_file(make_config(4, 4, device={"kind": "cuda"})) as path:
            done = run_pixhistd("--config", path)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"device\.kind is cuda, but no usable CUDA device was found: \S+")

    def test_ports_in_use(self):
        taken, address = listening_socket()
        bound_source = [{"endpoint": "tcp://" + address, "socket": "pull", "bind": True}]
        with taken:
            for config, named in (
                (make_config(4, 4, query={"endpoint": "tcp://" + address}), "tcp://" + address),
                (make_config(4, 4, http={"listen": address}), address),
                (make_config(4, 4, sources=bound_source), "tcp://" + address),
                (
                    make_config(4, 4, sources=[dict(bound_source[0], endpoint="ipc:///nowhere/at/all")]),
                    "ipc:///nowhere/at/all",
                ),
            ):
                with self.subTest(named), config_file(config) as path:
                    done = run_pixhistd("--config", path)
                    self.assertEqual(done.returncode, 4, done.stderr)
                    self.assertIn(named, done.stderr)

    def test_log_file_that_cannot_be_opened(self):
        with config_file(make_config(4, 4, log={"file": "/nowhere/at/all.log"})) as path:
            done = run_pixhistd("--config", path)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("/nowhere/at/all.log", done.stderr)

    def test_histograms_that_do_not_fit(self):
        # 2^40 pixels: no machine has 4 EiB.
        changes = (
            "detector.rows=1048576",
            "detector.cols=1048576",
            "detector.pixel_type=u8",
            "axis.bins=65536",
        )
        done = run_pixhistd(*[a for c in changes for a in ("--set", c)])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("bytes", done.stderr)

    def test_version_and_help(self):
        self.assertRegex(run_pixhistd("--version").stdout, r"^pixhistd \d+\.\d+\.\d+\n$")
        self.assertIn("Exit codes:", run_pixhistd("--help").stdout)


class RunningTest(unittest.TestCase):
    def test_pages_and_health(self):
        with Service(make_config(4, 5)) as service, Client(service.query_endpoint) as client:
            self.assertEqual(service.get("/healthz"), (200, "ok\n"))
            self.assertEqual(service.get("/readyz"), (200, "running\n"))
            self.assertIn("/metrics", service.get("/")[1])
            self.assertEqual(run_pixhistd("--health", service.http + "/healthz").returncode, 0)
            self.assertEqual(run_pixhistd("--health", service.http + "/nothing").returncode, 1)
            client.ask("stop")
            self.assertEqual(service.get("/readyz"), (200, "stopped\n"))
            # The two ways to the status tell the same.
            by_query, by_http = client.result("status"), service.status()
            self.assertEqual(set(by_query), set(by_http))
            self.assertEqual(
                by_query["sources"]["module0"]["lifetime"], by_http["sources"]["module0"]["lifetime"]
            )
            gone = service.http
            service.stop()
        done = run_pixhistd("--health", gone + "/healthz")
        self.assertEqual(done.returncode, 1)
        self.assertIn(gone, done.stderr)

    def test_memory_is_what_check_config_said(self):
        config = make_config(64, 96, axis={"bins": 200}, ring={"bytes": "20MiB"})
        with config_file(config) as path:
            planned = json.loads(run_pixhistd("--config", path, "--check-config", "--json").stdout)["memory"]
        with Service(config) as service, Sender(service.data_endpoint) as sender:
            sender.frames([np.zeros((64, 96), "u2")] * 300)
            service.wait_account(accumulated=300)
            memory = service.status()["memory"]
            for kind in ("host", "pinned", "device"):
                wanted = planned["total"][kind]
                self.assertLessEqual(abs(memory[f"{kind}_bytes"] - wanted), 0.05 * wanted, kind)
            total = sum(planned["total"].values())
            self.assertGreater(total, (20 << 20) + 64 * 96 * 200 * 4)
            self.assertGreaterEqual(memory["resident_bytes"], total * 0.95)

    def test_autostart_false(self):
        frame = np.full((4, 5), 7, "u2")
        with Service(make_config(4, 5, runs={"autostart": False})) as service:
            with Sender(service.data_endpoint) as sender, Client(service.query_endpoint) as client:
                self.assertEqual(service.get("/readyz"), (200, "stopped\n"))
                sender.frames([frame] * 30)
                wait_until(lambda: service.account()["discarded"].get("stop") == 30, "frames are discarded")
                self.assertEqual(client.array("values", fresh=True).sum(), 0)
                started = client.result("start", name="first")
                self.assertEqual((started["state"], started["changed"]), ("running", True))
                sender.frames([frame] * 20, first=30)
                service.wait_account(accumulated=20)
                result, counts = client.ask("values", fresh=True)
                self.assertEqual(counts.sum(), 20 * 20)
                self.assertEqual(result["cut"]["totals"]["account"]["discarded"], {})

    def test_log_lines_and_sighup(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "pixhist.log"
            rotated = pathlib.Path(folder) / "pixhist.log.1"
            config = make_config(4, 5, log={"file": str(path), "format": "json"})
            with Service(config) as service:
                os.rename(path, rotated)
                service.signal(signal.SIGHUP)
                wait_until(path.exists, "the log file is opened anew")
                service.stop()
                on_stderr = service.log().splitlines()
            before, after = rotated.read_text().splitlines(), path.read_text().splitlines()
            self.assertEqual(before + after, on_stderr)
            for line in on_stderr:
                record = json.loads(line)
                self.assertEqual(list(record), ["time", "level", "thread", "message"])
                self.assertRegex(record["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn("ready: running", "\n".join(before))
            self.assertEqual(json.loads(after[-1])["message"], "drained")

    def test_two_services_side_by_side(self):
        with Service(make_config(4, 5)) as one, Service(make_config(4, 5)) as other:
            self.assertNotEqual(one.query_endpoint, other.query_endpoint)
            self.assertNotEqual(one.http, other.http)

    def test_a_sender_that_comes_later(self):
        taken, address = listening_socket()
        taken.close()
        sources = [{"endpoint": "tcp://" + address, "socket": "pull"}]
        with Service(make_config(4, 5, sources=sources)) as service:
            try:
                sender = Sender("tcp://" + address, bind=True)
            except zmq.ZMQError:
                self.skipTest("the port was taken meanwhile")
            with sender:
                sender.frames([np.zeros((4, 5), "u2")] * 10)
                service.wait_account(accumulated=10)


if __name__ == "__main__":
    unittest.main()
