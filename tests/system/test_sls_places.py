"""Modules whose headers say where they lie (format sls), and frames that are not complete."""

import json
import unittest

import numpy as np

import reference
from array10 import Sender
from client import Client
from harness import ANY_PORT, Service, make_config, wait_until
from sls import header

AXIS = {"bins": 32, "min": 0, "max": 64}
FLOW = ("below", "above", "invalid", "other_stage")
ROWS, COLS = 4, 6


def source(name, **changes):
    return {
        "name": name, "endpoint": ANY_PORT, "socket": "pull", "bind": True, "format": "sls", "shape": [ROWS, COLS]
    } | changes  # fmt: skip


def make_stack(frames, seed):
    return np.random.default_rng(seed).integers(0, 64, (frames, ROWS, COLS), np.uint16)


def counts_of(stack):
    return reference.histogram(stack, AXIS["bins"], AXIS["min"], AXIS["max"]).counts


def send(sender, stack, first=1, **place):
    for i, pixels in enumerate(stack):
        sender.parts(header(pixels, first + i, **place), pixels.tobytes())


class SlsPlacesTest(unittest.TestCase):
    def test_eiger_module_of_four_ports(self):
        """Two half modules: the lower one has its ports swapped and its rows upside down."""
        ports = [(0, 0, 0), (0, 1, 0), (1, 1, 1), (1, 0, 1)]
        stacks = [make_stack(10 + i, seed=i) for i in range(4)]
        config = make_config(2 * ROWS, 2 * COLS, sources=[source(f"port{i}") for i in range(4)], axis=AXIS)
        with Service(config) as service, Client(service.query_endpoint) as client:
            info = client.result("info")
            self.assertEqual({s["origin_from"] for s in info["sources"]}, {"unknown yet"})
            self.assertEqual({s["origin"] for s in info["sources"]}, {None})
            self.assertEqual(info["detector"]["uncovered"], [[0, 2 * ROWS, 0, 2 * COLS]])
            wanted = np.zeros((2 * ROWS, 2 * COLS, AXIS["bins"]), np.uint32)
            for i in (2, 0, 3, 1):
                row, column, flip = ports[i]
                with Sender(service.data_endpoints[i]) as sender:
                    send(sender, stacks[i], row=row, column=column, flip=flip)
                    service.wait_account(f"port{i}", accepted=len(stacks[i]))
                counts = counts_of(stacks[i])
                wanted[row * ROWS : (row + 1) * ROWS, column * COLS : (column + 1) * COLS] = (
                    counts[::-1] if flip else counts
                )
                self.assertTrue(np.array_equal(client.array("values", fresh=True), wanted), i)
            info = client.result("info")
            self.assertEqual({s["origin_from"] for s in info["sources"]}, {"header"})
            self.assertEqual(
                [(*s["origin"], s["flip_rows"]) for s in info["sources"]],
                [(row * ROWS, column * COLS, bool(flip)) for row, column, flip in ports],
            )
            self.assertEqual(info["detector"]["uncovered"], [])
            self.assertEqual(
                service.status()["sources"]["port2"]["place"],
                {"origin": [ROWS, COLS], "flip_rows": True, "from": "header"},
            )

    def test_a_place_that_cannot_be(self):
        config = make_config(ROWS, 2 * COLS, sources=[source("left"), source("right")], axis=AXIS)
        stack = make_stack(5, seed=1)
        with Service(config) as service, Client(service.query_endpoint) as client:
            with Sender(service.data_endpoints[0]) as left, Sender(service.data_endpoints[1]) as right:
                send(left, stack)
                service.wait_account("left", accepted=5)
                send(right, stack)  # over the other
                send(right, stack, first=6, row=1)  # outside
                send(left, stack, first=6, column=1)  # has moved
                send(left, stack, first=11, flip=1)  # has turned
                rejected = lambda name: service.account(name)["rejected"].get("geometry")  # noqa: E731
                wait_until(lambda: (rejected("left"), rejected("right")) == (10, 10), "all four are rejected")
                of_sources = service.status()["sources"]
                self.assertRegex(
                    of_sources["right"]["mismatch"],
                    r"right at rows \[0, 4\) cols \[0, 6\), which overlaps left at rows \[0, 4\) cols \[0, 6\)",
                )
                self.assertRegex(of_sources["left"]["mismatch"], r"rows \[0, 4\) cols \[6, 12\); earlier .*cols \[0, 6\)")
                self.assertEqual(of_sources["right"]["place"]["from"], "unknown yet")
                send(right, stack, first=11, column=1)
                service.wait_account("right", accepted=5)
            counts = client.array("values", fresh=True)
            self.assertTrue(np.array_equal(counts, np.hstack([counts_of(stack)] * 2)))

    def test_a_configured_origin_wins_and_the_flip_is_the_headers(self):
        config = make_config(ROWS, 2 * COLS, sources=[source("m", origin=[0, COLS])], axis=AXIS)
        stack = make_stack(20, seed=2)
        with Service(config) as service, Client(service.query_endpoint) as client:
            with Sender(service.data_endpoint) as sender:
                send(sender, stack, row=0, column=0, flip=1)
                service.wait_account("m", accepted=20)
            counts = client.array("values", fresh=True)
            self.assertTrue(np.array_equal(counts[:, COLS:], counts_of(stack)[::-1]))
            self.assertEqual(counts[:, :COLS].sum(), 0)
            info = client.result("info")["sources"][0]
            self.assertEqual((info["origin"], info["flip_rows"]), ([0, COLS], True))
            self.assertEqual(info["origin_from"], "configuration")
            self.assertEqual(service.log().count("the configured origin puts m at"), 1)

    def test_one_port_over_two_sockets(self):
        """An acquisition of one frame is seen by one socket only; both agree on the runs all the same."""
        stack = make_stack(31, seed=4)
        one_port = source("m", endpoints=[ANY_PORT, ANY_PORT])
        del one_port["endpoint"]
        end = b'{"jsonversion":5, "data":0}\n'
        with Service(make_config(ROWS, COLS, sources=[one_port], axis=AXIS)) as service, Client(
            service.query_endpoint
        ) as client, Sender(service.data_endpoints[0]) as left, Sender(service.data_endpoints[1]) as right:
            for first, last in ((0, 10), (10, 11), (11, 31)):
                for i in range(first, last):
                    head = json.loads(header(stack[i], i + 1))
                    head["frameIndex"] = i - first
                    (left, right)[i % 2].parts(json.dumps(head).encode(), stack[i].tobytes())
                service.wait_account("m", accepted=last)
                marks = service.account("m")["control"]
                for sender in (left, right):
                    sender.parts(end)
                service.wait_account("m", control=marks + 2)
            account = service.wait_account("m", accumulated=31)
            self.assertEqual((account["discarded"], account["missing"], account["restarted"]), ({}, 0, 0))
            self.assertTrue(np.array_equal(client.array("values", fresh=True), counts_of(stack)))

    def test_incomplete_frames(self):
        """One source each way: taken as they are, without their missing pixels, not at all."""
        ways = ("accumulate", "mask_missing", "reject")
        stack = make_stack(30, seed=3)
        lost = np.zeros((30, 1, 1), bool)
        lost[::3] = True
        torn = np.where(lost & (np.arange(ROWS) < 2)[:, None], np.uint16(0xFFFF), stack)
        sources = [source(way, on_incomplete=way) for way in ways]
        with Service(make_config(3 * ROWS, COLS, sources=sources, axis=AXIS)) as service, Client(
            service.query_endpoint
        ) as client:
            for i, way in enumerate(ways):
                with Sender(service.data_endpoints[i]) as sender:
                    for n, pixels in enumerate(torn):
                        complete = 0 if lost[n, 0, 0] else 1
                        sender.parts(header(pixels, n + 1, row=i, complete=complete), pixels.tobytes())
                    service.wait_account(way, received=30)
            result, counts = client.ask("values", fresh=True)
            complete = counts_of(stack[~lost[:, 0, 0]])
            taken = counts_of(torn)  # 0xFFFF lies above the axis
            self.assertTrue(np.array_equal(counts[:ROWS], taken))
            self.assertTrue(np.array_equal(counts[ROWS : 2 * ROWS], taken))
            self.assertTrue(np.array_equal(counts[2 * ROWS :], complete))
            for i, (above, invalid, frames) in enumerate(((10, 0, 30), (0, 10, 30), (0, 0, 20))):
                pixel = client.result("pixel", row=i * ROWS, col=0)
                self.assertEqual([pixel[k] for k in FLOW], [0, above, invalid, 0], ways[i])
                self.assertEqual(result["cut"]["sources"][ways[i]]["frames"], frames)
            accounts = {way: result["cut"]["sources"][way]["account"] for way in ways}
            self.assertEqual([accounts[way]["incomplete"] for way in ways], [10, 10, 0])
            self.assertEqual([accounts[way]["rejected"] for way in ways], [{}, {}, {"incomplete": 10}])


if __name__ == "__main__":
    unittest.main()
