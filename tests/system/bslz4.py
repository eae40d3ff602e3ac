"""Bitshuffle with LZ4, decoded plainly: 12 bytes of head (total and block bytes, big-endian), then per block its
compressed size and a bare LZ4 block of bit planes. Slow; for a test's few frames."""

import struct

import numpy as np


def lz4_block(data, size):
    out = bytearray()
    at = 0
    while at < len(data):
        token = data[at]
        at += 1
        literals = token >> 4
        if literals == 15:
            while True:
                literals += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        out += data[at : at + literals]
        at += literals
        if at >= len(data):
            break
        offset = data[at] | data[at + 1] << 8
        at += 2
        length = (token & 15) + 4
        if token & 15 == 15:
            while True:
                length += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        while length > 0:  # a match may run into what it writes
            piece = out[len(out) - offset : len(out) - offset + length]
            out += piece
            length -= len(piece)
    assert len(out) == size, (len(out), size)
    return bytes(out)


def decode(data, dtype):
    dtype = np.dtype(dtype)
    total, block_bytes = struct.unpack_from(">QI", data)
    out, at = [], 12
    left = total
    while left >= 8 * dtype.itemsize:
        size = min(block_bytes, left - left % (8 * dtype.itemsize))
        (compressed,) = struct.unpack_from(">I", data, at)
        planes = np.frombuffer(lz4_block(data[at + 4 : at + 4 + compressed], size), np.uint8)
        at += 4 + compressed
        bits = np.unpackbits(planes.reshape(8 * dtype.itemsize, -1), axis=1, bitorder="little")
        out.append(np.packbits(bits.T, axis=1, bitorder="little").tobytes())
        left -= size
    out.append(data[at : at + left])
    assert at + left == len(data), "bytes behind the last block"
    return np.frombuffer(b"".join(out), dtype)
