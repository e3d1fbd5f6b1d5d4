"""What changed between two backups, against unpacking both and sqldiff."""

import os
import shutil
import sqlite3

import datasets
import measure
from peers import shell


def archives(bench, size, alter):
    """A folder with a backup of the mixed data set, and one of it after a change."""
    stores, out = bench.fresh("looked", "Stores"), bench.fresh("out", "looking")
    shutil.copytree(datasets.ensure(bench.work, "mixed", size), stores, dirs_exist_ok=True)
    peer, home = bench.grocerydude, bench.fresh("home", "looking")
    for number in range(2):
        if number:
            alter(stores)
        bench.run(peer, [peer.binary, "backup", "--quiet", "--stores", stores, "--remote", out,
                         "--same-name", "number"], home)
    return out


def neighbours(stores):
    """Changes one row in twenty, all of them neighbours: one segment in twenty differs."""
    database = sqlite3.connect(os.path.join(stores, datasets.STORE), isolation_level=None)
    (count,) = database.execute("SELECT max(Z_PK) FROM ZITEM").fetchone()
    database.execute("UPDATE ZITEM SET Z_OPT = Z_OPT + 1 WHERE Z_PK BETWEEN ? AND ?",
                     (count // 2, count // 2 + count // 20))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def compare(bench, out):
    """Both ways, in turn: ours, and both unpacked for sqldiff."""
    old, new = sorted((name for name in os.listdir(out) if name.endswith(".zip")),
                      key=lambda name: os.path.getmtime(os.path.join(out, name)))
    peer, home = bench.grocerydude, bench.place("home", "looking")
    one, other = bench.place("one"), bench.place("two")
    runs = {"ours": [], "theirs": []}
    for number in range(bench.options.rounds):
        measure.warm(out)
        runs["ours"].append(bench.run(peer, [peer.binary, "diff", old, new, "--remote", out],
                                      home))
        for path in (one, other):
            measure.remove(path)
        command = ('unzip -q "$1/$2" -d "$4" && unzip -q "$1/$3" -d "$5" && '
                   f'sqldiff --summary "$4/{datasets.STORE}" "$5/{datasets.STORE}"')
        runs["theirs"].append(bench.run(peer, shell(command, out, old, new, one, other), home))
        bench.say(f"looking, round {number + 1}: {runs['ours'][-1]['wall']:.2f} s, "
                  f"{runs['theirs'][-1]['wall']:.2f} s")
    for path in (one, other):
        measure.remove(path)
    return {key: measure.summary(found) for key, found in runs.items()}


def run(bench, size):
    """Figures with their limits."""
    if not shutil.which("sqldiff") or not shutil.which("unzip"):
        bench.say("sqldiff or unzip is not installed: looking is left out")
        return {}
    figures, peaks = {}, []
    for title, limit, alter in (
            ("diff, 0.4 % of the rows changed", 0.5, lambda stores: datasets.change(stores, 1)),
            ("diff, 5 % of the segments changed", 0.25, neighbours)):
        found = compare(bench, archives(bench, size, alter))
        peaks.append(found["ours"]["memory_most"])
        figures[title] = {"limit": limit, "against": "unzip of both, and sqldiff --summary",
                          "ours": found["ours"]["wall"], "theirs": found["theirs"]["wall"]}
    figures["diff, memory"] = {"limit": 1, "against": "64 MiB", "ours": max(peaks),
                               "theirs": 64 << 20}
    for name in ("looked", "out/looking", "home/looking"):
        bench.discard(bench.place(name))
    return figures
