#!/usr/bin/env python3
"""A source that is dealt to several sockets at full speed: no frame of it is lost, late for its run or called missing."""

import unittest

from harness import ANY_PORT, Player, Service, make_config

ROWS, COLS = 64, 128
SOCKETS = 4


def fanned_config(policy):
    config = make_config(ROWS, COLS, axis={"bins": 64, "min": 0, "max": 16384}, runs={"policy": policy})
    source = config["sources"][0]
    source.pop("endpoint", None)
    source["endpoints"] = [ANY_PORT] * SOCKETS
    return config


class FanOut(unittest.TestCase):
    def play(self, policy, runs, frames):
        with Service(fanned_config(policy)) as service:
            with Player(
                "--rows", ROWS, "--cols", COLS, "--sockets", SOCKETS, "--frames", frames, "--runs", runs,
                "--connect", ",".join(service.data_endpoints),
            ) as player:  # fmt: skip
                report = player.finish()
            self.assertEqual(report["frames"], runs * frames)
            service.wait_account(accumulated=runs * frames)
            service.wait_account(settled=True)
            account = service.account()
            self.assertEqual((account["missing"], sum(account["discarded"].values())), (0, 0), account)

    def test_runs_that_follow_each_other_are_whole(self):
        for policy in ("continuous", "per_run"):
            with self.subTest(policy):
                self.play(policy, 3, 1000)


if __name__ == "__main__":
    unittest.main()
