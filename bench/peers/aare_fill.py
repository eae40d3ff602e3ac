#!/usr/bin/env python3
"""The same frames through aare's CPU histogram (PyPI: aare), whose Python class takes float64 frames.

Prints ns per value, and as JSON to --json. Exit 0 also where aare is not installed: the row then says so.
"""

import argparse
import json
import statistics
import time


def time_fill(histogram_class, frames, bins, threads, repeats):
    """Median ns per value over the repeats, after one untimed pass; checks that no value was lost."""
    count, rows, cols = frames.shape
    histogram = histogram_class(rows=rows, cols=cols, n_bins=bins, xmin=0, xmax=16384, n_threads=threads)
    times = []
    for repeat in range(repeats + 1):
        begin = time.perf_counter()
        for frame in frames:
            histogram.fill_async(frame)
        histogram.flush()
        if repeat > 0:
            times.append(time.perf_counter() - begin)
    total = int(histogram.values().sum(dtype="u8"))
    assert total == (repeats + 1) * frames.size, f"aare counted {total} of {(repeats + 1) * frames.size} values"
    return statistics.median(times) * 1e9 / frames.size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="where bench_peer_boost --write-frames has written")
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--cols", type=int, default=1024)
    parser.add_argument("--bins", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--json")
    a = parser.parse_args()
    out = {"peer": "aare", "results": []}
    try:
        import aare
        import numpy as np
        from aare._aare import PixelHistogram_u32
    except ImportError as error:
        out["missing"] = f"{error} (PyPI: aare)"
        print(f"aare: {out['missing']}")
    else:
        out["version"] = aare.__version__
        for values in ("uniform", "pedestal+tail"):
            raw = np.fromfile(f"{a.folder}/{values}.u16", dtype="<u2")
            frames = raw.reshape(-1, a.rows, a.cols).astype(np.float64)
            for threads in a.threads:
                ns = time_fill(PixelHistogram_u32, frames, a.bins, threads, a.repeats)
                print(f"aare {aare.__version__}, f64, {values}, {threads} threads: {ns:.2f} ns/value", flush=True)
                out["results"].append({"values": values, "threads": threads, "ns_per_value": ns})
    if a.json:
        with open(a.json, "w", encoding="utf-8") as file:
            json.dump(out, file, indent=2)


if __name__ == "__main__":
    main()
