"""A sender that is killed while it sends as fast as it can, and another in its place: whole frames only, each counted."""

import contextlib
import time
import unittest

from client import Client
from faults import BACK_WITHIN, socket_events
from harness import ANY_PORT, SLOWNESS, TIMEOUT, Player, Service, make_config, wait_until

ROWS, COLS = 512, 1024  # 1 MiB a frame: it is killed in the middle of one
GEOMETRY = ("--rows", ROWS, "--cols", COLS, "--images", 2)
AXIS = {"bins": 8, "min": 0, "max": 16384}  # holds all values of the player
KILLS = 2
FRAMES = 20  # of the sender that is not killed


class KilledSendersTest(unittest.TestCase):
    def service(self, **source):
        # The last frames of a killed sender are judged before those of the next: they lie in the same ring.
        return Service(
            make_config(
                ROWS, COLS, axis=AXIS, sources=[source], ring={"bytes": "16MiB", "rcvhwm_bytes": "4MiB"}
            )
        )

    def kill_in_full_flow(self, service, player):
        before = service.account()["accumulated"]
        wait_until(lambda: service.account()["accumulated"] > before + 5, "frames are accumulated", BACK_WITHIN)
        gone = socket_events(service, "disconnected")
        player.process.kill()
        player.process.wait()
        wait_until(lambda: socket_events(service, "disconnected") > gone, "the connection is known to be gone")
        return self.settled(service)

    def settled(self, service):
        """The account when all that the dead one has sent is through."""
        last = None

        def unchanged():
            nonlocal last
            time.sleep(0.1 * SLOWNESS)
            last, before = service.account(), last
            return last == before and last["in_ring"] + last["in_flight"] == 0

        wait_until(unchanged, lambda: f"{last} settles")
        return last

    def check(self, service, player_options, lossless, first=None):
        """Senders come and go, the last one stays until it has sent everything. `first` already plays."""
        with Client(service.query_endpoint) as client:
            accumulated = 0
            for kill in range(KILLS):
                with first or Player(*GEOMETRY, *player_options, "--run", f"killed {kill}") as player:
                    account = self.kill_in_full_flow(service, player)
                first = None
                cut = client.result("pixel", row=0, col=0, fresh=True)["cut"]
                source = cut["sources"]["module0"]
                if lossless:  # of this run all numbers from 0 on, up to some
                    self.assertEqual(source["last_frame"] + 1, account["accumulated"] - accumulated)
                    self.assertEqual(account["missing"] + account["open"], 0)
                accumulated = account["accumulated"]
                client.ask("reset")
            lost = account["missing"] + account["open"]
            with Player(*GEOMETRY, *player_options, "--run", "whole", "--frames", FRAMES, "--rate", 20) as player:
                wait_until(
                    lambda: service.account()["accumulated"] > accumulated, "ingest is back", BACK_WITHIN
                )
                report = player.finish()
            self.assertEqual(report["frames"], FRAMES)
            service.wait_account(control=1, received=accumulated + FRAMES)
            counts = client.array("values", fresh=True)  # behind the end mark
            account = service.account()
            self.assertEqual(account["accumulated"], accumulated + FRAMES)
            self.assertEqual(
                (account["missing"], account["rejected"], account["discarded"], account["dropped"]), (lost, {}, {}, 0)
            )
            self.assertEqual((int(counts.sum(axis=2).min()), int(counts.sum(axis=2).max())), (FRAMES, FRAMES))

    def test_push_to_a_bound_pull(self):
        with self.service(endpoint=ANY_PORT, socket="pull", bind=True) as service:
            self.check(service, ("--connect", service.data_endpoint), lossless=True)

    @contextlib.contextmanager
    def bound_player(self, *options):
        with Player(*GEOMETRY, "--bind", ANY_PORT, "--run", "killed 0", *options) as player:
            yield player, player.process.stderr.readline().split()[-1]

    def test_a_pull_that_connects(self):
        with self.bound_player("--socket", "push") as (player, endpoint):
            with self.service(endpoint=endpoint, socket="pull") as service:
                self.check(service, ("--socket", "push", "--bind", endpoint), True, contextlib.nullcontext(player))

    def test_a_sub_that_connects(self):
        publish = ("--socket", "pub", "--wait-subscriber", TIMEOUT)
        with self.bound_player(*publish) as (player, endpoint):
            with self.service(endpoint=endpoint, socket="sub", on_full="wait") as service:
                self.check(service, (*publish, "--bind", endpoint), False, contextlib.nullcontext(player))


if __name__ == "__main__":
    unittest.main()
