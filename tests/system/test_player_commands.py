"""pixhist-player from outside: exit codes, record and replay, and that recordings are what docs/player.md says."""

import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from harness import ANY_PORT, PLAYER, TIMEOUT, Player, Service, child_environment, make_config, play, wait_until
from zmqrec import messages_of

ROWS, COLS = 8, 12
GEOMETRY = ("--rows", ROWS, "--cols", COLS)
LINGER = int(3000 * TIMEOUT)
CASES = os.environ.get("PIXHIST_CASES")
DOCUMENTATION = pathlib.Path(__file__).resolve().parents[2] / "docs" / "player.md"


def run(*arguments):
    """Exit code, report (None: no line on stdout) and stderr."""
    done = subprocess.run(
        [PLAYER, *map(str, arguments)], env=child_environment(), capture_output=True, text=True, timeout=4 * TIMEOUT
    )
    lines = done.stdout.splitlines()
    return done.returncode, json.loads(lines[-1]) if lines else None, done.stderr


def help_of(*command):
    return subprocess.run([PLAYER, *command, "--help"], env=child_environment(), capture_output=True, text=True).stdout


class Recording:
    """`pixhist-player record`, bound to a port of its own."""

    def __init__(self, path, *options):
        self.process = subprocess.Popen(
            [PLAYER, "record", ANY_PORT, str(path), "--bind", *map(str, options)],
            env=child_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.endpoint = self.process.stderr.readline().split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def finish(self, number=None):
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=4 * TIMEOUT)
        assert self.process.returncode == 0, err
        return json.loads(out)


class PlayerCommandsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pixhist-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_stream_recorded_and_replayed_is_accumulated_as_the_live_one(self):
        path = self.folder / "a.zmqrec"
        with Recording(path, "--socket", "pull", "--messages", 301) as recording:
            sent = play(*GEOMETRY, "--connect", recording.endpoint, "--frames", 300, "--run", "a", "--skip", "7",
                        "--duplicate", "9")  # fmt: skip
            report = recording.finish()
        self.assertEqual((report["messages"], report["stopped_by"]), (301, "messages"))
        messages = messages_of(path)
        self.assertEqual(len(messages), 301)
        self.assertEqual(json.loads(messages[0][0])["shape"], [ROWS, COLS])
        self.assertEqual(len(messages[0][1]), ROWS * COLS * 2)
        self.assertTrue(json.loads(messages[-1][0])["end"])
        self.assertEqual(report["bytes"], sum(len(part) for message in messages for part in message))
        with Service(make_config(ROWS, COLS)) as service:
            code, replayed, err = run("replay", path, "--connect", service.data_endpoint, "--linger-ms", LINGER)
            self.assertEqual((code, replayed["messages"], replayed["flushed"]), (0, 301, True), err)
            expected = sent["expected_account"]
            account = service.wait_account(control=1, accumulated=expected["accumulated"])
            self.assertEqual(account["missing"], expected["missing"])
            self.assertEqual(account["discarded"], {"duplicate": 1})

    def test_several_files_to_several_sources_at_once(self):
        paths = []
        for i in range(3):
            paths.append(self.folder / f"{i}.zmqrec.gz")
            with Recording(paths[-1], "--socket", "pull", "--messages", 51) as recording:
                play(*GEOMETRY, "--connect", recording.endpoint, "--frames", 50, "--seed", i, "--run", "a")
                recording.finish()
        sources = [
            dict(name=f"m{i}", endpoint=ANY_PORT, socket="pull", bind=True, origin=[i * ROWS, 0], shape=[ROWS, COLS])
            for i in range(3)
        ]
        with Service(make_config(3 * ROWS, COLS, sources=sources)) as service:
            code, report, err = run("replay", *paths, "--connect", ",".join(service.data_endpoints), "--loop", 2,
                                    "--rate", 1000, "--linger-ms", LINGER)  # fmt: skip
            self.assertEqual((code, report["messages"], len(report["files"])), (0, 306, 3), err)
            for i in range(3):
                account = service.wait_account(f"m{i}", control=2, accumulated=50)
                self.assertEqual(account["discarded"], {"duplicate": 50})

    @unittest.skipUnless(CASES, "PIXHIST_CASES does not name the folder of recorded streams")
    def test_the_four_ports_of_a_recorded_eiger_at_once(self):
        files = [f"{CASES}/sls/eiger_1mod_16bit_10f_p{port}.zmqrec.gz" for port in range(30001, 30005)]
        ports = [
            dict(name=f"p{i}", endpoint=ANY_PORT, socket="pull", bind=True, shape=[256, 512], format="sls")
            for i in range(4)
        ]
        config = make_config(512, 1024, sources=ports, axis={"bins": 16}, ring={"bytes": "64MiB"})
        with Service(config) as service:
            code, report, err = run("replay", *files, "--connect", ",".join(service.data_endpoints), "--linger-ms",
                                    LINGER)  # fmt: skip
            self.assertEqual((code, report["messages"]), (0, 44), err)
            for port in ports:
                account = service.wait_account(port["name"], control=1, accumulated=10)
                self.assertEqual((account["rejected"], account["missing"]), ({}, 0))

    def test_record_ends_at_a_signal_with_whole_messages(self):
        path = self.folder / "a.zmqrec"
        with Recording(path, "--socket", "pull") as recording:
            with Player(*GEOMETRY, "--connect", recording.endpoint, "--rate", 500) as player:
                wait_until(lambda: path.exists() and path.stat().st_size > 0, "something is recorded")
                time.sleep(0.05)
                report = recording.finish(signal.SIGTERM)
                player.process.kill()
        self.assertEqual(report["stopped_by"], "signal")
        self.assertEqual(len(messages_of(path)), report["messages"])

    def test_a_torn_file_is_refused_before_anything_is_sent(self):
        path = self.folder / "torn.zmqrec"
        path.write_bytes(struct.pack("<IQ", 1, 5) + b"hello" + struct.pack("<IQ", 1, 5) + b"hell")
        code, report, err = run("replay", path, "--bind", ANY_PORT)
        self.assertEqual((code, report), (2, None))
        self.assertIn("torn", err)
        self.assertIn("behind 1 whole", err)
        for arguments in (("replay", self.folder / "none"), ("replay",), ("record", "tcp://127.0.0.1:1")):
            self.assertEqual(run(*arguments)[0], 2, arguments)

    def test_a_file_that_is_there_is_not_overwritten(self):
        path = self.folder / "a.zmqrec"
        path.write_bytes(b"precious")
        code, _, err = run("record", ANY_PORT, path, "--bind", "--messages", 0)
        self.assertEqual(code, 2)
        self.assertIn("--overwrite", err)
        self.assertEqual(path.read_bytes(), b"precious")
        self.assertEqual(run("record", ANY_PORT, path, "--bind", "--messages", 0, "--overwrite")[0], 0)
        self.assertEqual(path.read_bytes(), b"")

    def test_what_could_not_be_handed_over_shows_in_the_exit_code(self):
        code, report, _ = run(*GEOMETRY, "--connect", "tcp://127.0.0.1:1", "--frames", 3, "--linger-ms", 300)
        self.assertEqual((code, report["flushed"]), (3, False))

    def test_the_documentation_names_options_and_keys_that_are_there(self):
        text = DOCUMENTATION.read_text()
        known = set()
        for command in ((), ("replay",), ("record",)):
            known |= set(re.findall(r"--[a-z][a-z-]*", help_of(*command)))
        self.assertEqual(set(re.findall(r"--[a-z][a-z-]*", text)) - known, set())
        _, report, _ = run(*GEOMETRY, "--frames", 0, "--no-end", "--modules", "1x2", "--bind", ANY_PORT)
        rows = text[text.index("| key | meaning |") :].split("\n\n")[0].splitlines()[2:]
        documented = {key for row in rows for key in re.findall(r"`([a-z_]+)`", row.split("|")[1])}
        self.assertEqual(documented, set(report) | set(report["modules"][0]))
        for key in report["expected_account"]:
            self.assertIn(f"`{key}`", text)

    def test_usage(self):
        for arguments in (
            ("--modules", "2x"), ("--modules", "2x1", "--connect", "ipc:///tmp/x"), ("--late", "x"), ("--runs", 2),
            ("--incomplete", "1"), ("--bits", 4), ("--format", "sls", "--type", "f32"), ("--interfaces", 2),
            ("--format", "sls", "--run-keys", "none"), ("--no-end", "--end-marks", 2), ("play",),
            ("--rate", "nan"), ("--rate", -1), ("--seconds", "inf"), ("--seconds", 0), ("--pause", "1e300"), ("--photons", "nan"),
            ("--hot", "nan"), ("--wait-subscriber", "nan"), ("record", "--seconds", "nan", ANY_PORT, "x.zmqrec"),
        ):  # fmt: skip
            code, report, err = run(*arguments)
            self.assertEqual((code, report), (2, None), (arguments, err))
            self.assertTrue(err, arguments)


if __name__ == "__main__":
    unittest.main()
