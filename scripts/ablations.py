#!/usr/bin/env python3
"""Takes one safeguard of sync or of increments away at a time, and sees that a test notices.

    scripts/ablations.py [--histories N] [NAME...]

Each ablation is a small change of the sources. All of them are made at once in a copy of the checkout
below .build/ablations, each behind a switch that is set in a run's environment, and are built once. The
tests named for an ablation run with its switch set, and at least one must fail. A change that fits the
sources no more is an error, and so is one that nobody sees.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIMULATION = "SimulationTests"
INCREMENTS = "OperationsTests.Increment"

# Name, tests, and changes: file below Sources, the text that goes, the text that comes. In the text that
# comes, ABLATED is true in a run of that ablation: all of them are built at once, one above the other.
ABLATIONS = [
    ("baseline-without-tombstones", SIMULATION, [(
        "Sync/Upkeep/BaselineWriter.swift",
        "            if writer.isFull {",
        "            guard row.state.isAlive || !ABLATED else { return }\n            if writer.isFull {")]),
    ("wall-clock", SIMULATION, [(
        "Changes/Rows/HybridClock.swift",
        "{ reading = max(reading, UInt64(wall) << 16) }",
        "{ reading = max(ABLATED ? 1 : reading, UInt64(wall) << 16) }")]),
    ("integer-keys-on-the-wire", SIMULATION, [(
        "Sync/Capture/WireValues.swift",
        "        return .row(id)\n",
        "        return ABLATED ? .integer(number) : .row(id)\n")]),
    ("plain-values-off", "PlainReferenceTests", [(
        "Sync/Capture/WireValues.swift",
        "else { return value.wire }\n        return",
        "else { return ABLATED ? .row(.zero) : value.wire }\n        return")]),
    ("column-groups-off", "RefusedRowTests/groups", [(
        "Sync/Schema/TableMapping.swift",
        "return groups.filter { $0.count > 1 }",
        "return groups.filter { $0.count > 1 && !ABLATED }")]),
    ("rings-off", "RemovedTests/ring", [(
        "Changes/View/ViewComputation.swift",
        "        cutRings()\n", "        if !ABLATED { cutRings() }\n")]),
    ("removed-off", "RemovedTests", [(
        "Sync/Exchange/StoreExchange+Writing.swift",
        "            try Removals(", "            if !ABLATED { try Removals("), (
        "Sync/Exchange/StoreExchange+Writing.swift",
        "finder: finder).keep(plan)\n", "finder: finder).keep(plan) }\n")]),
    ("random-seed-ids", "PublishedFailuresTests/(defaults|installedAgain)", [(
        "Sync/Capture/TableCapture.swift",
        "if kind == .seed { return try contentID(of: row, capture, isCyclic) }",
        "if kind == .seed, ABLATED { return capture.makeID() }\n"
        "        if kind == .seed { return try contentID(of: row, capture, isCyclic) }")]),
    ("defaults-as-edits", "MigrationTests|" + SIMULATION, [(
        "Sync/Capture/TableCapture+Deltas.swift",
        "} else if value == column.defaultValue ?? .null {",
        "} else if ABLATED ? table.columns.isEmpty : value == column.defaultValue ?? .null {"), (
        "Sync/Capture/TableCapture+Deltas.swift",
        "cells.append(Cell(column.name, part == nil ? .zero : capture.stamp, wire))",
        "cells.append(Cell(column.name, part == nil && !ABLATED ? .zero : capture.stamp, wire))")]),
    ("no-intent", SIMULATION, [(
        "Sync/Exchange/StoreExchange+Writing.swift",
        "            try access.intents.add(plan.intents)\n",
        "            if !ABLATED { try access.intents.add(plan.intents) }\n")]),
    ("repairs-as-deltas", SIMULATION, [(
        "Sync/Exchange/StoreExchange+Writing.swift",
        "step.intent(new: image)",
        "step.intent(new: image == nil ? nil : ABLATED ? step.old ?? image : image)")]),
    ("stand-ins-off", SIMULATION, [(
        "Changes/View/ViewComputation+Unique.swift",
        "var parent = last.standIns[ViewKey(reference.table, named)] ?? named",
        "var parent = ABLATED ? named : last.standIns[ViewKey(reference.table, named)] ?? named")]),
    ("same-off", "PublishedEditFailuresTests/unique", [(
        "Sync/Capture/TableCapture+Deltas.swift",
        "for id in isEdit ? try capture.access.held.standingBehind(old.id) : [] {",
        "for id in isEdit && !ABLATED ? try capture.access.held.standingBehind(old.id) : [] {")]),
    ("import-before-capture", "TwoDevicesTests/lastEdit", [(
        "Sync/Exchange/StoreExchange.swift",
        "        if takesFirst, let listing {",
        "        if takesFirst || ABLATED, let listing {")]),
    ("is-for-bytes", SIMULATION, [(
        "Sync/Sidecar/RowImage.swift",
        "        default: self = .value(value)\n",
        "        case .real(let bits) where ABLATED && abs(Double(bitPattern: bits)) < 1e9:\n"
        "            self = .value(.integer(Int64(Double(bitPattern: bits))))\n"
        "        default: self = .value(value)\n")]),
    ("trust-in-names", SIMULATION, [(
        "Sync/Exchange/Intake.swift",
        "        try sidecar.write { access in\n            try access.files.wait(",
        "        if ABLATED { return try sidecar.write { try $0.files.nameCopy(name: file.name, size: file.size) } }\n"
        "        try sidecar.write { access in\n            try access.files.wait("), (
        "Sync/Sidecar/FileLedger.swift",
        '|| access.row("SELECT 1 FROM copy WHERE name = ? AND size = ?", [name, size]) != nil',
        '|| (ABLATED ? access.row("SELECT 1 FROM copy WHERE name = ?", [name])'
        ' : access.row("SELECT 1 FROM copy WHERE name = ? AND size = ?", [name, size])) != nil')]),
    ("fingerprint-without-separators", SIMULATION + "|LeafCaptureTests", [(
        "Stores/Leaves/LeafWalk.swift",
        "        guard let chains = overflow(of: page) else { return .strange }\n",
        "        guard let chains = overflow(of: page) else { return .strange }\n"
        "        var rowIDs = rowIDs\n"
        "        let count = page.bigEndian16(3)\n"
        "        if ABLATED, count > 0, let (_, first) = page.varint(page.bigEndian16(8)),\n"
        "            let (low, _) = page.varint(first),\n"
        "            let (_, last) = page.varint(page.bigEndian16(6 + 2 * count)),\n"
        "            let (high, _) = page.varint(last)\n"
        "        { rowIDs = low...high }\n")]),
    ("shadow-not-read-back", "TwoDevicesTests/otherTypes", [(
        # On top of "repairs-as-deltas".
        "Sync/Exchange/StoreExchange+Writing.swift",
        "step.intent(new: image == nil ? nil : ",
        "step.intent(new: image == nil ? nil : ABLATED ? step.new : "), (
        "Sync/View/StoreView.swift",
        "let taken = trial.taken(trial.filled(values, row, of: table), row.id, of: table)",
        "let filled = trial.filled(values, row, of: table)\n        let taken =\n            "
        "ABLATED ? filled.map { $0 ?? .null } : trial.taken(filled, row.id, of: table)")]),
    ("foreign-keys-on", SIMULATION, [(
        "Sync/Materialise/StoreConnection.swift",
        '"PRAGMA foreign_keys = OFF"',
        'ABLATED ? "PRAGMA foreign_keys = ON" : "PRAGMA foreign_keys = OFF"')]),
    ("triggers-on", SIMULATION, [(
        "Sync/Materialise/StoreConnection.swift",
        "csqlite_enable_triggers(handle, 0)", "csqlite_enable_triggers(handle, ABLATED ? 1 : 0)")]),
    ("checkpoint-on", SIMULATION, [(
        "Sync/Materialise/StoreConnection.swift",
        '"PRAGMA wal_autocheckpoint = 0"',
        'ABLATED ? "PRAGMA wal_autocheckpoint = 1" : "PRAGMA wal_autocheckpoint = 0"')]),
    ("view-without-parents", SIMULATION, [(
        "Sync/View/ViewPart.swift",
        "if case .row(let other)? = row.state.cell(name)?.value { try add(other) }",
        "if case .row(let other)? = row.state.cell(name)?.value, other.isZero || !ABLATED { try add(other) }")]),
    ("view-without-children", SIMULATION, [(
        "Sync/View/ViewPart+Growth.swift",
        "        try addChildren(of: gone, finder)\n",
        "        if !ABLATED { try addChildren(of: gone, finder) }\n")]),
    ("view-without-competitors", SIMULATION, [(
        "Sync/View/ViewPart+Growth.swift",
        "        try addCompetitors(view, mirror, finder)\n",
        "        if !ABLATED { try addCompetitors(view, mirror, finder) }\n")]),
    ("view-without-ties", SIMULATION, [(
        "Sync/View/ViewPart.swift",
        "        for dependant in try access.held.dependants(on: id) { try add(dependant) }\n",
        "        for dependant in try access.held.dependants(on: id) where !ABLATED { try add(dependant) }\n")]),
    ("own-file-check-off", "AccidentTests", [(
        "Sync/Accidents/StoreExchange+Identity.swift",
        "identity.isRolledBack = try await hasUnknownFiles(listing)",
        "identity.isRolledBack = try await hasUnknownFiles(listing) && !ABLATED")]),
    # Increments: the rules of what is written, and of what a reader believes.
    ("sectors-of-the-last-backup-only", INCREMENTS, [(
        "Operations/Backup/Increments/ChangeWriter.swift",
        "sectorSize > 0 ? Changes(since: plan.base,",
        "sectorSize > 0 ? Changes(since: ABLATED ? plan.number - 1 : plan.base,")]),
    ("removed-once-only", INCREMENTS, [(
        "Operations/Backup/Increments/ChangeWriter.swift",
        "let end = entry.gone, end > plan.base, entry.first <= plan.base",
        "let end = entry.gone, end > (ABLATED ? plan.number - 1 : plan.base),\n"
        "                entry.first <= plan.base")]),
    ("removed-in-its-last-life-only", INCREMENTS, [(
        "Operations/Backup/Increments/ChangeWriter.swift",
        "entry.first <= plan.base else",
        "(ABLATED ? entry.born : entry.first) <= plan.base else")]),
    ("attributes-of-the-last-backup-only", INCREMENTS, [(
        "Operations/Backup/Increments/ChangeWriter.swift",
        "        if entry.touched > plan.base {\n            let nothing",
        "        if entry.touched > (ABLATED ? plan.number - 1 : plan.base) {\n            let nothing")]),
    ("parents-that-are-gone", INCREMENTS, [(
        "Operations/Backup/Increments/LineagePlan.swift",
        "            guard let there = listed[backup.name.exact], there.size == backup.size,\n"
        "                there.damage == nil, numbers[backup.name.exact] == backup.number\n"
        "            else { continue }\n",
        "            let there = listed[backup.name.exact]\n"
        "            guard ABLATED || there?.size == backup.size && there?.damage == nil,\n"
        "                ABLATED || numbers[backup.name.exact] == backup.number\n"
        "            else { continue }\n")]),
    ("times-within-their-grain", INCREMENTS, [(
        "Operations/Backup/Increments/Standing.swift",
        "guard modified < limit, changed < limit else { return nil }",
        "guard ABLATED || (modified < limit && changed < limit) else { return nil }")]),
    ("change-time-ignored", INCREMENTS, [(
        "Operations/Backup/Increments/Standing.swift",
        "for number in [size, modified, changed] {",
        "for number in ABLATED ? [size, modified] : [size, modified, changed] {")]),
    ("stores-known-as-files", INCREMENTS, [(
        "Operations/Backup/BackupWriter.swift",
        '? before.map { "store \\($0)" } : nil,',
        '? before.map { ABLATED ? $0 : "store \\($0)" } : nil,')]),
    ("state-not-compared", INCREMENTS, [(
        "Backups/Increments/Assembly.swift",
        "guard tally.state.description == trailer.state else {",
        "guard tally.state.description == trailer.state || ABLATED else {")]),
    ("runs-anywhere", INCREMENTS, [(
        "Archives/Patches/Patch.swift",
        "guard offset >= UInt64(last?.end ?? 0), length > 0,",
        "guard ABLATED || offset >= UInt64(last?.end ?? 0), length > 0,")]),
    ("patches-of-links", INCREMENTS, [(
        "Backups/Increments/Assembly.swift",
        "guard base.entry.attributes.kind == .file else {",
        "guard base.entry.attributes.kind == .file || ABLATED else {")]),
]

# The switch, in the module that all others import.
SWITCH = """import Foundation

/// The safeguard that is taken away in this run, if any.
private let ablation = ProcessInfo.processInfo.environment["GROCERYDUDE_ABLATION"]

public func isAblated(_ name: String) -> Bool { ablation == name }
"""


def run(command, directory, environment=None):
    return subprocess.run(
        command, cwd=directory, env=os.environ | (environment or {}), text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def ablated():
    """Returns the sources with all ablations in them, by path below the checkout."""
    texts = {}
    for name, _, changes in ABLATIONS:
        for file, old, new in changes:
            path = f"Sources/{file}"
            if path not in texts:
                if not (ROOT / path).exists():
                    raise ValueError(f"{name}: there is no {path}")
                texts[path] = (ROOT / path).read_text()
            if texts[path].count(old) != 1:
                raise ValueError(f"{name}: {path} has {texts[path].count(old)} times: {old.strip()}")
            texts[path] = texts[path].replace(old, new.replace("ABLATED", f'isAblated("{name}")'))
    for path, text in texts.items():
        if not re.search(r"^(internal |public )?import Files$", text, re.MULTILINE):
            texts[path] = re.sub(r"^(?=(internal |public )?import )", "import Files\n", text, count=1, flags=re.MULTILINE)
            if texts[path] == text:
                texts[path] = "import Files\n\n" + text
    texts["Sources/Files/Ablation.swift"] = SWITCH
    return {path: text.encode() for path, text in texts.items()}


def copy(texts):
    """Returns a copy of the checkout as it is, uncommitted files and all, but for these texts."""
    target = ROOT / ".build" / "ablations"
    listed = run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], ROOT)
    names = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()} | set(texts)
    for name in names:
        source, file = ROOT / name, target / name
        content = texts.get(name) or source.read_bytes()
        file.parent.mkdir(parents=True, exist_ok=True)
        # What is as it was keeps its time, and is not built again.
        if not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)
            file.chmod(source.stat().st_mode if source.exists() else 0o644)
    for folder in ("Sources", "Tests"):
        for file in (target / folder).rglob("*"):
            if file.is_file() and str(file.relative_to(target)) not in names:
                file.unlink()
    return target


OPTIMIZED = ["-c", "release", "-Xswiftc", "-enable-testing"]


def build(directory):
    result = run(["swift", "build", *OPTIMIZED, "--build-tests"], directory)
    if result.returncode:
        lines = [line for line in result.stdout.splitlines() if "error:" in line]
        raise ValueError("it does not build: " + "\n".join(lines[:5]))


def tests(directory, filters, environment):
    """Runs tests; returns the number of failures, and the first of them."""
    result = run(["swift", "test", *OPTIMIZED, "--skip-build", "--filter", filters], directory, environment)
    if "Test run with 0 tests" in result.stdout:
        raise ValueError(f"no test is called {filters}")
    if not result.returncode:
        return 0, ""
    text = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    failed = [line for line in text.splitlines() if "recorded an issue" in line or "↳" in line]
    failed = [line for line in failed if "Version" not in line and "Platform" not in line]
    lost = [line for line in text.splitlines() if line.startswith("seed ") or "Fatal" in line]
    return max(1, len(failed)), " ".join((failed + lost)[:2])


def look(directory, name, filters, histories):
    """Runs the tests of an ablation, or of none; returns the number of failures, and the first of them."""
    first = 1
    while True:
        # A few histories first: most ablations are seen at once.
        here = min(20 if first == 1 else 100, histories + 1 - first) if SIMULATION in filters else histories
        count, text = tests(directory, filters, {
            "GROCERYDUDE_ABLATION": name, "GROCERYDUDE_SIMULATIONS": str(here),
            "GROCERYDUDE_SIMULATION_SEED": str(first)})
        first += here
        if count or first > histories:
            return count, text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--histories", type=int, default=300, help="simulated histories for each, at most")
    arguments = parser.parse_args()
    known = [name for name, _, _ in ABLATIONS]
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        parser.error(f"there is no ablation {unknown[0]}: there are {', '.join(known)}")
    directory = copy(ablated())
    build(directory)
    chosen = [a for a in ABLATIONS if not arguments.names or a[0] in arguments.names]
    for filters in sorted({filters for _, filters, _ in chosen}):
        count, text = look(directory, "none", filters, 20)
        if count:
            sys.exit(f"ablations: the tests fail as it is: {text}")
        print(f"with all safeguards {filters} pass", flush=True)
    failures = 0
    for name, filters, _ in chosen:
        start = time.monotonic()
        count, text = look(directory, name, filters, arguments.histories)
        failures += not count
        verdict = f"seen {count} times: {text}" if count else "NOT SEEN"
        print(f"{name}: {verdict[:300]} ({time.monotonic() - start:.0f} s)", flush=True)
    sys.exit(f"ablations: {failures} of {len(chosen)} were not seen" if failures else 0)


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"ablations: {error}")
