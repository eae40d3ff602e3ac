"""The demo: pixhistd and a simulated detector side by side, a live account, one pixel's spectrum at the end.

Started by deploy/demo, which builds first. Exit 0 only if pixhistd accumulated exactly the frames that the
player says it sent.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from children import Children, free_port
from show_spectrum import QueryClient, QueryError, show_pixel

ROWS, COLS = 128, 256
PIXEL = (64, 128)
AXIS = {"bins": 512, "min": 1536, "max": 3584, "unit": "ADU"}  # 4 ADU a bin, around pedestals and lines


class DemoError(RuntimeError):
    """What went wrong, for people."""


def configuration(ports):
    return {
        "detector": {"rows": ROWS, "cols": COLS, "pixel_type": "u16"},
        "axis": AXIS,
        "sources": [{"name": "module0", "endpoint": f"tcp://127.0.0.1:{ports['data']}", "socket": "pull", "bind": True}],
        "ring": {"bytes": "128MiB"},
        "query": {"endpoint": f"tcp://127.0.0.1:{ports['query']}"},
        "http": {"listen": f"127.0.0.1:{ports['http']}"},
    }


def get(url):
    with urllib.request.urlopen(url, timeout=5) as reply:
        return reply.read()


def how_it_ended(process):
    code = process.returncode
    return f"exit code {code}" if code >= 0 else f"by signal {-code}"


class Service:
    """pixhistd, its log in a file of its own."""

    def __init__(self, children, program, folder):
        self.ports = {"data": free_port(30001), "query": free_port(5556), "http": free_port(9717)}
        self.base = f"http://127.0.0.1:{self.ports['http']}"
        self.log_path = os.path.join(folder, "pixhistd.log")
        config = os.path.join(folder, "pixhistd.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(configuration(self.ports), file, indent=1)
        with open(self.log_path, "wb") as log:
            self.process = children.start([program, "--config", config], stdout=log, stderr=subprocess.STDOUT)

    def check_alive(self):
        if self.process.poll() is not None:
            raise DemoError(f"pixhistd ended, {how_it_ended(self.process)}")

    def wait_ready(self, seconds=30):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.check_alive()
            try:
                get(self.base + "/readyz")
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise DemoError(f"pixhistd was not ready after {seconds} s")

    def status(self):
        self.check_alive()
        return json.loads(get(self.base + "/status"))

    def stop(self):
        self.process.terminate()
        if self.process.wait(timeout=40) != 0:
            raise DemoError(f"pixhistd ended after SIGTERM, {how_it_ended(self.process)}")

    def log_tail(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return "".join(log.readlines()[-20:])


def start_player(children, program, service, arguments, folder):
    command = [program, "--connect", f"tcp://127.0.0.1:{service.ports['data']}", "--rows", str(ROWS),
               "--cols", str(COLS), "--rate", str(arguments.rate), "--images", "0"]
    if arguments.seconds:
        command += ["--seconds", str(arguments.seconds)]
    errors = open(os.path.join(folder, "player.log"), "wb")
    with errors:
        return children.start(command, stdout=subprocess.PIPE, stderr=errors)


def lost(account):
    """The demo numbers its frames: one that was dropped or rejected is missing from the sequence too."""
    return max(account["missing"], account["dropped"] + sum(account["rejected"].values()))


class LiveLine:
    """The account, rewritten in place on a terminal, else a line every five seconds."""

    def __init__(self):
        self.terminal = sys.stdout.isatty()
        self.next_line = 0.0

    def show(self, status, seconds):
        account = status["totals"]["run"]
        rate = sum(source["frames_per_s"] for source in status["sources"].values())
        size = sum(source["bytes_per_s"] for source in status["sources"].values()) / 1e6
        text = (f"{status['state']}, {seconds:.0f} s: {account['accumulated']} frames accumulated, "
                f"{rate:.0f} frames/s, {size:.0f} MB/s, lost {lost(account)}")
        if self.terminal:
            print(f"\r{text}\033[K", end="", flush=True)
        elif seconds >= self.next_line:
            self.next_line = seconds + 5
            print(text, flush=True)

    def end(self):
        if self.terminal:
            print()


def watch(service, player):
    """Until the player is done or somebody interrupts; then it is stopped and has said what it sent."""
    line = LiveLine()
    begin = time.monotonic()
    try:
        while player.poll() is None:
            line.show(service.status(), time.monotonic() - begin)
            time.sleep(0.5)
    except KeyboardInterrupt:
        player.send_signal(signal.SIGTERM)
    line.end()
    output, _ = player.communicate(timeout=30)
    if player.returncode != 0:
        raise DemoError(f"pixhist-player ended, {how_it_ended(player)}")
    return json.loads(output)


def settled_account(service, sent, seconds=20):
    """The run's account once every frame sent has met its fate, or as it is when the time is over."""
    until = time.monotonic() + seconds
    while True:
        account = service.status()["totals"]["run"]
        if account["accumulated"] + lost(account) + sum(account["discarded"].values()) >= sent["frames"]:
            return account
        if time.monotonic() >= until:
            return account
        time.sleep(0.1)


def verdict(sent, account, result, counts):
    """Compares what came with what the player says; the pixel's sum is a third opinion."""
    in_pixel = int(counts.sum()) + sum(result[name] for name in ("below", "above", "invalid", "other_stage"))
    print(f"player sent {sent['frames']} frames ({sent['gigabytes_per_s']:.3f} GB/s), pixhist accumulated "
          f"{account['accumulated']}, lost {lost(account)}, the pixel counts {in_pixel}")
    same = sent["frames"] == account["accumulated"] == in_pixel and sent["frames"] > 0
    print("all equal" if same else "NOT EQUAL")
    return same


def run(arguments, children, folder):
    service = Service(children, os.path.join(arguments.build, "service", "pixhistd"), folder)
    try:
        service.wait_ready()
        print(f"pixhist is running: {service.base}/status and {service.base}/metrics, "
              f"queries at tcp://127.0.0.1:{service.ports['query']}")
        print(f"A simulated detector of {ROWS} x {COLS} pixels plays for {arguments.seconds:g} s." if arguments.seconds
              else f"A simulated detector of {ROWS} x {COLS} pixels plays. Stop with Ctrl-C.", flush=True)
        player = start_player(children, os.path.join(arguments.build, "tools", "player", "pixhist-player"), service,
                              arguments, folder)
        sent = watch(service, player)
        account = settled_account(service, sent)
        width = max(20, shutil.get_terminal_size().columns - 12)
        client = QueryClient(f"tcp://127.0.0.1:{service.ports['query']}")
        result, counts = show_pixel(client, *PIXEL, width=min(width, 120))
        same = verdict(sent, account, result, counts)
        service.stop()
    except (DemoError, QueryError, OSError, subprocess.TimeoutExpired) as error:
        print(f"\ndeploy/demo: {error}\nLast lines of the service's log:\n{service.log_tail()}", file=sys.stderr)
        return 1
    return 0 if same else 1


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(prog="deploy/demo", description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="build folder, set by deploy/demo")
    parser.add_argument("--seconds", type=float, default=0, help="stop by itself after so long; default: until Ctrl-C")
    parser.add_argument("--rate", type=float, default=500, help="frames per second; 0: as fast as possible")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, interrupt)  # also where a shell started us in the background, with it ignored
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
    try:
        with tempfile.TemporaryDirectory(prefix="pixhist-demo-") as folder, Children() as children:
            return run(arguments, children, folder)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
