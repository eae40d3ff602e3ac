"""Bad requests: each error of the table in docs/queries.md that can be reached, and a service unharmed."""

import json
import signal
import threading
import unittest

import numpy as np
import zmq

from array10 import Sender
from client import Client
from harness import TIMEOUT, Service, make_config, wait_until

ROWS, COLS, BINS = 6, 8, 16
RETRYABLE = {"no_memory", "busy", "wrong_state", "io_error"}


def config(**changes):
    return make_config(ROWS, COLS, axis={"bins": BINS}, **changes)


class BadRequestsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service(config()))
        cls.client = cls.enterClassContext(Client(cls.service.query_endpoint))

    def assert_refused(self, code, op, /, mention=(), **args):
        error = self.client.refusal(op, **args)
        self.assertEqual(error.code, code, error.message)
        self.assertEqual(error.retryable, code in RETRYABLE)
        self.assertTrue(error.message)
        for word in mention:
            self.assertIn(word, error.message)

    def raw(self, *parts):
        """The reply to these parts, sent as they are behind the envelope."""
        self.client.send_parts(parts)
        reply, binary = self.client.receive()
        self.assertEqual(binary, [])
        self.client.ask("ping")
        return reply

    def assert_raw_refused(self, code, *parts, request_id=None):
        reply = self.raw(*parts)
        self.assertFalse(reply["ok"])
        self.assertEqual(reply["error"]["code"], code, reply)
        self.assertEqual(reply["id"], request_id, reply)

    def test_not_a_request(self):
        for text in (
            b"hello",
            b"{",
            b'{"v":1,"op":"ping"}x',
            b"\xff\xfe",
            b'{"v":1,"op":"ping"}\0',
            b"[1]",
            b"7",
            b'"ping"',
            b"null",
            b"NaN",
        ):
            with self.subTest(text):
                self.assert_raw_refused("bad_request", text)

    def test_deep_and_long_json(self):
        self.assert_raw_refused("bad_request", b"[" * 60000)
        nested = b'{"v":1,"op":"ping","args":' + b'{"a":' * 9000 + b"1" + b"}" * 9001
        self.assert_raw_refused("bad_argument", nested)
        self.assert_raw_refused("bad_request", nested[:-1])
        name = "x" * 50000
        error = self.client.refusal(name)
        self.assertEqual(error.code, "unknown_op")
        self.assertLess(len(error.message), 1000)

    def test_head(self):
        def request(**head):
            return json.dumps(head).encode()

        self.assert_raw_refused("unsupported_version", request(v=2, op="ping", id="a"), request_id="a")
        self.assert_raw_refused("unsupported_version", request(op="ping", id=5), request_id=5)
        self.assert_raw_refused("unsupported_version", request(v="1", op="ping"))
        self.assert_raw_refused("unknown_op", request(v=1, op="pinq", id=-3), request_id=-3)
        self.assert_raw_refused("bad_request", request(v=1, op=5, id="a"), request_id="a")
        self.assert_raw_refused("bad_request", request(v=1, id="a"), request_id="a")
        self.assert_raw_refused("bad_request", request(v=1, op="ping", args=[1], id="a"), request_id="a")
        self.assert_raw_refused("bad_request", request(v=1, op="ping", extra=1, id="a"), request_id="a")
        for bad_id in (1.5, True, [1], {}):
            self.assert_raw_refused("bad_request", request(v=1, op="ping", id=bad_id))
        self.assertEqual(self.raw(request(v=1, op="ping")), {"v": 1, "id": None, "ok": True, "result": {}})

    def test_several_parts(self):
        ping = b'{"v":1,"id":9,"op":"ping"}'
        self.assert_raw_refused("bad_request", ping, ping)
        self.assert_raw_refused("bad_request", ping, b"")
        self.assert_raw_refused("bad_request", *[b"x"] * 40)

    def test_too_large(self):
        def padded(size):
            return b'{"v":1,"id":9,"op":"ping"}' + b" " * (size - 26)

        self.assertTrue(self.raw(padded(65536))["ok"])
        self.assert_raw_refused("request_too_large", padded(65537))
        self.assert_raw_refused("request_too_large", b"\0" * 10_000_000)

    def test_beyond_16_mib_the_connection_is_cut(self):
        with Client(self.service.query_endpoint) as doomed:
            doomed.send_parts([b"\0" * (17 << 20)])
            with self.assertRaises(TimeoutError):
                doomed.receive(timeout=0.5)
            # ZeroMQ connects anew, so even this client is served again.
            doomed.ask("ping")
        self.client.ask("ping")

    def test_arguments(self):
        for op, wrong in (
            ("ping", {"x": 1}),
            ("info", {"fresh": True}),
            ("values", {"row": 1}),
            ("values", {"fresh": 1}),
            ("values", {"dtype": "<u8"}),
            ("values", {"dtype": 4}),
            ("values", {"roi": [0, 1, 0]}),
            ("values", {"roi": [0, 1, 0, 1.5]}),
            ("values", {"roi": "all"}),
            ("values", {"bins": [0, "1"]}),
            ("values", {"snapshot": 7}),
            ("values", {"then_reset": True, "dtype": "<u2"}),
            ("values", {"then_reset": True, "snapshot": "s"}),
            ("pixel", {"row": "1", "col": 1}),
            ("pixel", {"row": 1.0, "col": 1}),
            ("snapshot", {"ttl_s": -1}),
            ("snapshot", {"ttl_s": 0}),
            ("snapshot", {"ttl_s": 86401}),
            ("snapshot", {"ttl_s": 1e300}),
            ("release", {"snapshot": "x" * 129}),
            ("start", {"name": "x" * 257}),
            ("start", {"name": "a\nb"}),
            ("reset", {"name": "a"}),
        ):
            with self.subTest(op=op, args=wrong):
                self.assert_refused("bad_argument", op, **wrong)
        self.assert_refused("bad_argument", "values", mention=["rio"], rio=[0, 1, 0, 1])
        for op, few in (
            ("pixel", {}),
            ("pixel", {"row": 1}),
            ("pixel", {"row": 1, "col": None}),
            ("release", {}),
        ):
            self.assert_refused("missing_argument", op, **few)

    def test_ranges(self):
        for row, col in ((ROWS, 0), (0, COLS), (-1, 0), (0, -1), (1 << 63, 0), (0, (1 << 64) - 1)):
            self.assert_refused("pixel_out_of_range", "pixel", row=row, col=col)
        self.assert_refused("pixel_out_of_range", "pixel", mention=["600", f"[0, {ROWS})"], row=600, col=0)
        for roi in (
            [0, 0, 0, 1],
            [1, 0, 0, 1],
            [0, ROWS + 1, 0, 1],
            [0, 1, 0, COLS + 1],
            [-1, 1, 0, 1],
            [0, 1, 3, 3],
        ):
            self.assert_refused("roi_out_of_range", "values", roi=roi)
            self.assert_refused("roi_out_of_range", "snapshot", roi=roi)
        for bins in ([0, 0], [2, 1], [0, BINS + 1], [-1, 2], [0, (1 << 64) - 1]):
            self.assert_refused("bins_out_of_range", "values", bins=bins)

    def test_not_built(self):
        for op in ("save",):
            self.assert_refused("not_built", op)

    def test_no_snapshot(self):
        pixel = {"row": 0, "col": 0}
        for op, args in (("values", {}), ("pixel", pixel), ("spectrum", {}), ("image", {}), ("moments", {}), ("release", {})):
            self.assert_refused("no_snapshot", op, snapshot="s999-none", **args)
            if op != "release":
                self.assert_refused("no_snapshot", op, since="s999-none", **args)

    def test_envelopes(self):
        """REQ, REQ with correlation, DEALER with none and with a long envelope."""
        for envelope in ((), (b"",), (b"a", b"bc", b""), (b"x" * 300, b"")):
            with Client(self.service.query_endpoint, envelope) as client:
                client.ask("ping")
        context = zmq.Context.instance()
        for correlate in (0, 1):
            with context.socket(zmq.REQ) as socket:
                socket.setsockopt(zmq.LINGER, 0)
                socket.setsockopt(zmq.REQ_CORRELATE, correlate)
                socket.connect(self.service.query_endpoint)
                for i in range(3):
                    socket.send_json({"v": 1, "id": i, "op": "edges"})
                    self.assertTrue(socket.poll(int(TIMEOUT * 1000)))
                    head, part = socket.recv_multipart()
                    self.assertEqual(json.loads(head)["id"], i)
                    self.assertEqual(len(part), (BINS + 1) * 8)

    def test_requests_in_flight_keep_their_ids(self):
        """As many as query.max_pending_per_client at once: none is refused, no reply is lost."""
        with Client(self.service.query_endpoint) as client:
            limit = client.result("info")["limits"]["max_pending_per_client"]
            wanted = {}
            for i in range(1000):
                if len(wanted) == limit:
                    self.take_one(client, wanted)
                place = i % ROWS, i % COLS
                wanted[client.send("pixel", row=place[0], col=place[1])] = place
            while wanted:
                self.take_one(client, wanted)
            for _ in range(100):
                ids = {client.send("ping") for _ in range(limit)}
                self.assertEqual({client.receive()[0]["id"] for _ in range(limit)}, ids)

    def take_one(self, client, wanted):
        reply, _ = client.receive()
        self.assertTrue(reply["ok"], reply)
        self.assertEqual((reply["result"]["row"], reply["result"]["col"]), wanted.pop(reply["id"]))

    def test_info_tells_the_truth(self):
        info = self.client.result("info")
        self.assertEqual(info["limits"]["max_request_bytes"], 65536)
        self.assertEqual(info["detector"]["rows"], ROWS)
        self.assertEqual(info["axis"]["bins"], BINS)
        self.assertEqual(info["formats"], ["array10", "sls"])
        built = {name for name, op in info["ops"].items() if op["built"]}
        self.assertLessEqual(
            {"ping", "info", "status", "values", "pixel", "snapshot", "release", "reset"}, built
        )
        self.assertEqual(
            {name for name, op in info["ops"].items() if op["control"] and op["built"]},
            {"reset", "start", "stop"},
        )


class LimitsTest(unittest.TestCase):
    def test_busy(self):
        limit = 4
        with Service(make_config(128, 128, query={"max_pending_per_client": limit})) as service:
            codes = set()
            for _ in range(100):
                with Client(service.query_endpoint) as client:
                    client.ask("ping")
                    for _ in range(limit + 3):
                        client.send("values", fresh=True)
                    for _ in range(limit + 3):
                        reply, _ = client.receive()
                        self.assertTrue(reply["ok"] or reply["error"]["retryable"])
                        codes.add("ok" if reply["ok"] else reply["error"]["code"])
                    client.ask("values")
                if "busy" in codes:
                    break
            self.assertEqual(codes, {"ok", "busy"})

    def test_reply_too_large_says_what_fits(self):
        whole = ROWS * COLS * BINS * 4
        with Service(config(query={"max_reply_bytes": whole // 3})) as service, Client(
            service.query_endpoint
        ) as client:
            error = client.refusal("values")
            self.assertEqual((error.code, error.retryable), ("reply_too_large", False))
            self.assertIn(str(whole), error.message)
            self.assertIn("roi [0, 2, 0, 8]", error.message)
            held = client.result("snapshot")["snapshot"]
            self.assertEqual(client.refusal("values", snapshot=held).code, "reply_too_large")
            blocks = [
                client.array("values", snapshot=held, roi=[r, r + 2, 0, COLS]) for r in range(0, ROWS, 2)
            ]
            self.assertEqual(np.concatenate(blocks).shape, (ROWS, COLS, BINS))

    def test_no_memory(self):
        whole = ROWS * COLS * BINS * 4
        with Service(config(snapshot={"max_bytes": 5 * whole // 2})) as service, Client(
            service.query_endpoint
        ) as client:
            held = client.result("snapshot")["snapshot"]
            second = client.result("snapshot", dtype="|u1")["snapshot"]
            error = client.refusal("snapshot")
            self.assertEqual((error.code, error.retryable), ("no_memory", True))
            self.assertRegex(error.message, r"needs \d+ bytes.*snapshot\.max_bytes")
            client.ask("release", snapshot=held)
            client.ask("release", snapshot=second)
            wait_until(lambda: service.status()["memory"]["snapshot_bytes"] == 0, "memory is given back")
            client.ask("values")

    def test_forbidden(self):
        with Service(config(query={"allow_control": "none"})) as service, Client(
            service.query_endpoint
        ) as client:
            for op, args in (("reset", {}), ("start", {}), ("stop", {}), ("values", {"then_reset": True})):
                error = client.refusal(op, **args)
                self.assertEqual((error.code, error.retryable), ("forbidden", False))
            for op in ("values", "snapshot", "status", "info", "ping"):
                client.ask(op)
            self.assertEqual(service.status()["state"], "running")

    def test_wrong_state_while_draining(self):
        frame = np.zeros((ROWS, COLS), "u2")
        config_ = config(shutdown={"receive_grace_ms": 600_000, "timeout_s": 3600})
        with Service(config_) as service, Client(service.query_endpoint) as client, Sender(
            service.data_endpoint
        ) as sender:
            stop_sending = threading.Event()

            def send():
                while not stop_sending.wait(0.002):
                    sender.frame(frame)

            thread = threading.Thread(target=send, daemon=True)
            thread.start()
            try:
                wait_until(lambda: service.account()["accepted"], "frames come")
                service.signal(signal.SIGTERM)
                wait_until(lambda: service.status()["state"] == "draining", "the service is draining")
                for op in ("values", "snapshot", "reset", "stop", "start"):
                    error = client.refusal(op)
                    self.assertEqual((error.code, error.retryable), ("wrong_state", True))
                self.assertEqual(client.result("status")["state"], "draining")
                self.assertEqual(service.get("/readyz")[0], 503)
                self.assertEqual(service.get("/healthz")[0], 200)
            finally:
                stop_sending.set()
                thread.join()
            service.wait()


if __name__ == "__main__":
    unittest.main()
