"""Many sources at once: as many as there may be, and eight under load with queries meanwhile."""

import contextlib
import unittest

import numpy as np

import reference
from array10 import Sender
from client import Client
from harness import ANY_PORT, TIMEOUT, Player, Service, config_file, make_config, run_pixhistd

AXIS = {"bins": 16, "min": 0, "max": 64}
MOST = 32


def sources_of(count, rows, cols, **changes):
    """`count` modules, one above the other."""
    return [
        {
            "name": f"m{i}", "endpoint": ANY_PORT, "socket": "pull", "bind": True,
            "shape": [rows, cols], "origin": [i * rows, 0],
        } | changes
        for i in range(count)
    ]  # fmt: skip


class ManySourcesTest(unittest.TestCase):
    def test_one_source_more_than_there_may_be(self):
        with config_file(make_config(33 * 4, 4, sources=sources_of(33, 4, 4))) as path:
            done = run_pixhistd("--config", path)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"(?m)^sources: .*\b33\b.*\b32\b")

    def test_as_many_sources_as_there_may_be_of_which_one_is_silent(self):
        rows, cols, silent = 4, 4, 17
        rng = np.random.default_rng(1)
        stacks = [
            rng.integers(0, 64, (0 if i == silent else 5 + i, rows, cols), np.uint16) for i in range(MOST)
        ]
        config = make_config(MOST * rows, cols, sources=sources_of(MOST, rows, cols), axis=AXIS)
        with Service(config) as service, Client(service.query_endpoint) as client:
            self.assertEqual(len(set(service.data_endpoints)), MOST)
            with contextlib.ExitStack() as open_senders:
                senders = [open_senders.enter_context(Sender(endpoint)) for endpoint in service.data_endpoints]
                for i in range(max(map(len, stacks))):
                    for sender, stack in zip(senders, stacks):
                        if i < len(stack):
                            sender.frame(stack[i], i)
                for i, stack in enumerate(stacks):  # visible by the age of their batches alone
                    service.wait_account(f"m{i}", accumulated=len(stack))
                result, counts = client.ask("values")
            for i, stack in enumerate(stacks):
                of_source = result["cut"]["sources"][f"m{i}"]
                self.assertEqual(of_source["frames"], len(stack))
                self.assertEqual(of_source["account"]["received"], len(stack))
                self.assertEqual(of_source["account"]["accumulated"], len(stack))
                wanted = 0
                if len(stack):
                    wanted = reference.histogram(stack, AXIS["bins"], AXIS["min"], AXIS["max"]).counts
                self.assertTrue(np.array_equal(counts[i * rows : (i + 1) * rows], wanted + np.zeros_like(counts[:rows])), i)

    def test_eight_sources_under_load_with_queries_meanwhile(self):
        count, rows, cols, frames = 8, 8, 16, 1500
        config = make_config(
            count * rows, cols, sources=sources_of(count, rows, cols), axis={"bins": 32, "min": 0, "max": 8192}
        )
        with Service(config) as service, Client(service.query_endpoint) as client:
            with contextlib.ExitStack() as players:
                running = [
                    players.enter_context(
                        Player(
                            "--rows", rows, "--cols", cols, "--connect", endpoint, "--frames", frames,
                            "--seed", i, "--first", 100 * i, "--skip", "every:100", "--images", 64,
                        )
                    )
                    for i, endpoint in enumerate(service.data_endpoints)
                ]  # fmt: skip
                asked = 0
                while any(player.running() for player in running):
                    result, counts = client.ask("values", fresh=asked % 2 == 0)
                    flow = 0
                    for i in range(count):
                        seen = result["cut"]["sources"][f"m{i}"]["frames"]
                        part = counts[i * rows : (i + 1) * rows]
                        self.assertLessEqual(int(part.sum(axis=2).max()), seen)
                        flow += seen
                    self.assertEqual(flow, result["cut"]["totals"]["frames"])
                    client.ask("status")
                    asked += 1
                reports = [player.finish() for player in running]
            self.assertGreater(asked, 0)
            for i, report in enumerate(reports):
                service.wait_account(f"m{i}", control=1, received=report["frames"], timeout=4 * TIMEOUT)
            cut = client.result("pixel", row=0, col=0, fresh=True)["cut"]
            for i, report in enumerate(reports):
                self.assertGreater(report["skipped"], 0)
                of_source = cut["sources"][f"m{i}"]
                account = of_source["account"]
                self.assertEqual(
                    {k: of_source[k] for k in ("frames", "first_frame", "last_frame", "pending")},
                    {k: report[k] for k in ("frames", "first_frame", "last_frame")} | {"pending": 0},
                )
                self.assertEqual(account["missing"], report["skipped"])
                self.assertEqual(account["accumulated"], report["frames"])
                self.assertEqual((account["dropped"], account["rejected"], account["discarded"]), (0, {}, {}))
            self.assertEqual(cut["totals"]["frames"], sum(report["frames"] for report in reports))
            # Of each source on each of its pixels exactly its own frames.
            values = client.array("values").sum(axis=2)
            for i, report in enumerate(reports):
                for row in (i * rows, (i + 1) * rows - 1):
                    result, counts = client.ask("pixel", row=row, col=3)
                    flow = sum(result[k] for k in ("below", "above", "invalid", "other_stage"))
                    self.assertEqual(int(counts.sum()), int(values[row, 3]))
                    self.assertEqual(int(counts.sum()) + flow, report["frames"])


if __name__ == "__main__":
    unittest.main()
