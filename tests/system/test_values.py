"""Values: what frames from Python become, equal (==) to a NumPy reference of the binning formula."""

import unittest

import numpy as np

import reference
from array10 import Sender
from client import Client
from harness import Service, make_config

FLOW = ("below", "above", "invalid", "other_stage")


def random_stack(dtype, frames, rows, cols, low, high, seed):
    """Values around [low, high), and those where mistakes hide: ends of axis and type, NaN, infinities."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    special = [low, high, (low + high) / 2]
    if dtype.kind == "f":
        info = np.finfo(dtype)
        for x in (low, high, 0.0):
            special += [np.nextafter(dtype.type(x), dtype.type(s)) for s in (-np.inf, np.inf)]
        special += [np.nan, np.inf, -np.inf, info.max, info.min, info.tiny, -0.0]
        margin = (high - low) * 0.1
        stack = rng.uniform(low - margin, high + margin, (frames, rows, cols)).astype(dtype)
    else:
        info = np.iinfo(dtype)
        special += [low - 1, high - 1, low + 1, high + 1, info.min, info.max]
        special = [x for x in special if info.min <= x <= info.max]
        margin = int((high - low) * 0.1)
        begin, end = max(info.min, int(low) - margin), min(info.max, int(high) + margin)
        stack = rng.integers(begin, end, (frames, rows, cols), dtype, endpoint=True)
    special = np.array(special, dtype=dtype if dtype.kind == "f" else None).astype(dtype)
    places = rng.choice(stack.size, stack.size // 3, replace=False)
    stack.reshape(-1)[places] = rng.choice(special, len(places))
    return stack


class ValuesTest(unittest.TestCase):
    def assert_same_array(self, got, wanted):
        self.assertEqual(got.shape, wanted.shape)
        different = np.argwhere(got != wanted)
        if len(different):
            at = tuple(different[0])
            self.fail(f"{len(different)} cells differ, the first at {at}: {got[at]}, wanted {wanted[at]}")

    def check_pixels(self, client, wanted, pixels):
        for row, col in pixels:
            result, counts = client.ask("pixel", row=row, col=col)
            self.assert_same_array(counts, wanted.counts[row, col])
            flow = {name: result[name] for name in FLOW}
            self.assertEqual(flow, {name: int(getattr(wanted, name)[row, col]) for name in FLOW}, (row, col))
            total = int(counts.sum()) + sum(flow.values())
            self.assertEqual(total, result["cut"]["sources"]["module0"]["frames"])

    def check_stack(self, stack, pixel_type, axis, invalid=None, pixels=None):
        """Sends the stack to a service of its own and compares everything it says with the reference."""
        frames, rows, cols = stack.shape
        config = make_config(rows, cols, pixel_type, axis=axis)
        config["sources"][0]["invalid"] = invalid
        with Service(config) as service, Sender(service.data_endpoint) as sender, Client(
            service.query_endpoint
        ) as client:
            sender.frames(stack)
            service.wait_account(accepted=frames)
            result, counts = client.ask("values", fresh=True)
            wanted = reference.histogram(
                stack,
                axis["bins"],
                axis["min"],
                axis["max"],
                axis.get("map", "raw"),
                invalid or (),
                axis.get("type"),
            )
            self.assertEqual(result["cut"]["totals"]["frames"], frames)
            self.assertEqual(result["dtype"], "<u4")
            self.assertEqual(result["capped"], 0)
            self.assert_same_array(counts, wanted.counts)
            self.check_pixels(client, wanted, pixels or np.ndindex(rows, cols))
            dtype = reference.axis_dtype(stack.dtype, axis.get("type"))
            self.assert_same_array(
                client.array("edges"), reference.edges(axis["bins"], axis["min"], axis["max"], dtype)
            )
            self.assert_same_array(
                client.array("centers"), reference.centers(axis["bins"], axis["min"], axis["max"], dtype)
            )

    def test_u16_odd_sizes_and_a_comb(self):
        stack = random_stack("u2", 70, 37, 53, 100, 4321, seed=1)
        axis = {"bins": 45, "min": 100, "max": 4321}
        self.check_stack(stack, "u16", axis, pixels=[(0, 0), (36, 52), (36, 0), (0, 52), (17, 31)])

    def test_u16_thousand_bins_hits_rounding(self):
        # 1000 bins on [0, 16384) in float: values within rounding of an edge, where an edge search is wrong.
        edge_values = np.round(np.arange(1001) * 16.384).clip(0, 65535).astype("u2")
        stack = np.stack([edge_values[:1000], edge_values[:1000] - (edge_values[:1000] > 0), edge_values[1:]])
        self.check_stack(
            stack.astype("u2").reshape(3, 10, 100),
            "u16",
            {"bins": 1000, "min": 0, "max": 16384},
            pixels=[(3, 4)],
        )

    def test_u8(self):
        self.check_stack(
            random_stack("u1", 50, 7, 11, 3, 250, seed=2), "u8", {"bins": 13, "min": 3, "max": 250}
        )

    def test_one_pixel_one_bin(self):
        self.check_stack(
            random_stack("u1", 50, 1, 1, 10, 200, seed=3), "u8", {"bins": 1, "min": 10, "max": 200}
        )

    def test_i16(self):
        self.check_stack(
            random_stack("i2", 50, 5, 7, -700, 900, seed=4), "i16", {"bins": 33, "min": -700, "max": 900}
        )

    def test_u32_beyond_float(self):
        # Above 2^24 a float axis would put neighbours into one bin; the axis is double.
        low = (1 << 24) + 1
        stack = random_stack("u4", 50, 5, 7, low, low + 640, seed=5)
        self.check_stack(stack, "u32", {"bins": 640, "min": low, "max": low + 640})

    def test_i32_with_invalid_minimum(self):
        stack = random_stack("i4", 50, 5, 7, -100000, 90000, seed=6)
        self.check_stack(stack, "i32", {"bins": 77, "min": -100000, "max": 90000}, invalid=[-(1 << 31), 7])

    def test_f32_with_nan_and_infinities(self):
        self.check_stack(
            random_stack("f4", 50, 7, 9, -1.25, 7.7, seed=7), "f32", {"bins": 31, "min": -1.25, "max": 7.7}
        )

    def test_f32_on_a_double_axis(self):
        axis = {"bins": 31, "min": -1.1, "max": 7.7, "type": "double"}
        self.check_stack(random_stack("f4", 50, 7, 9, -1.1, 7.7, seed=8), "f32", axis)

    def test_f64(self):
        self.check_stack(
            random_stack("f8", 50, 5, 7, 0.1, 0.7, seed=9), "f64", {"bins": 29, "min": 0.1, "max": 0.7}
        )

    def test_jungfrau_maps(self):
        rng = np.random.default_rng(10)
        stack = rng.integers(0, 1 << 16, (60, 6, 5), "u2")
        for value_map in ("adc", "adc_g0", "adc_g1", "adc_g2"):
            with self.subTest(value_map):
                axis = {"bins": 50, "min": 1000, "max": 15000, "map": value_map}
                self.check_stack(stack, "u16", axis, invalid=[0xFFFF, int(stack[0, 0, 0])])
        with self.subTest("gain"):
            self.check_stack(stack, "u16", {"bins": 4, "min": 0, "max": 4, "map": "gain"})

    def test_invalid_set_is_of_raw_values(self):
        stack = np.array([[[65535, 65534]], [[12, 3]], [[65535, 3]]], "u2")
        self.check_stack(stack, "u16", {"bins": 4, "min": 0, "max": 65536}, invalid=[65535, 65534, 3])


class PartsTest(unittest.TestCase):
    """Regions, bin intervals, and counts in narrow types."""

    def test_roi_and_bins(self):
        stack = random_stack("u2", 20, 9, 13, 0, 1600, seed=20)
        wanted = reference.histogram(stack, 16, 0, 1600).counts
        with Service(make_config(9, 13, axis={"bins": 16, "min": 0, "max": 1600})) as service:
            with Sender(service.data_endpoint) as sender, Client(service.query_endpoint) as client:
                sender.frames(stack)
                service.wait_account(accepted=20)
                for roi, bins in (
                    ([0, 9, 0, 13], [0, 16]),
                    ([2, 3, 0, 13], None),
                    ([8, 9, 12, 13], [15, 16]),
                    ([0, 4, 5, 12], [3, 4]),
                    (None, [0, 1]),
                    ([3, 7, 1, 2], [2, 9]),
                ):
                    with self.subTest(roi=roi, bins=bins):
                        result, counts = client.ask("values", roi=roi, bins=bins, fresh=True)
                        r0, r1, c0, c1 = roi or [0, 9, 0, 13]
                        b0, b1 = bins or [0, 16]
                        self.assertEqual(result["roi"], [r0, r1, c0, c1])
                        self.assertEqual(result["bins"], [b0, b1])
                        edges = reference.edges(16, 0, 1600, "f4")
                        self.assertEqual(result["range"], [edges[b0], edges[b1]])
                        self.assertTrue(np.array_equal(counts, wanted[r0:r1, c0:c1, b0:b1]))

    def test_narrow_types_are_capped(self):
        # Pixel p always shows value p, but for a tenth of the frames: one cell of 63000 and one of 7000 a pixel, and
        # pixel 0 always 0: 70000, more than u16 can say.
        frames = 70_000
        usual = np.arange(6, dtype="u2").reshape(2, 3)
        other = usual + np.where(usual > 0, 6, 0).astype("u2")
        wanted = np.zeros((6, 12), np.int64)
        wanted[np.arange(6), usual.ravel()] += frames - frames // 10
        wanted[np.arange(6), other.ravel()] += frames // 10
        wanted = wanted.reshape(2, 3, 12)
        with Service(
            make_config(2, 3, axis={"bins": 12, "min": 0, "max": 12}, batch={"frames": 1000})
        ) as service:
            with Sender(service.data_endpoint) as sender, Client(service.query_endpoint) as client:
                parts = [(b'{"shape":[2,3],"type":"uint16"}', p.tobytes()) for p in (usual, other)]
                for i in range(frames):
                    sender.parts(*parts[i % 10 == 9])
                service.wait_account(accepted=frames)
                for dtype, largest in (("|u1", 255), ("<u2", 65535), ("<u4", 2**32 - 1), ("<f4", 2**32 - 1)):
                    with self.subTest(dtype):
                        result, counts = client.ask("values", dtype=dtype, fresh=True)
                        self.assertEqual(result["dtype"], dtype)
                        self.assertEqual(counts.dtype, np.dtype(dtype))
                        self.assertTrue(np.array_equal(counts, np.minimum(wanted, largest)))
                        self.assertEqual(result["capped"], int((wanted > largest).sum()))
                result, counts = client.ask("pixel", row=0, col=0)
                self.assertEqual(counts[0], frames)
                self.assertIsNone(result["cut"]["sources"]["module0"]["last_frame"])


if __name__ == "__main__":
    unittest.main()
