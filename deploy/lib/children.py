"""Child processes that never outlive the demo, and free ports for them."""
import ctypes
import signal
import socket
import subprocess

PR_SET_PDEATHSIG = 1


def free_port(wanted):
    """`wanted` on loopback, or any free one where it is taken."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise OSError("no free TCP port on 127.0.0.1")


class Children:
    """Context that ends what it started, in reverse order, however it is left."""

    def __init__(self):
        self.processes = []

    def start(self, command, **streams):
        # A session of its own: Ctrl-C reaches the demo alone, which stops the others in the right order. The
        # kernel ends the child if the demo is killed.
        libc = ctypes.CDLL(None)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM), **streams)
        self.processes.append(process)
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
