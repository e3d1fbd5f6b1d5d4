"""Looking into a backup: SQL against a store in an archive, and getting one file out of it."""

import os
import shutil
import subprocess

import datasets
import measure

MEMORY_LIMIT = 64 << 20
LOOKUP_LIMIT = 0.060
EXTRACT_LIMIT = 0.040
FETCH_LIMIT = 8 << 20

# Passed over by sqlite3 and by us alike: each reads every page of the table.
SCAN = "SELECT count(*), sum(length(ZNOTE)), max(ZIDENTIFIER) FROM ZITEM"
# Where the rclone of the test notes how many bytes are asked for.
COUNTING_RCLONE = """#!/bin/sh
previous=
for word; do
    [ "$previous" = --count ] && echo "$word" >> "$FETCHED"
    previous=$word
done
exec "$REAL_RCLONE" "$@"
"""


def store_of(stores):
    """The path of the store, and a key in the middle of its items."""
    (name,) = (name for name in os.listdir(stores) if name.endswith(".sqlite"))
    found = subprocess.run(["sqlite3", "-readonly", os.path.join(stores, name),
                            "SELECT max(Z_PK) FROM ZITEM"], capture_output=True, text=True, check=True)
    return os.path.join(stores, name), int(found.stdout) * 3 // 5


def repeated(bench, peer, command, rounds):
    """A command again and again; the first run is not counted, which finds nothing in memory."""
    home = bench.place("home", peer.slug)
    runs = [bench.run(peer, command, home) for _ in range(rounds + 1)]
    return measure.summary(runs[1:])


def fetched(bench, peer, out, query):
    """Bytes that a query asks an rclone remote for."""
    home = bench.place("home", peer.slug)
    tools = bench.fresh("tools")
    script, log = os.path.join(tools, "rclone"), os.path.join(tools, "fetched")
    with open(script, "w") as file:
        file.write(COUNTING_RCLONE)
    os.chmod(script, 0o755)
    environment = {"HOME": home, "PATH": f"{tools}:{os.environ['PATH']}", "TZ": "UTC",
                   "REAL_RCLONE": shutil.which("rclone"), "FETCHED": log}
    command = [peer.binary, "sql", "latest", query, "--remote", f"rclone:{out}"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    with open(log) as file:
        return sum(int(line) for line in file)


def run(bench, options):
    """What was asked for against what was measured."""
    peer = bench.grocerydude
    size = options.mixed
    stores = datasets.ensure(bench.work, "mixed", size)
    path, key = store_of(stores)
    lookup = f"SELECT ZNAME, ZIDENTIFIER FROM ZITEM WHERE Z_PK = {key}"
    out = bench.fresh("out", peer.slug)
    bench.fresh("home", peer.slug)
    bench.backup(peer, stores)
    unpacked = os.path.join(bench.fresh("unpacked"), os.path.basename(path))
    ours = [peer.binary, "extract", "latest", os.path.basename(path), "--to",
            os.path.dirname(unpacked), "--remote", out, "--quiet"]
    bench.run(peer, ours, bench.place("home", peer.slug))
    sql = [peer.binary, "sql", "latest", "--remote", out, "--csv"]
    (small,) = sorted(name for name in os.listdir(os.path.join(stores, datasets.EXTERNAL)))[:1]
    small = f"{datasets.EXTERNAL}/{small}"
    rounds = max(5, options.rounds)
    figures = {}
    runs = {
        "lookup": repeated(bench, peer, [*sql, lookup], rounds),
        "scan": repeated(bench, peer, [*sql, SCAN], rounds),
        "cat of one small file": repeated(
            bench, peer, [peer.binary, "cat", "latest", small, "--remote", out], rounds),
    }
    extractions = []
    for number in range(rounds + 1):
        target = bench.fresh("target")
        command = [peer.binary, "extract", "latest", small, "--to", target, "--remote", out,
                   "--quiet"]
        extractions.append(bench.run(peer, command, bench.place("home", peer.slug)))
    runs["extract of one small file"] = measure.summary(extractions[1:])
    theirs = {
        "lookup": repeated(bench, peer, ["sqlite3", "-readonly", unpacked, lookup], rounds),
        "scan": repeated(bench, peer, ["sqlite3", "-readonly", unpacked, SCAN], rounds),
    }
    for title, result in runs.items():
        bench.say(f"{title}: {result['wall'] * 1000:.1f} ms, {result['memory'] / (1 << 20):.1f} MiB")
    for title, result in theirs.items():
        bench.say(f"{title}, sqlite3 on the unpacked store: {result['wall'] * 1000:.1f} ms")
    figures["sql, a row by its primary key"] = {
        "limit": 1, "against": "60 ms", "ours": runs["lookup"]["wall"], "theirs": LOOKUP_LIMIT}
    figures["sql, a scan of the largest table"] = {
        "limit": 2.5, "against": "sqlite3 on the unpacked store", "ours": runs["scan"]["wall"],
        "theirs": theirs["scan"]["wall"]}
    figures["extract of one small file"] = {
        "limit": 1, "against": "40 ms", "ours": runs["extract of one small file"]["wall"],
        "theirs": EXTRACT_LIMIT}
    figures["looking inside, memory"] = {
        "limit": 1, "against": "64 MiB",
        "ours": max(result["memory_most"] for result in runs.values()), "theirs": MEMORY_LIMIT}
    if shutil.which("rclone"):
        figures["sql over rclone, bytes fetched"] = {
            "limit": 1, "against": "8 MiB", "ours": fetched(bench, peer, out, lookup),
            "theirs": FETCH_LIMIT}
    for name in ("unpacked", "target", "tools"):
        measure.remove(bench.place(name))
    return figures
