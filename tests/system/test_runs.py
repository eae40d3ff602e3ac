"""Runs of the DAQ under runs.policy per_run: where they end, what is kept of them, what is discarded."""

import json
import unittest

import numpy as np

import reference
from array10 import Sender
from client import Client
from harness import ANY_PORT, SLOWNESS, Service, config_file, make_config, run_pixhistd, wait_until

AXIS = {"bins": 32, "min": 0, "max": 3200}
ROWS, COLS = 4, 5
LONG = int(600 * SLOWNESS)  # seconds that no test lives to see


def make_stack(frames, seed):
    return np.random.default_rng(seed).integers(0, 3300, (frames, ROWS, COLS), "u2")


def counts_of(*stacks):
    return reference.histogram(np.concatenate(stacks), AXIS["bins"], AXIS["min"], AXIS["max"]).counts


def one_source(**runs):
    return make_config(ROWS, COLS, axis=AXIS, runs={"policy": "per_run", **runs})


def two_sources(**runs):
    sources = [
        {"name": f"m{i}", "endpoint": ANY_PORT, "socket": "pull", "bind": True, "shape": [ROWS, COLS]}
        | {"origin": [0, i * COLS]}
        for i in (0, 1)
    ]
    return make_config(ROWS, 2 * COLS, axis=AXIS, sources=sources, runs={"policy": "per_run", **runs})


class RunsTest(unittest.TestCase):
    def closed(self, client, number):
        """The entry of the n-th closed run, counted from 1."""

        def last():
            runs = client.result("runs")["runs"]
            return runs and int(runs[0]["run"][-4:]) >= number and runs

        runs = wait_until(last, f"closed run {number}")
        self.assertEqual(len(runs), 1)
        self.assertTrue(runs[0]["run"].endswith(f"-{number:04}"), runs)
        return runs[0]

    def assert_holds(self, client, run, *stacks_of_sources):
        wanted = np.concatenate([counts_of(*stacks) for stacks in stacks_of_sources], axis=1)
        result, counts = client.ask("values", snapshot=run["run"])
        self.assertTrue(np.array_equal(counts, wanted))
        self.assertEqual(result["cut"], run["cut"])
        self.assertEqual(result["cut"]["run"], run["run"])
        self.assertEqual(run["frames"], sum(len(s) for stacks in stacks_of_sources for s in stacks))

    def test_two_runs_of_one_source(self):
        first, second = make_stack(60, 1), make_stack(45, 2)
        with Service(one_source()) as service, Client(service.query_endpoint) as client:
            with Sender(service.data_endpoint) as sender:
                self.assertEqual(client.result("runs"), {"runs": []})
                run_at_start = client.result("values")["cut"]["run"]
                sender.end("none")  # ends nothing
                sender.frames(first, run="a", first=3)
                sender.end("a", 63)
                run = self.closed(client, 1)
                self.assertEqual(run["run"], run_at_start)
                self.assertEqual((run["ended_by"], run["where"]), ("marks", "memory"))
                self.assert_holds(client, run, [first])
                source = run["cut"]["sources"]["module0"]
                self.assertEqual((source["first_frame"], source["last_frame"]), (3, 62))
                account = source["account"]
                self.assertEqual((account["accepted"], account["accumulated"]), (60, 60))
                self.assertEqual((account["missing"], account["in_ring"], account["open"]), (3, 0, 0))

                between = client.result("values", fresh=True)["cut"]
                self.assertEqual((between["run"], between["sources"]["module0"]["run"]), (None, None))
                self.assertEqual(between["totals"]["frames"], 0)
                self.assertIsNone(service.status()["run"]["id"])

                # Several end marks, frames of the run that is over, and a key that changes without an end mark.
                for _ in range(3):
                    sender.end("a", 63)
                sender.end()
                sender.frames(first[:4], run="a", first=100)
                sender.frames(second, run="b")
                service.wait_account(accumulated=105)
                self.assertEqual(service.account()["discarded"], {"stale_run": 4})
                result, counts = client.ask("values")
                self.assertTrue(np.array_equal(counts, counts_of(second)))
                self.assertTrue(result["cut"]["run"].endswith("-0002"))
                self.assert_holds(client, run, [first])
                spectrum = client.array("spectrum", snapshot=run["run"])
                self.assertTrue(np.array_equal(spectrum, counts_of(first).sum((0, 1))))
                self.assertEqual(client.refusal("values", since=run["run"]).code, "run_changed")
                result, counts = client.ask("pixel", row=3, col=4, snapshot=run["run"])
                self.assertTrue(np.array_equal(counts, counts_of(first)[3, 4]))
                self.assertEqual(int(counts.sum()) + result["above"], 60)

                sender.frames(first, run="c")
                run = self.closed(client, 2)
                self.assert_holds(client, run, [second])
                self.assertEqual(service.account()["restarted"], 1)
                service.wait_account(accumulated=165)
            log = service.stop()
            self.assertIn("closed by marks: 60 frames of 1 sources", log)
            self.assertEqual(service.final_account()["accumulated"], 165)

    def test_a_held_cut_and_the_closed_run_live_side_by_side(self):
        stacks = [make_stack(30, i) for i in range(3)]
        with Service(one_source()) as service, Client(service.query_endpoint) as client:
            with Sender(service.data_endpoint) as sender:
                sender.frames(stacks[0], run="0")
                service.wait_account(accepted=30)
                held = client.result("snapshot")["snapshot"]
                for i in (1, 2):
                    sender.frames(stacks[i], run=str(i))
                    run = self.closed(client, i)
                    self.assert_holds(client, run, [stacks[i - 1]])
                    self.assertTrue(np.array_equal(client.array("values", snapshot=held), counts_of(stacks[0])))
                self.assertEqual(client.refusal("release", snapshot=run["run"]).code, "no_snapshot")
                first = run["run"][:-4] + "0001"
                self.assertEqual(client.refusal("values", snapshot=first).code, "no_snapshot")

    def test_a_sender_that_starts_again(self):
        stack = make_stack(20, 5)
        with Service(one_source()) as service, Client(service.query_endpoint) as client:
            for number in (1, 2):  # no keys, no end marks: the numbers begin anew
                with Sender(service.data_endpoint) as sender:
                    sender.frames(stack, first=0)
                    service.wait_account(accumulated=20 * number)
            self.assert_holds(client, self.closed(client, 1), [stack])
            self.assertTrue(np.array_equal(client.array("values"), counts_of(stack)))

    def test_two_sources_end_at_different_times(self):
        a, b, c = make_stack(40, 10), make_stack(50, 11), make_stack(30, 12)
        with Service(two_sources(close_after_s=min(LONG, 3600))) as service:
            with Client(service.query_endpoint) as client, Sender(service.data_endpoints[0]) as s0, Sender(
                service.data_endpoints[1]
            ) as s1:
                s1.frames(b[:10], run="1")
                service.wait_account("m1", accumulated=10)
                s0.frames(a, run="1")
                s0.end("1", 40)
                s0.frames(c, run="2")
                service.wait_account("m0", accumulated=70)  # does not wait for m1
                result, counts = client.ask("values", fresh=True)
                self.assertTrue(np.array_equal(counts[:, :COLS], counts_of(c)))
                self.assertTrue(np.array_equal(counts[:, COLS:], counts_of(b[:10])))
                cut = result["cut"]
                self.assertTrue(cut["run"].endswith("-0002"))
                self.assertEqual(cut["sources"]["m0"]["run"], cut["run"])
                self.assertTrue(cut["sources"]["m1"]["run"].endswith("-0001"))
                status = service.status()
                self.assertEqual(status["run"]["closing"], cut["sources"]["m1"]["run"])
                self.assertEqual(status["sources"]["m1"]["run_id"], cut["sources"]["m1"]["run"])
                self.assertEqual(client.result("runs")["runs"], [])
                s1.frames(b[10:], run="1", first=10)
                s1.end("1", 50)
                run = self.closed(client, 1)
                self.assertEqual(run["ended_by"], "marks")
                self.assert_holds(client, run, [a], [b])
                self.assertIsNone(service.status()["run"]["closing"])
                accounts = {n: s["account"] for n, s in run["cut"]["sources"].items()}
                self.assertEqual({n: x["accepted"] for n, x in accounts.items()}, {"m0": 40, "m1": 50})

                # Far ahead: what would end the second run waits in the ring, and is not lost.
                s0.end("2")
                s0.frames(a, run="3")
                s0.end("3")
                s0.frames(b, run="4")
                wait_until(lambda: service.account("m0")["accepted"] == 160, "everything received")
                self.assertEqual(client.result("values", fresh=True)["cut"]["sources"]["m0"]["pending"], 50)
                for run_key, stack, number, of_m0 in (("2", b, 2, c), ("3", c, 3, a)):
                    s1.frames(stack, run=run_key)
                    s1.end(run_key)
                    self.assert_holds(client, self.closed(client, number), [of_m0], [stack])
                service.wait_account("m0", accumulated=160)
                self.assertEqual(service.account("m0")["discarded"], {})

    def test_close_after(self):
        a, b = make_stack(40, 20), make_stack(50, 21)
        with Service(two_sources(close_after_s=1)) as service, Client(service.query_endpoint) as client:
            with Sender(service.data_endpoints[0]) as s0, Sender(service.data_endpoints[1]) as s1:
                s1.frames(b[:10], run="1")
                service.wait_account("m1", accumulated=10)
                s0.frames(a, run="1")
                s0.end("1")
                run = self.closed(client, 1)
                self.assertEqual(run["ended_by"], "timeout")
                self.assert_holds(client, run, [a], [b[:10]])
                s1.frames(b[10:], run="1", first=10)  # too late
                s1.end("1")
                s1.frames(b, run="2")
                service.wait_account("m1", accumulated=60)
                self.assertEqual(service.account("m1")["discarded"], {"stale_run": 40})
                # m0 is silent, and is waited for as it sent in the run before; then no more.
                s1.end("2")
                run = self.closed(client, 2)
                self.assertEqual(run["ended_by"], "timeout")
                self.assertEqual(run["frames"], 50)
                s1.frames(b, run="3")
                s1.end("3")
                self.assertEqual(self.closed(client, 3)["ended_by"], "marks")

    def test_commands(self):
        a, b = make_stack(40, 30), make_stack(50, 31)
        with Service(two_sources(close_after_s=min(LONG, 3600))) as service:
            with Client(service.query_endpoint) as client, Sender(service.data_endpoints[0]) as s0, Sender(
                service.data_endpoints[1]
            ) as s1:
                s1.frames(b, run="1")
                service.wait_account("m1", accumulated=50)
                s0.frames(a, run="1")
                s0.end("1")
                s0.frames(b, run="2")
                service.wait_account("m0", accumulated=90)
                reply = client.result("stop")  # ends the closing of the first run, then closes the second
                second = reply["cut"]["run"]
                self.assertEqual(reply["cut"]["totals"]["frames"], 50)
                run = self.closed(client, 2)
                self.assertEqual((run["run"], run["ended_by"]), (second, "command"))
                empty = make_stack(0, 0)
                self.assert_holds(client, run, [b], [empty])
                self.assertTrue(np.array_equal(client.array("values")[:, :COLS], counts_of(b)))
                self.assertIn("-0001 closed by command: 90 frames", service.log())

                third = client.result("start")["run"]
                s0.frames(a, run="3")
                service.wait_account("m0", accumulated=130)
                result = client.result("values", then_reset=True)
                self.assertEqual((result["cut"]["run"], result["cut"]["totals"]["frames"]), (third, 40))
                s0.frames(b, run="3", first=40)
                service.wait_account("m0", accumulated=180)
                self.assertEqual(client.result("reset")["cut"]["totals"]["frames"], 50)
                self.assertEqual(self.closed(client, 2), run)  # neither of the two closes a run

    def test_continuous_closes_nothing(self):
        stack = make_stack(20, 40)
        with Service(make_config(ROWS, COLS, axis=AXIS)) as service, Client(service.query_endpoint) as client:
            with Sender(service.data_endpoint) as sender:
                for key in ("a", "b"):
                    sender.frames(stack, run=key)
                    sender.end(key)
                service.wait_account(accumulated=40, control=2)
                self.assertTrue(np.array_equal(client.array("values", fresh=True), counts_of(stack, stack)))
                self.assertEqual(client.result("runs"), {"runs": []})

    def test_memory_is_checked_at_start(self):
        config = one_source()
        cut = ROWS * COLS * (AXIS["bins"] + 4) * 4
        config["snapshot"] = {"max_bytes": 2 * cut - 1}
        with config_file(config) as path:
            for arguments in (("--config", path), ("--config", path, "--check-config")):
                done = run_pixhistd(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"two cuts of {cut} bytes", done.stderr)
                self.assertIn(f"at least {2 * cut} bytes", done.stderr)
        config["snapshot"] = {"max_bytes": 2 * cut}
        with config_file(config) as path:
            done = run_pixhistd("--config", path, "--check-config", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            items = {i["name"]: i["bytes"] for i in json.loads(done.stdout)["memory"]["at_start"]}
            self.assertEqual(items["last closed run and the next (within snapshot.max_bytes)"], 2 * cut)
        with Service(config) as service, Client(service.query_endpoint) as client:
            self.assertEqual(service.status()["memory"]["snapshot_bytes"], 2 * cut)
            self.assertEqual(client.refusal("values").code, "no_memory")  # and yet runs are closed
            with Sender(service.data_endpoint) as sender:
                for number in (1, 2, 3):
                    sender.frames(make_stack(10, number), run=str(number))
                    sender.end(str(number))
                    self.closed(client, number)


class SequenceTest(unittest.TestCase):
    def test_window_and_step_of_each_source(self):
        config = two_sources()
        config["runs"] = {}
        config["sources"][0]["sequence"] = {"window": 8, "step": 1}
        config["sources"][1]["sequence"] = {"window": 100, "step": 4}
        with Service(config) as service, Sender(service.data_endpoints[0]) as s0:
            with Sender(service.data_endpoints[1]) as s1:
                frame = make_stack(1, 1)[0]
                # m0: 1 and 2 leave the window of 8 when 10 comes; 2 is then below it.
                for number in (0, 3, 10, 2, 3):
                    s0.frame(frame, number, "a")
                account = service.wait_account("m0", accepted=5, settled=True)
                self.assertEqual((account["missing"], account["open"], account["discarded"]), (2, 6, {"duplicate": 2}))
                # m1: every fourth number from 2 on is expected; 4 is not, but is taken.
                for number in (2, 6, 4, 18, 6):
                    s1.frame(frame, number, "a")
                s1.end("a")
                service.wait_account("m1", accepted=5, control=1)
                service.wait_account("m1", missing=2)
                account = service.account("m1")
                self.assertEqual((account["late"], account["discarded"]), (1, {"duplicate": 1}))

    def test_step_0_judges_no_number_and_still_knows_keys(self):
        config = one_source()
        config["sources"][0]["sequence"] = {"step": 0}
        stack = make_stack(6, 2)
        with Service(config) as service, Client(service.query_endpoint) as client:
            with Sender(service.data_endpoint) as sender:
                for pixels, number in zip(stack, (5, 5, 0, 1 << 60, 0, 7)):
                    sender.frame(pixels, number, "a")
                sender.end("a", 10)
                run = wait_until(lambda: client.result("runs")["runs"], "the run is closed")[0]
                account = run["cut"]["sources"]["module0"]["account"]
                self.assertEqual((account["accumulated"], account["missing"], account["late"]), (6, 4, 0))
                self.assertEqual(account["discarded"], {})
                sender.frame(stack[0], 9, "a")
                service.wait_account(accepted=7)
                wait_until(lambda: service.account()["discarded"] == {"stale_run": 1}, "stale")

    def test_wild_numbers_stop_at_the_largest_count(self):
        most = (1 << 64) - 1
        config = two_sources()
        config["runs"] = {}
        frame = make_stack(1, 3)[0]
        with Service(config) as service:
            for name, endpoint in zip(("m0", "m1"), service.data_endpoints):
                with Sender(endpoint) as sender:
                    sender.frame(frame, 0, "a")
                    sender.frame(frame, most, "a")
                    sender.frame(frame, 0, "b")
                    sender.end("b", most)
                    service.wait_account(name, accumulated=3, control=1)
                    wait_until(lambda: service.account(name)["missing"] == most, "the limit")
            status = service.status()
            self.assertEqual(status["totals"]["lifetime"]["missing"], most)
            reasons = {(e["source"], e["reason"]) for e in status["errors"]}
            self.assertLessEqual({("m0", "missing"), ("m1", "missing")}, reasons)
            log = service.stop()
            self.assertRegex(log, r"m0: \d{19,20} frame numbers are missing at once")
            self.assertEqual(service.final_account("m0")["missing"], most)


if __name__ == "__main__":
    unittest.main()
