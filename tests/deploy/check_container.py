"""The image that deploy/container/build-cpu has built: what is in it, what it says to bad input, that it drains as
process 1. Started by that script, as root; PIXHISTD is deploy/container/enter: the image's root file system, read-only, its
user, no capabilities."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "system"))

from harness import (  # noqa: E402
    PIXHISTD,
    TIMEOUT,
    Service,
    config_file,
    make_config,
    play,
    run_pixhistd,
    wait_until,
)

FILES = pathlib.Path(os.environ["PIXHIST_CONTAINER_ROOT"])
IMAGE = json.loads(pathlib.Path(os.environ["PIXHIST_CONTAINER_IMAGE"]).read_text())
CONFIG = IMAGE["Docker"]["config"]
COMPILERS = ("gcc", "g++", "cc", "c++", "cc1plus", "clang", "nvcc", "ld", "as", "make", "cmake", "ninja", "ccache", "git")


def programs(*names):
    found = [p for p in FILES.glob("**/bin/*") if p.name in names or re.fullmatch(r"(.*-)?(gcc|g\+\+|ld)(-\d+)?", p.name)]
    return [str(p.relative_to(FILES)) for p in found]


def in_container(*command):
    """A program of the image, as its user."""
    environment = dict(os.environ, PIXHIST_CONTAINER_PROGRAM=command[0])
    return subprocess.run([PIXHISTD, *command[1:]], env=environment, capture_output=True, text=True, timeout=TIMEOUT)


class ImageTest(unittest.TestCase):
    def test_no_compiler_no_sources_nothing_to_raise_rights_with(self):
        self.assertEqual(programs(*COMPILERS), [])
        self.assertFalse((FILES / "src").exists() or (FILES / "build").exists())
        # The test itself can find something.
        self.assertEqual([pathlib.Path(p).name for p in programs("pixhistd")], ["pixhistd"])

    def test_user_entry_point_health_check_labels(self):
        self.assertEqual(CONFIG["User"], "10001:10001")
        self.assertEqual(CONFIG["Entrypoint"], ["/usr/local/bin/pixhistd"])
        self.assertEqual(CONFIG["Cmd"], ["--config", "/etc/pixhist/config.json"])
        check = ["CMD", "/usr/local/bin/pixhistd", "--health", "http://127.0.0.1:9717/healthz"]
        self.assertEqual(CONFIG["Healthcheck"]["Test"], check)
        version = run_pixhistd("--version").stdout.split()[-1]
        self.assertEqual(CONFIG["Labels"]["org.opencontainers.image.version"], version)
        self.assertEqual(CONFIG["Labels"]["org.opencontainers.image.title"], "pixhist")

    def test_nothing_of_the_machine_that_built_it(self):
        self.assertNotRegex(" ".join(CONFIG["Env"]), "(?i)proxy")
        sources = (FILES / "etc/apt/sources.list").read_text()
        self.assertRegex(sources, r"\Adeb http://(deb\.debian\.org/debian|archive\.ubuntu\.com/ubuntu) \w+ [a-z ]+\n\Z")
        self.assertEqual([p.name for p in (FILES / "etc/apt/apt.conf.d").glob("*prox*")], [])

    def test_every_library_is_there_and_the_cuda_runtime_is_none_of_them(self):
        for program in ("pixhistd", "pixhist-player"):
            said = in_container("/usr/bin/ldd", f"/usr/local/bin/{program}").stdout
            self.assertIn("libzmq.so.5", said)
            self.assertNotIn("not found", said)
            self.assertNotIn("libcudart", said)

    def test_it_runs_as_the_user_and_cannot_write(self):
        self.assertEqual(in_container("/usr/bin/id", "-u").stdout, "10001\n")
        status = in_container("/bin/cat", "/proc/self/status").stdout
        self.assertRegex(status, r"CapEff:\t0+\n")
        self.assertRegex(status, r"CapBnd:\t0+\n")
        self.assertRegex(status, r"NoNewPrivs:\t1\n")
        self.assertIn("Read-only file system", in_container("/usr/bin/touch", "/usr/local/x").stderr)


class BadInputTest(unittest.TestCase):
    def test_no_gpu_where_one_is_asked_for(self):
        with config_file(make_config(4, 5, device={"kind": "cuda"})) as path:
            done = run_pixhistd("--config", path)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("device.kind is cuda, but no usable CUDA device was found", done.stderr)
        self.assertIn("Set device.kind to cpu or auto", done.stderr)

    def test_auto_takes_the_cpu_and_says_so(self):
        with Service(make_config(4, 5, device={"kind": "auto"})) as service:
            self.assertEqual(service.status()["device"]["kind"], "cpu")
            self.assertIn("no usable CUDA device", service.log())

    def test_no_configuration_is_mounted(self):
        done = run_pixhistd(*CONFIG["Cmd"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("/etc/pixhist/config.json", done.stderr)

    def test_a_wrong_configuration(self):
        for text, told in (("{", "JSON"), ('{"axis": {"bin": 3}}', "axis.bin"), ('{"batch": {"frames": 0}}', "batch.frames")):
            with self.subTest(text), config_file(text) as path:
                done = run_pixhistd("--config", path)
                self.assertEqual(done.returncode, 2)
                self.assertIn(told, done.stderr)

    def test_a_log_file_on_the_read_only_root(self):
        with config_file(make_config(4, 5, log={"file": "/var/log/pixhist.log"})) as path:
            done = run_pixhistd("--config", path)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("/var/log/pixhist.log", done.stderr)
        self.assertIn("Read-only file system", done.stderr)


class LifeTest(unittest.TestCase):
    def test_the_health_check_of_the_image(self):
        with Service(make_config(4, 5, http={"listen": "127.0.0.1:9717"})):
            self.assertEqual(run_pixhistd(*CONFIG["Healthcheck"]["Test"][2:]).returncode, 0)
        self.assertEqual(run_pixhistd(*CONFIG["Healthcheck"]["Test"][2:]).returncode, 1)

    def test_sigterm_drains_as_process_1(self):
        """In a process namespace of its own, where a signal without a handler would be ignored."""
        with config_file(make_config(64, 64)) as path:
            log_path = pathlib.Path(path).with_name("log")
            with log_path.open("wb") as log:
                outer = subprocess.Popen(
                    ["unshare", "--pid", "--fork", "--kill-child", PIXHISTD, "--config", path],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )  # fmt: skip
            try:
                wait_until(lambda: "ready: " in log_path.read_text() or outer.poll() is not None, "it is ready")
                endpoint = re.search(r"source \S+: \S+ bound to (\S+)", log_path.read_text())[1]
                sent = play("--rows", 64, "--cols", 64, "--connect", endpoint, "--frames", 500)
                inner = pathlib.Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
                status = pathlib.Path(f"/proc/{inner[0]}/status").read_text()
                self.assertRegex(status, r"Name:\tpixhistd\n")
                self.assertRegex(status, r"NSpid:.*\t1\n")
                begin = time.monotonic()
                os.kill(int(inner[0]), signal.SIGTERM)
                self.assertEqual(outer.wait(3 * TIMEOUT), 0)
                self.assertLess(time.monotonic() - begin, 30, "within the grace of an engine")
            finally:
                outer.kill()
                outer.wait()
            said = log_path.read_text()
            self.assertIn("drained", said)
            self.assertRegex(said, rf"received {sent['frames']}, accumulated {sent['frames']},")


if __name__ == "__main__":
    unittest.main()
