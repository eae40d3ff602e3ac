#!/usr/bin/env python3
"""Draws the spectrum of one pixel in the terminal. Knows of pixhist only what docs/queries.md says.

show_spectrum.py ROW COL [--endpoint tcp://127.0.0.1:5556] [--width 96] [--height 10]
"""
import argparse
import json
import sys

import numpy as np
import zmq


class QueryError(RuntimeError):
    """An error reply, or none in time."""


class QueryClient:
    """One REQ socket; a lost reply ends it, since a REQ socket cannot go on without one."""

    def __init__(self, endpoint, timeout_ms=10_000):
        self.endpoint = endpoint
        self.socket = zmq.Context.instance().socket(zmq.REQ)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, timeout_ms)
        self.socket.connect(endpoint)

    def ask(self, op, **args):
        """Result and array (None where the answer has none)."""
        self.socket.send_json({"v": 1, "id": op, "op": op, "args": args})
        try:
            head, *parts = self.socket.recv_multipart()
        except zmq.Again:
            raise QueryError(f"no reply to '{op}' from {self.endpoint}: is pixhistd running there?") from None
        reply = json.loads(head)
        if not reply["ok"]:
            raise QueryError("{code}: {message}".format(**reply["error"]))
        result = reply["result"]
        if not parts:
            return result, None
        return result, np.frombuffer(b"".join(parts), result["dtype"]).reshape(result["shape"])


def occupied(counts, margin=0.05):
    """First and one past the last bin with counts, and a little beyond."""
    bins = np.flatnonzero(counts)
    if bins.size == 0:
        return 0, counts.size
    beyond = max(2, int(margin * (bins[-1] - bins[0] + 1)))
    return max(0, bins[0] - beyond), min(counts.size, bins[-1] + 1 + beyond)


def bars(heights, rows):
    """Lines of block characters, top line first; heights from 0 to 1."""
    eighths = np.rint(np.asarray(heights) * rows * 8).astype(int)
    return ["".join(" ▁▂▃▄▅▆▇█"[min(8, max(0, int(e) - 8 * row))] for e in eighths)
            for row in reversed(range(rows))]


def draw(counts, edges, unit, width, rows):
    """The spectrum as text: log scale, neighbouring bins summed so that it fits into `width` columns."""
    begin, end = occupied(counts)
    per_column = max(1, -(-(end - begin) // width))
    padded = np.zeros(-(-(end - begin) // per_column) * per_column, dtype=np.uint64)
    padded[:end - begin] = counts[begin:end]
    columns = padded.reshape(-1, per_column).sum(axis=1)
    top = max(int(columns.max()), 1)
    lines = bars(np.log1p(columns) / np.log1p(top), rows)
    lines = [f"{top if i == 0 else '':>8} │{line}" for i, line in enumerate(lines)]
    low, high = f"{edges[begin]:g}", f"{edges[min(end, edges.size - 1)]:g} {unit}"
    lines.append(f"{0:>8} └" + "─" * columns.size)
    lines.append(" " * 10 + low + high.rjust(max(columns.size - len(low), len(high) + 1)))
    return "\n".join(lines)


def show_pixel(client, row, col, width=96, rows=10, out=sys.stdout):
    """Draws the pixel and returns (its result, its counts)."""
    info, _ = client.ask("info")
    _, edges = client.ask("edges")
    result, counts = client.ask("pixel", row=row, col=col, fresh=True)
    outside = ", ".join(f"{name} {result[name]}" for name in ("below", "above", "invalid") if result[name])
    out.write(f"pixel ({row}, {col}): {counts.sum()} values" + (f", {outside}" if outside else "") +
              "; counts on a logarithmic scale\n")
    out.write(draw(counts, edges, info["axis"]["unit"], width, rows) + "\n")
    return result, counts


def main():
    parser = argparse.ArgumentParser(description="Draws the spectrum of one pixel in the terminal.")
    parser.add_argument("row", type=int)
    parser.add_argument("col", type=int)
    parser.add_argument("--endpoint", default="tcp://127.0.0.1:5556")
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--height", type=int, default=10)
    arguments = parser.parse_args()
    try:
        show_pixel(QueryClient(arguments.endpoint), arguments.row, arguments.col, arguments.width, arguments.height)
    except QueryError as error:
        sys.exit(f"show_spectrum.py: {error}")


if __name__ == "__main__":
    main()
