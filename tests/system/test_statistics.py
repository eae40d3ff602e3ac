"""Spectra, images, moments, differences and rebinned counts, equal (==, doubles too) to a NumPy reference of the frames."""

import unittest

import numpy as np

import reference
from array10 import Sender
from client import Client
from harness import ANY_PORT, Service, make_config, wait_until

AXIS = {"bins": 60, "min": -7.7, "max": 33.3}  # a bin width that no float is
ROWS, COLS = 9, 14
STATS = ("sum", "mean", "std", "median", "mode", "max")
PLACES = {"left": (6, 5, 0, 0), "right": (7, 6, 2, 7)}  # rows, cols, origin; some pixels are nobody's
WHOLE = [0, ROWS, 0, COLS]


def counts_of(stack):
    return reference.histogram(stack, AXIS["bins"], AXIS["min"], AXIS["max"]).counts


def make_stack(frames, rows, cols, seed):
    """A pedestal of its own and a tail for each pixel; some pixels never hit the axis, some hit one bin only."""
    rng = np.random.default_rng(seed)
    stack = rng.normal(rng.uniform(-5, 25, (rows, cols)), 2.0, (frames, rows, cols)).astype("f4")
    tail = rng.random(stack.shape) < 0.1
    stack[tail] = rng.uniform(-20, 50, tail.sum())
    stack[:, 0, 0] = 1e6
    stack[:, 1, 1] = AXIS["max"] - 0.1
    stack[:, 2, 2] = np.nan
    return stack


class Detector:
    """Two modules and what was sent to each."""

    def __init__(self, service):
        self.service = service
        self.senders = {name: Sender(e) for name, e in zip(PLACES, service.data_endpoints)}
        self.frames = dict.fromkeys(PLACES, 0)
        self.zero()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for sender in self.senders.values():
            sender.socket.close()

    def zero(self):
        self.counts = np.zeros((ROWS, COLS, AXIS["bins"]), np.uint32)

    def send(self, frames, seed):
        for i, (name, (rows, cols, row, col)) in enumerate(PLACES.items()):
            stack = make_stack(frames + i, rows, cols, seed + i)
            self.senders[name].frames(stack, first=self.frames[name])
            self.frames[name] += len(stack)
            self.service.wait_account(name, accepted=self.frames[name])
            self.counts[row : row + rows, col : col + cols] += counts_of(stack)


def service(**changes):
    sources = [
        {"name": name, "endpoint": ANY_PORT, "socket": "pull", "bind": True, "shape": [rows, cols], "origin": [row, col]}
        for name, (rows, cols, row, col) in PLACES.items()
    ]
    return Service(make_config(ROWS, COLS, "f32", sources=sources, axis=AXIS, **changes))


def statistics(counts, first=0):
    return reference.statistics(counts, first, AXIS["bins"], AXIS["min"], AXIS["max"], "f4")


class StatisticsTest(unittest.TestCase):
    def assert_same(self, got, wanted, dtype):
        self.assertEqual(got.dtype, np.dtype(dtype))
        self.assertEqual(got.shape, wanted.shape)
        self.assertTrue(np.array_equal(got, wanted.astype(dtype), equal_nan=dtype == "<f8"), (got, wanted))

    def check_taken(self, result, roi, bins):
        self.assertEqual(result["roi"], roi)
        self.assertEqual(result["bins"], bins)
        edges = reference.edges(AXIS["bins"], AXIS["min"], AXIS["max"], "f4")
        self.assertEqual(result["range"], [edges[bins[0]], edges[bins[1]]])

    def check_all(self, client, counts, **args):
        """Every statistic of a few regions and bins, against counts (rows, cols, bins) of the whole detector."""
        for roi in (WHOLE, [2, 3, 0, COLS], [3, 8, 4, 9], [0, 1, 0, 1], [7, 9, 0, 4]):
            r0, r1, c0, c1 = roi
            part = counts[r0:r1, c0:c1]
            result, spectrum = client.ask("spectrum", roi=roi, **args)
            self.check_taken(result, roi, [0, AXIS["bins"]])
            self.assert_same(spectrum, part.sum((0, 1), dtype=np.uint64), "<u8")
            result, moments = client.ask("moments", roi=roi, **args)
            wanted = statistics(part)
            self.check_taken(result, roi, [0, AXIS["bins"]])
            self.assertEqual(list(moments), ["n", "mean", "std"])
            self.assert_same(moments["n"], wanted.n, "<u8")
            self.assert_same(moments["mean"], wanted.mean, "<f8")
            self.assert_same(moments["std"], wanted.std, "<f8")
            for b0, b1 in ((0, AXIS["bins"]), (17, 18), (9, 44)):
                wanted = statistics(part[..., b0:b1], b0)
                for stat in STATS:
                    with self.subTest(roi=roi, bins=(b0, b1), stat=stat, **args):
                        result, image = client.ask("image", roi=roi, bins=[b0, b1], stat=stat, **args)
                        self.check_taken(result, roi, [b0, b1])
                        self.assertEqual((result["stat"], result["square"]), (stat, 1))
                        if stat == "sum":
                            self.assert_same(image, wanted.n, "<u8")
                        else:
                            self.assert_same(image, getattr(wanted, stat), "<f8")
        return result

    def test_live_and_held(self):
        with service() as s, Client(s.query_endpoint) as client, Detector(s) as detector:
            self.check_all(client, detector.counts)  # of no frame
            detector.send(70, seed=1)
            result = client.result("spectrum", fresh=True)
            self.assertEqual(result["cut"]["totals"]["frames"], 141)
            self.check_all(client, detector.counts)
            held = client.result("snapshot")["snapshot"]
            at_held = detector.counts.copy()
            detector.send(30, seed=2)
            self.check_all(client, detector.counts, fresh=True)
            cut = self.check_all(client, at_held, snapshot=held)["cut"]
            self.assertEqual(cut["totals"]["frames"], 141)

    def test_ranges(self):
        with service() as s, Client(s.query_endpoint) as client, Detector(s) as detector:
            detector.send(50, seed=3)
            centre = reference.centers(AXIS["bins"], AXIS["min"], AXIS["max"], "f4")
            for low, high in (
                (AXIS["min"], AXIS["max"]),
                (-1e9, 1e9),
                (centre[3], centre[8]),
                (np.nextafter(centre[3], 9e9), np.nextafter(centre[8], 9e9)),
                (0, 0.7),
            ):
                inside = np.flatnonzero((centre >= low) & (centre < high))
                b0, b1 = int(inside[0]), int(inside[-1]) + 1
                wanted = statistics(detector.counts[..., b0:b1], b0)
                result, image = client.ask("image", range=[low, high], stat="mean", fresh=True)
                self.check_taken(result, WHOLE, [b0, b1])
                self.assert_same(image, wanted.mean, "<f8")
                result, moments = client.ask("moments", range=[low, high])
                self.check_taken(result, WHOLE, [b0, b1])
                self.assert_same(moments["std"], wanted.std, "<f8")
            error = client.refusal("image", range=[centre[3] + 0.01, centre[4]])
            self.assertEqual(error.code, "bins_out_of_range")

    def test_images_of_few_pixels(self):
        with service() as s, Client(s.query_endpoint) as client, Detector(s) as detector:
            detector.send(80, seed=4)
            held = client.result("snapshot")["snapshot"]
            for args in ({"fresh": True}, {"snapshot": held}):
                for max_px, side in ((1, 14), (2, 7), (3, 5), (5, 3), (7, 2), (13, 2), (14, 1), (1000, 1)):
                    wanted = statistics(reference.squares(detector.counts, side))
                    for stat in ("sum", "mean", "std", "max"):
                        with self.subTest(max_px=max_px, stat=stat):
                            result, image = client.ask("image", max_px=max_px, stat=stat, **args)
                            self.assertEqual(result["square"], side)
                            self.assertLessEqual(max(image.shape), max_px)
                            name, dtype = ("n", "<u8") if stat == "sum" else (stat, "<f8")
                            self.assert_same(image, getattr(wanted, name), dtype)
            self.assertEqual(client.refusal("image", max_px=13, stat="median").code, "bad_argument")
            self.assert_same(client.array("image", max_px=14, stat="median"), statistics(detector.counts).median, "<f8")

    def test_rebin(self):
        with service() as s, Client(s.query_endpoint) as client, Detector(s) as detector:
            detector.send(400, seed=5)
            held = client.result("snapshot")["snapshot"]
            for args in ({"fresh": True}, {"snapshot": held}, {"fresh": True, "pause": True}):
                for rebin, bins, dtype, most in (
                    (1, [0, 60], "<u4", 2**32),
                    (6, [0, 60], "<u4", 2**32),
                    (60, [0, 60], "|u1", 255),
                    (7, [3, 38], "<u2", 65535),
                    (5, [10, 15], "<f4", 2**32),
                ):
                    part = detector.counts[2:9, 1:14, bins[0] : bins[1]]
                    wanted = part.reshape(*part.shape[:2], -1, rebin).sum(-1, dtype=np.uint64)
                    result, counts = client.ask(
                        "values", roi=[2, 9, 1, 14], bins=bins, rebin=rebin, dtype=dtype, **args
                    )
                    self.assertEqual((result["bins"], result["rebin"]), (bins, rebin))
                    self.assert_same(counts, np.minimum(wanted, most), dtype)
                    self.assertEqual(result["capped"], int((wanted > most).sum()))

    def test_since(self):
        with service() as s, Client(s.query_endpoint) as client, Detector(s) as detector:
            detector.send(60, seed=6)
            first = client.result("snapshot")["snapshot"]
            at_first = detector.counts.copy()
            detector.send(45, seed=7)
            second = client.result("snapshot")["snapshot"]
            at_second = detector.counts.copy()
            detector.send(300, seed=8)

            for wanted, args in (
                (detector.counts - at_first, {"since": first, "fresh": True}),
                (detector.counts - at_second, {"since": second}),
                (at_second - at_first, {"since": first, "snapshot": second}),
                (at_first - at_first, {"since": first, "snapshot": first}),
            ):
                result = self.check_all(client, wanted, **args)
                self.assertEqual(result["since"]["snapshot"], args["since"])
                self.assertEqual(
                    result["since"]["cut"]["totals"]["frames"], 121 if args["since"] == first else 212
                )
                result, counts = client.ask("values", **args)
                self.assert_same(counts, wanted, "<u4")
                result, counts = client.ask("values", dtype="|u1", rebin=30, roi=[1, 9, 2, 14], **args)
                summed = wanted[1:9, 2:14].reshape(8, 12, 2, 30).sum(-1)
                self.assert_same(counts, np.minimum(summed, 255), "|u1")
                self.assertEqual(result["capped"], int((summed > 255).sum()))
                result, counts = client.ask("pixel", row=3, col=9, **args)
                self.assert_same(counts, wanted[3, 9], "<u4")
                frames = result["cut"]["sources"]["right"]["frames"]
                before = result["since"]["cut"]["sources"]["right"]["frames"]
                flow = sum(result[name] for name in ("below", "above", "invalid", "other_stage"))
                self.assertEqual(int(counts.sum()) + flow, frames - before)

            for op in ("values", "spectrum", "image", "moments"):
                self.assertEqual(client.refusal(op, since=second, snapshot=first).code, "bad_argument")
            client.ask("reset")
            detector.zero()
            detector.send(500, seed=9)
            for op, args in (
                ("values", {}),
                ("pixel", {"row": 0, "col": 0}),
                ("spectrum", {}),
                ("image", {}),
                ("image", {"stat": "median"}),
                ("moments", {}),
            ):
                self.assertEqual(client.refusal(op, since=first, fresh=True, **args).code, "run_changed")
            self.check_all(client, at_second - at_first, since=first, snapshot=second)
            self.check_all(client, detector.counts)

    def test_runs_that_end_by_themselves(self):
        # The last closed run answers as a held cut does; between it and the next there is no difference.
        rows, cols = 5, 8
        first, second = make_stack(40, rows, cols, seed=12), make_stack(50, rows, cols, seed=13)
        config = make_config(rows, cols, "f32", axis=AXIS, runs={"policy": "per_run"})
        with Service(config) as s, Client(s.query_endpoint) as client, Sender(s.data_endpoint) as sender:
            sender.frames(first, run="a")
            sender.end("a")
            (run,) = wait_until(lambda: client.result("runs")["runs"], "the run is closed")
            sender.frames(second[:30], run="b")
            s.wait_account(accepted=70)
            held = client.result("snapshot")["snapshot"]
            sender.frames(second[30:], run="b", first=30)
            s.wait_account(accepted=90)
            ab = [counts_of(x) for x in (first, second, second[30:])]
            for args, counts in (({"snapshot": run["run"]}, ab[0]), ({"fresh": True}, ab[1]), ({"since": held}, ab[2])):
                wanted = statistics(counts)
                for stat in STATS[1:]:
                    image = client.array("image", stat=stat, **args)
                    self.assert_same(image, getattr(wanted, stat), "<f8")
                spectrum = client.array("spectrum", **args)
                self.assert_same(spectrum, counts.sum((0, 1), dtype=np.uint64), "<u8")
            for stat in ("sum", "median"):
                self.assertEqual(client.refusal("image", since=run["run"], stat=stat).code, "run_changed")
                error = client.refusal("image", since=run["run"], snapshot=held, stat=stat)
                self.assertEqual(error.code, "run_changed")

    def test_what_a_held_part_can_answer(self):
        with service() as s, Client(s.query_endpoint) as client, Detector(s) as detector:
            detector.send(50, seed=10)
            part = client.result("snapshot", roi=[1, 8, 2, 13], bins=[5, 50])["snapshot"]
            narrow = client.result("snapshot", dtype="<u2")["snapshot"]
            wanted = statistics(detector.counts[2:8, 2:12, 10:50], 10)
            for stat in STATS:
                image = client.array("image", snapshot=part, roi=[2, 8, 2, 12], bins=[10, 50], stat=stat)
                self.assert_same(
                    image, wanted.n if stat == "sum" else getattr(wanted, stat), "<u8" if stat == "sum" else "<f8"
                )
            inside = {"roi": [2, 8, 2, 12], "bins": [10, 50]}
            for args in ({}, {"roi": [2, 8, 2, 12]}, {"bins": [10, 50]}):
                for stat in STATS:
                    self.assertEqual(client.refusal("image", snapshot=part, stat=stat, **args).code, "bad_argument")
                    self.assertEqual(client.refusal("image", since=part, stat=stat, **args).code, "bad_argument")
            for op in ("spectrum", "moments", "image"):
                for key in ("snapshot", "since"):
                    error = client.refusal(op, **{key: narrow})
                    self.assertEqual(error.code, "bad_argument")
                    self.assertIn("<u4", error.message)
            self.assertEqual(client.refusal("values", snapshot=narrow, dtype="<u2", rebin=2).code, "bad_argument")
            self.assert_same(client.array("image", since=part, **inside), np.zeros((6, 10)), "<u8")

    def test_only_results_take_memory(self):
        # Room for a spectrum, an image, the moments of the pixels, but not for their counts.
        with service(snapshot={"max_bytes": 12000}) as s, Client(s.query_endpoint) as client, Detector(s) as detector:
            detector.send(40, seed=11)
            self.assertEqual(client.refusal("values").code, "no_memory")
            self.check_all(client, detector.counts, fresh=True)
            self.assertEqual(client.refusal("values", pause=True).code, "no_memory")
            self.assertEqual(s.status()["state"], "running")

    def test_replies_have_a_limit(self):
        # 8 bytes a bin for a spectrum, 8 a pixel for an image, 24 for moments; counts take 4 a cell.
        pixels = 300 * 400
        with Service(
            make_config(300, 400, axis={"bins": 8, "min": 0, "max": 8}, query={"max_reply_bytes": 8 * pixels})
        ) as s, Client(s.query_endpoint) as client:
            for op in ("values", "moments"):
                self.assertEqual(client.refusal(op).code, "reply_too_large")
            self.assertIn("roi", client.refusal("moments").message)
            self.assertEqual(client.array("image").shape, (300, 400))
            self.assertEqual(client.array("spectrum").tolist(), [0] * 8)
            self.assertEqual(client.array("values", rebin=8).shape, (300, 400, 1))


if __name__ == "__main__":
    unittest.main()
