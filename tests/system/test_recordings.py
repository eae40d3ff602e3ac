"""Recorded streams of real slsReceivers through the whole service, where PIXHIST_CASES names their folder."""

import os
import pathlib
import unittest

import numpy as np
import zmq
from client import Client
from harness import TIMEOUT, Service, make_config
from zmqrec import messages_of

CASES = os.environ.get("PIXHIST_CASES")


def messages(name):
    """The parts of each message of one recording."""
    return messages_of(pathlib.Path(CASES) / "sls" / f"{name}.zmqrec.gz")


def play(names, shape, detector, **changes):
    """Each recording from a PUB socket of its own, as one source; the account of each and all counts."""
    sockets = [zmq.Context.instance().socket(zmq.XPUB) for _ in names]
    ports = [s.bind_to_random_port("tcp://127.0.0.1") for s in sockets]
    sources = [
        {"name": name, "endpoint": f"tcp://127.0.0.1:{port}", "format": "sls", "shape": shape}
        for name, port in zip(names, ports)
    ]
    config = make_config(*detector, sources=sources, ring={"bytes": "256MiB", "rcvhwm_bytes": "256MiB"}, **changes)
    with Service(config) as service, Client(service.query_endpoint) as client:
        for name, socket in zip(names, sockets):
            assert socket.poll(TIMEOUT * 1000), "no subscription"
            socket.recv()
            for parts in messages(name):
                socket.send_multipart(parts)
        for name in names:
            service.wait_account(name, control=1)  # the end marker, which comes last
        counts = client.array("values", fresh=True)
        accounts = {name: service.account(name) for name in names}
    for socket in sockets:
        socket.close(0)
    return accounts, counts


@unittest.skipUnless(CASES, "PIXHIST_CASES does not name a folder of recorded streams")
class Recordings(unittest.TestCase):
    def check_pattern(self, counts, pattern, frames):
        """Every pixel has all its frames in the bin of its value."""
        self.assertEqual(counts.sum(), pattern.size * frames)
        rows, cols = np.indices(pattern.shape)
        self.assertTrue((counts[rows, cols, pattern] == frames).all())

    def test_eiger_module_of_four_ports_two_of_them_upside_down(self):
        names = [f"eiger_1mod_16bit_10f_p3000{i}" for i in (1, 2, 3, 4)]
        accounts, counts = play(names, [256, 512], [512, 1024], axis={"bins": 128, "min": 0, "max": 128})
        for account in accounts.values():
            self.assertEqual((account["received"], account["accumulated"], account["missing"]), (10, 10, 0))
        half = np.arange(256) // 2
        pattern = np.repeat(np.concatenate([half, half[::-1]])[:, None], 1024, axis=1)
        self.check_pattern(counts, pattern, 10)

    def test_jungfrau_gain_bits(self):
        accounts, counts = play(
            ["jungfrau_2mod_20f_p30001"], [512, 1024], [1024, 1024], axis={"bins": 4, "min": 0, "max": 4, "map": "gain"}
        )
        self.assertEqual(accounts["jungfrau_2mod_20f_p30001"]["accumulated"], 20)
        gain = np.repeat(np.repeat([0, 1, 3], [300, 300, 424])[None, :], 512, axis=0)
        self.check_pattern(counts[:512], gain, 20)
        self.assertEqual(counts[512:].sum(), 0)

    def test_headers_that_are_no_json_and_packed_pixels_are_counted(self):
        for name, shape, reason, number in (
            ("jungfrau_badname_5f", [512, 1024], "not_json", 5),
            ("eiger_1mod_12bit_10f_p30001", [256, 512], "encoding", 10),
        ):
            with self.subTest(name=name):
                accounts, _ = play([name], shape, shape)
                self.assertEqual(accounts[name]["rejected"], {reason: number})
                self.assertEqual(accounts[name]["accumulated"], 0)


if __name__ == "__main__":
    unittest.main()
