#!/usr/bin/env python3
"""Takes one safeguard of sync or of increments away at a time, and sees that a test notices.

    scripts/ablations.py [--histories N] [--in-place] [NAME...]

Each ablation is a small change of the sources. It is made in a copy of the checkout below
.build/ablations, or with --in-place in this one, which is put back. The tests named for it run, and at
least one must fail. A change that fits the sources no more is an error, and so is one that nobody sees.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIMULATION = "SimulationTests"
INCREMENTS = "OperationsTests.Increment"

# Name, tests, and changes: file below Sources, the text that goes, the text that comes.
ABLATIONS = [
    ("baseline-without-tombstones", SIMULATION, [(
        "Sync/Upkeep/BaselineWriter.swift",
        "            if writer.isFull {",
        "            guard row.state.isAlive else { return }\n            if writer.isFull {")]),
    ("wall-clock", SIMULATION, [(
        "Changes/Rows/HybridClock.swift",
        "{ reading = max(reading, UInt64(wall) << 16) }",
        "{ reading = max(1, UInt64(wall) << 16) }")]),
    ("integer-keys-on-the-wire", SIMULATION, [(
        "Sync/Capture/Capture.swift",
        "return .row(try access.id(at: .rowID(number), in: parent) ?? .zero)",
        "return parent == column.parent ? .integer(number) : .null")]),
    ("random-seed-ids", "PublishedFailuresTests/(defaults|installedAgain)", [(
        "Sync/Capture/TableCapture.swift",
        "if kind == .seed { return try contentID(of: row, capture, isCyclic) }",
        "if kind == .seed { return capture.makeID() }")]),
    ("defaults-as-edits", SIMULATION, [(
        "Sync/Capture/TableCapture+Deltas.swift",
        "} else if value == column.defaultValue ?? .null {",
        "} else if table.columns.isEmpty {")]),
    ("no-intent", SIMULATION, [(
        "Sync/Exchange/StoreExchange+Writing.swift",
        "                try access.intend(plan)\n",
        "")]),
    ("repairs-as-deltas", SIMULATION, [(
        "Sync/Exchange/StoreExchange+Writing.swift",
        "                        new: image\n",
        "                        new: image == nil ? nil : step.old ?? image\n")]),
    ("stand-ins-off", SIMULATION, [(
        "Changes/View/ViewComputation+Unique.swift",
        "let parent = last.standIns[ViewKey(reference.table, named)] ?? named",
        "let parent = named")]),
    ("same-off", SIMULATION, [(
        "Sync/Capture/TableCapture+Deltas.swift",
        "        for id in try capture.access.standingBehind(old.id) {\n            let same",
        "        for id in [RowID]() {\n            let same")]),
    ("import-before-capture", SIMULATION, [(
        "Sync/Exchange/StoreExchange.swift",
        "        if takesFirst, let listing {",
        "        if let listing {")]),
    ("is-for-bytes", SIMULATION, [(
        "Sync/Sidecar/RowImage.swift",
        "        default: self = .value(value)\n",
        "        case .real(let bits) where abs(Double(bitPattern: bits)) < 1e9:\n"
        "            self = .value(.integer(Int64(Double(bitPattern: bits))))\n"
        "        default: self = .value(value)\n")]),
    ("trust-in-names", SIMULATION, [(
        "Sync/Exchange/Intake.swift",
        "$0.wait(\n                for: file.name,\n                size: file.size,\n                explain(error),\n"
        "                at: now,\n                tried: tried ?? now\n            )",
        "$0.nameCopy(name: file.name, size: file.size)"), (
        "Sync/Sidecar/Access/SidecarAccess+Files.swift",
        '|| row("SELECT 1 FROM copy WHERE name = ? AND size = ?", [name, size]) != nil',
        '|| row("SELECT 1 FROM copy WHERE name = ?", [name]) != nil')]),
    ("fingerprint-without-separators", SIMULATION + "|LeafCaptureTests", [(
        "Stores/Leaves/LeafWalk.swift",
        "        guard let chains = overflow(of: page) else { return .strange }\n",
        "        guard let chains = overflow(of: page) else { return .strange }\n"
        "        var rowIDs = rowIDs\n"
        "        let count = page.bigEndian16(3)\n"
        "        if count > 0, let (_, first) = page.varint(page.bigEndian16(8)),\n"
        "            let (low, _) = page.varint(first),\n"
        "            let (_, last) = page.varint(page.bigEndian16(6 + 2 * count)),\n"
        "            let (high, _) = page.varint(last)\n"
        "        { rowIDs = low...high }\n")]),
    ("shadow-not-read-back", SIMULATION, [(
        "Sync/Exchange/StoreExchange+Writing.swift",
        "                        new: image\n",
        "                        new: image == nil ? nil : step.new\n"), (
        "Sync/View/StoreView.swift",
        "let taken = trial.taken(trial.filled(values, row, of: table), of: table)",
        "let taken = trial.filled(values, row, of: table).map { $0 ?? .null }")]),
    ("foreign-keys-on", SIMULATION, [(
        "Sync/Materialise/StoreWrite.swift", '"PRAGMA foreign_keys = OFF"', '"PRAGMA foreign_keys = ON"')]),
    ("triggers-on", SIMULATION, [(
        "Sync/Materialise/StoreWrite.swift",
        "csqlite_enable_triggers(handle, 0)", "csqlite_enable_triggers(handle, 1)")]),
    ("checkpoint-on", SIMULATION, [(
        "Sync/Materialise/StoreWrite.swift",
        '"PRAGMA wal_autocheckpoint = 0"', '"PRAGMA wal_autocheckpoint = 1"')]),
    ("view-without-parents", SIMULATION, [(
        "Sync/View/ViewPart.swift",
        "if case .row(let other)? = row.state.cell(name)?.value { try add(other) }",
        "if case .row(let other)? = row.state.cell(name)?.value, other.isZero { try add(other) }")]),
    ("view-without-children", SIMULATION, [(
        "Sync/View/ViewPart+Growth.swift",
        "        try addChildren(of: gone, finder)\n", "")]),
    ("view-without-competitors", SIMULATION, [(
        "Sync/View/ViewPart+Growth.swift",
        "        try addCompetitors(view, mirror, finder)\n", "")]),
    ("view-without-ties", SIMULATION, [(
        "Sync/View/ViewPart.swift",
        "        for dependant in try access.dependants(on: id) { try add(dependant) }\n", "")]),
    ("own-file-check-off", SIMULATION, [(
        "Sync/Accidents/StoreExchange+Identity.swift",
        "identity.isRolledBack = try await hasUnknownFiles(listing)",
        "identity.isRolledBack = try await hasUnknownFiles(listing) && false")]),
    # Increments: the rules of what is written, and of what a reader believes.
    ("sectors-of-the-last-backup-only", INCREMENTS, [(
        "Operations/Backup/Increments/ChangeWriter+Patches.swift",
        "where Int(version) > plan.base {",
        "where Int(version) >= plan.number {")]),
    ("born-where-the-parent-is", INCREMENTS, [(
        "Operations/Backup/Increments/ChangeWriter.swift",
        "entry.sectorSize > 0, entry.born <= plan.base, let id,",
        "entry.sectorSize > 0, entry.born <= plan.number, let id,")]),
    ("removed-once-only", INCREMENTS, [(
        "Operations/Backup/Increments/ChangeWriter.swift",
        "let end = entry.gone, end > plan.base, entry.born",
        "let end = entry.gone, end >= plan.number, entry.born")]),
    ("attributes-of-the-last-backup-only", INCREMENTS, [(
        "Operations/Backup/Increments/ChangeWriter.swift",
        "        if entry.touched > plan.base {\n            let nothing",
        "        if entry.touched >= plan.number {\n            let nothing")]),
    ("parents-that-are-gone", INCREMENTS, [(
        "Operations/Backup/Increments/LineagePlan.swift",
        "guard let there = listed[backup.name], there.size == backup.size, there.damage == nil\n            else { continue }",
        "_ = listed")]),
    ("times-within-their-grain", INCREMENTS, [(
        "Operations/Backup/Increments/Standing.swift",
        "guard modified < limit, changed < limit else { return nil }",
        "_ = limit")]),
    ("change-time-ignored", INCREMENTS, [(
        "Operations/Backup/Increments/Standing.swift",
        "for number in [size, modified, changed] {",
        "for number in [size, modified] {")]),
    ("stores-known-as-files", INCREMENTS, [(
        "Operations/Backup/BackupWriter.swift",
        '? before.map { "store \\($0)" } : nil,',
        "? before : nil,")]),
    ("state-not-compared", INCREMENTS, [(
        "Backups/Increments/Assembly.swift",
        "guard tally.state.description == trailer.state else {",
        "guard tally.state.description == trailer.state || true else {")]),
    ("runs-anywhere", INCREMENTS, [(
        "Archives/Patches/Patch.swift",
        "guard offset >= UInt64(last?.end ?? 0), length > 0,",
        "guard length > 0,")]),
    ("patches-of-links", INCREMENTS, [(
        "Backups/Increments/Assembly.swift",
        "guard base.entry.attributes.kind == .file else {",
        "guard base.entry.attributes.kind == .file || true else {")]),
]


def run(command, directory, environment=None):
    return subprocess.run(
        command, cwd=directory, env=os.environ | (environment or {}), text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def copy():
    """Returns a copy of the checkout as it is, uncommitted files and all, with a build of its own."""
    target = ROOT / ".build" / "ablations"
    listed = run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], ROOT)
    names = set(listed.stdout.splitlines())
    for name in names:
        source, file = ROOT / name, target / name
        if not source.is_file():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        # What is as it was keeps its time, and is not built again.
        if not file.exists() or file.read_bytes() != source.read_bytes():
            shutil.copy(source, file)
    for folder in ("Sources", "Tests"):
        for file in (target / folder).rglob("*"):
            if file.is_file() and str(file.relative_to(target)) not in names:
                file.unlink()
    return target


def patched(directory, changes):
    """Returns the files of an ablation as they were and as they are to be."""
    was, will = {}, {}
    for name, old, new in changes:
        path = directory / "Sources" / name
        if not path.exists():
            raise ValueError(f"there is no {name}")
        was.setdefault(path, path.read_text())
        text = will.get(path, was[path])
        if text.count(old) != 1:
            raise ValueError(f"{name} has {text.count(old)} times: {old.strip()}")
        will[path] = text.replace(old, new)
    return was, will


def build(directory):
    result = run(["swift", "build", "--build-tests"], directory)
    if result.returncode:
        lines = [line for line in result.stdout.splitlines() if "error:" in line]
        raise ValueError("it does not build: " + "\n".join(lines[:5]))


def tests(directory, filters, histories):
    """Runs tests; returns whether they pass, and the first thing that failed."""
    result = run(
        ["swift", "test", "--skip-build", "--filter", filters], directory,
        {"GROCERYDUDE_SIMULATIONS": str(histories), "GROCERYDUDE_SIMULATION_SEED": "1"})
    if "Test run with 0 tests" in result.stdout:
        raise ValueError(f"no test is called {filters}")
    text = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    failed = [line for line in text.splitlines() if "recorded an issue" in line or "↳" in line]
    failed = [line for line in failed if "Version" not in line and "Platform" not in line]
    lost = [line for line in text.splitlines() if line.startswith("seed ") or "Fatal" in line]
    return result.returncode == 0, len(failed), " ".join((failed + lost)[:2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--histories", type=int, default=60, help="simulated histories for each")
    parser.add_argument("--in-place", action="store_true", help="change this checkout, and put it back")
    arguments = parser.parse_args()
    known = [name for name, _, _ in ABLATIONS]
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        parser.error(f"there is no ablation {unknown[0]}: there are {', '.join(known)}")
    directory = ROOT if arguments.in_place else copy()
    chosen = [a for a in ABLATIONS if not arguments.names or a[0] in arguments.names]
    failures = 0
    for _, _, changes in chosen:
        patched(directory, changes)
    build(directory)
    filters = "|".join(sorted({tests for _, tests, _ in chosen}))
    passes, _, text = tests(directory, filters, arguments.histories)
    if not passes:
        sys.exit(f"ablations: the tests fail as it is: {text}")
    print(f"with all safeguards {filters} pass", flush=True)
    for name, filters, changes in chosen:
        start = time.monotonic()
        was, will = patched(directory, changes)
        try:
            for path, text in will.items():
                path.write_text(text)
            build(directory)
            passes, count, text = tests(directory, filters, arguments.histories)
        except ValueError as error:
            passes, count, text = True, 0, str(error)
        finally:
            for path, text_before in was.items():
                path.write_text(text_before)
        failures += passes
        verdict = f"NOT SEEN {text}" if passes else f"seen {count} times: {text}"
        print(f"{name}: {verdict[:300]} ({time.monotonic() - start:.0f} s)", flush=True)
    sys.exit(f"ablations: {failures} of {len(chosen)} were not seen" if failures else 0)


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"ablations: {error}")
