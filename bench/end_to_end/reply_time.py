"""P6: how long an answer of all counts takes, beside what ZeroMQ and the device's copy engine need for its bytes."""

import contextlib
import pathlib
import statistics
import subprocess
import sys
import time

from configurations import Configuration
from harness import TIMEOUT, Player, die_with_parent, wait_until
from query_client import ask, connect, request
from receivers import PixelService
from table import verdict

ROW = Configuration("320 kB", 1)  # 400×400
FRAMES = 64
ANSWERER = pathlib.Path(__file__).resolve().parent / "bare_answerer.py"


@contextlib.contextmanager
def bare_answerer(size):
    process = subprocess.Popen(
        [sys.executable, str(ANSWERER), str(size)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent,
    )  # fmt: skip
    try:
        yield process.stdout.readline().strip()
        process.stdin.close()
        process.wait(TIMEOUT)
    finally:
        process.kill()
        process.wait()


def device_copy_seconds(size, arguments):
    """Device to page-locked memory, as bench_cuda_core measures it; without a device there is no such copy."""
    if arguments.device == "cpu":
        return 0.0
    program = pathlib.Path(arguments.bin).parent / "cuda_core" / "bench_cuda_core"
    return float(subprocess.run([program, "--d2h", str(size)], capture_output=True, text=True, check=True).stdout)


def timed(socket, message):
    """Request to the last byte in the client."""
    begin = time.monotonic()
    head, size = ask(socket, message)
    assert head["ok"], head
    return time.monotonic() - begin, size


def fill(service):
    with Player(*ROW.player_arguments(service.endpoints, FRAMES, 0)) as player:
        player.finish(timeout=600)
    wait_until(lambda: service.account()["accumulated"] == FRAMES, "the frames are accumulated", 6 * TIMEOUT)


def measure(arguments):
    message = request("values", {})
    seen, bare = [], []
    with PixelService(ROW.service_config(arguments, "")) as service:
        fill(service)
        asking = connect(service.query_endpoint)
        _, size = timed(asking, message)  # the first one is not counted
        with bare_answerer(size) as endpoint:
            other = connect(endpoint)
            timed(other, message)
            for _ in range(max(5, arguments.rounds * arguments.lives)):
                seen.append(timed(asking, message)[0])
                bare.append(timed(other, message)[0])
            other.close()
        asking.close()
    copy = device_copy_seconds(size, arguments)
    ratio = statistics.median((copy + b) / s for b, s in zip(bare, seen))
    print(
        f"P6 values of 400×400×{ROW.bins(arguments)}, {size * 1e-6:.0f} MB, idle: {1e3 * statistics.median(seen):.0f} ms "
        f"to the last byte, a bare ROUTER's answer {1e3 * statistics.median(bare):.0f} ms, copy from the device "
        f"{1e3 * copy:.1f} ms; ceiling ÷ seen {ratio:.2f}, target ≥ 0.8{verdict(ratio >= 0.8, arguments)}"
    )
    return {"bytes": size, "seconds": seen, "bare_seconds": bare, "device_copy_seconds": copy, "ratio": ratio}
