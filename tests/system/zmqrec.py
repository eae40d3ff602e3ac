"""Reads recordings, from docs/player.md alone: message after message, each its parts with their sizes."""

import gzip
import pathlib
import struct


def messages_of(path):
    """The parts of each message of a whole recording; gzip of it where the name ends in .gz."""
    data = pathlib.Path(path).read_bytes()
    if str(path).endswith(".gz"):
        data = gzip.decompress(data)
    at, messages = 0, []
    while at < len(data):
        (count,) = struct.unpack_from("<I", data, at)
        at += 4
        parts = []
        for _ in range(count):
            (size,) = struct.unpack_from("<Q", data, at)
            parts.append(data[at + 8 : at + 8 + size])
            at += 8 + size
        messages.append(parts)
    return messages
