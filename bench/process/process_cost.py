"""What a process has used so far: CPU time of its threads, page faults. Linux."""

import contextlib
import pathlib


def cpu_by_thread(pid):
    """CPU seconds of each kind of thread (recv, submit, query, ZMQbg, ...), to the nanosecond, but for those that
    answer the bench's own polling over HTTP."""
    seconds = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            name = (task / "comm").read_text().strip().split("-")[0].split("/")[0]
            if name != "civetweb":
                seconds[name] = seconds.get(name, 0) + int((task / "schedstat").read_text().split()[0]) * 1e-9
    return seconds


def cpu_seconds(pid):
    return sum(cpu_by_thread(pid).values())


def page_faults(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[7]) + int(fields[9])  # minflt, majflt
