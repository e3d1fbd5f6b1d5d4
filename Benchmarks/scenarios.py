"""What is measured: each function runs everyone in turn, several rounds, and returns a table."""

import os
import shutil
import subprocess
import sys

import datasets
import measure
from peers import Encrypted, Plain, environment


class Bench:
    """Where things are, and how often they are done."""

    def __init__(self, options, peers):
        self.options = options
        self.work = os.path.abspath(options.work)
        self.peers = peers
        self.grocerydude = peers[0]
        self.log = os.path.join(self.work, "log")
        self.discarded = 0
        # Of a run that was cut short.
        measure.remove(self.place("trash"))

    def place(self, *names):
        return os.path.join(self.work, *names)

    def fresh(self, *names):
        """An empty directory."""
        path = self.place(*names)
        measure.remove(path)
        os.makedirs(path)
        return path

    def discard(self, path):
        """Gets a tree out of the way.

        Trees of many files are removed only at the very end: ext4 does not use the inodes of files
        again that were removed in the last minutes, and searching for others makes whoever creates
        files next take several times as long.
        """
        if not os.path.lexists(path):
            return
        self.discarded += 1
        trash = self.place("trash", str(self.discarded))
        os.makedirs(os.path.dirname(trash), exist_ok=True)
        os.rename(path, trash)
        if sum(len(names) for _, _, names in os.walk(trash)) < 2000:
            measure.remove(trash)

    def rounds(self, peer):
        return self.options.slow_rounds if peer.slow else self.options.rounds

    def run(self, peer, command, home):
        return measure.run(command, environment(home), self.work, self.log)

    def backup(self, peer, stores, number=0):
        """One backup; the first one into an empty place."""
        out, home = self.place("out", peer.slug), self.place("home", peer.slug)
        if number == 0:
            self.discard(out)
            self.discard(home)
            os.makedirs(out)
            os.makedirs(home)
            peer.prepare(out, home)
        measure.settle()
        before = measure.size(out)
        result = self.run(peer, peer.backup(stores, out, number), home)
        result["size"] = measure.size(out) - (before if peer.keeps_history else 0)
        return result

    def restore(self, peer, number=0):
        """One restore of the latest backup."""
        out, target = self.place("out", peer.slug), self.place("target")
        self.discard(target)
        measure.settle()
        return self.run(peer, peer.restore(out, target, number), self.place("home", peer.slug))

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def in_turn(self, title, peers, action):
        """Runs `action(peer, round)` for all peers in turn, for as many rounds as each has."""
        runs = {peer.name: [] for peer in peers}
        for number in range(max(self.rounds(peer) for peer in peers)):
            for peer in peers:
                if number < self.rounds(peer):
                    result = action(peer, number)
                    runs[peer.name].append(result)
                    self.say(f"{title}, round {number + 1}: {peer.name}: {result['wall']:.2f} s")
        return {name: measure.summary(results) for name, results in runs.items()}


def table(identifier, title, stores, peers):
    return {"id": identifier, "title": title, "data": datasets.facts(stores), "peers": peers}


def differences(stores, target):
    """What differs between a directory and what was restored of it."""
    found = target if os.path.basename(target) == "Stores" else os.path.join(target, "Stores")
    if not os.path.isdir(found):
        found = target
    done = subprocess.run(["diff", "-rq", stores, found], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip()


def backup_and_restore(bench, kind, size, label, peers):
    """First backups into an empty place, and restores of what they left."""
    stores = datasets.ensure(bench.work, kind, size)
    measure.warm(stores)
    first = bench.in_turn(
        f"{label}: backup", peers, lambda peer, number: bench.backup(peer, stores)
    )
    tables = [table(f"backup-{kind}", f"First backup, {label}", stores, first)]
    for peer in peers:
        bench.restore(peer)
        found = differences(stores, bench.place("target"))
        if found:
            bench.say(f"{peer.name} restored something else: {found[:500]}")
    # Restores of one format are measured once.
    restorers = [peer for peer in peers if peer.name != "zip -9"]
    restored = bench.in_turn(
        f"{label}: restore", restorers, lambda peer, number: bench.restore(peer)
    )
    tables.append(table(f"restore-{kind}", f"Restore, {label}", stores, restored))
    bench.discard(bench.place("target"))
    return tables


def encrypted(bench, size, label, others):
    """Encrypted backups against plain ones, and against those who always encrypt."""
    mine = Encrypted(bench.grocerydude.binary)
    peers = [mine, Plain(bench.grocerydude.binary), *others]
    tables = backup_and_restore(bench, "mixed", size, label, peers)
    for found in tables:
        found["id"] = found["id"].replace("mixed", "encrypted")
    return tables


def again(bench, size, peers):
    """Backups after a small change, into what the first backup left."""
    original = datasets.ensure(bench.work, "mixed", size)
    stores = os.path.join(bench.fresh("changed"), "Stores")
    shutil.copytree(original, stores)
    for peer in peers:
        bench.backup(peer, stores)
    runs = {peer.name: [] for peer in peers}
    for number in range(1, bench.options.rounds + 1):
        subprocess.run([sys.executable, datasets.__file__, "change", stores, str(number)],
                       check=True)
        for peer in peers:
            if not peer.keeps_history:
                shutil.rmtree(bench.place("out", peer.slug))
                os.makedirs(bench.place("out", peer.slug))
            result = bench.backup(peer, stores, number)
            runs[peer.name].append(result)
            bench.say(f"backup again, round {number}: {peer.name}: {result['wall']:.2f} s")
            if peer is bench.grocerydude:
                keep_newest(bench.place("out", peer.slug))
    summaries = {name: measure.summary(results) for name, results in runs.items()}
    result = table("again", "Backup again after 0.4 % of the rows changed", stores, summaries)
    measure.remove(bench.place("changed"))
    return [result]


def keep_newest(folder):
    """Removes all archives but the newest: the disk is not what is measured."""
    paths = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".zip")]
    for path in sorted(paths, key=os.path.getmtime)[:-1]:
        os.unlink(path)


def scaling(bench, kind, sizes, label):
    """How time and memory grow with the data; the copy shows what the disk does."""
    rows = []
    for size in sizes:
        stores = datasets.ensure(bench.work, kind, size)
        measure.warm(stores)
        row = {"size": size, "data": datasets.facts(stores)}
        peers = [bench.grocerydude, next(peer for peer in bench.peers if "cp" in peer.name)]
        for name, action in (
            ("backup", lambda peer, _: bench.backup(peer, stores)),
            ("restore", lambda peer, _: bench.restore(peer)),
        ):
            rounds, bench.options.rounds = bench.options.rounds, bench.options.scaling_rounds
            row[name] = bench.in_turn(f"{label(size)}: {name}", peers, action)
            bench.options.rounds = rounds
        rows.append(row)
        for peer in peers:
            bench.discard(bench.place("out", peer.slug))
        bench.discard(bench.place("target"))
        if not bench.options.keep and size not in (bench.options.mixed, bench.options.small):
            bench.discard(os.path.dirname(stores))
    return rows


def instant(bench, count):
    """What should feel instant: a list of many backups, and help."""
    peer = bench.grocerydude
    source = os.path.join(bench.fresh("one"), "Stores")
    datasets.KINDS["small"](source, 3)
    result = bench.backup(peer, source)
    out = bench.place("out", peer.slug)
    (archive,) = os.listdir(out)
    for number in range(count):
        day, minute = number // 60 % 28 + 1, number % 60
        month = ("Jan", "Feb", "Mar", "Apr")[number // 1680]
        name = f"[2026-{month}-{day:02}] 09.{minute:02} AM Stores.zip"
        shutil.copyfile(os.path.join(out, archive), os.path.join(out, name))
    os.unlink(os.path.join(out, archive))
    commands = {
        f"list, {count} backups, first time": ["list", "--remote", out],
        f"list, {count} backups, again": ["list", "--remote", out],
        "--help": ["--help"],
        "backup of three small files": ["backup", "--stores", source, "--remote",
                                        bench.fresh("out", "instant"), "--quiet"],
    }
    runs = {title: [] for title in commands}
    for _ in range(max(5, 2 * bench.options.rounds)):
        home = bench.fresh("home", "instant")
        for title, arguments in commands.items():
            os.sync()
            result = bench.run(peer, [peer.binary, *arguments], home)
            runs[title].append(result)
    bench.discard(out)
    return {title: measure.summary(results) for title, results in runs.items()}
