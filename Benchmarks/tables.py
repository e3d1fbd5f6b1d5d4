"""Turns results into Markdown."""

# What is to be reached: table, peer, measure, at most so many times the peer's.
TARGETS = [
    ("backup-mixed", "borg", "wall", 0.75),
    ("backup-mixed", "restic", "wall", 0.5),
    ("backup-mixed", "zip -9", "wall", 0.1),
    ("backup-mixed", "cp -r && sync", "wall", 1.7),
    ("backup-mixed", "zip -9", "size", 1.03),
    ("again", "borg", "wall", 1.0),
    ("again", "restic", "wall", 1.0),
    *[(f"bytes-{number}", "restic", "size", 0.15 if number == 6 else 0.06)
      for number in range(1, 8)],
    ("bytes-3", "borg, fixed 4096", "size", 0.3),
    ("hours", "restic", "size", 0.08),
    ("increment", "restic", "wall", 0.5),
    ("increment", "borg", "wall", 0.5),
    ("increment", "cp -r && sync", "wall", 1.0),
    ("nothing", "restic", "wall", 0.25),
    *[(f"one-of-many-{kind}", "restic", measure, limit) for kind in ("small", "crowded")
      for measure, limit in (("wall", 0.3), ("size", 0.01))],
    ("restore-mixed", "restic", "wall", 0.75),
    ("restore-mixed", "unzip", "wall", 0.5),
    ("restore-mixed", "cp -r && sync", "wall", 1.5),
    ("backup-encrypted", "grocerydude, plain", "wall", 1.25),
    ("backup-encrypted", "restic", "wall", 0.5),
    ("restore-encrypted", "grocerydude, plain", "wall", 1.25),
    ("restore-encrypted", "restic", "wall", 0.9),
    ("backup-small", "restic", "wall", 0.5),
    ("backup-small", "zip -6", "wall", 0.5),
    ("backup-small", "tar | zstd && sync", "wall", 1.0),
]
MEMORY_LIMIT = 64 << 20
LIST_LIMIT = 0.050


def grid(header, rows):
    lines = ["| " + " | ".join(header) + " |"]
    lines.append("| --- |" + " ---: |" * (len(header) - 1))
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def seconds(value):
    return f"{value * 1000:.1f} ms" if value < 0.1 else f"{value:.2f} s"


def mib(value):
    return f"{value / (1 << 20):.1f}"


def size_text(value):
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= step:
            return f"{value / step:.4g} {unit}"
    return f"{value} B"


def comparison(table, undone, is_restore):
    """One scenario: medians, and grocerydude's time as a ratio of each one's."""
    ours = table["peers"]["grocerydude"]
    header = ["", "wall", "least–most", "ours ÷ its", "processor", "peak MiB"]
    header += [] if is_restore else ["output MB", "ours ÷ its"]
    header += ["rounds", "leaves undone"]
    rows = []
    for name, found in table["peers"].items():
        row = [
            code(restore_name(name) if is_restore else name), seconds(found["wall"]),
            f"{found['wall_least']:.2f}–{found['wall_most']:.2f}",
            f"{ours['wall'] / found['wall']:.2f}", seconds(found["cpu"]), mib(found["memory"]),
        ]
        if not is_restore:
            ratio = ours["size"] / found["size"] if found["size"] else 0
            row += [f"{found['size'] / 1e6:.1f}", f"{ratio:.2f}"]
        rows.append([*row, str(found["runs"]), undone.get(name, "")])
    data = table["data"]
    title = f"### {table['title']}\n\n{size_text(data['bytes'])} in {data['files']:,} files.\n\n"
    return title + grid(header, rows)


def code(text):
    return "`" + text.replace("|", "\\|") + "`"


def restore_name(name):
    return {"zip -6": "unzip"}.get(name, name)


def check_targets(results):
    """What was asked for against what was measured; also goes into the JSON."""
    tables = {table["id"]: table for table in results["tables"]}
    found = []
    for identifier, peer, key, limit in TARGETS:
        table = tables.get(identifier)
        name = "zip -6" if peer == "unzip" else peer
        if not table or name not in table["peers"]:
            continue
        ours, theirs = table["peers"]["grocerydude"][key], table["peers"][name][key]
        what = table["title"] + (", size" if key == "size" else "")
        found.append({"what": what, "against": peer, "limit": limit, "ratio": ours / theirs,
                      "met": ours / theirs <= limit})
    peaks = [table["peers"]["grocerydude"]["memory_most"] for table in results["tables"]]
    for rows in results.get("scaling", {}).values():
        for row in rows:
            peaks += [row[name]["grocerydude"]["memory_most"] for name in ("backup", "restore")]
    if peaks:
        found.append({"what": "Peak memory at any size", "against": "64 MiB", "limit": 1,
                      "ratio": max(peaks) / MEMORY_LIMIT, "met": max(peaks) <= MEMORY_LIMIT})
    figures = [results.get(name, {}) for name in ("encrypting", "chain", "looking", "syncing")]
    for title, entry in [item for group in figures for item in group.items()]:
        ratio = entry["ours"] / entry["theirs"]
        found.append({"what": title[0].upper() + title[1:], "against": entry["against"],
                      "limit": entry["limit"], "ratio": ratio, "met": ratio <= entry["limit"]})
    uploads = results.get("upload", {})
    for title, runs in uploads.items():
        if title.startswith("backup through"):
            parts = uploads["backup, local"]["wall"] + uploads["rclone copyto"]["wall"]
            ratio = runs["wall"] / parts
            found.append({"what": title[0].upper() + title[1:],
                          "against": "local backup + rclone copyto", "limit": 1.2,
                          "ratio": ratio, "met": ratio <= 1.2})
    for title, runs in results.get("instant", {}).items():
        if title.startswith("list"):
            found.append({"what": title, "against": "50 ms", "limit": 1,
                          "ratio": runs["wall"] / LIST_LIMIT, "met": runs["wall"] <= LIST_LIMIT})
    return found


def targets(found):
    rows = [
        [item["what"], item["against"], f"{item['limit']:g}",
         f"{item['ratio']:.2f}" if item["limit"] > 0.001 else f"{item['ratio']:.1e}",
         "yes" if item["met"] else "**no**"]
        for item in found
    ]
    return grid(["", "against", "at most", "measured", "met"], rows)


def growth(rows, is_count):
    header = ["data", "files", "backup", "÷ copy", "peak MiB", "restore", "÷ copy", "peak MiB"]
    lines = []
    for row in rows:
        line = [size_text(row["data"]["bytes"]), f"{row['data']['files']:,}"]
        for name in ("backup", "restore"):
            ours = row[name]["grocerydude"]
            copy = next(found for peer, found in row[name].items() if peer != "grocerydude")
            line += [seconds(ours["wall"]), f"{ours['wall'] / copy['wall']:.2f}",
                     mib(ours["memory_most"])]
        lines.append(line)
    return grid(header, lines)


def instant(found):
    rows = [
        [title, seconds(runs["wall"]), f"{seconds(runs['wall_least'])}–{seconds(runs['wall_most'])}",
         mib(runs["memory"]), str(runs["runs"])]
        for title, runs in found.items()
    ]
    return grid(["", "wall", "least–most", "peak MiB", "runs"], rows)


def durability(found):
    def text(entry):
        calls = {name: count for name, count in entry["calls"].items() if name != "sync_file_range"}
        return ", ".join(f"{count} {name}" for name, count in calls.items()) or "none"

    rows = [[code(name), text(entry["backup"]), text(entry["restore"])]
            for name, entry in found.items()]
    return grid(["", "flushes in a backup", "flushes in a restore"], rows)


def profiles(found):
    parts = []
    for title, entry in found.items():
        rows = [[name, f"{value:.2f}"] for name, value in entry["stages"].items() if value >= 0.005]
        waits = entry.get("syncs")
        if waits:
            calls = ", ".join(f"{count} {name}" for name, count in waits["calls"].items()
                              if name != "sync_file_range")
            rows.append([f"waiting for the disk ({calls})", f"{waits['seconds']:.2f}"])
        rows.append(["**wall, without perf**", f"{entry['wall']:.2f}"])
        text = f"#### {title[0].upper()}{title[1:]}\n\n" + grid(["stage", "seconds"], rows)
        lines = [
            f"- {thread['from']:.2f}–{thread['to']:.2f} s: "
            + ", ".join(f"{name} {value:.2f}" for name, value in thread["stages"].items()
                        if value >= 0.005)
            for thread in sorted(entry["threads"], key=lambda thread: thread["from"])
        ]
        parts.append(text + "\n\nThreads, from first to last sample:\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def markdown(results):
    """All tables."""
    undone = results["undone"]
    parts = []
    if results["targets"]:
        parts.append("### Targets\n\n" + targets(results["targets"]))
    for table in results["tables"]:
        parts.append(comparison(table, undone, table["id"].startswith("restore")))
    if "instant" in results:
        parts.append("### Instant\n\n" + instant(results["instant"]))
    if results.get("upload"):
        parts.append("### Upload\n\n" + instant(results["upload"]))
    for kind, rows in results.get("scaling", {}).items():
        parts.append(f"### Growth: {kind}\n\n" + growth(rows, kind == "small"))
    if results.get("durability"):
        parts.append("### Who flushes\n\n" + durability(results["durability"]))
    if results.get("profiles"):
        parts.append("### Where the time goes\n\n" + profiles(results["profiles"]))
    machine = "\n".join(f"- {name}: {value}" for name, value in results["machine"].items())
    parts.append("### Machine\n\n" + machine)
    return "\n\n".join(parts) + "\n"
