"""pixhistd --probe: what it prints for a sender's frames is a configuration that takes them."""

import json
import threading
import unittest

import numpy as np
import zmq
from array10 import frame_header
from harness import SLOWNESS, TIMEOUT, config_file, run_pixhistd

PIXELS = np.arange(6 * 8, dtype="u2").reshape(6, 8) * 33


def sls_header(shape, bits, data=1, **changes):
    """As docs/wire/sls.md has it."""
    header = {
        "jsonversion": 5,
        "bitmode": bits,
        "fileIndex": 0,
        "detshape": [1, 1],
        "shape": [shape[1], shape[0]],
        "size": shape[0] * shape[1] * bits // 8,
        "frameIndex": 0,
        "fname": "//run",
        "data": data,
        "completeImage": 1,
        "frameNumber": 1,
        "row": 0,
        "column": 0,
        "detType": 3,
        "flipRows": 0,
    }
    return json.dumps(header | changes).encode()


class Publisher:
    """Sends the same messages over and over, each after a pause, until it is left."""

    def __init__(self, messages, kind=zmq.PUB):
        self._messages = messages
        self._socket = zmq.Context.instance().socket(kind)
        self._socket.linger = 0
        self._socket.sndtimeo = 50
        self.endpoint = f"tcp://127.0.0.1:{self._socket.bind_to_random_port('tcp://127.0.0.1')}"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._stop.wait(0.02):
            for message in self._messages:
                try:
                    self._socket.send_multipart(message)
                except zmq.Again:
                    pass

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self._socket.close()


def probe(messages, *arguments, kind=zmq.PUB):
    with Publisher(messages, kind) as publisher:
        done = run_pixhistd("--probe", publisher.endpoint, *arguments, timeout=3 * TIMEOUT)
    return done, publisher.endpoint


class Probe(unittest.TestCase):
    def check_good(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        with config_file(done.stdout) as path:
            checked = run_pixhistd("--config", path, "--check-config", "--json")
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertEqual(json.loads(checked.stdout)["warnings"], [])
        return json.loads(done.stdout)

    def test_array10(self):
        done, endpoint = probe([[frame_header(PIXELS, 1), PIXELS.tobytes()]])
        config = self.check_good(done)
        self.assertEqual(config["detector"], {"rows": 6, "cols": 8, "pixel_type": "u16"})
        source = {"name": "module0", "endpoint": endpoint, "socket": "sub", "format": "array10"}
        self.assertEqual(config["sources"], [source])
        self.assertIn("format array10: 6 x 8 pixels", done.stderr)

    def test_sls_behind_an_end_marker_over_push(self):
        messages = [[sls_header((0, 0), 0, data=0)], [sls_header((6, 8), 16), PIXELS.tobytes()]]
        config = self.check_good(probe(messages, "--probe-socket", "pull", kind=zmq.PUSH)[0])
        self.assertEqual(config["detector"], {"rows": 6, "cols": 8, "pixel_type": "u16"})
        self.assertEqual(config["axis"], {"bins": 1024, "min": 0, "max": 16384, "map": "adc"})
        self.assertEqual((config["sources"][0]["format"], config["sources"][0]["socket"]), ("sls", "pull"))

    def test_one_port_of_several(self):
        header = sls_header((6, 8), 8, detType=1, detshape=[2, 2], row=1, column=1, flipRows=1)
        done = probe([[header, bytes(48)]], "--format", "sls")[0]
        config = self.check_good(done)
        self.assertEqual(config["detector"], {"rows": 12, "cols": 16, "pixel_type": "u8"})
        self.assertEqual(config["sources"][0]["shape"], [6, 8])
        self.assertIn("one port of a detector of 12 x 16 pixels", done.stderr)

    def test_messages_that_cannot_be_used_are_named(self):
        for message, words in (
            ([sls_header((6, 8), 12), bytes(72)], ["as sls: encoding: bitmode 12 is not built yet"]),
            ([frame_header(PIXELS, 1, encoding="bslz4"), b"x"], ["as array10: encoding: ", "not built yet"]),
            ([b"\xd9\xd9\xf7\xa9"], ["as array10: not_json: ", "as sls: not_json: "]),
            ([b"a", b"b", b"c", b"d"], ["as array10: parts: ", "as sls: parts: "]),
        ):
            with self.subTest(words=words):
                done = probe([message])[0]
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                for word in words:
                    self.assertIn(word, done.stderr)

    def test_silence(self):
        wait = str(max(1, int(SLOWNESS)))
        done = run_pixhistd("--probe", "tcp://127.0.0.1:1", "--probe-timeout", wait, timeout=3 * TIMEOUT)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"No connection to tcp://127.0.0.1:1 within {wait} s", done.stderr)
        done = probe([], "--probe-timeout", wait)[0]
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no message came", done.stderr)
        done = probe([[sls_header((0, 0), 0, data=0)]], "--probe-timeout", wait)[0]
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Only control messages", done.stderr)

    def test_bad_arguments(self):
        self.assertEqual(run_pixhistd("--probe", "nonsense").returncode, 4)
        done = run_pixhistd("--probe", "tcp://127.0.0.1:1", "--format", "odin")
        self.assertEqual(done.returncode, 2)
        self.assertIn("not built yet; allowed: array10, sls", done.stderr)
        for bad in (["--format", "sls"], ["--probe", "tcp://a:1", "--probe-timeout", "0"], ["--probe"]):
            self.assertEqual(run_pixhistd(*bad).returncode, 2)


if __name__ == "__main__":
    unittest.main()
