#!/usr/bin/env python3
"""Prints how many times longer each peer takes per value than pixhist, from the JSON that bench/peers/run left."""

import json
import pathlib
import sys


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def main():
    folder = pathlib.Path(sys.argv[1])
    ours = {(r["pixel"], r["values"], r["threads"]): r["ns_per_value"] for r in load(folder / "pixhist.json")["results"]}
    print("\n| values | threads | peer (f64 frames) | its ns/value | pixhist u16 | ratio | pixhist f64 | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in ("aare", "boost"):
        peer = load(folder / f"{name}.json")
        if "missing" in peer:
            print(f"| | | {peer['peer']} | {peer['missing']} | | | | |")
        for r in peer["results"]:
            u16 = ours["u16", r["values"], r["threads"]]
            f64 = ours["f64", r["values"], r["threads"]]
            theirs = r["ns_per_value"]
            print(
                f"| {r['values']} | {r['threads']} | {peer['peer']} {peer.get('version', '')} | {theirs:.2f} "
                f"| {u16:.2f} | {theirs / u16:.1f} | {f64:.2f} | {theirs / f64:.1f} |"
            )


if __name__ == "__main__":
    main()
