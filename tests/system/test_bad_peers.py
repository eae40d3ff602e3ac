"""Bad peers: frames that are none, bytes that are no ZeroMQ, clients that never read or vanish."""

import os
import re
import socket
import struct
import time
import unittest

import numpy as np
import zmq

import reference
from array10 import Sender, frame_header
from client import Client
from harness import SLOWNESS, TIMEOUT, Service, make_config, wait_until

ROWS, COLS = 6, 8
AXIS = {"bins": 16, "min": 0, "max": 1600}
GOOD = np.arange(ROWS * COLS, dtype="u2").reshape(ROWS, COLS) * 33


def config(**changes):
    return make_config(ROWS, COLS, axis=AXIS, **changes)


def bad_messages():
    """Reason and parts, as the table in docs/wire/array10.md has them."""
    pixels = GOOD.tobytes()
    good = frame_header(GOOD, 1)

    def changed(**changes):
        return [frame_header(GOOD, 1, **changes), pixels]

    return [
        ("parts", [good, pixels, pixels]),
        ("parts", [good, pixels] + [b""] * 30),
        ("parts", [b'{"htype":"array-1.0"}']),
        ("parts", [b'{"end":false}']),
        ("too_large", [b" " * 65537, pixels]),
        ("not_json", [b"", pixels]),
        ("not_json", [good[:-1], pixels]),
        ("not_json", [good + b"x", pixels]),
        ("not_json", [good + b"\0", pixels]),
        ("not_json", [b'{"shape":[6,8],"type":"uint16","a":"\xff"}', pixels]),
        ("not_json", [b'{"shape":[6,8],"type":"uint16","a":1e999}', pixels]),
        ("not_json", [os.urandom(64) + b"}", pixels]),
        ("not_json", [b"[" * 60000, pixels]),
        ("bad_header", [b"[]", pixels]),
        ("bad_header", changed(htype=7)),
        ("unknown_message", changed(htype="chunk-1.0")),
        ("bad_header", [b'{"end":true,"frames":-1}']),
        ("bad_header", [b'{"end":true,"run":7}']),
        ("bad_header", [b'{"type":"uint16"}', pixels]),
        ("bad_header", [b'{"shape":[6,8]}', pixels]),
        ("bad_header", changed(frame=-1)),
        ("bad_header", changed(frame=1.5)),
        ("bad_header", changed(frame=1 << 64)),
        ("bad_header", changed(shape=["2x3", 8])),
        ("bad_header", changed(run=5)),
        ("bad_header", [b'{"shape":[6,8],"type":"uint16","frame":1,"frame":1}', pixels]),
        ("encoding", changed(encoding="bslz4<")),
        ("encoding", changed(compression="lz4")),
        ("dtype", changed(type="uint8")),
        ("dtype", changed(type=">u2")),
        ("geometry", changed(shape=[COLS, ROWS])),
        ("geometry", changed(shape=[ROWS * COLS])),
        ("geometry", changed(shape=[2, ROWS, COLS])),
        ("geometry", changed(shape=[1 << 40, 1 << 40])),
        ("size", [good, pixels[:-1]]),
        ("size", [good, pixels + b"\0"]),
        ("size", [good, b""]),
    ]


class BadFramesTest(unittest.TestCase):
    def test_each_reason_then_a_good_frame(self):
        with Service(config()) as service, Sender(service.data_endpoint) as sender, Client(
            service.query_endpoint
        ) as client:
            wanted = {}
            for i, (reason, parts) in enumerate(bad_messages()):
                with self.subTest(reason=reason, first_part=parts[0][:60]):
                    sender.parts(*parts)
                    sender.frame(GOOD, 10 + i)
                    wanted[reason] = wanted.get(reason, 0) + 1
                    account = service.wait_account(accepted=i + 1)
                    self.assertEqual(account["rejected"], wanted)
            frames = len(bad_messages())
            counts = client.array("values", fresh=True)
            expected = reference.histogram(np.stack([GOOD] * frames), 16, 0, 1600).counts
            self.assertTrue(np.array_equal(counts, expected))
            status = service.status()
            self.assertIn("geometry", {e["reason"] for e in status["errors"]})
            self.assertTrue(status["sources"]["module0"]["mismatch"])
            noted = {e["reason"]: e["count"] for e in status["errors"]}
            self.assertEqual(noted, wanted)

    def test_good_frames_in_every_spelling(self):
        with Service(config()) as service, Sender(service.data_endpoint) as sender:
            pixels = GOOD.tobytes()
            for header in (
                b'{"shape":[6,8],"type":"uint16"}',
                b'\xef\xbb\xbf{"shape":[1,6,8],"type":"uint16"}',
                b'{"shape":["6","8"],"type":"uint16","encoding":null,"compression":"none"}',
                b'{"htype":"array-1.2","shape":[6,8],"type":"uint16","frame":18446744073709551615,"x":'
                + b"[" * 5000
                + b"]" * 5000
                + b"}",
                b'{"shape":[6,8],"typ\\u0065":"uint16","run":""}',
            ):
                sender.parts(header, pixels)
            service.wait_account(accepted=5)
            self.assertEqual(service.account()["rejected"], {})

    def test_the_log_is_limited_and_complete(self):
        with Service(config()) as service, Sender(service.data_endpoint) as sender:
            begin = time.monotonic()
            for _ in range(2000):
                sender.parts(b"nonsense", b"")
                sender.parts(frame_header(GOOD, 1), b"")
            service.wait_account(received=4000)
            log = service.stop()
            seconds = time.monotonic() - begin
        for reason in ("not_json", "size"):
            lines = [line for line in log.splitlines() if re.search(rf"[( ]{reason}[,;)]", line)]
            self.assertLessEqual(len(lines), 2 + seconds, log)
            told = 0
            for line in lines:
                more = re.search(r"(\d+) times? more", line)
                told += int(more[1]) if more else 0
                told += f"{reason}, " not in line
            self.assertEqual(told, 2000, lines)

    def test_an_oversized_part_costs_its_sender_the_connection_only(self):
        with Service(config()) as service:
            with Sender(service.data_endpoint) as bad, Sender(service.data_endpoint) as good:
                good.frame(GOOD, 1)
                bad.parts(frame_header(GOOD, 2), b"\0" * (3 << 20))
                good.frame(GOOD, 3)
                service.wait_account(accepted=2)
                # Reconnected by ZeroMQ; a message handed over before that may be lost with the connection.
                numbers = iter(range(100, 100_000))

                def arrives():
                    bad.frame(GOOD, next(numbers))
                    return service.account()["accepted"] > 2

                wait_until(arrives, "the bad sender's good frames are taken again")

    def test_a_connecting_socket_hears_again_after_frames_that_are_too_large(self):
        huge = np.zeros((1024, 1024), dtype="u2")  # frame + 1 MiB is the limit of a part
        for kind, socket_type in (("sub", zmq.PUB), ("pull", zmq.PUSH)):
            with self.subTest(kind), Sender("tcp://127.0.0.1:*", kind=socket_type, bind=True) as sender:
                source = {"endpoint": sender.endpoint, "socket": kind}
                with Service(config(sources=[source])) as service:

                    def arrives():
                        sender.frame(GOOD)
                        return service.account()["accumulated"] > 0

                    wait_until(arrives, "a first frame")
                    sender.frame(huge)
                    before = service.account()["accumulated"]

                    def hears_again():
                        sender.frame(GOOD)
                        cut = [e for e in service.status()["errors"] if e["reason"] == "connection_cut"]
                        return cut and service.account()["accumulated"] > before + 50

                    wait_until(hears_again, "frames after the cut")
                    self.assertIn("larger frames than configured", service.log())
                    self.assertRegex(
                        service.get("/metrics")[1],
                        r'pixhist_socket_events_total\{socket="module0",event="reconnect_forced"\} [1-9]',
                    )


def hostile_bytes():
    greeting = b"\xff" + b"\0" * 8 + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" + b"\0" * 31
    ready = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PUSH"
    return [
        b"GET /status HTTP/1.1\r\nHost: x\r\n\r\n",
        b"",
        b"\0" * 100_000,
        os.urandom(100_000),
        b"\xff" * 64,
        greeting,
        greeting + os.urandom(5000),
        greeting + b"\x06" + struct.pack(">Q", 1 << 62),
        greeting + b"\x04\xff" + b"\x05READY" + b"\xff" * 249,
        greeting + ready + b"\x02" + struct.pack(">Q", (1 << 63) - 1) + b"x" * 1000,
        greeting + ready + b"\x01\x10" + b"half a frame",
    ]


def nothing_is_owed(service):
    """No request waits and no answer holds memory, told by one status."""
    status = service.status()
    return status["queues"]["requests_pending"] == 0 and status["memory"]["snapshot_bytes"] == 0


class HostilePeersTest(unittest.TestCase):
    def throw(self, endpoint, payload):
        host, port = endpoint.removeprefix("tcp://").rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=TIMEOUT) as connection:
            connection.settimeout(0.05)
            try:
                connection.sendall(payload)
                connection.recv(4096)
            except OSError:
                pass  # closed by the service, or silent: both are fine

    def test_bytes_that_are_no_zeromq(self):
        with Service(config()) as service, Sender(service.data_endpoint) as sender, Client(
            service.query_endpoint
        ) as client:
            frames = 0
            for payload in hostile_bytes():
                for endpoint in (
                    service.data_endpoint,
                    service.query_endpoint,
                    service.http.removeprefix("http://"),
                ):
                    self.throw(endpoint, payload)
                sender.frame(GOOD, frames)
                frames += 1
                client.ask("ping")
            service.wait_account(accepted=frames)
            self.assertEqual(client.result("values", fresh=True)["cut"]["totals"]["frames"], frames)
            self.assertEqual(service.get("/healthz"), (200, "ok\n"))

    def test_http_rubbish(self):
        with Service(config()) as service:
            self.assertEqual(service.get("/nothing")[0], 404)
            self.assertEqual(service.get("/../../etc/passwd")[0], 404)
            self.assertEqual(service.get("/status/../metrics" + "x" * 5000)[0], 404)
            for request in (
                b"POST /status HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
                b"G" * 200_000,
                b"GET /\0 HTTP/1.1\r\n\r\n",
            ):
                self.throw(service.http.removeprefix("http://"), request)
            self.assertEqual(service.get("/readyz"), (200, "running\n"))

    def assert_served_quickly(self, service):
        with Client(service.query_endpoint) as client:
            begin = time.monotonic()
            client.ask("ping")
            client.ask("pixel", row=0, col=0, fresh=True)
            self.assertLess(time.monotonic() - begin, 1 * SLOWNESS)

    def test_clients_that_never_read(self):
        # 2 MiB a reply: socket buffers cannot swallow fifty of them.
        big = make_config(128, 128, axis={"bins": 32}, query={"max_pending_per_client": 8})
        with Service(big) as service:
            idle = [Client(service.query_endpoint, RCVHWM=1, RCVBUF=65536) for _ in range(3)]

            def dropped():
                # Again and again: of many requests at once all but a few are answered `busy`, which socket
                # buffers can swallow.
                for client in idle:
                    client.send("values", fresh=True)
                metrics = service.get("/metrics")[1]
                return float(
                    re.search(r'pixhist_replies_dropped_total\{reason="client_slow"\} (\S+)', metrics)[1]
                )

            wait_until(dropped, "replies to clients that do not read are dropped")
            self.assert_served_quickly(service)
            for client in idle:
                client.socket.close()
            wait_until(lambda: nothing_is_owed(service), "their memory is given back")
            self.assert_served_quickly(service)

    def test_clients_that_vanish(self):
        with Service(make_config(128, 128, axis={"bins": 32})) as service:
            for _ in range(20):
                client = Client(service.query_endpoint, LINGER=200)
                for _ in range(5):
                    client.send("values", fresh=True)
                client.receive()
                client.socket.close()
            self.assert_served_quickly(service)
            wait_until(lambda: nothing_is_owed(service), "nothing waits for them and their memory is given back")


if __name__ == "__main__":
    unittest.main()
