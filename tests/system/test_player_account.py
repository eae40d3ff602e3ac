"""The service's account against the one that the player foretells, for every fault it can play, to the frame."""

import json
import unittest

import numpy as np
import zmq

from client import Client
from harness import ANY_PORT, TIMEOUT, Player, Service, make_config, play

ROWS, COLS = 4, 6
FRAMES = 400

# What is played to a source of its own; the service's window is 64 numbers.
CASES = {
    "plain": [],
    "gaps": ["--skip", "0-3,50,100-299,390-399"],
    "every_third_missing": ["--skip", "every:3"],
    "duplicates": ["--duplicate", "every:7"],
    "reordered": ["--reorder", "every:5"],
    "late": ["--late", "every:9", "--late-by", 20],
    "late_at_the_end": ["--late", "396-399", "--late-by", 1000],
    "late_beyond_the_window": ["--late", "every:50", "--late-by", 100],
    "late_beyond_the_window_without_key": ["--late", "150", "--late-by", 100, "--run-keys", "none"],
    "late_start": ["--late", "0-4", "--late-by", 8],
    "bad_header": ["--bad-header", "every:11"],
    "missing_key": ["--missing-key", "every:11"],
    "wrong_kind": ["--wrong-kind", "every:11"],
    "huge_header": ["--huge-header", "every:40"],
    "short": ["--wrong-size", "every:11"],
    "long": ["--long-size", "every:11"],
    "wrong_type": ["--wrong-type", "every:11"],
    "wrong_shape": ["--wrong-shape", "every:11"],
    "geometry_changes": ["--wrong-shape", "200-"],
    "extra_part": ["--extra-part", "every:11"],
    "missing_part": ["--missing-part", "every:11"],
    "no_end": ["--no-end", "--skip", "380,399"],
    "three_ends": ["--end-marks", 3, "--skip", "380,399"],
    "early_end": ["--early-end", 200, "--skip", "150-160,199,210,250-259", "--late", "190", "--late-by", 30],
    "early_end_without_key": ["--early-end", 200, "--skip", "150-160,250", "--run-keys", "none"],
    "two_runs": ["--runs", 2, "--skip", "every:30"],
    "three_runs_with_a_pause": ["--runs", 3, "--pause", 0.02, "--numbers", "on", "--duplicate", "every:30"],
    "restart_with_a_new_key": ["--runs", 2, "--no-end", "--skip", "390-395"],
    "restart_with_the_same_key": ["--runs", 2, "--no-end", "--run-keys", "same"],
    "restart_without_keys": ["--runs", 3, "--no-end", "--run-keys", "none", "--first", 5],
    "same_key_after_the_end": ["--runs", 2, "--run-keys", "same", "--numbers", "on", "--skip", "every:30"],
    "stale": ["--runs", 3, "--stale", "every:20", "--numbers", "on"],
    "many_runs": ["--runs", 12, "--frames", 20, "--stale", "7,8"],
    "everything": [
        "--runs", 2, "--first", 1000, "--skip", "1000,1100-1110,1399", "--bad-header", "every:23", "--wrong-kind",
        "every:29", "--long-size", "every:31", "--extra-part", "every:37", "--duplicate", "every:19", "--late",
        "every:13", "--late-by", 5, "--stale", "every:41", "--reorder", "every:6", "--end-marks", 2,
    ],
}  # fmt: skip
# The same in format sls, where end markers say nothing and the acquisition is told by file index and first number.
SLS_CASES = {
    name: CASES[name]
    for name in (
        "gaps", "duplicates", "reordered", "late", "late_at_the_end", "late_beyond_the_window", "late_start", "bad_header",
        "missing_key", "wrong_kind", "huge_header", "short", "long", "wrong_type", "wrong_shape", "geometry_changes",
        "extra_part", "missing_part", "no_end", "three_ends", "early_end", "two_runs", "stale", "many_runs", "everything",
    )
}  # fmt: skip
SLS_CASES |= {
    "file_writing_off": ["--runs", 3, "--run-keys", "same", "--skip", "every:30"],
    "counter_set_back": ["--runs", 2, "--run-keys", "same", "--numbers", "again"],
    "counter_set_back_without_end": ["--runs", 2, "--run-keys", "same", "--numbers", "again", "--no-end"],
    "incomplete": ["--incomplete", "every:5"],
    "filled_end": ["--filled-end", "--end-marks", 2, "--skip", "50"],
    "version_4": ["--json-version", 4, "--sls-additional", "energy=12.4"],
}
WINDOW = 64


MOST_SOURCES = 24  # of one service


def sources(names, **changes):
    return [
        dict(changes, name=name, endpoint=ANY_PORT, socket="pull", bind=True, origin=[i * ROWS, 0], shape=[ROWS, COLS],
             sequence={"window": WINDOW})
        for i, name in enumerate(names)
    ]  # fmt: skip


def present(counts):
    return {reason: count for reason, count in counts.items() if count}


class PlayerAccountTest(unittest.TestCase):
    def assert_as_foretold(self, service, name, report):
        expected = report["expected_account"]
        self.assertTrue(expected["exact"], expected)
        account = service.wait_account(
            name,
            settled=True,
            received=expected["received"],
            control=expected["control"],
            accumulated=expected["accumulated"],
            missing=expected["missing"],
        )
        for key in ("accepted", "late", "missing", "open", "restarted"):
            self.assertEqual(account[key], expected[key], (key, account, expected))
        for key in ("rejected", "discarded"):
            self.assertEqual(present(account[key]), present(expected[key]), (key, account, expected))
        self.assertEqual(account["dropped"], 0)

    def test_every_fault(self):
        self.check_cases(CASES)

    def test_every_fault_in_format_sls(self):
        self.check_cases(SLS_CASES, "sls")

    def check_cases(self, cases, wire_format="array10"):
        names = list(cases)
        for begin in range(0, len(names), MOST_SOURCES):
            some = names[begin : begin + MOST_SOURCES]
            config = make_config(
                ROWS * len(some), COLS, sources=sources(some, format=wire_format), ring={"bytes": "64MiB"}
            )
            with Service(config) as service, Client(service.query_endpoint) as client:
                for name, endpoint in zip(some, service.data_endpoints):
                    with self.subTest(name):
                        self.check_case(service, client, name, endpoint, cases[name], wire_format)

    def check_case(self, service, client, name, endpoint, options, wire_format):
        frames = [] if "--frames" in options else ["--frames", FRAMES]
        report = play(
            "--rows", ROWS, "--cols", COLS, "--connect", endpoint, "--run", name, *frames, "--format", wire_format,
            "--socket", "push", "--receiver-window", WINDOW, *options,
        )  # fmt: skip
        client.ask("pixel", row=0, col=0, fresh=True)
        self.assert_as_foretold(service, name, report)

    def test_modules_from_one_command(self):
        grid = sources([f"module{i}" for i in range(4)])
        config = make_config(ROWS * 4, COLS, sources=grid)
        with Service(config) as service:
            report = play(
                "--rows", ROWS, "--cols", COLS, "--modules", "4x1", "--connect", ",".join(service.data_endpoints),
                "--frames", 200, "--skip", "every:9", "--duplicate", "every:7", "--receiver-window", WINDOW,
            )  # fmt: skip
            self.assertEqual(report["frames"], 4 * (200 - 22))
            self.assertEqual(len(report["modules"]), 4)
            for i, module in enumerate(report["modules"]):
                self.assertEqual(module["row"], i)
                self.assertEqual(module["endpoints"], [service.data_endpoints[i]])
                self.assert_as_foretold(service, f"module{i}", module)
            total = service.status()["totals"]["lifetime"]
            for key in ("received", "accumulated", "missing"):
                self.assertEqual(total[key], report["expected_account"][key])

    def test_an_eiger_module_lies_where_its_headers_say(self):
        detector = ("--format", "sls", "--detector", "eiger", "--rows", ROWS, "--cols", COLS, "--socket", "push",
                    "--frames", 5, "--first", 7)  # fmt: skip
        pulls = [zmq.Context.instance().socket(zmq.PULL) for _ in range(4)]
        for pull in pulls:
            pull.RCVTIMEO = int(1000 * TIMEOUT)
            pull.bind(ANY_PORT)
        play(*detector, "--connect", ",".join(pull.getsockopt_string(zmq.LAST_ENDPOINT) for pull in pulls))
        expected = np.zeros((2 * ROWS, 2 * COLS, 64), "u4")
        places = []
        for pull in pulls:
            for number in range(7, 12):
                header, pixels = pull.recv_multipart()
                header = json.loads(header)
                self.assertEqual((header["frameNumber"], header["frameIndex"]), (number, number - 7))
                image = np.frombuffer(pixels, "<u2").reshape(ROWS, COLS)
                row, col = header["row"] * ROWS, header["column"] * COLS
                part = expected[row : row + ROWS, col : col + COLS]
                part += np.eye(64, dtype="u4")[(image[::-1] if header["flipRows"] else image) // 256]
            places.append((header["row"], header["column"], header["flipRows"]))
            self.assertEqual(json.loads(pull.recv())["data"], 0)
            pull.close(0)
        self.assertEqual(places, [(0, 0, 0), (0, 1, 0), (1, 1, 1), (1, 0, 1)])
        ports = [dict(source, format="sls", origin=None) for source in sources("abcd")]
        with Service(make_config(2 * ROWS, 2 * COLS, sources=ports)) as service, Client(service.query_endpoint) as client:
            report = play(*detector, "--connect", ",".join(service.data_endpoints))
            for name, module in zip("abcd", report["modules"]):
                self.assert_as_foretold(service, name, module)
            self.assertTrue((client.array("values", fresh=True) == expected).all())

    def test_as_a_receiver_publishes(self):
        with Player(
            "--format", "sls", "--rows", ROWS, "--cols", COLS, "--bind", ANY_PORT, "--wait-subscriber", TIMEOUT, "--frames",
            FRAMES, "--skip", "every:50",
        ) as player:  # fmt: skip
            endpoint = player.process.stderr.readline().split()[-1]
            port = {"name": "module0", "endpoint": endpoint, "socket": "sub", "format": "sls"}
            with Service(make_config(ROWS, COLS, sources=[port])) as service:
                report = player.finish()
                self.assertEqual(report["refused"], 0)
                self.assert_as_foretold(service, "module0", report)

    def test_two_sockets_of_a_module(self):
        source = {"name": "module0", "endpoints": [ANY_PORT, ANY_PORT], "socket": "pull", "bind": True}
        with Service(make_config(ROWS, COLS, sources=[source])) as service:
            report = play(
                "--rows", ROWS, "--cols", COLS, "--sockets", 2, "--connect", ",".join(service.data_endpoints),
                "--frames", FRAMES, "--no-end",
            )  # fmt: skip
            self.assertFalse(report["expected_account"]["exact"])
            service.wait_account(accumulated=FRAMES, received=FRAMES)
            self.assertEqual(present(service.account()["discarded"]), {})

    def test_a_huge_part_costs_the_connection_and_not_the_service(self):
        with Service(make_config(ROWS, COLS)) as service:
            report = play(
                "--rows", ROWS, "--cols", COLS, "--connect", service.data_endpoint, "--frames", 10, "--no-end",
                "--huge-part", 9, "--run", "a",
            )  # fmt: skip
            self.assertEqual((report["huge_part"], report["frames"]), (1, 9))
            self.assertFalse(report["expected_account"]["exact"])
            report = play(
                "--rows", ROWS, "--cols", COLS, "--connect", service.data_endpoint, "--frames", 50, "--run", "b"
            )
            service.wait_account(accepted=9 + 50, control=1, timeout=TIMEOUT)


if __name__ == "__main__":
    unittest.main()
