"""deploy/systemd/pixhistd.service by systemd-analyze, and what it promises about exit codes and the time to drain."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

UNIT = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "systemd" / "pixhistd.service"
PIXHISTD = os.environ["PIXHISTD"]


def verify(text):
    """What systemd-analyze says of the unit with an executable that exists here."""
    with tempfile.TemporaryDirectory(prefix="pixhist-test-") as folder:
        unit = pathlib.Path(folder) / UNIT.name
        unit.write_text(text.replace("/usr/local/bin/pixhistd", PIXHISTD))
        done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class UnitTest(unittest.TestCase):
    def test_systemd_has_nothing_to_say(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("no systemd-analyze")
        self.assertEqual(verify(UNIT.read_text()), (0, ""))
        code, said = verify(UNIT.read_text().replace("LimitMEMLOCK", "LimitMEMLOK"))
        self.assertIn("LimitMEMLOK", said, "a mistake would be found")

    def test_its_exposure(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("no systemd-analyze")
        said = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(UNIT)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(said.returncode, 0, said.stdout[-400:] + said.stderr)

    def test_exit_codes_and_the_time_to_drain(self):
        unit = dict(re.findall(r"^(\w+)=(.*)$", UNIT.read_text(), re.MULTILINE))
        self.assertEqual((unit["Restart"], unit["RestartPreventExitStatus"]), ("on-failure", "2"))
        told = subprocess.run([PIXHISTD, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(told, r"\b2\b[^\n]*configuration")
        default = subprocess.run([PIXHISTD, "--check-config", "--json", "--config", "/dev/stdin"], input="{}",
                                 capture_output=True, text=True, check=True).stdout  # fmt: skip
        timeout = int(re.search(r'"timeout_s": *(\d+)', default)[1])
        self.assertGreater(int(unit["TimeoutStopSec"]), timeout + 1)


if __name__ == "__main__":
    unittest.main()
