#!/usr/bin/env python3
"""A PUSH sender that remembers when it sent each frame, for latency.py.

    paced_sender.py ENDPOINT ROWS COLS FIRST RATE SECONDS

Frames per second; 0: as fast as they are taken. Prints {"sent": [...]} at its end: when ZeroMQ had taken each frame, in
seconds of the monotonic clock. Its queue holds two frames, so that at full speed they wait for the receiver here.
"""

import json
import pathlib
import sys
import time

import numpy as np
import zmq

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "system"))

from array10 import frame_header  # noqa: E402

IMAGES = 16


def main():
    endpoint, rows, cols, first = sys.argv[1], *map(int, sys.argv[2:5])
    rate, seconds = float(sys.argv[5]), float(sys.argv[6])
    images = np.random.default_rng(1).integers(0, 16384, (IMAGES, rows, cols), np.uint16)
    socket = zmq.Context.instance().socket(zmq.PUSH)
    socket.setsockopt(zmq.SNDHWM, 2)
    socket.setsockopt(zmq.LINGER, 60_000)
    socket.setsockopt(zmq.SNDTIMEO, 60_000)
    socket.connect(endpoint)
    sent, begin = [], time.monotonic()
    while (now := time.monotonic()) < begin + seconds:
        wait = begin + len(sent) / rate - now if rate else 0
        if wait > 0:
            time.sleep(wait)
        image = images[len(sent) % IMAGES]
        socket.send_multipart([frame_header(image, first + len(sent), "latency"), image], copy=False)
        sent.append(time.monotonic())
    socket.close()
    zmq.Context.instance().term()
    print(json.dumps({"sent": sent}))


if __name__ == "__main__":
    main()
