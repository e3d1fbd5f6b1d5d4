"""The programs that are compared: how each makes a backup, makes another one, and restores."""

import os
import re
import subprocess


def environment(home):
    """What every command gets: a home of its own, and nothing of the user's settings."""
    return {
        "HOME": home,
        "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TMPDIR": home,
        "RESTIC_PASSWORD": "benchmark",
        "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
        "BORG_RELOCATED_REPO_ACCESS_IS_OK": "yes",
    }


class Peer:
    """A program; the paths it gets are absolute.

    `out` is a directory that is there and empty before the first backup. `stores` is the
    directory `Stores` that is backed up; programs that keep relative paths run beside it.
    """

    name = ""
    undone = ""
    keeps_history = False
    slow = False
    version_command = []
    restore_name = ""

    @property
    def slug(self):
        """The name as a file name."""
        return re.sub(r"\W+", "-", self.name).strip("-")

    def prepare(self, out, home):
        """What a user does once, before the first backup; not measured."""

    def backup(self, stores, out, number):
        """The command that makes a backup, the first one with number 0."""
        raise NotImplementedError

    def restore(self, out, target, number):
        """The command that restores the latest backup, which has that number, to `target`: it is
        not there yet, but its parent is."""
        raise NotImplementedError

    def version(self):
        """What the program says that it is, in a line."""
        done = subprocess.run(self.version_command, capture_output=True, text=True, check=False)
        lines = [line.strip() for line in done.stdout.splitlines() if re.search(r"\d\.\d", line)]
        return lines[0] if lines else "?"


class GroceryDude(Peer):
    """The program that is benchmarked."""

    name = "grocerydude"
    undone = "-"
    keeps_history = True

    def __init__(self, binary):
        self.binary = os.path.abspath(binary)
        self.version_command = [self.binary, "--version"]

    def backup(self, stores, out, number):
        return [self.binary, "backup", "--stores", stores, "--remote", out, "--quiet"]

    def restore(self, out, target, number):
        return [self.binary, "restore", "latest", "--remote", out, "--target", target, "--quiet"]


class Plain(GroceryDude):
    """The same without encryption, beside the one that encrypts."""

    name = "grocerydude, plain"
    undone = "no encryption"


class Encrypted(GroceryDude):
    """The program, with archives that only the holder of a key reads."""

    recipient = ""

    def prepare(self, out, home):
        key = [self.binary, "key", "generate", "--output", home + "/identity.txt"]
        self.recipient = subprocess.run(key, env=environment(home), check=True, text=True,
                                        capture_output=True).stdout.strip()

    def backup(self, stores, out, number):
        return super().backup(stores, out, number) + ["--recipient", self.recipient]

    def restore(self, out, target, number):
        # The home directory of its backups.
        return shell('exec "$@" --identity "$HOME/identity.txt"',
                     *super().restore(out, target, number))


def shell(script, *arguments):
    """A command of the shell; the arguments are `$1`, `$2`, …"""
    return ["bash", "-c", "set -e -o pipefail; " + script, "bash", *arguments]


class Copy(Peer):
    name = "cp -r && sync"
    undone = "torn copy of a live store; no check of anything; no compression"
    version_command = ["cp", "--version"]

    def backup(self, stores, out, number):
        return shell('cp -r "$1" "$2/" && sync', stores, out)

    def restore(self, out, target, number):
        return shell('cp -r "$1/Stores" "$2" && sync', out, target)


class Zip(Peer):
    version_command = ["zip", "-v"]
    restore_name = "unzip"

    def __init__(self, level):
        self.level = level
        self.name = f"zip -{level}"
        self.slow = level > 6
        self.undone = "torn copy of a live store; CRC-32 only; no sync"

    def backup(self, stores, out, number):
        return shell(f'cd "$1" && zip -qr -{self.level} "$2/a.zip" Stores',
                     os.path.dirname(stores), out)

    def restore(self, out, target, number):
        return ["unzip", "-q", out + "/a.zip", "-d", target]


class SevenZip(Peer):
    name = "7z"
    undone = "torn copy of a live store; CRC-32 only; no owners; no sync"
    slow = True
    version_command = ["7z"]

    def backup(self, stores, out, number):
        return shell('cd "$1" && 7z a -bd -bso0 -bsp0 "$2/a.7z" Stores', os.path.dirname(stores),
                     out)

    def restore(self, out, target, number):
        return ["7z", "x", "-bd", "-bso0", "-bsp0", "-o" + target, out + "/a.7z"]


class TarZstd(Peer):
    name = "tar | zstd && sync"
    undone = "torn copy of a live store; 64-bit checksum of the whole only"
    version_command = ["zstd", "--version"]

    def backup(self, stores, out, number):
        return shell('tar -C "$1" -cf - Stores | zstd -q -o "$2/a.tar.zst" && sync',
                     os.path.dirname(stores), out)

    def restore(self, out, target, number):
        return shell('mkdir "$2" && zstd -qdc "$1/a.tar.zst" | tar -C "$2" -xf - && sync', out,
                     target)


class Borg(Peer):
    name = "borg"
    undone = "torn copy of a live store; restores are not synced, stores not checked"
    keeps_history = True
    version_command = ["borg", "--version"]

    def prepare(self, out, home):
        subprocess.run(["borg", "init", "--encryption", "none", out], env=environment(home),
                       check=True, capture_output=True)

    def backup(self, stores, out, number):
        return shell('cd "$1" && borg create "$2" Stores', os.path.dirname(stores),
                     f"{out}::{number}")

    def restore(self, out, target, number):
        return shell('mkdir "$2" && cd "$2" && borg extract "$1"', f"{out}::{number}", target)


class Restic(Peer):
    name = "restic"
    undone = "torn copy of a live store; restores are not synced, stores not checked"
    keeps_history = True
    version_command = ["restic", "version"]

    def prepare(self, out, home):
        subprocess.run(["restic", "-q", "-r", out, "init"], env=environment(home), check=True,
                       capture_output=True)

    def backup(self, stores, out, number):
        return shell('cd "$1" && restic -q -r "$2" backup Stores', os.path.dirname(stores), out)

    def restore(self, out, target, number):
        return ["restic", "-q", "-r", out, "restore", "latest", "--target", target]


def everyone(binary):
    """All programs, in the order in which they run."""
    return [
        GroceryDude(binary), Copy(), TarZstd(), Borg(), Restic(), Zip(6), Zip(9), SevenZip(),
    ]
