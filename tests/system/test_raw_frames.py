"""Raw frames of a real JUNGFRAU module through every value map, where PIXHIST_CASES names the folder with them."""

import os
import pathlib
import unittest

import bslz4
import numpy as np
import reference
from array10 import Sender
from client import Client
from harness import Service, make_config

CASES = os.environ.get("PIXHIST_CASES")
SHAPE = (512, 1024)
ROWS = slice(224, 256)  # compared bin by bin: gain switches here and there; the rest by sums
BINS = 128


def frames():
    for i in range(5):
        blob = (pathlib.Path(CASES) / "other" / f"jungfrau_mod5_raw{i}.u16.bslz4").read_bytes()
        yield bslz4.decode(blob, "<u2").reshape(SHAPE)


@unittest.skipUnless(CASES, "PIXHIST_CASES does not name a folder of recorded streams")
class RawFramesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = np.array(list(frames()))

    def check(self, value_map, low, high):
        wanted = reference.histogram(self.stack[:, ROWS], BINS, low, high, value_map)
        values, invalid, other = reference.mapped(self.stack, value_map)
        taken = ~invalid & ~other & (values >= low) & (values < high)
        config = make_config(
            *SHAPE,
            axis={"bins": BINS, "min": low, "max": high, "map": value_map},
            ring={"bytes": "64MiB", "rcvhwm_bytes": "64MiB"},
        )
        with Service(config) as service, Sender(service.data_endpoint) as sender:
            sender.frames(self.stack)
            service.wait_account(accumulated=len(self.stack))
            with Client(service.query_endpoint) as client:
                roi = [ROWS.start, ROWS.stop, 0, SHAPE[1]]
                self.assertTrue(np.array_equal(client.array("values", roi=roi), wanted.counts))
                image = client.array("image")
                self.assertTrue(np.array_equal(image, taken.sum(0)))
                self.assertEqual(client.array("spectrum").sum(), taken.sum())
                for row, col in [(ROWS.start, 0), (ROWS.start + 7, 511), (ROWS.stop - 1, 1023)]:
                    result = client.result("pixel", row=row, col=col)
                    for flow in ("below", "above", "invalid", "other_stage"):
                        self.assertEqual(result[flow], getattr(wanted, flow)[row - ROWS.start, col], flow)

    def test_raw(self):
        self.check("raw", 0, 65536)

    def test_adc(self):
        self.check("adc", 0, 16384)

    def test_gain(self):
        self.check("gain", 0, 4)

    def test_gain_stages(self):
        for stage in ("adc_g0", "adc_g1", "adc_g2"):
            with self.subTest(stage):
                self.check(stage, 1000, 16000)


if __name__ == "__main__":
    unittest.main()
