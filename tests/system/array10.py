"""A sender of array10 frames, written from docs/wire/array10.md alone."""

import json

import numpy as np
import zmq

from harness import TIMEOUT


def frame_header(pixels, number=None, run=None, **changes):
    """Header of one frame; a change to None leaves the key out."""
    header = {
        "htype": "array-1.0",
        "shape": list(pixels.shape),
        "type": pixels.dtype.name,
        "frame": number,
        "run": run,
    }
    header.update(changes)
    return json.dumps({k: v for k, v in header.items() if v is not None}).encode()


class Sender:
    """A PUSH (or PUB) socket with a long queue; it waits for a slow peer, but never for ever."""

    def __init__(self, endpoint, kind=zmq.PUSH, bind=False, queue=100_000):
        self.socket = zmq.Context.instance().socket(kind)
        self.socket.setsockopt(zmq.SNDHWM, queue)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.SNDTIMEO, int(TIMEOUT * 1000))
        self.socket.setsockopt(zmq.RECONNECT_IVL, 20)
        if bind:
            self.socket.bind(endpoint)
        else:
            self.socket.connect(endpoint)
        self.endpoint = self.socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def parts(self, *parts):
        self.socket.send_multipart(parts)

    def frame(self, pixels, number=None, run=None, **changes):
        self.parts(frame_header(pixels, number, run, **changes), np.ascontiguousarray(pixels).tobytes())

    def frames(self, stack, first=0, run=None):
        """A stack (frames, rows, cols), numbered from `first`; None: without numbers."""
        for i, pixels in enumerate(stack):
            self.frame(pixels, None if first is None else first + i, run)

    def end(self, run=None, frames=None):
        mark = {"htype": "array-1.0", "end": True, "run": run, "frames": frames}
        self.parts(json.dumps({k: v for k, v in mark.items() if v is not None}).encode())
