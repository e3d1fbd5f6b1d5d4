#!/usr/bin/env python3
"""Measures grocerydude against its peers, in turn, on the same data; see README.md."""

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys

import differences
import encrypting
import increments
import looking
import measure
import peers
import profiles
import scenarios
import syncs
import tables
import uploads

SCENARIOS = ["mixed", "encrypted", "again", "building", "chain", "inside", "small", "instant", "upload",
             "durability", "profile", "growth", "syncing"]
FULL = {
    "mixed": 700_000_000,
    "upload": 300_000_000,
    "small": 50_000,
    "sizes": [100_000_000, 300_000_000, 1_000_000_000, 2_000_000_000, 4_000_000_000],
    "counts": [1_000, 10_000, 50_000, 200_000],
    "backups": 1000,
    "sync_rows": 1_000_000,
    "rounds": 5,
    "slow_rounds": 3,
    "scaling_rounds": 3,
}
QUICK = {
    "mixed": 20_000_000,
    "upload": 20_000_000,
    "small": 1_000,
    "sizes": [10_000_000, 40_000_000],
    "counts": [100, 3_000],
    "backups": 100,
    "sync_rows": 20_000,
    "rounds": 2,
    "slow_rounds": 1,
    "scaling_rounds": 1,
}


# The results leave these out, since they mean nothing on another machine.
PLACES = ("binary", "work", "output", "keep")


def amount(text):
    """A number, with k, M or G for thousands, millions and thousands of millions."""
    factor = {"k": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
    return int(float(text if factor == 1 else text[:-1]) * factor)


def amounts(text):
    return [amount(part) for part in text.split(",")]


def names(text):
    return [part.strip() for part in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--binary", default=".build/release/grocerydude", help="what is measured")
    add("--work", default=".build/benchmark", help="where data sets and outputs go")
    add("--output", help="also write results.json and tables.md into this directory")
    add("--quick", action="store_true", help="small sizes, two rounds: about a minute")
    add("--scenarios", type=names, default=SCENARIOS, help="of: " + ",".join(SCENARIOS))
    add("--peers", type=names, help="only these, by name: 'borg,restic,zip -6'")
    add("--mixed", type=amount, help="bytes of the mixed data set, 700M")
    add("--upload", type=amount, help="bytes of the data that is uploaded, 300M")
    add("--small", type=amount, help="files of the small data set, 50k")
    add("--sizes", type=amounts, help="bytes of the growing mixed data sets, 100M,…,4G")
    add("--counts", type=amounts, help="files of the growing small data sets, 1k,…,200k")
    add("--sync-rows", type=amount, help="rows of the store that is synchronised, 1M")
    add("--backups", type=amount, help="how many backups are listed, 1000")
    add("--rounds", type=int, help="5")
    add("--slow-rounds", type=int, help="of zip -9 and 7z, 3")
    add("--scaling-rounds", type=int, help="of each growing data set, 3")
    add("--keep", action="store_true", help="keep the largest data sets, for another run")
    options = parser.parse_args()
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    unknown = set(options.scenarios) - set(SCENARIOS)
    if unknown:
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    return options


def machine(work, everyone):
    """Where and with what this was measured."""
    model = memory = ""
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            lines = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
        model = f"{len(lines)} × {lines[0]}" if lines else ""
        with open("/proc/meminfo") as file:
            memory = f"{int(file.readline().split()[1]) / (1 << 20):.1f} GiB"
    kind = subprocess.run(["df", "--output=fstype", work], capture_output=True, text=True,
                          check=False).stdout.split()
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processors": model or f"{os.cpu_count()} × {platform.machine()}",
        "memory": memory,
        "kernel": f"{platform.system()} {platform.release()}",
        "file system": kind[-1] if kind else "?",
        "load before": "{:.2f} {:.2f} {:.2f}".format(*os.getloadavg()),
    }
    facts |= {peer.name: peer.version() for peer in everyone if peer.name != "zip -9"}
    return facts


def chosen(options):
    """The programs that take part: those asked for that are installed."""
    everyone = peers.everyone(options.binary)
    if not os.access(everyone[0].binary, os.X_OK):
        sys.exit(f"benchmark: no program at {options.binary}: run 'make build', or give --binary")
    found = everyone[:1]
    for peer in everyone[1:]:
        if options.peers and peer.name not in options.peers:
            continue
        if shutil.which(peer.version_command[0]):
            found.append(peer)
        else:
            print(f"benchmark: {peer.name} is not installed, and left out", file=sys.stderr)
    return found


def run(options, save):
    """Runs the scenarios; `save` gets the results so far after each."""
    everyone = chosen(options)
    os.makedirs(options.work, exist_ok=True)
    bench = scenarios.Bench(options, everyone)
    fast = [peer for peer in everyone if not peer.slow]
    historic = [peer for peer in fast if peer.keeps_history or "sync" in peer.name]
    results = {
        "machine": machine(options.work, everyone),
        "options": {name: value for name, value in vars(options).items()
                    if value is not None and name not in PLACES},
        "undone": {peer.name: peer.undone for peer in everyone},
        "tables": [],
    }
    def mixed():
        label = f"{tables.size_text(options.mixed)} mixed"
        results["tables"] += scenarios.backup_and_restore(bench, "mixed", options.mixed, label,
                                                          everyone)

    def encrypted():
        label = f"{tables.size_text(options.mixed)} mixed, encrypted"
        restic = [peer for peer in everyone if peer.name == "restic"]
        results["tables"] += scenarios.encrypted(bench, options.mixed, label, restic)
        results["encrypting"] = encrypting.run(bench, options.quick) or {}

    def again():
        results["tables"] += scenarios.again(bench, options.mixed, historic)

    def building():
        results["tables"] += increments.run(bench, options)

    def chain():
        results["chain"] = increments.chain(bench, options)

    def inside():
        results["looking"] = looking.run(bench, options)
        results["looking"] |= differences.run(bench, options.mixed)

    def small():
        label = f"{options.small:,} small files"
        results["tables"] += scenarios.backup_and_restore(bench, "small", options.small, label,
                                                          everyone)

    def instant():
        results["instant"] = scenarios.instant(bench, options.backups)

    def upload():
        results["upload"] = uploads.run(bench, options.upload)

    def durability():
        stores = scenarios.datasets.ensure(bench.work, "mixed", QUICK["mixed"])
        results["durability"] = profiles.durability(bench, stores, fast)

    def profile():
        kinds = [("mixed", options.mixed), ("small", options.small)]
        results["profiles"] = profiles.run(bench, kinds)

    def growth():
        results["scaling"] = {
            "mixed": scenarios.scaling(bench, "mixed", options.sizes, tables.size_text),
            "small": scenarios.scaling(bench, "small", options.counts,
                                       lambda count: f"{count:,} files"),
        }

    def syncing():
        results["syncing"] = syncs.run(bench, options)

    steps = [mixed, encrypted, again, building, chain, inside, small, instant, upload, durability,
             profile, growth, syncing]
    assert [step.__name__ for step in steps] == SCENARIOS
    for step in steps:
        if step.__name__ not in options.scenarios:
            continue
        step()
        results["targets"] = tables.check_targets(results)
        save(results)
        for peer in everyone:
            bench.discard(bench.place("out", peer.slug))
    for name in ("out", "home", "target", "one", "trash"):
        measure.remove(bench.place(name))


def main():
    options = arguments()
    output = options.output or options.work
    os.makedirs(output, exist_ok=True)

    def save(results):
        """Whole files, after each scenario: a run of hours may be cut short."""
        with open(os.path.join(output, "results.json"), "w") as file:
            json.dump(results, file, indent=1, sort_keys=True)
            file.write("\n")
        with open(os.path.join(output, "tables.md"), "w") as file:
            file.write(tables.markdown(results))

    run(options, save)
    with open(os.path.join(output, "tables.md")) as file:
        print(file.read())


if __name__ == "__main__":
    main()
