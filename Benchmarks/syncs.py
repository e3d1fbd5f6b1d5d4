"""Measures sync against programs that compare, merge or copy SQLite databases."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import zlib

import datasets
import measure
from peers import environment

TABLE = """CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, note TEXT, quantity INTEGER,
    price REAL, shop TEXT)"""
SCATTERED = "SELECT id FROM item ORDER BY random() LIMIT ?"


def opened(path):
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = OFF")
    return database


def make(path, rows, width=0):
    """A store of some 135 bytes a row, and a long value of random letters besides."""
    os.makedirs(os.path.dirname(path))
    chance = random.Random(rows)
    source = datasets.text_source(chance, 1 << 20)
    database = opened(path)
    database.execute(TABLE)

    def items():
        for _ in range(rows):
            start = chance.randrange(len(source) - 400)
            note = chance.randbytes(width // 2).hex() if width else source[start:start + 72]
            yield (source[start:start + 20], note, chance.randrange(1000),
                   chance.random() * 100, source[start + 100:start + 110])

    database.execute("BEGIN")
    database.executemany(
        "INSERT INTO item (name, note, quantity, price, shop) VALUES (?, ?, ?, ?, ?)", items())
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


class Device:
    """A home, and a store in it."""

    def __init__(self, bench, name, container):
        self.bench, self.name, self.container = bench, name, container
        self.home = bench.fresh("sync", name)
        self.store = os.path.join(self.home, "Stores", "a.sqlite")

    def run(self, *arguments):
        measure.settle()
        return self.bench.run(self.bench.grocerydude, [
            self.bench.grocerydude.binary, "sync", *arguments, "--quiet",
            "--stores", os.path.dirname(self.store)], self.home)

    def enable(self):
        return self.run("enable", "--yes", "--container", self.container)

    def edit(self, sql, arguments=()):
        database = opened(self.store)
        database.execute(sql, arguments)
        database.close()

    def kept(self):
        """Bytes of what sync keeps beside the store, without the copy from before."""
        state = os.path.join(self.home, ".local", "state", "grocerydude", "sync")
        return sum(measure.size(os.path.join(parent, name)) for parent, _, names in os.walk(state)
                   for name in names if not name.startswith("before"))


class Peers:
    """The Python in which peers are, and what they do."""

    def __init__(self, bench):
        self.bench = bench
        self.python = bench.place("sync-peers", "bin", "python")
        self.script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "syncpeers.py")
        if not os.access(self.python, os.X_OK):
            subprocess.run([sys.executable, "-m", "venv", bench.place("sync-peers")], check=True)
        done = subprocess.run([self.python, "-m", "pip", "install", "-q", "apsw", "pygeodiff"],
                              capture_output=True, text=True, check=False)
        self.are_here = done.returncode == 0
        if not self.are_here:
            bench.say("apsw and pygeodiff cannot be installed, and are left out: "
                      + done.stderr.strip()[-300:])

    def time(self, *arguments):
        """Seconds, as the peer counted them."""
        measure.settle()
        done = subprocess.run([self.python, self.script, *arguments], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise measure.Failed(f"{arguments[0]}: {done.stderr[-500:]}")
        return float(done.stdout.split()[-1])


class Figures:
    """Pairs of figures; of several rounds the median."""

    def __init__(self, bench):
        self.bench, self.all = bench, {}

    def add(self, title, limit, against, ours, theirs):
        entry = self.all.setdefault(title, {"limit": limit, "against": against, "rounds": []})
        entry["rounds"].append((ours, theirs))
        self.bench.say(f"{title}: {ours:.4g} against {theirs:.4g} ({against})")

    def result(self):
        for entry in self.all.values():
            ours, theirs = zip(*entry.pop("rounds"))
            entry["ours"] = sorted(ours)[len(ours) // 2]
            entry["theirs"] = sorted(theirs)[len(theirs) // 2]
        return self.all


def added(container, action):
    """The bytes that an action adds to a container."""
    before = measure.size(container)
    action()
    return measure.size(container) - before


def store_reads(device):
    """How many times a run reads a page of the store's file, as strace saw it; None without strace."""
    if not shutil.which("strace"):
        return None
    log = os.path.join(device.home, "strace")
    subprocess.run(
        ["strace", "-f", "-y", "-e", "trace=read,pread64", "-o", log,
         device.bench.grocerydude.binary, "sync", "--quiet", "--stores",
         os.path.dirname(device.store)],
        env=environment(device.home), check=True, capture_output=True)
    with open(log, errors="replace") as file:
        return sum("/Stores/a.sqlite>" in line and line.rstrip().endswith("= 4096")
                   for line in file)


def captures(bench, figures, peers, desk, old):
    """An edit of a thousand cells, sent."""
    changes = bench.place("sync", "changes")
    for number in range(bench.options.rounds):
        shutil.copyfile(desk.store, old)
        rows = max(1, bench.options.sync_rows // 1000)
        desk.edit(f"UPDATE item SET quantity = quantity + 1 WHERE id IN ({SCATTERED})", (rows,))
        if number == bench.options.rounds - 1:
            # Each leaf is another one then: all of the table is compared.
            desk.edit("VACUUM")
            title, limit = "capture of 0.1 %, every page new", 1.3
        else:
            title, limit = "capture of 0.1 %, scattered", 0.25
        desk.edit("PRAGMA wal_checkpoint(TRUNCATE)")
        size = -measure.size(desk.container)
        ours = desk.run()["wall"]
        size += measure.size(desk.container)
        if not peers.are_here:
            continue
        figures.add(title, limit, "sqlite3session_diff", ours,
                    peers.time("session-diff", old, desk.store, changes))
        if limit < 1:
            with open(changes, "rb") as file:
                figures.add("bytes of 0.1 % scattered cells", 2.5, "a deflated changeset", size,
                            len(zlib.compress(file.read(), 9)))
            measure.remove(changes)
            figures.add(title + ", and pygeodiff", 0.2, "pygeodiff", ours,
                        peers.time("geodiff", old, desk.store, changes))


def rows_added(bench, figures, peers, desk, old):
    """A thousand new rows, and one cell."""
    changes = bench.place("sync", "changes")
    shutil.copyfile(desk.store, old)
    desk.edit("INSERT INTO item (name, note, quantity, price, shop) SELECT substr(name, 4), "
              f"substr(note, 9), quantity, price, shop FROM item WHERE id IN ({SCATTERED})", (1000,))
    desk.edit("PRAGMA wal_checkpoint(TRUNCATE)")
    size = added(desk.container, desk.run)
    if peers.are_here:
        peers.time("session-diff", old, desk.store, changes)
        with open(changes, "rb") as file:
            figures.add("bytes of 1,000 new rows", 1.2, "a deflated changeset", size,
                        len(zlib.compress(file.read(), 9)))
    desk.edit("UPDATE item SET quantity = -1 WHERE id = 77")
    desk.edit("PRAGMA wal_checkpoint(TRUNCATE)")
    size = added(desk.container, desk.run)
    figures.add("bytes of one cell", 1, "300", size, 300)
    # It sends the file, as rclone copies it.
    figures.add("bytes of one cell, and bisync", 1e-4, "rclone bisync", size,
                os.path.getsize(desk.store))


def write_lock(bench, figures, desk, phone):
    """How long an application waits for the write lock while a thousand cells arrive."""
    desk.edit(f"UPDATE item SET quantity = quantity + 1 WHERE id IN ({SCATTERED})", (1000,))
    desk.run()
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "syncpeers.py")
    probe = subprocess.Popen([sys.executable, script, "lock", phone.store], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    probe.stdout.readline()
    phone.run()
    longest = float(probe.communicate()[0])
    figures.add("write lock for 1,000 scattered cells", 1, "100 ms", longest, 0.1)


def run(bench, options):
    """All of it; returns figures."""
    figures, peers = Figures(bench), Peers(bench)
    container = bench.fresh("sync", "container")
    desk, phone = Device(bench, "desk", container), Device(bench, "phone", container)
    make(desk.store, options.sync_rows)
    store_size = os.path.getsize(desk.store)
    old = bench.place("sync", "old.sqlite")
    shutil.copyfile(desk.store, old)
    first = desk.enable()
    figures.add("memory of a first capture", 1, "64 MiB", first["memory"], 64 << 20)
    figures.add("what is kept, narrow rows", 1, "the store", desk.kept(), store_size)

    make(phone.store, 0)
    second = phone.enable()
    figures.add("memory of an import", 1, "64 MiB", second["memory"], 64 << 20)
    if peers.are_here:
        figures.add("first capture and publication", 4, "a scan by SQL", first["wall"],
                    peers.time("scan", old))
        empty, changes = bench.place("sync", "empty", "a.sqlite"), bench.place("sync", "changes")
        measure.remove(os.path.dirname(empty))
        make(empty, 0)
        peers.time("session-diff", empty, old, changes)
        figures.add("import into an empty store", 3, "sqlite3changeset_apply", second["wall"],
                    peers.time("session-apply", changes, empty))

    desk.run()
    for _ in range(options.rounds):
        figures.add("nothing changed", 1, "50 ms", desk.run()["wall"], 0.05)
    reads = store_reads(desk)
    if reads is not None:
        figures.add("nothing changed, pages read", 1, "1", reads, 1)
    captures(bench, figures, peers, desk, old)
    rows_added(bench, figures, peers, desk, old)
    phone.run()
    write_lock(bench, figures, desk, phone)

    wide = Device(bench, "wide", bench.fresh("sync", "wide-container"))
    make(wide.store, options.sync_rows // 20, 1024)
    wide.enable()
    figures.add("what is kept, values of 1 KiB", 0.1, "the store", wide.kept(),
                os.path.getsize(wide.store))
    bench.discard(bench.place("sync"))
    return figures.result()
