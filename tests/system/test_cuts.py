"""Cuts: what an answer is true of, while frames go on; held cuts; several sources and sockets."""

import threading
import unittest

import numpy as np

import reference
from array10 import Sender
from client import Client, QueryError
from harness import ANY_PORT, SLOWNESS, TIMEOUT, Service, make_config, wait_until

AXIS = {"bins": 32, "min": 0, "max": 3200}


def make_stack(frames, rows, cols, seed):
    return np.random.default_rng(seed).integers(0, 3300, (frames, rows, cols), "u2")


def counts_of(stack):
    return reference.histogram(stack, AXIS["bins"], AXIS["min"], AXIS["max"]).counts


class CutsTest(unittest.TestCase):
    def test_fresh_counts_what_was_received(self):
        # Batches that never close by themselves: only a barrier can bring the frames into the counts.
        config = make_config(4, 5, axis=AXIS, batch={"frames": 65535, "bytes": "4GiB", "max_age_ms": 60000})
        stack = make_stack(50, 4, 5, seed=1)
        with Service(config) as service, Sender(service.data_endpoint) as sender, Client(
            service.query_endpoint
        ) as client:
            sender.frames(stack, first=10)
            service.wait_account(accepted=50)
            result, counts = client.ask("values")
            self.assertEqual(counts.sum(), 0)
            source = result["cut"]["sources"]["module0"]
            self.assertEqual((source["frames"], source["pending"], source["first_frame"]), (0, 50, None))
            result, counts = client.ask("values", fresh=True)
            self.assertTrue(np.array_equal(counts, counts_of(stack)))
            source = result["cut"]["sources"]["module0"]
            self.assertEqual((source["frames"], source["pending"]), (50, 0))
            self.assertEqual((source["first_frame"], source["last_frame"]), (10, 59))

            for barrier in ("snapshot", "reset", "stop"):
                sender.frames(stack, first=1000, run=barrier)
                service.wait_account(accepted=service.account()["accumulated"] + 50)
                cut = client.result(barrier)["cut"]
                self.assertEqual(cut["totals"]["pending"], 0, barrier)
                self.assertEqual(cut["totals"]["account"]["accumulated"], cut["totals"]["frames"], barrier)
            self.assertEqual(cut["totals"]["frames"], 50)

    def test_batches_close_by_age(self):
        with Service(make_config(4, 5, axis=AXIS, batch={"frames": 65535, "max_age_ms": 50})) as service:
            with Sender(service.data_endpoint) as sender, Client(service.query_endpoint) as client:
                stack = make_stack(7, 4, 5, seed=2)
                sender.frames(stack)
                service.wait_account(accumulated=7)
                self.assertTrue(np.array_equal(client.array("values"), counts_of(stack)))

    def test_a_held_cut_stays_as_it_was(self):
        stack = make_stack(600, 6, 7, seed=3)
        with Service(make_config(6, 7, axis=AXIS)) as service:
            with Sender(service.data_endpoint) as sender, Client(service.query_endpoint) as client:
                sender.frames(stack[:200])
                service.wait_account(accepted=200)
                held, part = client.result("snapshot"), client.result(
                    "snapshot", roi=[2, 5, 1, 4], bins=[4, 20], dtype="<u2"
                )
                self.assertEqual(held["cut"]["totals"]["frames"], 200)
                self.assertGreaterEqual(held["bytes"], 6 * 7 * 32 * 4)
                self.assertEqual(service.status()["held"][0]["snapshot"], held["snapshot"])
                wanted = counts_of(stack[:200])
                for i in range(200, 600, 50):
                    sender.frames(stack[i : i + 50], first=i)
                    result, counts = client.ask("values", snapshot=held["snapshot"])
                    self.assertTrue(np.array_equal(counts, wanted))
                    self.assertEqual(result["cut"], held["cut"])
                result, counts = client.ask("pixel", row=5, col=6, snapshot=held["snapshot"])
                self.assertTrue(np.array_equal(counts, wanted[5, 6]))
                self.assertEqual(int(counts.sum()) + result["above"], 200)
                narrow = client.array(
                    "values", snapshot=held["snapshot"], roi=[1, 3, 2, 7], bins=[5, 9], dtype="|u1"
                )
                self.assertTrue(np.array_equal(narrow, np.minimum(wanted[1:3, 2:7, 5:9], 255)))

                of_part = client.array(
                    "values", snapshot=part["snapshot"], roi=[3, 5, 1, 4], bins=[4, 6], dtype="<u2"
                )
                self.assertTrue(np.array_equal(of_part, wanted[3:5, 1:4, 4:6]))
                for outside in (
                    {"roi": [1, 5, 1, 4], "bins": [4, 20], "dtype": "<u2"},
                    {"roi": [2, 5, 1, 4]},
                    {},
                ):
                    self.assertEqual(
                        client.refusal("values", snapshot=part["snapshot"], **outside).code, "bad_argument"
                    )

                service.wait_account(accepted=600)
                self.assertTrue(np.array_equal(client.array("values", fresh=True), counts_of(stack)))
                self.assertEqual(
                    client.result("release", snapshot=held["snapshot"]), {"released": held["snapshot"]}
                )
                for op in ("values", "release"):
                    self.assertEqual(client.refusal(op, snapshot=held["snapshot"]).code, "no_snapshot")

    def test_held_cuts_expire_and_are_bounded(self):
        with Service(make_config(4, 5, axis=AXIS, snapshot={"max_held": 2, "ttl_s": 3600})) as service:
            with Client(service.query_endpoint) as client:
                short = client.result("snapshot", ttl_s=0.3)["snapshot"]
                long = client.result("snapshot")["snapshot"]
                error = client.refusal("snapshot")
                self.assertEqual((error.code, error.retryable), ("no_memory", True))
                self.assertEqual(client.refusal("values", then_reset=True).code, "no_memory")

                def expired():
                    try:
                        client.ask("values", snapshot=short)
                    except QueryError as error:
                        self.assertEqual(error.code, "no_snapshot")
                        return True

                wait_until(expired, "the cut expires")
                wait_until(
                    lambda: [h["snapshot"] for h in service.status()["held"]] == [long],
                    "its memory is given back",
                )
                third = client.result("snapshot")["snapshot"]
                client.ask("release", snapshot=long)
                client.ask("release", snapshot=third)
                wait_until(
                    lambda: service.status()["memory"]["snapshot_bytes"] == 0, "all memory is given back"
                )

    def test_slices_add_up(self):
        frames = 3000
        stack = make_stack(frames, 5, 6, seed=4)
        wanted = counts_of(stack)
        with Service(make_config(5, 6, axis=AXIS, batch={"frames": 16, "max_age_ms": 5})) as service:
            with Client(service.query_endpoint) as client:
                half_sent, enough_slices = threading.Event(), threading.Event()

                def send():
                    with Sender(service.data_endpoint) as sender:
                        for i in range(0, frames, 10):
                            sender.frames(stack[i : i + 10], first=i)
                            if i == frames // 2:
                                half_sent.set()
                                enough_slices.wait(60 * SLOWNESS)
                        wait_until(lambda: service.account()["accepted"] == frames, "all frames are received")

                thread = threading.Thread(target=send, daemon=True)
                thread.start()
                total = np.zeros_like(wanted)
                frames_seen, runs = 0, []
                while thread.is_alive():
                    result, counts = client.ask("values", then_reset=True)
                    again, kept = client.ask("values", snapshot=result["snapshot"])
                    self.assertTrue(np.array_equal(counts, kept))
                    self.assertEqual(again["cut"], result["cut"])
                    client.ask("release", snapshot=result["snapshot"])
                    total += counts
                    frames_seen += result["cut"]["totals"]["frames"]
                    runs.append(result["cut"]["run"])
                    if half_sent.is_set() and len(runs) > 20:
                        enough_slices.set()
                thread.join()
                result, counts = client.ask("values", fresh=True)
                total += counts
                self.assertEqual(frames_seen + result["cut"]["totals"]["frames"], frames)
                self.assertTrue(np.array_equal(total, wanted))
                self.assertEqual(len(set(runs)), len(runs))
                self.assertNotIn(result["cut"]["run"], runs)

    def test_then_reset_zeroes_what_it_does_not_hand_out(self):
        stack = make_stack(40, 5, 6, seed=5)
        with Service(make_config(5, 6, axis=AXIS)) as service:
            with Sender(service.data_endpoint) as sender, Client(service.query_endpoint) as client:
                sender.frames(stack)
                service.wait_account(accepted=40)
                part = client.array("values", then_reset=True, roi=[1, 2, 1, 3], bins=[0, 10])
                self.assertTrue(np.array_equal(part, counts_of(stack)[1:2, 1:3, :10]))
                result, counts = client.ask("values", fresh=True)
                self.assertEqual((counts.sum(), result["cut"]["totals"]["frames"]), (0, 0))


class SourcesTest(unittest.TestCase):
    def test_two_modules_and_a_gap(self):
        # Columns:  left 0-3 | gap 4 | right 5-8; row 3 belongs to left only.
        sources = [
            {"name": "left", "origin": [0, 0], "shape": [4, 4]},
            {"name": "right", "origin": [0, 5], "shape": [3, 4]},
        ]
        for source in sources:
            source.update(endpoint=ANY_PORT, socket="pull", bind=True)
        left, right = make_stack(30, 4, 4, seed=6), make_stack(45, 3, 4, seed=7)
        with Service(make_config(4, 9, sources=sources, axis=AXIS)) as service, Client(
            service.query_endpoint
        ) as client:
            with Sender(service.data_endpoints[0]) as to_left, Sender(service.data_endpoints[1]) as to_right:
                to_left.frames(left)
                to_right.frames(right, first=100)
                service.wait_account("left", accepted=30)
                service.wait_account("right", accepted=45)
                wanted = np.zeros((4, 9, AXIS["bins"]), np.uint32)
                wanted[:, :4] = counts_of(left)
                wanted[:3, 5:] = counts_of(right)
                result, counts = client.ask("values", fresh=True)
                self.assertTrue(np.array_equal(counts, wanted))
                of_source = result["cut"]["sources"]
                self.assertEqual({k: v["frames"] for k, v in of_source.items()}, {"left": 30, "right": 45})
                self.assertEqual(of_source["right"]["first_frame"], 100)
                self.assertEqual(result["cut"]["totals"]["frames"], 75)
                across = client.array("values", roi=[2, 4, 2, 7], bins=[1, 31])
                self.assertTrue(np.array_equal(across, wanted[2:4, 2:7, 1:31]))
                for row, col in ((0, 4), (3, 8)):
                    result, counts = client.ask("pixel", row=row, col=col)
                    flow = [result[k] for k in ("below", "above", "invalid", "other_stage")]
                    self.assertEqual((int(counts.sum()), flow), (0, [0, 0, 0, 0]))
                info = client.result("info")
                self.assertEqual([s["origin"] for s in info["sources"]], [[0, 0], [0, 5]])
                self.assertEqual(info["detector"]["uncovered_pixels"], 8)

    def test_two_sockets_of_one_source(self):
        sources = [{"endpoints": [ANY_PORT, ANY_PORT], "socket": "pull", "bind": True}]
        stack = make_stack(400, 4, 6, seed=8)
        with Service(make_config(4, 6, sources=sources, axis=AXIS)) as service, Client(
            service.query_endpoint
        ) as client:
            self.assertEqual(len(set(service.data_endpoints)), 2)
            with Sender(service.data_endpoints[0]) as even, Sender(service.data_endpoints[1]) as odd:
                for i, pixels in enumerate(stack):
                    (odd if i % 2 else even).frame(pixels, i, "a")
                service.wait_account(accepted=400)
                (even if len(stack) % 2 else odd).end("a", 400)
                account = service.wait_account(control=1)
                result, counts = client.ask("values", fresh=True)
                self.assertTrue(np.array_equal(counts, counts_of(stack)))
                account = result["cut"]["totals"]["account"]
                self.assertEqual((account["missing"], account["discarded"], account["open"]), (0, {}, 0))
                self.assertEqual(len(service.status()["sources"]["module0"]["rings"]), 2)

    def test_a_socket_that_lags_far_behind_the_other(self):
        frames, image = 6000, np.arange(24, dtype="u2").reshape(4, 6)
        sources = [{"endpoints": [ANY_PORT, ANY_PORT], "socket": "pull", "bind": True}]
        for run in ("a", None):
            with self.subTest(run=run), Service(make_config(4, 6, sources=sources, axis=AXIS)) as service:
                with Sender(service.data_endpoints[0]) as even, Sender(service.data_endpoints[1]) as odd:
                    for sender, first, accepted in ((even, 0, frames // 2), (odd, 1, frames)):
                        for number in range(first, frames, 2):
                            sender.frame(image, number, run)
                        service.wait_account(accepted=accepted, timeout=4 * TIMEOUT)
                    service.stop()
                account = service.final_account()
                self.assertEqual((account["accumulated"], account["discarded"]), (frames, 0), account)
                self.assertEqual(account["missing"], 0, account)

    def test_connecting_sub_with_topic(self):
        import zmq

        stack = make_stack(25, 4, 6, seed=9)
        with Sender("tcp://127.0.0.1:*", zmq.PUB, bind=True) as sender:
            sources = [{"endpoint": sender.endpoint, "topic": "det"}]
            with Service(make_config(4, 6, sources=sources, axis=AXIS)) as service, Client(
                service.query_endpoint
            ) as client:

                def subscribed():
                    sender.parts(b"det", b"{}")
                    return service.account()["rejected"]

                wait_until(subscribed, "the subscription is there")
                for i, pixels in enumerate(stack):
                    header = b'{"shape":[4,6],"type":"uint16","frame":%d}' % i
                    sender.parts(b"det", header, pixels.tobytes())
                    sender.parts(b"other", header, pixels.tobytes())
                service.wait_account(accepted=25)
                self.assertTrue(np.array_equal(client.array("values", fresh=True), counts_of(stack)))


if __name__ == "__main__":
    unittest.main()
