"""One large file that does not compress, encrypted: against `age`, which does nothing else."""

import os
import random
import shutil
import statistics

from peers import Encrypted, Peer, Plain

SIZE = 1_000_000_000
PART = 1 << 20


class Age(Peer):
    """The program that makes such files, for the key of another peer."""

    name = "age"

    def __init__(self, other):
        self.other = other

    def backup(self, stores, out, number):
        return ["age", "-r", self.other.recipient, "-o", os.path.join(out, "file.age"),
                os.path.join(stores, "file")]


class OnCores:
    """A peer that is started by a command, which keeps it to some cores."""

    def __init__(self, peer, command):
        self.peer, self.command = peer, command

    def __getattr__(self, name):
        return getattr(self.peer, name)

    def backup(self, *arguments):
        return [*self.command, *self.peer.backup(*arguments)]


def make(path, size):
    chance = random.Random(size)
    with open(path, "wb") as file:
        for start in range(0, size, PART):
            file.write(chance.randbytes(min(PART, size - start)))


def run(bench, quick):
    """Figures of one core and of all; `None` without age."""
    if not shutil.which("age"):
        bench.say("encrypting: age is not installed, and left out")
        return None
    stores = os.path.join(bench.fresh("file"), "Stores")
    os.makedirs(stores)
    make(os.path.join(stores, "file"), SIZE // 50 if quick else SIZE)
    mine, plain = Encrypted(bench.grocerydude.binary), Plain(bench.grocerydude.binary)
    figures = {}
    for cores, command, limit in (("one core", ["taskset", "-c", "0"], 1.3), ("all cores", [], 0.7)):
        peers = [OnCores(peer, command) for peer in (mine, plain, Age(mine))]
        found = bench.in_turn(f"one file, {cores}", peers,
                              lambda peer, number: bench.backup(peer, stores))
        walls = zip(found[mine.name]["wall_all"], found[plain.name]["wall_all"])
        added = statistics.median(ours - theirs for ours, theirs in walls)
        for title, ours in (("encrypted backup of one file", found[mine.name]["wall"]),
                            ("what encryption adds to it", added)):
            figures[f"{title}, {cores}"] = {"limit": limit, "against": "age", "ours": ours,
                                            "theirs": found["age"]["wall"]}
    bench.discard(bench.place("file"))
    return figures
