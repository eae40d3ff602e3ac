"""Detectors of several modules: each a source of its own, placed where the configuration says."""

import pathlib
import tempfile
import unittest

import numpy as np

import reference
from array10 import Sender
from client import Client
from harness import ANY_PORT, TIMEOUT, Player, Service, config_file, make_config, run_pixhistd

AXIS = {"bins": 32, "min": 0, "max": 64}
FLOW = ("below", "above", "invalid", "other_stage")


def make_stack(frames, rows, cols, seed):
    """Values of which a few lie above the axis."""
    return np.random.default_rng(seed).integers(0, 70, (frames, rows, cols), np.uint16)


def source(name, rows, cols, origin, **changes):
    return {
        "name": name, "endpoint": ANY_PORT, "socket": "pull", "bind": True, "shape": [rows, cols], "origin": origin
    } | changes  # fmt: skip


def counts_of(stack):
    return reference.histogram(stack, **{"bins": 32, "low": 0, "high": 64}).counts


class ModulesTest(unittest.TestCase):
    def check_modules(self, detector, modules):
        """modules: name: (stack, origin). Sends them in turns and compares every pixel of the detector."""
        sources = [source(name, *stack.shape[1:], list(origin)) for name, (stack, origin) in modules.items()]
        wanted = np.zeros((*detector, AXIS["bins"]), np.uint32)
        covered = np.zeros(detector, int)
        with Service(make_config(*detector, sources=sources, axis=AXIS)) as service, Client(
            service.query_endpoint
        ) as client:
            senders = [Sender(endpoint) for endpoint in service.data_endpoints]
            for i in range(max(len(stack) for stack, _ in modules.values())):
                for sender, (stack, _) in zip(senders, modules.values()):
                    if i < len(stack):
                        sender.frame(stack[i], i)
            for name, (stack, (row, col)) in modules.items():
                service.wait_account(name, accepted=len(stack))
                place = np.s_[row : row + stack.shape[1], col : col + stack.shape[2]]
                wanted[place] = counts_of(stack)
                covered[place] += 1
            result, counts = client.ask("values", fresh=True)
            self.assertTrue(np.array_equal(counts, wanted))
            for name, (stack, _) in modules.items():
                of_source = result["cut"]["sources"][name]
                account = of_source["account"]
                self.assertEqual((of_source["frames"], of_source["pending"]), (len(stack), 0), name)
                self.assertEqual((account["received"], account["accumulated"]), (len(stack),) * 2, name)
                self.assertEqual((account["rejected"], account["dropped"], account["missing"]), ({}, 0, 0), name)
            info = client.result("info")
            self.assertEqual([tuple(s["origin"]) for s in info["sources"]], [o for _, o in modules.values()])
            self.assertEqual({s["origin_from"] for s in info["sources"]}, {"configuration"})
            self.assertEqual(info["detector"]["uncovered_pixels"], int((covered == 0).sum()))
            for r0, r1, c0, c1 in info["detector"]["uncovered"]:
                covered[r0:r1, c0:c1] += 1
            self.assertTrue((covered == 1).all(), covered)
            for sender in senders:
                sender.socket.close()

    def test_side_by_side(self):
        self.check_modules(
            (6, 20), {f"m{i}": (make_stack(20 + i, 6, 5, seed=i), (0, 5 * i)) for i in range(4)}
        )

    def test_stacked(self):
        self.check_modules(
            (20, 6), {f"m{i}": (make_stack(20 + i, 5, 6, seed=i), (5 * i, 0)) for i in range(4)}
        )

    def test_modules_of_different_shapes_with_gaps(self):
        self.check_modules(
            (11, 13),
            {
                "wide": (make_stack(30, 3, 9, seed=1), (0, 4)),
                "tall": (make_stack(10, 7, 2, seed=2), (4, 0)),
                "dot": (make_stack(40, 1, 1, seed=3), (10, 12)),
            },
        )

    def test_a_silent_and_a_late_source_hold_up_nobody(self):
        sources = [source(f"m{i}", 4, 4, [0, 4 * i]) for i in range(3)]
        stack, late = make_stack(3, 4, 4, seed=1), make_stack(5, 4, 4, seed=2)
        with Service(make_config(4, 12, sources=sources, axis=AXIS)) as service, Client(
            service.query_endpoint
        ) as client, Sender(service.data_endpoints[0]) as first, Sender(service.data_endpoints[2]) as last:
            first.frames(stack)
            # Far fewer frames than a batch holds: its age alone makes them visible, with nobody asking for it.
            service.wait_account("m0", accumulated=3)
            result, counts = client.ask("values")
            self.assertTrue(np.array_equal(counts[:, :4], counts_of(stack)))
            self.assertEqual(counts[:, 4:].sum(), 0)
            self.assertEqual(result["cut"]["sources"]["m1"]["frames"], 0)
            self.assertIsNone(result["cut"]["sources"]["m1"]["first_frame"])
            for when in ("last_frame_at", "accumulated_at"):
                self.assertIsNone(service.status()["sources"]["m1"][when])
                self.assertRegex(service.status()["sources"]["m0"][when], r"^\d{4}-\d\d-\d\dT.*Z$")
            last.frames(late, first=1000)
            service.wait_account("m2", accumulated=5)
            client.ask("stop")
            client.ask("start")
            first.frames(stack)
            service.wait_account("m0", accumulated=6)
            self.assertEqual(client.array("values", fresh=True).sum(), counts_of(stack).sum())

    def test_several_sockets_of_one_module_beside_another(self):
        both = source("both", 4, 6, [0, 0], endpoint=None, endpoints=[ANY_PORT, ANY_PORT, ANY_PORT])
        del both["endpoint"]
        stack, other = make_stack(90, 4, 6, seed=3), make_stack(40, 4, 6, seed=4)
        with Service(make_config(8, 6, sources=[both, source("one", 4, 6, [4, 0])], axis=AXIS)) as service, Client(
            service.query_endpoint
        ) as client:
            senders = [Sender(endpoint) for endpoint in service.data_endpoints]
            self.assertEqual(len(senders), 4)
            for i, pixels in enumerate(stack):
                senders[i % 3].frame(pixels, i)
            senders[3].frames(other)
            service.wait_account("both", accepted=90)
            service.wait_account("one", accepted=40)
            result, counts = client.ask("values", fresh=True)
            self.assertTrue(np.array_equal(counts[:4], counts_of(stack)))
            self.assertTrue(np.array_equal(counts[4:], counts_of(other)))
            account = result["cut"]["sources"]["both"]["account"]
            self.assertEqual((account["accumulated"], account["missing"], account["open"]), (90, 0, 0))
            self.assertEqual(len(service.status()["sources"]["both"]["rings"]), 3)
            for sender in senders:
                sender.socket.close()

    def test_on_full_counts_for_each_source_alone(self):
        """Both senders outrun the service: one source makes its sender wait, the other drops and counts."""
        rows, cols, frames = 64, 128, 1500
        sources = [
            source("waits", rows, cols, [0, 0]),
            source("drops", rows, cols, [rows, 0], on_full="drop"),
        ]
        changes = dict(axis={"bins": 1000}, ring={"bytes": 8 * rows * cols * 2}, device={"cpu_threads": 1})
        with Service(make_config(2 * rows, cols, sources=sources, **changes)) as service:
            players = [
                Player("--rows", rows, "--cols", cols, "--connect", endpoint, "--frames", frames, "--images", 50)
                for endpoint in service.data_endpoints
            ]
            with players[0] as waits, players[1] as drops:
                reports = [waits.finish(), drops.finish()]
            service.wait_account("waits", control=1, accumulated=frames, timeout=4 * TIMEOUT)
            service.wait_account("drops", control=1, received=frames, settled=True, timeout=4 * TIMEOUT)
            status = service.status()["sources"]
            self.assertEqual(status["waits"]["lifetime"]["dropped"], 0)
            account = status["drops"]["lifetime"]
            self.assertGreater(account["dropped"], 0)
            self.assertEqual(account["dropped"] + account["accumulated"], frames)
            self.assertEqual(account["missing"], account["dropped"])
            self.assertEqual(status["waits"]["rings"][0]["bytes"], status["drops"]["rings"][0]["bytes"])
            self.assertEqual([report["frames"] for report in reports], [frames, frames])

    def test_masked_pixels_are_invalid_in_wire_order(self):
        stack = make_stack(25, 4, 6, seed=5)
        mask = np.zeros((4, 6), bool)
        mask[0, 1] = mask[3, 5] = True
        with tempfile.TemporaryDirectory(prefix="pixhist-test-") as folder:
            path = str(pathlib.Path(folder) / "mask.npy")
            np.save(path, mask)
            sources = [source("plain", 4, 6, [4, 0]), source("masked", 4, 6, [0, 0], mask_file=path)]
            config = make_config(8, 6, sources=sources, axis=AXIS)
            with config_file(config) as file:
                shown = run_pixhistd("--config", file, "--check-config")
            self.assertIn(f"masked: 2 of 24 ({path})", shown.stdout)
            with Service(config) as service, Client(service.query_endpoint) as client:
                for endpoint in service.data_endpoints:
                    with Sender(endpoint) as sender:
                        sender.frames(stack)
                        name = "plain" if endpoint == service.data_endpoints[0] else "masked"
                        service.wait_account(name, accepted=25)
                counts = client.array("values", fresh=True)
                wanted = counts_of(stack)
                self.assertTrue(np.array_equal(counts[4:], wanted))
                wanted[mask] = 0
                self.assertTrue(np.array_equal(counts[:4], wanted))
                result, _ = client.ask("pixel", row=3, col=5)
                self.assertEqual([result[k] for k in FLOW], [0, 0, 25, 0])
                self.assertEqual([s["masked_pixels"] for s in client.result("info")["sources"]], [0, 2])
            np.save(path, np.asfortranarray(mask))
            for bad, says in (
                (np.asfortranarray(mask), "Fortran order"),
                (mask.T.copy(), r"shape is \(6, 4\); allowed: \(4, 6\)"),
                (mask.astype("u2"), "dtype is '<u2'"),
            ):
                np.save(path, bad)
                with config_file(config) as file:
                    refused = run_pixhistd("--config", file)
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertRegex(refused.stderr, rf"(?m)^sources\.1\.mask_file: given .*{says}")


if __name__ == "__main__":
    unittest.main()
