"""Messages of an slsReceiver's port, written from docs/wire/sls.md alone."""

import json

EIGER = 1
END = json.dumps({"jsonversion": 5, "data": 0}).encode()


def header(pixels, number, row=0, column=0, flip=0, complete=1, detector=(2, 2), first=1):
    """`first`: the number of the acquisition's first frame."""
    rows, cols = pixels.shape
    return json.dumps({
        "jsonversion": 5, "bitmode": 8 * pixels.itemsize, "fileIndex": 0, "detshape": detector[::-1], "shape": [cols, rows],
        "size": pixels.nbytes, "acqIndex": number, "frameIndex": number - first, "progress": 1.5, "fname": "/tmp/run",
        "data": 1, "completeImage": complete, "frameNumber": number, "expLength": 0, "packetNumber": 1, "detSpec1": 0,
        "timestamp": 0, "modId": 1234, "row": row, "column": column, "detSpec2": 0, "detSpec3": 0, "detSpec4": 0,
        "detType": EIGER, "version": 2, "flipRows": flip, "quad": 0, "rx_roi": [0, cols - 1, 0, rows - 1],
    }).encode()  # fmt: skip
