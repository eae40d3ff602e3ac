"""What clients share that ask at once, and what one that never reads costs the others."""

import re
import threading
import unittest

import numpy as np

from array10 import Sender
from client import Client, unpack
from harness import TIMEOUT, Service, make_config, wait_until

ROWS, COLS = 64, 64
AXIS = {"bins": 32, "min": 0, "max": 3200}  # all values below lie in it


def metric(service, name):
    return float(re.search(rf"^{name} (\S+)", service.get("/metrics")[1], re.M)[1])


def answered(service, code=r"\w+"):
    """Requests for values that were answered so."""
    line = rf'^pixhist_requests_total{{op="values",code="{code}"}} (\S+)'
    return sum(map(float, re.findall(line, service.get("/metrics")[1], re.M)))


class SharedCutsTest(unittest.TestCase):
    """Every answer is true of its cut, whoever else had it, and a client never sees time run backwards."""

    def ask_until(self, enough, endpoint, args, failures):
        try:
            with Client(endpoint) as client:
                seen = None
                while not enough.is_set():
                    result, counts = client.ask("values", **args)
                    cut = result["cut"]
                    frames = cut["totals"]["frames"]
                    self.assertTrue((counts.sum(-1) == frames).all(), "other counts than the cut says")
                    if seen:
                        self.assertLessEqual(seen, (cut["run"], frames))
                    seen = cut["run"], frames
        except BaseException as error:
            failures.append(error)
            raise

    def test_answers_while_frames_and_resets_go_on(self):
        stack = np.random.default_rng(1).integers(0, 3200, (50, ROWS, COLS), "u2")
        with Service(make_config(ROWS, COLS, axis=AXIS, batch={"max_age_ms": 5})) as service, Client(
            service.query_endpoint
        ) as client, Sender(service.data_endpoint) as sender:
            enough, failures = threading.Event(), []
            threads = [
                threading.Thread(target=self.ask_until, args=(enough, service.query_endpoint, args, failures))
                for args in ({}, {}, {"fresh": True}, {"fresh": True}, {"fresh": True}, {"roi": [8, 24, 0, 64]})
            ]
            for thread in threads:
                thread.start()
            try:
                sent = 0

                def enough_shared():
                    nonlocal sent
                    sender.frames(stack[:10], first=sent)
                    sent += 10
                    service.wait_account(accepted=sent)
                    if sent % 100 == 0:
                        client.ask("reset")
                    return failures or (sent >= 500 and metric(service, "pixhist_requests_shared_total") >= 20)

                wait_until(enough_shared, "requests share cuts", 6 * TIMEOUT)
            finally:
                enough.set()
                for thread in threads:
                    thread.join()
            self.assertEqual(failures, [])
            client.ask("reset")
            sender.frames(stack, first=sent)
            service.wait_account(accepted=sent + 50)
            counts = client.array("values", fresh=True)
            wanted = np.stack([(stack // 100 == bin).sum(0) for bin in range(32)], -1)
            self.assertTrue(np.array_equal(counts, wanted))
            self.assertEqual(service.status()["queues"], {"commands": 0, "requests_pending": 0})


class UnreadTest(unittest.TestCase):
    def fill(self, service, idle):
        """Asks, without reading, until no more answers are made for it."""
        busy, before = answered(service, "busy"), answered(service)
        for col in range(64):
            idle.send("values", roi=[0, 128, col, col + 64])
            wait_until(lambda: answered(service) == before + col + 1, "the request is answered")
            if answered(service, "busy") > busy:
                return
        self.fail("the client may have as many answers unread as it likes")

    def test_clients_that_never_read_leave_the_others_their_memory(self):
        answer = 128 * 64 * 256 * 4  # 8 MiB: more than the buffers of a connection take
        most = 32 * answer
        config = make_config(128, 128, axis={"bins": 256, "min": 0, "max": 256}, snapshot={"max_bytes": most})
        with Service(config) as service, Client(service.query_endpoint) as reads:
            idle = [Client(service.query_endpoint, RCVHWM=1, RCVBUF=65536) for _ in range(3)]
            for client in idle:
                self.addCleanup(client.socket.close)
                self.fill(service, client)
            self.assertGreater(service.status()["memory"]["snapshot_bytes"], most // 4)
            self.assertLessEqual(service.status()["memory"]["snapshot_bytes"], 3 * most // 4)
            for row in range(20):
                counts = reads.array("values", roi=[0, 128, row, row + 64])
                self.assertEqual(counts.shape, (128, 64, 256))
                reads.ask("pixel", row=0, col=row)
            # What the idle ones were told, once they read.
            for client in idle:
                reply, binary = client.receive()
                for _ in range(64):
                    if not reply["ok"]:
                        break
                    self.assertEqual(unpack(reply, binary)[1].shape, (128, 64, 256))
                    reply, binary = client.receive()
                self.assertEqual(reply["error"]["code"], "busy")
                self.assertRegex(reply["error"]["message"], r"unread.*a quarter of snapshot\.max_bytes")
            for client in idle:
                client.socket.close()
            wait_until(
                lambda: service.status()["memory"]["snapshot_bytes"] == 0, "their memory is given back"
            )

    def test_what_waits_for_its_client_to_read_comes_before_what_was_asked_later(self):
        answer = 128 * 128 * 128 * 4  # more than the share of a client
        config = make_config(128, 128, axis={"bins": 128, "min": 0, "max": 128}, snapshot={"max_bytes": 2 * answer})
        with Service(config) as service:
            with Client(service.query_endpoint, RCVHWM=1, RCVBUF=65536) as client:
                while not answered(service, "busy"):
                    asked = client.send("values")  # ids count from 1
                    wait_until(lambda: answered(service) == asked, "the request is answered")
                last = client.send("values")
                reset = client.send("reset")
                reply, _ = client.receive()
                self.assertTrue(reply["ok"], reply)
                first_run = reply["result"]["cut"]["run"]
                # Small answers may overtake large ones, but each cut is taken in the order of the requests.
                answered_ids = set()
                while True:
                    answered_ids.add(reply["id"])
                    if reply["ok"]:
                        self.assertEqual(reply["result"]["cut"]["run"], first_run)
                    if {last, reset} <= answered_ids:
                        break
                    reply, _ = client.receive()

    def test_what_waits_for_its_client_to_read_takes_no_place_of_others(self):
        answer = 128 * 128 * 128 * 4
        limits = {"snapshot": {"max_bytes": 2 * answer}, "query": {"max_pending": 1}}
        config = make_config(128, 128, axis={"bins": 128, "min": 0, "max": 128}, **limits)
        with Service(config) as service, Client(service.query_endpoint) as other:
            with Client(service.query_endpoint, RCVHWM=1, RCVBUF=65536) as idle:
                while not answered(service, "busy"):
                    asked = idle.send("values")
                    wait_until(lambda: answered(service) == asked, "the request is answered")
                idle.send("values")  # it waits for a second
                wait_until(
                    lambda: service.status()["queues"]["requests_pending"] or answered(service) > asked, "it waits"
                )
                other.ask("pixel", row=0, col=0)

    def test_a_client_that_asks_one_after_the_other_is_never_busy(self):
        # Each answer is more than the share of a client; there is room for two of them.
        answer = 128 * 128 * 64 * 4
        config = make_config(128, 128, axis={"bins": 64, "min": 0, "max": 64}, snapshot={"max_bytes": 2 * answer})
        with Service(config) as service, Client(service.query_endpoint) as client:
            for _ in range(50):
                self.assertEqual(client.array("values").shape, (128, 128, 64))
            memory = service.status()["memory"]
            self.assertLessEqual(memory["snapshot_bytes"] + memory["snapshot_kept_bytes"], 2 * answer)


if __name__ == "__main__":
    unittest.main()
