"""Senders that die in the middle of a message, or announce one that no detector sends: not seen, and no lasting harm."""

import contextlib
import unittest

import numpy as np
import zmq

import reference
import zmtp
from array10 import Sender, frame_header
from client import Client
from faults import BACK_WITHIN, MEMORY_TELLS, MIB, resident, socket_events
from harness import ANY_PORT, Service, make_config, wait_until

ROWS, COLS = 128, 128
AXIS = {"bins": 16, "min": 0, "max": 1600}
GOOD = (np.arange(ROWS * COLS) % 1500).astype("u2").reshape(ROWS, COLS)
HEADER, PIXELS = frame_header(GOOD), GOOD.tobytes()
TWO_GIB = 2 << 30
# What the service is, what its peer is.
CONNECTING = [("pull", "PUSH", zmq.PUSH), ("sub", "PUB", zmq.PUB)]


def half_a_header(peer):
    peer.announce(len(HEADER), more=True)
    peer.socket.sendall(HEADER[: len(HEADER) // 2])


def only_a_header(peer):
    peer.part(HEADER, more=True)


def half_the_pixels(peer):
    peer.part(HEADER, more=True)
    peer.announce(len(PIXELS))
    peer.socket.sendall(PIXELS[: len(PIXELS) // 2])


HALVES = (half_a_header, only_a_header, half_the_pixels)


def say_two_gib(peer):
    """And begin to send them, for as long as the other side takes it."""
    peer.part(HEADER, more=True)
    peer.announce(TWO_GIB)
    with contextlib.suppress(OSError):
        for _ in range(64):
            peer.socket.sendall(b"\0" * MIB)


def config(**source):
    return make_config(ROWS, COLS, axis=AXIS, sources=[{"endpoint": ANY_PORT} | source])


BOUND = {"socket": "pull", "bind": True}


class BrokenSendersTest(unittest.TestCase):
    def assert_counted(self, service, frames):
        """These good frames, and nothing else was ever seen."""
        account = service.wait_account(received=frames, accumulated=frames)
        self.assertEqual((account["rejected"], account["dropped"], account["discarded"]), ({}, 0, {}))
        with Client(service.query_endpoint) as client:
            expected = reference.histogram(GOOD[None], AXIS["bins"], 0, AXIS["max"]).counts * frames
            self.assertTrue(np.array_equal(client.array("values", fresh=True), expected))

    def resume(self, service, endpoint, kind):
        """A sender takes the place of the broken one. How many frames the service has when all of its have come."""
        with Sender(endpoint, kind=kind, bind=True) as sender:
            before, sent = service.account()["accumulated"], 0

            def arrives():
                nonlocal sent
                sender.frame(GOOD)
                sent += 1
                return service.account()["accumulated"] > before

            wait_until(arrives, "ingest is back", BACK_WITHIN)
            sender.end()
            received = service.wait_account(control=1)["received"]
            if kind == zmq.PUSH:  # a PUB's first frames had no subscriber
                self.assertEqual(received, before + sent)
            return received

    def test_half_a_message_to_a_bound_socket(self):
        with Service(config(**BOUND)) as service, Sender(service.data_endpoint) as good:
            frames = 0
            for half in HALVES:
                for vanish in (zmtp.Peer.reset, zmtp.Peer.hang_up):
                    with zmtp.connect(service.data_endpoint, "PUSH") as peer:
                        peer.message(HEADER, PIXELS)
                        frames += 1
                        service.wait_account(received=frames)  # so it is heard
                        half(peer)
                        vanish(peer)
                    good.frame(GOOD)
                    frames += 1
            wait_until(lambda: socket_events(service, "disconnected") == 2 * len(HALVES), "all are known to be gone")
            self.assert_counted(service, frames)

    def broken_by(self, socket, peer_kind, harm):
        """A service that connects to a peer which sends one good frame, does harm and is gone, and whose port is free
        again; with it the endpoint."""
        with contextlib.ExitStack() as stack, zmtp.listening() as (endpoint, accept):
            service = stack.enter_context(Service(config(endpoint=endpoint, socket=socket)))
            with accept(peer_kind) as peer:
                peer.message(HEADER, PIXELS)
                service.wait_account(accumulated=1)
                harm(service, peer)
            return stack.pop_all(), service, endpoint

    def test_half_a_message_to_a_socket_that_connects(self):
        for socket, peer_kind, sender_kind in CONNECTING:
            for half in HALVES:
                with self.subTest(socket=socket, half=half.__name__):

                    def harm(_, peer):
                        half(peer)
                        peer.reset()

                    running, service, endpoint = self.broken_by(socket, peer_kind, harm)
                    with running:
                        received = self.resume(service, endpoint, sender_kind)
                        self.assertEqual(socket_events(service, "reconnect_forced"), 0)
                        self.assert_counted(service, received)

    def assert_cut(self, service, peer):
        before = resident(service)[0]
        say_two_gib(peer)
        self.assertTrue(peer.is_cut(), "a part of 2 GiB is listened to")
        wait_until(lambda: socket_events(service, "disconnected"), "the cut is counted")
        if MEMORY_TELLS:
            self.assertLess(resident(service)[1] - before, 16 * MIB)

    def test_two_gibibytes_to_a_bound_socket(self):
        with Service(config(**BOUND)) as service, Sender(service.data_endpoint) as good:
            good.frame(GOOD)
            service.wait_account(received=1)
            with zmtp.connect(service.data_endpoint, "PUSH") as peer:
                self.assert_cut(service, peer)
            good.frame(GOOD)
            self.assert_counted(service, 2)
            self.assertEqual(socket_events(service, "disconnected"), 1, "the good sender is still connected")

    def test_two_gibibytes_to_a_socket_that_connects(self):
        for socket, peer_kind, sender_kind in CONNECTING:
            with self.subTest(socket=socket):
                running, service, endpoint = self.broken_by(socket, peer_kind, self.assert_cut)
                with running:
                    received = self.resume(service, endpoint, sender_kind)
                    self.assertGreaterEqual(socket_events(service, "reconnect_forced"), 1)
                    self.assertIn("connection_cut", [error["reason"] for error in service.status()["errors"]])
                    self.assert_counted(service, received)

    def test_two_gibibytes_to_the_query_socket(self):
        with Service(config(**BOUND)) as service, Client(service.query_endpoint) as client:
            client.ask("ping")
            before = resident(service)[0]
            with zmtp.connect(service.query_endpoint, "DEALER") as peer:
                say_two_gib(peer)
                self.assertTrue(peer.is_cut(), "a part of 2 GiB is listened to")
            client.ask("ping")
            if MEMORY_TELLS:
                self.assertLess(resident(service)[1] - before, 16 * MIB)


if __name__ == "__main__":
    unittest.main()
