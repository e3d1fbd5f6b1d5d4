#!/usr/bin/env python3
"""Asks restic which snapshots it keeps: makes retention.json. Takes some minutes.

Each zone has one repository of empty snapshots at the zone's local times (restic backup --time), and
each policy is asked for with restic forget --dry-run --json.
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Auckland"]

# Ends of years, of ISO weeks, of months; both changes of the clocks in three zones; several in an hour.
TIMES = """
2024-12-30 00:30:00, 2024-12-31 23:59:59, 2025-01-01 00:00:00 a, 2025-01-05 23:59:59, 2025-01-06 00:00:00,
2025-02-28 12:00:00 a b, 2025-03-09 01:59:59, 2025-03-09 03:00:01, 2025-03-30 01:59:59, 2025-03-30 03:00:01,
2025-03-31 00:10:00, 2025-04-06 02:30:00 b, 2025-04-06 03:30:00, 2025-05-31 08:00:00, 2025-06-30 08:00:00,
2025-09-28 01:59:59, 2025-09-28 03:00:01, 2025-10-26 00:30:00, 2025-10-26 02:30:00, 2025-10-26 03:30:00,
2025-10-31 22:00:00 keep, 2025-11-02 00:30:00, 2025-11-02 02:30:00, 2025-11-30 23:10:00, 2025-11-30 23:50:00,
2025-12-01 00:05:00, 2025-12-28 12:00:00, 2025-12-29 12:00:00, 2025-12-31 23:00:00, 2025-12-31 23:30:00
"""

POLICIES = [
    "--keep-last 1", "--keep-last 4", "--keep-hourly 3", "--keep-hourly 28", "--keep-daily 5",
    "--keep-daily 100", "--keep-weekly 4", "--keep-weekly 60", "--keep-monthly 3", "--keep-monthly 12",
    "--keep-yearly 1", "--keep-yearly 2", "--keep-yearly 10",
    "--keep-last 2 --keep-daily 3 --keep-weekly 2 --keep-monthly 4 --keep-yearly 1",
    "--keep-within 1h", "--keep-within 3d", "--keep-within 1m", "--keep-within 2m", "--keep-within 10m1d",
    "--keep-within 1y", "--keep-within 1y1d", "--keep-within 59d23h", "--keep-within 7m5d3h",
    "--keep-within-hourly 2d", "--keep-within-daily 2m", "--keep-within-weekly 3m",
    "--keep-within-monthly 10m", "--keep-within-yearly 11m",
    "--keep-tag a", "--keep-tag a,b", "--keep-tag a --keep-tag keep", "--keep-tag a --keep-last 1",
]


def entries():
    for text in TIMES.replace("\n", " ").split(","):
        day, time, *tags = text.split()
        yield f"{day} {time}", tags


def restic(repository, zone, *arguments):
    environment = dict(os.environ, RESTIC_REPOSITORY=repository, RESTIC_PASSWORD="retention", TZ=zone)
    return subprocess.run(["restic", "-q", "--no-cache", *arguments], env=environment, check=True,
                          capture_output=True, text=True).stdout


def seconds(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def cases(directory, zone):
    repository = os.path.join(directory, zone.replace("/", "-"))
    restic(repository, zone, "init")
    empty = os.path.join(directory, "empty")
    os.makedirs(empty, exist_ok=True)
    for time, tags in entries():
        restic(repository, zone, "backup", empty, "--time", time, *[f"--tag={tag}" for tag in tags])
    snapshots = json.loads(restic(repository, zone, "snapshots", "--json"))
    moments = []
    for snapshot in snapshots:
        moment = datetime.datetime.fromisoformat(snapshot["time"].replace("Z", "+00:00"))
        moments.append({"time": snapshot["time"], "offset": int(moment.utcoffset().total_seconds()),
                        "tags": snapshot.get("tags") or []})
    policies = []
    for policy in POLICIES:
        group = json.loads(restic(repository, zone, "forget", "--dry-run", "--json", *policy.split()))[0]
        reasons = {reason["snapshot"]["time"]: reason["matches"] for reason in group["reasons"] or []}
        policies.append({"policy": policy, "keep": [
            {"time": time, "reasons": matches} for time, matches in reasons.items()
        ]})
    return {"zone": zone, "moments": moments, "policies": policies}


def lines(zone):
    """A zone with a line for each moment and each policy."""
    moments = ",\n".join("  " + json.dumps(moment) for moment in zone["moments"])
    policies = ",\n".join("  " + json.dumps(policy) for policy in zone["policies"])
    return f'{{"zone": {json.dumps(zone["zone"])},\n "moments": [\n{moments}\n ],\n "policies": [\n{policies}\n ]}}'


def main():
    with tempfile.TemporaryDirectory() as directory:
        found = []
        for zone in ZONES:
            print(zone, file=sys.stderr)
            found.append(cases(directory, zone))
    version = subprocess.run(["restic", "version"], capture_output=True, text=True, check=True).stdout.split()[1]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "retention.json")
    with open(path, "w") as file:
        file.write(f'{{"restic": {json.dumps(version)}, "zones": [\n')
        file.write(",\n".join(map(lines, found)))
        file.write("\n]}\n")


main()
