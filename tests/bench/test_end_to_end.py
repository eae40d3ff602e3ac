#!/usr/bin/env python3
"""The arithmetic of bench/end_to_end: percentiles, ratios within a round, send to sight, requests within a run."""

import math
import pathlib
import sys
import unittest

for folder in ("tests/system", "bench/process", "bench/end_to_end"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / folder))

from latency import since_sent  # noqa: E402
from queries_under_load import within  # noqa: E402
from table import median_ratio, percentile  # noqa: E402


class Percentile(unittest.TestCase):
    def test_is_the_smallest_value_that_enough_values_do_not_exceed(self):
        hundred = list(range(100, 0, -1))
        self.assertEqual(percentile(hundred, 0.5), 50)
        self.assertEqual(percentile(hundred, 0.99), 99)
        self.assertEqual(percentile(hundred, 1), 100)

    def test_of_few_values(self):
        self.assertEqual(percentile([7], 0.99), 7)
        self.assertEqual(percentile([1, 2], 0.5), 1)
        self.assertEqual(percentile([1, 2], 0.99), 2)

    def test_of_nothing_is_no_number(self):
        self.assertTrue(math.isnan(percentile([], 0.5)))


class MedianRatio(unittest.TestCase):
    def test_is_taken_within_a_round(self):
        # A machine that is slow for a round is slow for both; the ratio of the medians would be 3.
        rounds = [
            {"a": {"rate": 1.0}, "b": {"rate": 2.0}},
            {"a": {"rate": 30.0}, "b": {"rate": 60.0}},
            {"a": {"rate": 9.0}, "b": {"rate": 3.0}},
        ]
        self.assertEqual(median_ratio(rounds, "rate", "a", "b"), 0.5)


class SinceSent(unittest.TestCase):
    def test_a_frame_is_seen_by_the_first_answer_that_counts_it(self):
        seen = [(10.0, 100), (11.0, 102), (12.0, 102), (13.0, 103)]
        self.assertEqual(since_sent([9.0, 9.5, 10.5], 100, seen), [2.0, 1.5, 2.5])

    def test_an_answer_that_counts_all_at_once_is_every_frames_first(self):
        self.assertEqual(since_sent([1.0, 2.0], 0, [(5.0, 2)]), [4.0, 3.0])

    def test_a_frame_that_no_answer_counts_is_an_error(self):
        with self.assertRaises(StopIteration):
            since_sent([1.0, 2.0], 0, [(5.0, 1)])


class Within(unittest.TestCase):
    def test_only_requests_in_flight_during_the_run_count(self):
        reports = [
            {"reply_bytes": 8, "requests": [[0.5, 400.0, None], [1.0, 200.0, None], [1.5, 1.0, "busy"]]},
            {"reply_bytes": 4, "requests": [[1.2, 300.0, None], [0.2, 1.0, "busy"], [2.1, 4.0, "no_memory"]]},
        ]
        milliseconds, answers, size, refused = within(reports, 1.0, 2.0)
        self.assertEqual(sorted(milliseconds), [200.0, 300.0])
        self.assertAlmostEqual(answers, 2)
        self.assertAlmostEqual(size, 12)
        self.assertEqual(refused, {"busy": 1})

    def test_of_a_request_longer_than_the_run_only_the_part_in_it(self):
        reports = [{"reply_bytes": 100, "requests": [[0.5, 1000.0, None], [1.5, 2000.0, None]]}]
        milliseconds, answers, size, _ = within(reports, 1.0, 2.0)
        self.assertEqual(sorted(milliseconds), [1000.0, 2000.0])
        self.assertAlmostEqual(answers, 0.5 + 0.25)
        self.assertAlmostEqual(size, 75)


if __name__ == "__main__":
    unittest.main()
