"""deploy/compose.yaml as docker-compose resolves it, and its parts run here without containers: the service's
configuration, the player's arguments, what Prometheus is given. Started by check-manifests (needs PyYAML)."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "system"))

from harness import TIMEOUT, Player, Service, wait_until  # noqa: E402

DEPLOY = ROOT / "deploy"


def resolved(*files):
    command = ["docker-compose", *(part for file in files for part in ("-f", str(DEPLOY / file))), "config"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)["services"]


def host_side(service):
    """Container path: host path of the bind mounts."""
    return {target: pathlib.Path(source) for source, target, *_ in (v.split(":") for v in service["volumes"])}


def short(volumes):
    """docker-compose 1 keeps the short syntax, 2 resolves to the long one."""
    return [v if isinstance(v, str) else f"{v['source']}:{v['target']}" for v in volumes]


class ComposeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("docker-compose") is None:
            raise unittest.SkipTest("no docker-compose; apt-get install docker-compose")
        cls.services = resolved("compose.yaml")
        for service in cls.services.values():
            service["volumes"] = short(service.get("volumes", []))

    def test_what_is_mounted_is_there(self):
        self.assertEqual(set(self.services), {"pixhist", "player", "prometheus", "grafana"})
        for name, service in self.services.items():
            for target, source in host_side(service).items():
                self.assertTrue(source.exists(), f"{name}: {source} for {target}")

    def test_ours_have_no_rights_and_time_to_drain(self):
        for name in ("pixhist", "player"):
            self.assertEqual(self.services[name]["cap_drop"], ["ALL"])
            self.assertTrue(self.services[name]["read_only"])
            self.assertEqual(self.services[name]["security_opt"], ["no-new-privileges:true"])
        self.assertEqual(self.services["pixhist"]["stop_grace_period"], "40s")

    def test_the_cuda_file_changes_images_and_device_only(self):
        services = resolved("compose.yaml", "compose.cuda.yaml")
        self.assertEqual(services["pixhist"]["build"]["args"]["PIXHIST_CUDA"], "ON")
        self.assertIn("nvidia/cuda", services["pixhist"]["build"]["args"]["BUILD_IMAGE"])
        self.assertEqual({services[name]["image"] for name in ("pixhist", "player")}, {"pixhist:cuda"})
        device = services["pixhist"]["deploy"]["resources"]["reservations"]["devices"][0]
        self.assertEqual((device["driver"], device["capabilities"]), ("nvidia", ["gpu"]))

    def test_prometheus_takes_what_it_is_given(self):
        if shutil.which("promtool") is None:
            self.skipTest("no promtool")
        with tempfile.TemporaryDirectory(prefix="pixhist-test-") as folder:
            for target, source in host_side(self.services["prometheus"]).items():
                place = pathlib.Path(folder) / pathlib.Path(target).name
                (shutil.copytree if source.is_dir() else shutil.copy)(source, place)
            done = subprocess.run(["promtool", "check", "config", f"{folder}/prometheus.yml"],
                                  capture_output=True, text=True, check=False)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("1 rule files found", done.stdout)
            targets = json.loads(pathlib.Path(folder, "targets", "compose.json").read_text())
        port = self.config()["http"]["listen"].rsplit(":", 1)[1]
        self.assertEqual(targets, [{"targets": [f"pixhist:{port}"]}])

    def test_grafana_finds_prometheus_and_the_dashboard(self):
        mounts = host_side(self.services["grafana"])
        provisioning = mounts["/etc/grafana/provisioning"]
        source = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text())["datasources"][0]
        self.assertEqual((source["type"], source["url"]), ("prometheus", "http://prometheus:9090"))
        provider = yaml.safe_load((provisioning / "dashboards" / "pixhist.yaml").read_text())["providers"][0]
        dashboards = mounts[provider["options"]["path"]]
        home = self.services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
        self.assertEqual(str(pathlib.Path(home).parent), provider["options"]["path"])
        self.assertTrue((dashboards / pathlib.Path(home).name).exists())

    def config(self):
        return json.loads(host_side(self.services["pixhist"])["/etc/pixhist/config.json"].read_text())

    def test_the_player_of_the_file_reaches_the_service_of_the_file(self):
        config = self.config()
        command = self.services["player"]["command"]
        port = config["sources"][0]["endpoint"].rsplit(":", 1)[1]
        self.assertEqual(command[:2], ["--connect", f"tcp://pixhist:{port}"])
        # Ports of their own, since these may be taken here.
        config["sources"][0]["endpoint"] = config["query"]["endpoint"] = "tcp://127.0.0.1:*"
        config["http"]["listen"] = "127.0.0.1:0"
        config["log"] = {"format": "text"}  # the harness reads it
        with Service(config) as service, Player("--connect", service.data_endpoint, *command[2:]):
            wait_until(lambda: service.account()["accumulated"] > 50, lambda: service.account(), 3 * TIMEOUT)


if __name__ == "__main__":
    unittest.main()
