"""A Prometheus of its own, on loopback and in a temporary folder, with the rules and the scrape configuration of
deploy/prometheus: for deploy/prometheus/run-local and the tests. Needs the program `prometheus`, no root, no daemon.
"""
import json
import pathlib
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from children import free_port

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "prometheus"
# Loopback is never asked for through a proxy of the environment.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class PrometheusError(RuntimeError):
    """What went wrong, for people."""


class LocalPrometheus:
    """Scrapes `targets` (host:port) until `children` (children.Children) ends it. `interval`: of scrapes and rules, in
    place of the configuration's."""

    def __init__(self, children, folder, targets, port=9090, interval=None):
        folder = pathlib.Path(folder) / "prometheus"
        (folder / "targets").mkdir(parents=True)
        shutil.copy(SOURCE / "alerts.yml", folder)
        text = (SOURCE / "prometheus.yml").read_text(encoding="utf-8")
        if interval:
            text = re.sub(r"((?:scrape|evaluation)_interval): \S+", rf"\1: {interval}", text)
        (folder / "prometheus.yml").write_text(text, encoding="utf-8")
        (folder / "targets" / "local.json").write_text(json.dumps([{"targets": targets}]), encoding="utf-8")
        self.target_count = len(targets)
        port = free_port(port)
        self.url = f"http://127.0.0.1:{port}"
        self.log_path = folder / "prometheus.log"
        program = shutil.which("prometheus")
        if program is None:
            raise PrometheusError("there is no program prometheus; Debian and Ubuntu have a package of that name")
        with self.log_path.open("wb") as log:
            self.process = children.start(
                [program, f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
                 f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"],
                stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def get(self, path, **parameters):
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        with OPENER.open(self.url + path + query, timeout=10) as reply:
            return reply.read()

    def wait_ready(self, seconds=30):
        """Ready, and every target scraped once (up to five seconds after the start): what is counted later is seen to
        grow."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                self.get("/-/ready")
                if self.number("count(up == 1)") == self.target_count:
                    return
            except (urllib.error.URLError, OSError):
                pass  # not yet
            time.sleep(0.1)
        raise PrometheusError(f"prometheus is not ready, or cannot scrape; it says:\n{self.log_path.read_text(errors='replace')[-4000:]}")

    def query(self, expression):
        """The instant vector of `expression` now: a list of (labels, value). A scalar has no labels."""
        try:
            data = json.loads(self.get("/api/v1/query", query=expression))["data"]
        except urllib.error.HTTPError as error:
            with error:
                raise PrometheusError(f"{expression}: {json.loads(error.read()).get('error')}") from error
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        return [(sample["metric"], float(sample["value"][1])) for sample in data["result"]]

    def number(self, expression):
        """Of a query with one value; 0 where there is none yet."""
        return sum(value for _, value in self.query(expression))

    def rules(self):
        """All alerting rules, as /api/v1/rules tells them."""
        groups = json.loads(self.get("/api/v1/rules"))["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def firing(self):
        """Names of the alerts that fire now."""
        return {rule["name"] for rule in self.rules() if rule["state"] == "firing"}
