"""Runs pixhistd and pixhist-player for the system tests: start, wait, stop, and judge their exit.

Environment: PIXHISTD and PIXHIST_PLAYER name the programs. PIXHIST_TEST_SLOWNESS stretches every time-out (default
1, and 8 where PIXHIST_TEST_SANITIZE says that the programs are instrumented). PIXHIST_TEST_DEVICE is the device.kind
to test with (default cpu).
"""

import contextlib
import copy
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PIXHISTD = os.environ.get("PIXHISTD", "pixhistd")
PLAYER = os.environ.get("PIXHIST_PLAYER", "pixhist-player")
SLOWNESS = float(
    os.environ.get("PIXHIST_TEST_SLOWNESS") or (8 if os.environ.get("PIXHIST_TEST_SANITIZE") else 1)
)
TIMEOUT = 10 * SLOWNESS  # seconds, of anything that takes milliseconds on a quiet machine

# The source of a test: PULL, bound to a port that the system chooses.
ANY_PORT = "tcp://127.0.0.1:*"
SANITIZER_REPORT = re.compile(r"(ERROR|WARNING): \w+Sanitizer|runtime error:")
FINAL_ACCOUNT = re.compile(
    r"final account of (?P<source>\S+): received (?P<received>\d+), accumulated (?P<accumulated>\d+), "
    r"rejected (?P<rejected>\d+), dropped (?P<dropped>\d+), discarded (?P<discarded>\d+), "
    r"missing (?P<missing>\d+), late (?P<late>\d+), last frame (?P<last_frame>\d+|none)"
)


# Of an account, what is a counter of its own in the metrics and never falls.
FATES = (
    "received", "accepted", "accumulated", "dropped", "missing", "late", "incomplete", "restarted", "control",
)  # fmt: skip


def child_environment(extra=None):
    """A sanitizer's report must show in the exit code, also where 1 is expected."""
    environment = {k: v for k, v in os.environ.items() if not k.upper().startswith("PIXHIST__")}
    suppressions = pathlib.Path(__file__).resolve().parents[1] / "tsan.supp"
    environment.setdefault(
        "TSAN_OPTIONS", f"suppressions={suppressions} halt_on_error=1 second_deadlock_stack=1"
    )
    environment.setdefault("ASAN_OPTIONS", "exitcode=66")
    environment.setdefault("UBSAN_OPTIONS", "exitcode=66:print_stacktrace=1")
    environment.update(extra or {})
    return environment


def die_with_parent():
    """In the child: a test that ctest kills leaves no service behind."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def wait_until(condition, what, timeout=TIMEOUT):
    """Polls until condition() is true and returns its value; fails with the last value."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {what() if callable(what) else what}")
        time.sleep(0.005)


def merged(base, changes):
    result = copy.deepcopy(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


def make_config(rows, cols, pixel_type="u16", sources=None, **changes):
    """A small service on ports of its own, one PULL source that binds; `changes` are merged into it."""
    config = {
        "detector": {"rows": rows, "cols": cols, "pixel_type": pixel_type},
        "axis": {"bins": 64, "min": 0, "max": 16384},
        "sources": sources or [{"endpoint": ANY_PORT, "socket": "pull", "bind": True}],
        "device": {"kind": os.environ.get("PIXHIST_TEST_DEVICE", "cpu"), "cpu_threads": 2},
        "batch": {"max_age_ms": 20},
        "ring": {"bytes": "8MiB", "rcvhwm_bytes": "16MiB"},
        "query": {"endpoint": ANY_PORT},
        "http": {"listen": "127.0.0.1:0"},
    }
    return merged(config, changes)


def run_pixhistd(*arguments, env=None, timeout=TIMEOUT):
    """A call that ends by itself: --check-config, --health, a configuration that is refused."""
    done = subprocess.run(
        [PIXHISTD, *arguments], env=child_environment(env), capture_output=True, text=True, timeout=timeout
    )
    assert not SANITIZER_REPORT.search(done.stderr), done.stderr
    return done


@contextlib.contextmanager
def config_file(config):
    with tempfile.TemporaryDirectory(prefix="pixhist-test-") as folder:
        path = pathlib.Path(folder) / "config.json"
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        yield str(path)


class Service:
    """A running pixhistd. Leaving the block stops it, unless stop() was called: drained, exit 0, or the test fails."""

    def __init__(self, config, *arguments, env=None):
        self._stack = contextlib.ExitStack()
        self._config = config
        self._arguments = arguments
        self._env = env
        self.process = None
        self.exit_code = None

    def __enter__(self):
        folder = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="pixhist-test-")))
        config_path = folder / "config.json"
        config_path.write_text(json.dumps(self._config))
        self._log_path = folder / "stderr.log"
        with self._log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [PIXHISTD, "--config", str(config_path), *self._arguments],
                env=child_environment(self._env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                preexec_fn=die_with_parent,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self._end_badly()
            raise
        return self

    def __exit__(self, kind, error, trace):
        try:
            if error is None and self.exit_code is None:
                self.stop()
        except BaseException:
            self._end_badly()
            raise
        if error is not None:
            self._end_badly()
        self._stack.close()

    def log(self):
        return self._log_path.read_text(errors="replace")

    def _wait_until_ready(self):
        wait_until(lambda: "ready: " in self.log() or self.process.poll() is not None, "the service is ready")
        log = self.log()
        assert self.process.poll() is None, f"pixhistd ended at start with {self.process.returncode}"
        self.query_endpoint, self.http = re.search(r"queries at (\S+), (http://\S+)/status", log).groups()
        self.data_endpoints = re.findall(r"source \S+: \S+ (?:bound|connecting) to (\S+)", log)
        self.data_endpoint = self.data_endpoints[0]

    def _end_badly(self):
        """After a failure: shows what the service said."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        log = self.log()
        print(f"---- pixhistd ended with {self.process.returncode}; it said", file=sys.stderr)
        print(log if len(log) < 20000 else log[:8000] + "\n[...]\n" + log[-12000:], file=sys.stderr)
        self._stack.close()

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, expected=0, timeout=3 * TIMEOUT):
        """Waits for the end of a service that was told to stop."""
        self.exit_code = self.process.wait(timeout)
        log = self.log()
        assert not SANITIZER_REPORT.search(log), "a sanitizer reported"
        assert self.exit_code == expected, f"exit code {self.exit_code}, expected {expected}"
        if expected == 0:
            assert "drained" in log, "exit 0 without being drained"
        return log

    def stop(self, expected=0, timeout=3 * TIMEOUT):
        self.signal(signal.SIGTERM)
        return self.wait(expected, timeout)

    def final_account(self, source="module0"):
        """What the log of a stopped service says, per key; numbers but for last_frame none."""
        for match in FINAL_ACCOUNT.finditer(self.log()):
            if match["source"] == source:
                return {
                    k: int(v) if v.isdigit() else v for k, v in match.groupdict().items() if k != "source"
                }
        raise AssertionError(f"the log has no final account of {source}")

    def get(self, path):
        """Status code and body of an HTTP page."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(self.http + path, timeout=TIMEOUT) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def status(self):
        code, body = self.get("/status")
        assert code == 200, (code, body)
        return json.loads(body)

    def account(self, source="module0"):
        return self.status()["sources"][source]["lifetime"]

    def wait_account(self, source="module0", timeout=TIMEOUT, settled=False, **numbers):
        """Waits for these numbers in the lifetime account; one that is passed by never comes back, and fails.
        settled: and until every frame has met its fate, so that what depends on it can be asserted."""
        last = {}

        def reached():
            last.update(self.account(source))
            for key, wanted in numbers.items():
                assert last[key] <= wanted, f"{key} is {last[key]}, more than {wanted}: {last}"
            on_its_way = last["in_ring"] + last["in_flight"] if settled else 0
            return on_its_way == 0 and all(last[key] == wanted for key, wanted in numbers.items())

        wait_until(reached, lambda: f"account {numbers}; it is {last}", timeout)
        return last


class Player:
    """pixhist-player. finish() waits for its end and returns the JSON line it ends with."""

    def __init__(self, *arguments):
        # At the end the player waits for its queue to empty; on a busy machine that takes longer than by default.
        linger = [] if "--linger-ms" in arguments else ["--linger-ms", int(3000 * TIMEOUT)]
        self._arguments = [str(a) for a in (*arguments, *linger)]

    def __enter__(self):
        self.process = subprocess.Popen(
            [PLAYER, *self._arguments],
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,
        )
        return self

    def __exit__(self, kind, error, trace):
        ended = "was still running" if self.running() else f"had ended with {self.process.returncode}"
        if self.running():
            self.process.kill()
        _, said = self.process.communicate()
        if error is not None:
            print(f"---- pixhist-player {ended}; it said\n{said}", file=sys.stderr)

    def running(self):
        return self.process.poll() is None

    def finish(self, timeout=4 * TIMEOUT):
        out, err = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, f"pixhist-player ended with {self.process.returncode}: {err}"
        report = json.loads(out.splitlines()[-1])
        assert report["flushed"], f"the player could not hand over everything: {report}"
        return report


def play(*arguments):
    with Player(*arguments) as player:
        return player.finish()
