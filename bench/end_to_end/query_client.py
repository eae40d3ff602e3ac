#!/usr/bin/env python3
"""One client of pixhistd in a process of its own, for end_to_end.py: asks back to back until its stdin ends.

    query_client.py ENDPOINT OP ARGUMENTS_AS_JSON

Prints a line when its first answer has come, and at the end {"bytes", "seconds", "requests": [[when, ms], ...]}, when
in seconds of the monotonic clock.
"""

import json
import select
import sys
import time

import zmq


def ask(socket, request):
    socket.send(request)
    parts = socket.recv_multipart(copy=False)
    reply = json.loads(parts[0].bytes)
    assert reply["ok"], reply
    return sum(len(part) for part in parts)


def main():
    endpoint, op, args = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    request = json.dumps({"v": 1, "id": 1, "op": op, "args": args}).encode()
    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVTIMEO, 60_000)
    socket.connect(endpoint)
    ask(socket, request)
    print("asking", flush=True)
    requests, taken, begin = [], 0, time.monotonic()
    while not select.select([sys.stdin], [], [], 0)[0]:
        asked = time.monotonic()
        taken += ask(socket, request)
        requests.append([asked, 1e3 * (time.monotonic() - asked)])
    print(json.dumps({"bytes": taken, "seconds": time.monotonic() - begin, "requests": requests}))


if __name__ == "__main__":
    main()
