"""A client of pixhist, written from docs/queries.md alone: ZeroMQ, JSON and NumPy, nothing of the project."""

import itertools
import json

import numpy as np
import zmq

from harness import TIMEOUT


class QueryError(Exception):
    def __init__(self, error, request_id):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.message = error["message"]
        self.retryable = error["retryable"]
        self.request_id = request_id


class Client:
    """A DEALER that speaks as a REQ does (envelope: one empty part), with several requests in flight."""

    def __init__(self, endpoint, envelope=(b"",), **options):
        self._envelope = list(envelope)
        self._ids = itertools.count(1)
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        for option, value in options.items():
            self.socket.setsockopt(getattr(zmq, option), value)
        self.socket.connect(endpoint)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, op, /, **args):
        request_id = next(self._ids)
        request = {"v": 1, "id": request_id, "op": op, "args": args}
        self.send_parts([json.dumps(request).encode()])
        return request_id

    def send_parts(self, parts):
        self.socket.send_multipart(self._envelope + list(parts))

    def receive(self, timeout=TIMEOUT):
        """Head and binary parts of the next reply."""
        if not self.socket.poll(int(timeout * 1000)):
            raise TimeoutError(f"no reply within {timeout:g} s")
        parts = self.socket.recv_multipart()
        assert parts[: len(self._envelope)] == self._envelope, parts[:3]
        head, *binary = parts[len(self._envelope) :]
        reply = json.loads(head)
        assert reply["v"] == 1, reply
        assert set(reply) == {"v", "id", "ok", "result" if reply["ok"] else "error"}, reply
        return reply, binary

    def ask(self, op, /, **args):
        """Result and array of one request (None if there is none, by name if there are several); QueryError if it is
        refused."""
        request_id = self.send(op, **args)
        reply, binary = self.receive()
        assert reply["id"] == request_id, reply
        return unpack(reply, binary)

    def result(self, op, /, **args):
        return self.ask(op, **args)[0]

    def array(self, op, /, **args):
        return self.ask(op, **args)[1]

    def refusal(self, op, /, **args):
        """The error of a request that must be refused."""
        try:
            self.ask(op, **args)
        except QueryError as error:
            return error
        raise AssertionError(f"{op} {args} was not refused")


def unpack(reply, binary):
    if not reply["ok"]:
        raise QueryError(reply["error"], reply["id"])
    result = reply["result"]
    if not binary:
        return result, None
    if "arrays" in result:
        assert len(binary) == len(result["arrays"]), (len(binary), result["arrays"])
        return result, {
            a["name"]: np.frombuffer(part, a["dtype"]).reshape(a["shape"])
            for a, part in zip(result["arrays"], binary)
        }
    return result, np.frombuffer(b"".join(binary), result["dtype"]).reshape(result["shape"])
