"""Runs a command as a cold process and measures it."""

import os
import shutil
import statistics
import subprocess
import time


class Failed(Exception):
    """A command that ended with another status than 0."""


def run(command, environment, directory, log):
    """Runs a command to its end.

    Returns seconds (wall and processor) and the peak of resident memory in bytes. For a pipe, or
    a command that starts others, that is the peak of the largest process.
    """
    with open(log, "wb") as output:
        started = time.perf_counter()
        child = subprocess.Popen(
            command, env=environment, cwd=directory, stdin=subprocess.DEVNULL, stdout=output,
            stderr=output,
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        with open(log, errors="replace") as output:
            raise Failed(f"{command} ended with {child.returncode}:\n{output.read()[-2000:]}")
    return {
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * 1024,
    }


def settle():
    """Waits for the disk: nobody pays for another's pages."""
    os.sync()


def remove(path):
    """Removes a file or a tree."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def warm(path):
    """Reads a tree, so that everyone finds it in memory."""
    for parent, _, names in os.walk(path):
        for name in names:
            with open(os.path.join(parent, name), "rb", buffering=0) as file:
                while file.read(1 << 18):
                    pass


def size(path):
    """Bytes in a file or in all files of a tree."""
    if not os.path.isdir(path):
        return os.path.getsize(path)
    total = 0
    for parent, _, names in os.walk(path):
        total += sum(os.path.getsize(os.path.join(parent, name)) for name in names)
    return total


def summary(runs):
    """Median, least and most of the runs' measures."""
    result = {"runs": len(runs)}
    for key in runs[0]:
        values = [run[key] for run in runs]
        result[key] = statistics.median(values)
        result[key + "_least"] = min(values)
        result[key + "_most"] = max(values)
        result[key + "_all"] = values
    return result
