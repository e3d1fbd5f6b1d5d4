"""One large file that does not compress, encrypted: against `age`, which does nothing else."""

import os
import random
import shutil

import measure
from peers import Encrypted, Plain

SIZE = 1_000_000_000
PART = 1 << 20


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
    file = os.path.join(stores, "file")
    make(file, SIZE // 50 if quick else SIZE)
    mine, plain = Encrypted(bench.grocerydude.binary), Plain(bench.grocerydude.binary)
    figures = {}
    for cores, pinned, limit in (("one core", ["taskset", "-c", "0"], 1.3), ("all cores", [], 0.7)):
        seconds = {"mine": [], "plain": [], "age": []}
        for number in range(bench.options.rounds):
            for name, peer in (("mine", mine), ("plain", plain)):
                seconds[name].append(backup(bench, peer, stores, pinned))
            out = os.path.join(bench.fresh("out", "age"), "file.age")
            measure.settle()
            command = [*pinned, "age", "-r", mine.recipient, "-o", out, file]
            seconds["age"].append(bench.run(None, command, bench.fresh("home", "age"))["wall"])
            bench.say(f"one file, {cores}, round {number + 1}: " + ", ".join(
                f"{name} {found[-1]:.2f} s" for name, found in seconds.items()))
        age = middle(seconds["age"])
        figures[f"encrypted backup of one file, {cores}"] = {
            "limit": limit, "against": "age", "ours": middle(seconds["mine"]), "theirs": age}
        added = [ours - theirs for ours, theirs in zip(seconds["mine"], seconds["plain"])]
        figures[f"what encryption adds to it, {cores}"] = {
            "limit": limit, "against": "age", "ours": middle(added), "theirs": age}
    for name in ("file", "out"):
        bench.discard(bench.place(name))
    return figures


def backup(bench, peer, stores, pinned):
    """Seconds of one first backup."""
    out, home = bench.fresh("out", peer.slug), bench.fresh("home", peer.slug)
    peer.prepare(out, home)
    measure.settle()
    return bench.run(peer, [*pinned, *peer.backup(stores, out, 0)], home)["wall"]


def middle(values):
    """The median."""
    return measure.summary([{"value": value} for value in values])["value"]
