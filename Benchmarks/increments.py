"""Backups that build on others: bytes and time of each, against peers that keep a history."""

import os
import random
import shutil
import sqlite3
import subprocess

import datasets
import measure
from peers import Borg, shell
from scenarios import table

ROWS = 520_000
STORE = "keys.sqlite"
# Bytes of a data set; smaller ones are not built on.
SMALLEST = 100_000_000


class BorgFixed(Borg):
    """Borg as well as it can be set for databases: chunks of a page."""

    name = "borg, fixed 4096"
    undone = "torn copy of a live store; larger first backup"

    def backup(self, stores, out, number):
        return shell('cd "$1" && borg create --chunker-params fixed,4096 "$2" Stores',
                     os.path.dirname(stores), f"{out}::{number}")


class Increments:
    """The program that is benchmarked, with increments."""

    def __init__(self, peer):
        self.binary, self.name, self.undone = peer.binary, peer.name, peer.undone
        self.slug, self.keeps_history, self.slow = "increments", True, False

    def prepare(self, out, home):
        pass

    def backup(self, stores, out, number):
        return [self.binary, "backup", "--incremental", "--stores", stores, "--remote", out,
                "--quiet"]

    def full(self, stores, out):
        return [*self.backup(stores, out, 0), "--full"]

    def restore(self, out, target, number):
        # Of another one than the latest, it is the name.
        return [self.binary, "restore", number or "latest", "--remote", out, "--target", target, "--quiet"]


def make_keys(path, rows):
    """Rows with random keys, a text with an index, and a blob: what hurts page by page."""
    chance = random.Random(rows)
    source = datasets.text_source(chance, 1 << 20)
    database = sqlite3.connect(os.path.join(path, STORE), isolation_level=None)
    database.executescript(
        """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
        CREATE TABLE item (k TEXT PRIMARY KEY, flag INTEGER, name TEXT, note TEXT, data BLOB)
            WITHOUT ROWID;
        CREATE TABLE log (id INTEGER PRIMARY KEY, note TEXT);
        CREATE INDEX item_name ON item (name);
        """
    )

    def items():
        for _ in range(rows):
            start = chance.randrange(len(source) - 400)
            yield (chance.randbytes(16).hex(), chance.randrange(9), source[start:start + 24],
                   source[start:start + 150], chance.randbytes(80))

    database.execute("BEGIN")
    database.executemany("INSERT INTO item VALUES (?, ?, ?, ?, ?)", items())
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


# Of 0.4 % of the rows each.
CHANGES = {
    "rows side by side": "UPDATE item SET flag = flag + 1 WHERE k IN "
                         "(SELECT k FROM item WHERE k >= '0a' LIMIT :n)",
    "a number of random rows": "UPDATE item SET flag = flag + 1 WHERE k IN (SELECT k FROM pick)",
    "a text of random rows": "UPDATE item SET note = substr(note, 9) || 'changed!' WHERE k IN "
                             "(SELECT k FROM pick)",
    "an indexed text of random rows": "UPDATE item SET name = substr(name, 9) || 'changed!' "
                                      "WHERE k IN (SELECT k FROM pick)",
    "new rows with random keys": "INSERT INTO item SELECT lower(hex(randomblob(16))), 1, name, "
                                 "note, randomblob(80) FROM item WHERE k IN (SELECT k FROM pick)",
    "rows at the end": "INSERT INTO log (note) SELECT note FROM item WHERE k IN "
                       "(SELECT k FROM pick)",
    "random rows deleted": "DELETE FROM item WHERE k IN (SELECT k FROM pick)",
}


def change(stores, sql, rows):
    database = sqlite3.connect(os.path.join(stores, STORE), isolation_level=None)
    wanted = max(1, rows * 4 // 1000)
    database.execute("CREATE TEMP TABLE pick AS SELECT k FROM item ORDER BY random() LIMIT ?",
                     (wanted,))
    database.execute(sql, {"n": wanted} if ":n" in sql else {})
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def copied(bench, stores, name):
    """A copy of a data set that may be changed."""
    target = os.path.join(bench.fresh(name), "Stores")
    shutil.copytree(stores, target)
    return target


def sizes(bench, rows, peers):
    """Bytes that one backup adds after each kind of change."""
    stores = os.path.join(bench.fresh("keys"), "Stores")
    os.makedirs(stores)
    make_keys(stores, rows)
    for peer in peers:
        bench.backup(peer, stores)
    tables = []
    ours = peers[0]
    for number, (title, sql) in enumerate(CHANGES.items(), 1):
        # An increment has again what others since its parent have: each change is to be measured alone.
        bench.run(ours, ours.full(stores, bench.place("out", ours.slug)),
                  bench.place("home", ours.slug))
        change(stores, sql, rows)
        runs = {peer.name: measure.summary([bench.backup(peer, stores, number)])
                for peer in peers}
        bench.say(f"{title}: " + ", ".join(f"{name} {run['size'] / 1e3:.0f} kB"
                                           for name, run in runs.items()))
        tables.append(table(f"bytes-{number}", f"Backup again: {title}", stores, runs))
    return tables


def hours(bench, rows, peers, count):
    """Bytes that hourly backups add in all, after changes of random texts."""
    stores = os.path.join(bench.place("keys"), "Stores")
    runs = {peer.name: [] for peer in peers}
    for number in range(count):
        change(stores, CHANGES["a text of random rows"], rows)
        for peer in peers:
            runs[peer.name].append(bench.backup(peer, stores, 100 + number))
    totals = {}
    for name, results in runs.items():
        totals[name] = measure.summary(results)
        totals[name]["size"] = sum(result["size"] for result in results)
    return [table("hours", f"{count} backups, each after a change of random texts, bytes in all",
                  stores, totals)]


def times(bench, size, peers):
    """Time after a small change, and after none."""
    stores = copied(bench, datasets.ensure(bench.work, "mixed", size), "changed")
    for peer in peers:
        bench.backup(peer, stores)
    # The first increment reads the whole backup that it is built on, once.
    datasets.change(stores, 0)
    bench.backup(peers[0], stores, "first")
    tables = []
    for identifier, title in (("increment", "0.4 % of the rows changed"),
                              ("nothing", "nothing changed")):
        runs = {peer.name: [] for peer in peers}
        for number in range(1, bench.options.rounds + 1):
            if identifier == "increment":
                datasets.change(stores, number)
            for peer in peers:
                if not peer.keeps_history:
                    shutil.rmtree(bench.place("out", peer.slug))
                    os.makedirs(bench.place("out", peer.slug))
                # Times within two seconds are not relied upon.
                runs[peer.name].append(bench.backup(peer, stores, f"{identifier}-{number}"))
            bench.say(f"{title}, round {number}: " + ", ".join(
                f"{name} {found[-1]['wall']:.2f} s" for name, found in runs.items()))
        summaries = {name: measure.summary(found) for name, found in runs.items()}
        tables.append(table(identifier, f"Backup again, {title}", stores, summaries))
    return tables


def small(bench, kind, title, count, peers):
    """Many files, of which one changes."""
    stores = copied(bench, datasets.ensure(bench.work, kind, count), "changed")
    # A whole one that others are built on has 16 MiB at least.
    with open(os.path.join(stores, "large"), "wb") as file:
        chance = random.Random(1)
        # All at once would be counted as memory of the commands that are started later.
        for _ in range(20):
            file.write(chance.randbytes(1 << 20))
    for peer in peers:
        bench.backup(peer, stores)
    bench.backup(peers[0], stores, "first")
    runs = {peer.name: [] for peer in peers}
    for number in range(1, bench.options.rounds + 1):
        with open(os.path.join(stores, "notes-000", "note-000007.txt"), "w") as file:
            file.write(f"changed {number}")
        for peer in peers:
            runs[peer.name].append(bench.backup(peer, stores, number))
    summaries = {name: measure.summary(found) for name, found in runs.items()}
    return [table(f"one-of-many-{kind}", f"Backup again, one of {count:,} files changed, {title}",
                  stores, summaries)]


def chain(bench, options):
    """Restores through seven increments, and consolidations, against what a whole backup costs."""
    size = max(options.mixed, SMALLEST)
    found = {}
    for where, change in (("everywhere", datasets.change), ("among the last rows", datasets.change_recent)):
        found |= one_chain(bench, size, where, change)
    return found


def one_chain(bench, size, where, change):
    """Of 127 increments the last needs the most; with as many again that change rows everywhere they would be larger
    than the whole one, and another would be made.
    """
    peer = Increments(bench.grocerydude)
    stores = copied(bench, datasets.ensure(bench.work, "mixed", size), "changed")
    bench.backup(peer, stores)
    out = bench.place("out", peer.slug)
    (whole,) = os.listdir(out)
    alone = Increments(bench.grocerydude)
    alone.slug = "first"
    for number in range(1, 128):
        change(stores, number)
        bench.backup(peer, stores, number)
    found = {"whole": [], "increments": [], "first": [], "consolidate": []}
    for number in range(bench.options.rounds):
        found["increments"].append(bench.restore(peer))
        if number == 0:
            differ = subprocess.run(["diff", "-rq", stores, bench.place("target")],
                                    capture_output=True, text=True, check=False).stdout
            if differ:
                bench.say(f"the chain restored something else: {differ[:500]}")
        found["whole"].append(bench.restore(peer, whole))
        found["first"].append(bench.backup(alone, stores))
        found["consolidate"].append(consolidate(bench, peer))
        bench.say(f"changes {where}, round {number + 1}: " + ", ".join(
            f"{name} {runs[-1]['wall']:.2f} s" for name, runs in found.items()))
    found = {name: measure.summary(runs) for name, runs in found.items()}
    for name in ("changed", "target"):
        measure.remove(bench.place(name))
    return {
        f"restore through a chain, changes {where}": {
            "limit": 1.15, "against": "restore of a whole one",
            "ours": found["increments"]["wall"], "theirs": found["whole"]["wall"]},
        f"consolidate, changes {where}": {
            "limit": 0.8, "against": "first backup",
            "ours": found["consolidate"]["wall"], "theirs": found["first"]["wall"]},
        f"consolidate, changes {where}, memory": {
            "limit": 1, "against": "64 MiB",
            "ours": found["consolidate"]["memory"], "theirs": 64 << 20},
    }


def consolidate(bench, peer):
    """A consolidation in a copy of the folder, so that the next one finds it as it was."""
    copies = [bench.place(kind, "consolidated") for kind in ("out", "home")]
    for kind, copy in zip(("out", "home"), copies):
        bench.discard(copy)
        subprocess.run(["cp", "-a", bench.place(kind, peer.slug), copy], check=True)
    measure.settle()
    command = [peer.binary, "consolidate", "latest", "--remote", copies[0], "--quiet"]
    return bench.run(peer, command, copies[1])


def run(bench, options):
    """Bytes and times of increments; returns tables."""
    ours = Increments(bench.grocerydude)
    others = [peer for peer in bench.peers if peer.name in ("restic", "borg", "cp -r && sync")]
    historic = [ours] + [peer for peer in others if peer.keeps_history]
    if any(peer.name == "borg" for peer in others):
        historic.append(BorgFixed())
    rows = ROWS if not options.quick else ROWS // 5
    found = sizes(bench, rows, historic)
    found += hours(bench, rows, historic, 24 if not options.quick else 4)
    for peer in historic:
        bench.discard(bench.place("out", peer.slug))
    size = max(options.mixed, SMALLEST)
    found += times(bench, size, [ours] + others)
    keepers = [ours] + [peer for peer in others if peer.keeps_history]
    found += small(bench, "small", "1,000 in a directory", options.small, keepers)
    found += small(bench, "crowded", "10,000 in a directory", options.small, keepers)
    for name in ("keys", "changed", "target"):
        measure.remove(bench.place(name))
    return found
