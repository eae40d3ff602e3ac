"""The account, against what the sender says it sent: nothing vanishes uncounted."""

import contextlib
import unittest

from array10 import Sender
from client import Client
from harness import FATES, TIMEOUT, Player, Service, make_config, play, wait_until

ROWS, COLS = 8, 12
GEOMETRY = ("--rows", ROWS, "--cols", COLS)
FLOW = ("below", "above", "invalid", "other_stage")


def config(**changes):
    # Bins that leave some of the simulated detector's values below and above.
    return make_config(ROWS, COLS, axis={"bins": 50, "min": 1900, "max": 2100}, **changes)


class AccountTest(unittest.TestCase):
    def assert_balanced(self, account):
        rejected, discarded = sum(account["rejected"].values()), sum(account["discarded"].values())
        self.assertEqual(account["received"], rejected + account["dropped"] + account["accepted"], account)
        fates = account["in_ring"] + account["in_flight"] + account["accumulated"] + discarded
        self.assertEqual(account["accepted"], fates, account)

    def assert_conserved(self, client, frames):
        """Per pixel: sum of bins + below + above + invalid + other_stage = frames."""
        values = client.array("values", fresh=True).sum(axis=2)
        outside = 0
        for row in range(ROWS):
            for col in range(COLS):
                result, counts = client.ask("pixel", row=row, col=col)
                flow = sum(result[name] for name in FLOW)
                outside += flow
                self.assertEqual(int(counts.sum()), int(values[row, col]))
                self.assertEqual(int(counts.sum()) + flow, frames, (row, col))
        return outside

    def watch(self, service, done):
        """Reads the status until done(): balanced at each instant, and no counter ever falls."""
        before = {}
        while not done():
            account = service.account()
            self.assert_balanced(account)
            for key in FATES:
                self.assertGreaterEqual(account[key], before.get(key, 0), key)
            before = account
        return before

    def assert_says(self, account, **numbers):
        self.assertEqual({key: account[key] for key in numbers}, numbers)

    @contextlib.contextmanager
    def service(self, **changes):
        with Service(config(**changes)) as service, Client(service.query_endpoint) as client:
            yield service, client

    def test_every_fault_at_once(self):
        with self.service() as (service, client):
            report = play(
                *GEOMETRY, "--connect", service.data_endpoint, "--frames", 5000, "--first", 70, "--run", "a",
                "--skip", "70,71,500,501-520,5060-5069", "--bad-header", "every:101", "--wrong-size", "every:211",
                "--duplicate", "every:97", "--reorder", "every:50",
            )  # fmt: skip
            for fault in ("skipped", "bad_header", "wrong_size", "duplicated", "reordered"):
                self.assertGreater(report[fault], 10, report)
            account = service.wait_account(control=1, received=report["messages"])
            cut = client.result("pixel", row=0, col=0, fresh=True)["cut"]
            account = cut["sources"]["module0"]["account"]
            self.assert_balanced(account)
            self.assert_says(
                account,
                accumulated=report["frames"],
                rejected={"not_json": report["bad_header"], "size": report["wrong_size"]},
                discarded={"duplicate": report["duplicated"]},
                missing=report["skipped"] + report["bad_header"] + report["wrong_size"],
                dropped=0, restarted=0, open=0, in_ring=0, in_flight=0,
            )  # fmt: skip
            self.assertEqual(account["pixel_bytes"], account["accepted"] * ROWS * COLS * 2)
            self.assertGreater(account["received_bytes"], report["bytes"])
            source = cut["sources"]["module0"]
            self.assert_says(
                source, **{k: report[k] for k in ("frames", "first_frame", "last_frame")}, pending=0
            )
            self.assertGreater(self.assert_conserved(client, report["frames"]), 0)
            log = service.stop()
            final = service.final_account()
            self.assert_says(
                final,
                received=report["messages"], accumulated=report["frames"], dropped=0,
                rejected=report["bad_header"] + report["wrong_size"], discarded=report["duplicated"],
                missing=report["skipped"] + report["bad_header"] + report["wrong_size"],
                last_frame=report["last_frame"],
            )  # fmt: skip
            self.assertIn("drained", log)

    def test_reordering_is_late_and_counted(self):
        with self.service() as (service, client):
            report = play(
                *GEOMETRY, "--connect", service.data_endpoint, "--frames", 3000, "--reorder", "every:3"
            )
            self.assertGreater(report["reordered"], 900)
            service.wait_account(control=1, accepted=3000)
            client.ask("values", fresh=True)
            self.assert_says(
                service.account(),
                accumulated=3000,
                late=report["reordered"],
                missing=0,
                discarded={},
                restarted=0,
            )

    def test_a_gap_is_open_before_it_is_missing(self):
        sources = [dict(config()["sources"][0], sequence={"window": 100})]
        with self.service(sources=sources) as (service, client):
            common = (*GEOMETRY, "--connect", service.data_endpoint, "--run", "a")
            play(*common, "--frames", 60, "--skip", "10-14", "--no-end")
            service.wait_account(accumulated=55)
            self.assert_says(service.account(), missing=0, open=5)
            play(*common, "--first", 60, "--frames", 52, "--no-end")
            service.wait_account(accumulated=107)
            self.assert_says(
                service.account(), missing=2, open=3
            )  # 111 is the top: 12 is the lowest in the window
            play(*common, "--first", 112, "--frames", 0)
            service.wait_account(control=1)
            self.assert_says(client.result("stop")["cut"]["totals"]["account"], missing=5, open=0)

    def test_a_lost_tail_needs_the_end_mark(self):
        with self.service() as (service, client):
            common = (*GEOMETRY, "--connect", service.data_endpoint, "--frames", 100, "--skip", "80-99")
            play(*common, "--run", "a", "--no-end")
            service.wait_account(accumulated=80)
            self.assert_says(service.account(), missing=0, open=0)
            report = play(*common, "--run", "b")
            service.wait_account(control=1, accumulated=160)
            client.ask("values", fresh=True)
            self.assert_says(service.account(), missing=report["skipped"], restarted=1)

    def test_restarts(self):
        with self.service() as (service, client):
            common = (*GEOMETRY, "--connect", service.data_endpoint, "--frames", 500)
            play(*common, "--run", "a", "--no-end")
            service.wait_account(accumulated=500)
            play(*common, "--run", "b")  # while a is open
            service.wait_account(accumulated=1000, control=1)
            self.assert_says(service.account(), restarted=1, missing=0, discarded={})
            play(*common, "--run", "b", "--no-end")  # the same numbers again
            service.wait_account(accepted=1500)
            client.ask("values", fresh=True)
            self.assert_says(service.account(), accumulated=1000, discarded={"duplicate": 500})
            play(*common, "--run", "a", "--no-end")  # a run that was left
            service.wait_account(accepted=2000)
            client.ask("values", fresh=True)
            account = service.account()
            self.assert_says(
                account, accumulated=1000, discarded={"duplicate": 500, "stale_run": 500}, missing=0
            )
            self.assert_conserved(client, 1000)

    def test_frames_without_run_key_restart_by_their_numbers(self):
        import numpy as np

        frame = np.full((ROWS, COLS), 2000, "u2")
        with self.service() as (service, client), Sender(service.data_endpoint) as sender:
            sender.frames([frame] * 2000, first=5)
            sender.frames([frame] * 100, first=5)
            service.wait_account(accepted=2100)
            client.ask("values", fresh=True)
            self.assert_says(service.account(), accumulated=2100, restarted=1, missing=0, discarded={})
            sender.frames([frame] * 100, first=None)
            service.wait_account(accumulated=2200)
            self.assert_says(service.account(), restarted=1, missing=0)

    def test_resets_under_load(self):
        with self.service(batch={"frames": 32, "max_age_ms": 5}) as (service, client):
            with Player(*GEOMETRY, "--connect", service.data_endpoint, "--run", "a") as player:
                wait_until(lambda: service.account()["accumulated"] > 100, "frames come")
                ended = []
                for _ in range(200):
                    result = client.result("reset")
                    self.assertTrue(result["run"])
                    self.assertNotEqual(result["run"], result["cut"]["run"])
                    ended.append(result["cut"])
                player.process.terminate()
                report = player.finish()
            service.wait_account(control=1, accepted=report["frames"])
            ended.append(client.result("values", fresh=True)["cut"])
            self.assertEqual(sum(cut["totals"]["frames"] for cut in ended), report["frames"])
            self.assertEqual(sum(cut["totals"]["account"]["accumulated"] for cut in ended), report["frames"])
            for cut in ended:
                self.assert_balanced(cut["totals"]["account"])
                self.assertEqual(cut["totals"]["account"]["accumulated"], cut["totals"]["frames"])
            self.assertEqual(len({cut["run"] for cut in ended}), len(ended))
            ranges = [cut["sources"]["module0"] for cut in ended if cut["totals"]["frames"]]
            for one, next_one in zip(ranges, ranges[1:]):
                self.assertEqual(one["last_frame"] + 1, next_one["first_frame"])
            self.assert_says(service.account(), accumulated=report["frames"], missing=0, discarded={})
            self.assert_conserved(client, ended[-1]["totals"]["frames"])

    def test_stop_and_start_under_load(self):
        with self.service(batch={"frames": 32, "max_age_ms": 5}) as (service, client):
            with Player(*GEOMETRY, "--connect", service.data_endpoint, "--run", "a") as player:
                in_runs = 0
                for i in range(30):
                    accepted = service.account()["accepted"]
                    wait_until(lambda: service.account()["accepted"] > accepted, "frames come")
                    stopped = client.result("stop")
                    self.assertEqual((stopped["state"], stopped["changed"]), ("stopped", True))
                    self.assertFalse(client.result("stop")["changed"])
                    accepted = service.account()["accepted"]
                    wait_until(lambda: service.account()["accepted"] > accepted, "frames come")
                    started = client.result("start", name=f"part {i}")
                    self.assertEqual((started["state"], started["changed"]), ("running", True))
                    self.assertFalse(client.result("start")["changed"])
                    # What was stopped stays as it was until the start.
                    self.assertEqual(started["cut"]["totals"]["frames"], stopped["cut"]["totals"]["frames"])
                    self.assertGreater(started["cut"]["totals"]["account"]["discarded"]["stop"], 0)
                    in_runs += started["cut"]["totals"]["frames"]
                player.process.terminate()
                report = player.finish()
            service.wait_account(control=1, accepted=report["frames"])
            last = client.result("values", fresh=True)["cut"]["totals"]["frames"]
            account = service.account()
            self.assertEqual(account["accumulated"], in_runs + last)
            self.assertEqual(account["accumulated"] + account["discarded"]["stop"], report["frames"])
            self.assert_says(
                account, missing=0, restarted=0, discarded={"stop": account["discarded"]["stop"]}
            )
            self.assertEqual(service.status()["run"]["name"], "part 29")
            self.assert_conserved(client, last)

    def test_balanced_at_every_instant(self):
        with self.service(batch={"frames": 32, "max_age_ms": 5}) as (service, client):
            with Player(
                *GEOMETRY, "--connect", service.data_endpoint, "--seconds", 1.5, "--run", "a",
                "--duplicate", "every:7", "--bad-header", "every:11", "--skip", "every:13",
            ) as player:  # fmt: skip
                self.watch(service, lambda: not player.running())
                report = player.finish()
            service.wait_account(control=1, received=report["messages"])
            client.ask("values", fresh=True)
            self.assert_says(
                service.account(), accumulated=report["frames"], discarded={"duplicate": report["duplicated"]}
            )

    def test_pub_into_a_tiny_ring_drops_and_counts(self):
        # Four frames in the ring, one a batch, and work per frame: the receive thread must run into a full ring.
        rows, cols = 128, 128
        changes = dict(axis={"bins": 1000}, ring={"bytes": 4 * rows * cols * 2}, device={"cpu_threads": 1})
        with Player(
            "--rows", rows, "--cols", cols, "--socket", "pub", "--bind", "tcp://127.0.0.1:*", "--wait-subscriber", TIMEOUT,
            "--frames", 3000, "--run", "a", "--images", 50,
        ) as player:  # fmt: skip
            endpoint = player.process.stderr.readline().split()[-1]
            sources = [{"endpoint": endpoint, "socket": "sub", "on_full": "drop"}]
            with Service(make_config(rows, cols, sources=sources, **changes)) as service:
                with Client(service.query_endpoint) as client:
                    self.watch(service, lambda: not player.running())
                    report = player.finish()
                    service.wait_account(control=1, received=report["frames"])
                    cut = client.result("pixel", row=0, col=0, fresh=True)["cut"]
                    account = cut["sources"]["module0"]["account"]
                    self.assertGreater(account["dropped"], 0)
                    self.assertGreater(account["accumulated"], 0)
                    self.assertEqual(account["dropped"] + account["accumulated"], report["frames"])
                    # A dropped or refused number never comes: the account says so, once the end mark is there.
                    self.assertEqual(account["missing"], account["dropped"] + report["refused"])
                    self.assertEqual(cut["totals"]["frames"], account["accumulated"])

    def test_pull_waits_where_pub_would_drop(self):
        rows, cols = 128, 128
        changes = dict(axis={"bins": 1000}, ring={"bytes": 4 * rows * cols * 2}, device={"cpu_threads": 1})
        with Service(make_config(rows, cols, **changes)) as service:
            report = play(
                "--rows", rows, "--cols", cols, "--connect", service.data_endpoint, "--frames", 3000
            )
            service.wait_account(control=1, accumulated=3000, timeout=3 * TIMEOUT)
            self.assert_says(service.account(), dropped=0, missing=0, received=report["messages"])
            rings = service.status()["sources"]["module0"]["rings"]
            self.assertEqual(rings[0]["high_water_bytes"], rings[0]["bytes"])


if __name__ == "__main__":
    unittest.main()
