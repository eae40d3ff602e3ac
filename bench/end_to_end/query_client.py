#!/usr/bin/env python3
"""One client of pixhistd in a process of its own, for end_to_end.py: asks back to back until its stdin ends.

    query_client.py ENDPOINT OP ARGUMENTS_AS_JSON

Prints a line when its first answer has come, and at the end {"reply_bytes", "requests": [[when, ms, refusal], ...]}:
bytes of an answer, when in seconds of the monotonic clock, refusal null or the error's code (busy, no_memory).
"""

import json
import select
import sys
import time

import zmq

MAY_REFUSE = ("busy", "no_memory")
PAUSE_S = 0.001  # of a client that was refused


def connect(endpoint):
    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVTIMEO, 60_000)
    socket.connect(endpoint)
    return socket


def request(op, args):
    return json.dumps({"v": 1, "id": 1, "op": op, "args": args}).encode()


def ask(socket, message):
    """The head of the answer, and its bytes in all."""
    socket.send(message)
    parts = socket.recv_multipart(copy=False)
    return json.loads(parts[0].bytes), sum(len(part) for part in parts)


def main():
    endpoint, op, args = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    message = request(op, args)
    socket = connect(endpoint)
    requests, reply_bytes, told = [], 0, False
    while not select.select([sys.stdin], [], [], 0)[0]:
        asked = time.monotonic()
        head, size = ask(socket, message)
        refusal = None if head["ok"] else head["error"]["code"]
        assert refusal is None or refusal in MAY_REFUSE, head
        requests.append([asked, 1e3 * (time.monotonic() - asked), refusal])
        if refusal is not None:
            time.sleep(PAUSE_S)
            continue
        reply_bytes = size
        if not told:
            print("asking", flush=True)
            told = True
    print(json.dumps({"reply_bytes": reply_bytes, "requests": requests}))


if __name__ == "__main__":
    main()
