#!/usr/bin/env python3
"""A bare ROUTER that answers every request with the same bytes, not copied: the ceiling of an answer of that size.

    bare_answerer.py BYTES

Prints its endpoint; ends with its stdin.
"""

import os
import select
import sys

import zmq

MIB = 1 << 20


def main():
    size = int(sys.argv[1])
    payload = memoryview(os.urandom(MIB) * (size // MIB + 1))[:size]
    socket = zmq.Context.instance().socket(zmq.ROUTER)
    socket.setsockopt(zmq.LINGER, 0)
    socket.bind("tcp://127.0.0.1:*")
    print(socket.getsockopt_string(zmq.LAST_ENDPOINT), flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        if not socket.poll(100):
            continue
        client, empty, _request = socket.recv_multipart()
        socket.send_multipart([client, empty, b'{"ok": true}', payload], copy=False)


if __name__ == "__main__":
    main()
