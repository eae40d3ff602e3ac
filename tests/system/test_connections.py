"""Connections that come and go, and clients that only stay connected: they cost nobody else anything."""

import contextlib
import resource
import socket
import unittest

import numpy as np

import zmtp
from array10 import Sender
from client import Client
from faults import Stall, socket_events
from harness import ANY_PORT, TIMEOUT, Service, make_config, wait_until

ROWS, COLS = 64, 64
IMAGE = np.zeros((ROWS, COLS), "u2")
STORM = 1500  # connections, of which each is two events; ZeroMQ holds some 2000 of a socket


class ConnectionsTest(unittest.TestCase):
    def is_full(self, service, source):
        ring = service.status()["sources"][source]["rings"][0]
        return ring["used_bytes"] + IMAGE.nbytes > ring["bytes"]

    def test_a_storm_while_the_ring_is_full_stops_no_other_source(self):
        names = ("stormed", "other")
        sources = [
            {"name": name, "endpoint": ANY_PORT, "socket": "pull", "bind": True, "shape": [ROWS, COLS],
             "origin": [ROWS * i, 0]}
            for i, name in enumerate(names)
        ]  # fmt: skip
        ring = {"bytes": "1MiB", "rcvhwm_bytes": "64KiB"}
        configuration = make_config(ROWS * len(names), COLS, sources=sources, ring=ring)
        with Stall() as stall, Service(configuration, env=stall.environment) as service:
            with Sender(service.data_endpoints[0]) as sender, Sender(service.data_endpoints[1]) as other:
                stall.begin()
                frames = 300
                for number in range(frames):
                    sender.frame(IMAGE, number)
                wait_until(lambda: self.is_full(service, "stormed"), "the ring is full")
                address = zmtp.address(service.data_endpoints[0])
                for _ in range(STORM):
                    socket.create_connection(address, timeout=TIMEOUT).close()
                wait_until(
                    lambda: socket_events(service, "disconnected", "stormed") >= STORM, "all have been seen"
                )
                for number in range(5):
                    other.frame(IMAGE, number)
                service.wait_account("other", received=5)
                stall.end()
                service.wait_account("stormed", accumulated=frames)
                service.wait_account("other", accumulated=5)

    def test_more_clients_than_a_login_may_have_descriptors(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        few, clients = 256, 400
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with contextlib.ExitStack() as stack:
            service = stack.enter_context(Service(make_config(ROWS, COLS)))
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * clients), hard))
            for _ in range(clients):
                stack.enter_context(zmtp.connect(service.query_endpoint, "DEALER"))
            self.assertEqual(service.get("/healthz"), (200, "ok\n"))
            sender = stack.enter_context(Sender(service.data_endpoint))
            sender.frame(IMAGE, 1)
            service.wait_account(accumulated=1)
            stack.enter_context(Client(service.query_endpoint)).ask("ping")


if __name__ == "__main__":
    unittest.main()
