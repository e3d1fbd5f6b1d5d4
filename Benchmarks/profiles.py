"""Where the time goes (perf), and who waits for the disk (strace)."""

import collections
import os
import re
import shutil
import subprocess

import datasets
import measure
from peers import environment

SYNCS = "fsync,fdatasync,syncfs,sync,msync,sync_file_range"

# The first that fits names the stage; the object file is matched with the symbol.
STAGES = [
    ("deflate", r"isal.*(deflate|icf|hufftables|hist|gen_|encode)|set_long|deflate"),
    ("inflate", r"inflate|decode_huffman|decode_len|decode_next"),
    ("SHA-256", r"sha256"),
    ("CRC-32", r"crc32"),
    ("SQLite", r"sqlite3"),
    ("kernel: read", r"copy_to_iter|filemap_read|copyout|rep_movs_alternative|"
                     r"filemap_get_pages|copy_user|copy_page_to_iter"),
    ("kernel: write", r"copy_from_iter|copyin|generic_perform_write|ext4_da_write|"
                      r"copy_from_user|copy_page_from_iter|iomap_write"),
    ("kernel: page faults", r"clear_page|page_fault|handle_mm|do_anonymous|clear_huge"),
    ("kernel: other", r"\[kernel|\[k\]|kallsyms"),
    ("memory", r"malloc|_int_free|memmove|memcpy|memset|swift_(retain|release|alloc|dealloc)"),
]


def stage(symbol, dso):
    text = f"{dso} {symbol}"
    for name, pattern in STAGES:
        if re.search(pattern, text):
            return name
    return "rest"


def profile(bench, command, home):
    """Samples a command; returns processor seconds for each stage and for the symbols on top."""
    data = bench.place("perf.data")
    frequency = 999
    measure.run(
        ["perf", "record", "-q", "-F", str(frequency), "-o", data, "--", *command],
        environment(home), bench.work, bench.log,
    )
    text = subprocess.run(
        ["perf", "script", "-i", data, "-F", "tid,time,period,ip,sym,dso", "--no-inline"],
        capture_output=True, text=True, check=True,
    ).stdout
    stages = collections.Counter()
    symbols = collections.Counter()
    threads = collections.defaultdict(lambda: [collections.Counter(), 1e18, 0.0])
    start = None
    for line in text.splitlines():
        found = re.match(r"\s*(\d+)\s+([\d.]+):\s+(\d+)\s+[0-9a-f]+ (.*) \((.*)\)$", line)
        if not found:
            continue
        thread, time, _, symbol, dso = found.groups()
        time = float(time)
        start = time if start is None else start
        name = stage(symbol, dso)
        stages[name] += 1
        symbols[f"{symbol} ({os.path.basename(dso)})"] += 1
        entry = threads[thread]
        entry[0][name] += 1
        entry[1] = min(entry[1], time - start)
        entry[2] = max(entry[2], time - start)
    os.unlink(data)

    def seconds(counter, count):
        return {name: round(samples / frequency, 3) for name, samples in counter.most_common(count)}

    return {
        "stages": seconds(stages, 20),
        "symbols": seconds(symbols, 16),
        "threads": [
            {"from": round(first, 3), "to": round(last, 3), "stages": seconds(counter, 8)}
            for counter, first, last in threads.values()
            if sum(counter.values()) > frequency // 100
        ],
    }


def syncs(bench, command, home):
    """How often a command flushes, and for how many seconds it waits for that."""
    log = bench.place("strace.log")
    measure.run(["strace", "-f", "--seccomp-bpf", "-q", "-T", "-e", f"trace={SYNCS}", "-o", log, *command],
                environment(home), bench.work, bench.log)
    calls = collections.Counter()
    waited = 0.0
    with open(log, errors="replace") as file:
        for line in file:
            found = re.search(rf"({SYNCS.replace(',', '|')})(\(| resumed)", line)
            if not found:
                continue
            time = re.search(r"<([\d.]+)>$", line)
            if time:
                calls[found[1]] += 1
                waited += float(time[1])
    os.unlink(log)
    return {"calls": dict(calls), "seconds": waited}


def durability(bench, stores, peers):
    """Which programs flush what they write, as strace sees it."""
    if not shutil.which("strace"):
        return {}
    found = {}
    for peer in peers:
        bench.backup(peer, stores)  # also makes its place again
        out, home = bench.place("out", peer.slug), bench.place("home", peer.slug)
        target = bench.place("target")
        bench.discard(target)
        entry = {"restore": syncs(bench, peer.restore(out, target, 0), home)}
        bench.discard(target)
        for place in (out, home):
            measure.remove(place)
            os.makedirs(place)
        peer.prepare(out, home)
        entry["backup"] = syncs(bench, peer.backup(stores, out, 0), home)
        found[peer.name] = entry
    return found


def clear(bench):
    """Makes the places for the next run empty again."""
    bench.discard(bench.place("target"))
    bench.fresh("out", "profile")
    measure.settle()


def run(bench, kinds):
    """Profiles of grocerydude's backups and restores."""
    if not shutil.which("perf"):
        return {}
    peer = bench.grocerydude
    found = {}
    for kind, size in kinds:
        stores = datasets.ensure(bench.work, kind, size)
        measure.warm(stores)
        bench.backup(peer, stores)
        out, home = bench.place("out", peer.slug), bench.place("home", peer.slug)
        target = bench.place("target")
        for action, command in (
            ("restore", peer.restore(out, target, 0)),
            ("backup", peer.backup(stores, bench.fresh("out", "profile"), 0)),
        ):
            bench.discard(target)
            measure.settle()
            plain = measure.run(command, environment(home), bench.work, bench.log)
            clear(bench)
            entry = profile(bench, command, home)
            entry["wall"] = plain["wall"]
            clear(bench)
            if shutil.which("strace"):
                entry["syncs"] = syncs(bench, command, home)
            found[f"{action} of {kind}"] = entry
            bench.say(f"profiled: {action} of {kind}")
        clear(bench)
    return found
