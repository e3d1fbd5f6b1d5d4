#!/usr/bin/env python3
"""Makes the fixtures; see README.md for what they are.

    Fixtures/make.py                      archives/ (but for format 1), hostile/ and stores/
    Fixtures/make.py --format-1 PROGRAM   archives/format-1*, with that grocerydude, and nothing else

Needs Python 3.9 or later, and the programs zip, 7z and bsdtar. Run it only to add to the fixtures:
the archives of format 1 represent all that users have, and are never made again.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path
from urllib.parse import quote_from_bytes

HERE = Path(__file__).resolve().parent
MANIFEST = b".grocerydude/manifest.json"
# 2020-02-29 12:34:56 UTC: an even second, which MS-DOS times can say.
TIME = 1_582_979_696


# Trees


def looks_random(seed, length, period=2_003):
    """Bytes that look random, and repeat so that they do not fill the repository."""
    tile = random.Random(seed).randbytes(period)
    return (tile * (length // period + 1))[:length]


def make_store(path, items=(("Apples", 3), ("Käse", 1), ("Oat milk", 2))):
    """A store in WAL mode at rest: closed, so that there is no log."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = wal")
    database.execute("PRAGMA user_version = 7")
    database.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, quantity INTEGER)")
    database.executemany("INSERT INTO item (name, quantity) VALUES (?, ?)", items)
    database.commit()
    database.close()


def make_tree(root):
    """What all archives hold."""
    (root / "nested" / "deeper").mkdir(parents=True)
    (root / "empty").mkdir()
    make_store(root / "groceries.sqlite")
    (root / "notes.txt").write_text("buy milk\nand bread\n" * 40)
    (root / "photo.bin").write_bytes(looks_random(1, 200_000))
    (root / "nested" / "deeper" / "list.txt").write_text("eggs\n")
    (root / "Käse.txt").write_text("Gouda\n", encoding="utf-8")
    (root / "current").symlink_to("nested/deeper/list.txt")
    (root / "notes.txt").chmod(0o640)
    settle(root)


def settle(root, nanoseconds=0):
    """Gives everything below a directory one time, and a mode that no umask decides."""
    for folder, folders, files in os.walk(os.fsencode(root), topdown=False):
        for name in files + folders:
            path = os.path.join(folder, name)
            os.utime(path, ns=(TIME * 10**9 + nanoseconds,) * 2, follow_symlinks=False)
            if not os.path.islink(path) and os.stat(path).st_mode & 0o777 in (0o644, 0o664, 0o600):
                os.chmod(path, 0o644)
            elif os.path.isdir(path) and os.stat(path).st_mode & 0o777 in (0o755, 0o775, 0o700):
                os.chmod(path, 0o755)


def write_listing(root, path):
    """A line for each name: kind, mode, bytes, nanoseconds, SHA-256 or target, and path.

    Targets and paths have all bytes but letters, digits and `/._-` percent-encoded.
    """
    root = os.fsencode(root)
    lines = []
    for folder, folders, files in os.walk(root):
        for name in files + folders:
            full = os.path.join(folder, name)
            info = os.lstat(full)
            kind, size, detail = "directory", 0, "-"
            if os.path.islink(full):
                kind, detail = "link", encode(os.readlink(full))
            elif os.path.isfile(full):
                data = Path(os.fsdecode(full)).read_bytes()
                kind, size, detail = "file", len(data), hashlib.sha256(data).hexdigest()
            relative = encode(os.path.relpath(full, root))
            mode = f"{info.st_mode & 0o7777:04o}"
            lines.append(f"{kind} {mode} {size} {info.st_mtime_ns} {detail} {relative}\n")
    path.write_text("".join(sorted(lines)))


def encode(data):
    return quote_from_bytes(data, safe="/").replace("~", "%7E")


# archives/


def make_archives(folder, scratch):
    folder.mkdir(exist_ok=True)
    tree = scratch / "tree"
    make_tree(tree)
    write_listing(tree, folder / "tree.txt")
    environment = dict(os.environ, TZ="UTC", LC_ALL="C.UTF-8")

    def pack(name, *command):
        archive = folder / name
        archive.unlink(missing_ok=True)
        subprocess.run(
            [*command[:-1], str(archive), command[-1]],
            cwd=tree,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    pack("Info-ZIP.zip", "zip", "-qry", ".")
    pack("7-Zip.zip", "7z", "a", "-bso0", "-tzip", "-snl", ".")
    pack("bsdtar.zip", "bsdtar", "--format", "zip", "-cf", ".")
    for name, method in [("deflated", zipfile.ZIP_DEFLATED), ("bzip2", zipfile.ZIP_BZIP2)]:
        with zipfile.ZipFile(folder / f"zipfile {name}.zip", "w", method) as archive:
            for path in sorted(tree.rglob("*")):
                relative = path.relative_to(tree).as_posix()
                if path.is_symlink():
                    info = zipfile.ZipInfo(relative, (2020, 2, 29, 12, 34, 56))
                    info.create_system = 3
                    info.external_attr = 0o120777 << 16
                    archive.writestr(info, os.readlink(path))
                else:
                    archive.write(path, relative)


def make_format_1(folder, scratch, program):
    """The archives that have to stay readable for ever."""
    tree = scratch / "tree"
    make_tree(tree)
    # Three segments, the last of which does not become smaller; and a file that is stored.
    large = bytes(1 << 20) + b"milk " * ((1 << 20) // 5) + random.Random(3).randbytes(300)
    (tree / "nested" / "large.bin").write_bytes(large)
    (tree / "photo.bin").write_bytes(looks_random(1, 200_000, period=61))
    (tree / "nested" / "noise.bin").write_bytes(random.Random(4).randbytes(100))
    (tree / "nothing").write_bytes(b"")
    (tree / ".hidden").write_text("hidden\n")
    (tree / "nowhere").symlink_to("../Stores/no such file")
    (tree / "run.sh").write_text("#!/bin/sh\n")
    (tree / "run.sh").chmod(0o755)
    (tree / "secret.txt").write_text("secret\n")
    (tree / "read-only").mkdir()
    (tree / "read-only" / "file").write_text("read me\n")
    settle(tree, nanoseconds=123_456_789)
    (tree / "secret.txt").chmod(0o400)
    (tree / "read-only").chmod(0o555)
    os.utime(tree / "nothing", ns=(-1_500_000_000, -1_500_000_000))
    back_up(program, tree, folder / "format-1 Stores.zip")
    write_listing(tree, folder / "format-1.txt")

    names = scratch / "names"
    names.mkdir()
    for name in [b"caf\xe9", b"line\nbreak", b"back\\slash", b'"quoted"', b"Case", b"case", b" "]:
        Path(os.fsdecode(os.path.join(os.fsencode(names), name))).write_bytes(name)
    os.symlink(b"caf\xe9", os.path.join(os.fsencode(names), b"link \xff"))
    settle(names, nanoseconds=1)
    back_up(program, names, folder / "format-1 names Stores.zip")
    write_listing(names, folder / "format-1 names.txt")


def back_up(program, tree, archive):
    if archive.exists():
        sys.exit(f"{archive} is there already, and has to stay as it is")
    with tempfile.TemporaryDirectory() as remote:
        tree.chmod(0o750)
        subprocess.run(
            [program, "backup", "--stores", str(tree), "--remote", remote],
            env=dict(os.environ, TZ="Europe/Berlin", HOME=remote),
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (made,) = Path(remote).glob("*Stores.zip")
        shutil.copyfile(made, archive)


# hostile/


class Entry:
    """A zip entry, every field of which can lie."""

    def __init__(self, name, content=b"", method=0, **fields):
        self.name = name if isinstance(name, bytes) else name.encode()
        self.local_name = self.name
        self.method = method
        self.data = deflate(content) if method == 8 else content
        self.crc = zlib.crc32(content)
        self.size = len(content)
        self.host = 3
        self.mode = 0o100644
        self.flags = 0
        self.extra = b""
        self.offset = None
        if "data" in fields:
            self.data = fields.pop("data")
        self.packed_size = len(self.data)
        for field, value in fields.items():
            assert hasattr(self, field)
            setattr(self, field, value)

    def common(self):
        # 2020-02-29 12:34:56
        return struct.pack(
            "<HHHHHIII",
            45 if self.extra else 20,
            self.flags,
            self.method,
            12 << 11 | 34 << 5 | 56 // 2,
            40 << 9 | 2 << 5 | 29,
            self.crc,
            self.packed_size,
            self.size,
        )

    def local(self):
        lengths = struct.pack("<HH", len(self.local_name), 0)
        return b"PK\3\4" + self.common() + lengths + self.local_name + self.data

    def central(self, offset):
        offset = offset if self.offset is None else self.offset
        return (
            b"PK\1\2"
            + struct.pack("<H", self.host << 8 | 45)
            + self.common()
            + struct.pack("<HHHHHII", len(self.name), len(self.extra), 0, 0, 0, self.mode << 16, offset)
            + self.name
            + self.extra
        )


def deflate(data):
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(data) + stream.flush()


def link(name, target):
    return Entry(name, target.encode(), mode=0o120777)


def wide(size):
    """The 64-bit size of an entry whose 32-bit one is 0xFFFFFFFF."""
    return struct.pack("<HHQ", 1, 8, size)


def build(*entries):
    archive = b""
    directory = b""
    for entry in entries:
        directory += entry.central(len(archive))
        archive += entry.local()
    return archive + directory + end_record(len(entries), len(directory), len(archive))


def end_record(count, size, offset):
    return struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, size, offset, 0)


def make_hostile(folder, scratch, format_1):
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.zip"):
        old.unlink()
    text = b"milk and eggs\n" * 100
    good = Entry("good.txt", text, 8)
    plain = build(good)
    kilobyte = deflate(bytes(1_000_000))[:1000]
    crafted = {
        # Names that leave the directory.
        "traversal": build(good, Entry("../canary", b"evil")),
        "traversal-inside": build(good, Entry("a/../../canary", b"evil")),
        "traversal-directory": build(good, Entry("../directory/", mode=0o040755)),
        "absolute": build(good, Entry("/tmp/grocerydude-evil", b"evil")),
        "backslash-dos": build(good, Entry(b"..\\canary", b"evil", host=0)),
        "backslash-unix": build(good, Entry(b"..\\canary", b"evil", host=3)),
        "backslash-absolute": build(good, Entry(b"\\canary", b"evil", host=0)),
        "local-name-traversal": build(Entry("canary", b"evil", local_name=b"../can")),
        "link-through": build(link("out", ".."), Entry("out/canary", b"evil")),
        "link-through-absolute": build(link("out", "/tmp"), Entry("out/grocerydude-evil", b"evil")),
        "link-through-later": build(Entry("out/canary", b"evil"), link("out", "..")),
        "link-as-directory": build(link("out", ".."), Entry("out/", mode=0o040755)),
        "link-to-file": build(link("file", "../canary"), Entry("file", b"evil")),
        # Names that are not one file.
        "duplicate": build(Entry("same", b"one"), Entry("same", b"two")),
        "duplicate-dot": build(Entry("same", b"one"), Entry("./same", b"two")),
        "file-and-directory": build(Entry("same", b"one"), Entry("same/", mode=0o040755)),
        "file-as-directory": build(Entry("same", b"one"), Entry("same/two", b"two")),
        "case": build(Entry("Readme", b"one"), Entry("README", b"two")),
        "case-directory": build(
            Entry("Notes/", mode=0o040755), Entry("notes/", mode=0o040755)
        ),
        "case-umlaut": build(
            Entry("Käse", b"one", flags=0x800), Entry("KÄSE", b"two", flags=0x800)
        ),
        "nul": build(good, Entry(b"safe.txt\0.exe", b"evil")),
        "no-name": build(good, Entry(b"", b"evil")),
        "dot": build(good, Entry(b"a/./b", b"evil")),
        "double-slash": build(good, Entry(b"a//b", b"evil")),
        "deep": build(good, Entry(b"a/" * 200 + b"b", b"evil")),
        # Structure and data.
        "overlap": build(good, Entry("other.txt", text, 8, local_name=b"good.txt", offset=0)),
        "crc": build(good, Entry("bad.txt", text, 8, crc=1)),
        "crc-stored": build(Entry("bad.txt", text, crc=1)),
        "crc-store": build(Entry("a.sqlite", b"SQLite format 3\0" + bytes(4080), crc=1)),
        "size-smaller": build(Entry("bad.txt", text, 8, size=10)),
        "size-larger": build(Entry("bad.txt", text, 8, size=len(text) + 1)),
        "size-smaller-stored": build(Entry("bad.txt", text, size=10)),
        "size-larger-stored": build(Entry("bad.txt", text, size=len(text) + 1)),
        "behind-data": build(
            Entry("bad.txt", text, 8, data=deflate(text) + b"evil")
        ),
        "deflate-broken": build(
            Entry("bad.txt", text, 8, data=b"\xff" * 50)
        ),
        "deflate-cut": build(
            Entry("bad.txt", text, 8, data=deflate(text)[:-6])
        ),
        "method": build(Entry("bad.txt", text, method=77)),
        "truncated": plain[: len(plain) // 2],
        "truncated-end": plain[:-5],
        "beginning-missing": plain[20:],
        "bytes-behind": plain + b"evil",
        "no-end": plain[:-22],
        "count-larger": plain[:-22] + end_record(9, len(plain) - 22 - len(good.local()), len(good.local())),
        "count-zero": plain[:-22] + end_record(0, len(plain) - 22 - len(good.local()), len(good.local())),
        "directory-outside": plain[:-22] + end_record(1, 56, 0x7FFFFFFF),
        "no-entries": end_record(0, 0, 0),
        "empty": b"",
        "not-a-zip": text,
        "zip64-huge": build(Entry("huge", text, 8, size=0xFFFFFFFF, extra=wide(2**63 - 1))),
        "zip64-beyond": build(Entry("huge", text, 8, size=0xFFFFFFFF, extra=wide(2**64 - 1))),
        "zip64-sum": build(
            *(Entry(f"huge{n}", text, 8, size=0xFFFFFFFF, extra=wide(2**62)) for n in range(3))
        ),
        "zip64-missing": build(Entry("huge", text, 8, size=0xFFFFFFFF)),
        # More than it looks like.
        "bomb-10-gb": build(
            Entry("zeros", b"", 8, data=kilobyte, size=0xFFFFFFFF, extra=wide(10**10))
        ),
        "bomb-bzip2": bzip2_bomb(scratch),
        "link-huge": build(link("out", "a" * 5000)),
        "link-empty": build(link("out", "")),
        "link-nul": build(link("out", "a\0b")),
    }
    for name, data in crafted.items():
        (folder / f"{name}.zip").write_bytes(data)
    make_encrypted(folder, scratch)
    for name, data in lies(format_1.read_bytes()).items():
        (folder / f"{name}.zip").write_bytes(data)


def bzip2_bomb(scratch):
    """Holds 200 MB in less than a kilobyte, and declares 10 bytes."""
    path = scratch / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        info = zipfile.ZipInfo("zeros", (2020, 2, 29, 12, 34, 56))
        info.compress_type = zipfile.ZIP_BZIP2
        with archive.open(info, "w") as entry:
            for _ in range(200):
                entry.write(bytes(1_000_000))
    with zipfile.ZipFile(path) as archive:
        (info,) = archive.infolist()
    start = info.header_offset + 30 + len("zeros")
    data = path.read_bytes()[start : start + info.compress_size]
    return build(Entry("zeros", b"", 12, data=data, size=10, crc=info.CRC))


def make_encrypted(folder, scratch):
    (scratch / "secret.txt").write_text("secret\n" * 20)
    for name, command in [
        ("encrypted", ["zip", "-q", "-X", "-P", "password"]),
        ("encrypted-aes", ["7z", "a", "-bso0", "-tzip", "-ppassword", "-mem=AES256"]),
    ]:
        subprocess.run(
            [*command, str(folder / f"{name}.zip"), "secret.txt"],
            cwd=scratch,
            check=True,
            stdout=subprocess.DEVNULL,
        )


def lies(archive):
    """The archive of format 1 with manifests that contradict it; each is named for its lie."""
    header, *records, trailer = manifest_of(archive).decode().splitlines()
    records = [json.loads(record.rstrip(",")) for record in records]
    place = {record["path"]: index for index, record in enumerate(records)}
    large, photo = place["nested/large.bin"], place["photo.bin"]
    link, directory = place["current"], place["empty"]

    def with_records(change):
        changed = json.loads(json.dumps(records))
        change(changed)
        return with_text(header, changed, trailer)

    def with_text(header, records, trailer, end="\n"):
        lines = [json.dumps(record, separators=(",", ":")) for record in records]
        text = "\n".join([header, *(line + "," for line in lines[:-1]), lines[-1], trailer]) + end
        return with_manifest(archive, text.encode())

    def with_field(index, field, value):
        return with_records(lambda records: records[index].update({field: value}))

    def with_segments(index, change):
        return with_records(lambda records: change(records[index]["segments"]))

    def swap(items, first, second):
        items[first], items[second] = items[second], items[first]

    def shift(segments):
        segments[0][1] += 1
        segments[1][1] -= 1

    other = hashlib.sha256(b"evil").hexdigest()
    return {
        "lie-segment-missing": with_segments(large, lambda s: s.pop()),
        "lie-segment-added": with_segments(large, lambda s: s.append([other, 0])),
        "lie-segment-huge": with_segments(photo, lambda s: s[0].__setitem__(1, 2**40)),
        "lie-segment-negative": with_segments(photo, lambda s: s[0].__setitem__(1, -1)),
        "lie-segment-lengths": with_segments(large, shift),
        "lie-segment-order": with_segments(large, lambda s: swap(s, 0, 1)),
        "lie-segments-none": with_field(photo, "segments", []),
        "lie-digest": with_segments(photo, lambda s: s[0].__setitem__(0, other)),
        "lie-digest-last": with_segments(large, lambda s: s[2].__setitem__(0, other)),
        "lie-digest-short": with_segments(photo, lambda s: s[0].__setitem__(0, other[:-2])),
        "lie-digest-link": with_segments(link, lambda s: s[0].__setitem__(0, other)),
        "lie-link-segments-none": with_field(link, "segments", []),
        "lie-link-segments-two": with_segments(link, lambda s: s.append([other, 5])),
        "lie-directory-segments": with_field(directory, "segments", [[other, 5]]),
        "lie-order": with_records(lambda r: swap(r, large, photo)),
        "lie-size": with_field(photo, "size", 199_999),
        "lie-size-huge": with_field(photo, "size", 2**63 - 1),
        "lie-size-negative": with_field(photo, "size", -1),
        "lie-type": with_field(photo, "type", "directory"),
        "lie-path": with_field(photo, "path", "../canary"),
        "lie-path-absolute": with_field(photo, "path", "/tmp/grocerydude-evil"),
        "lie-mode": with_field(photo, "mode", "77777"),
        "lie-record-missing": with_records(lambda r: r.pop()),
        "lie-record-added": with_records(lambda r: r.append(dict(r[photo], path="more"))),
        "lie-record-twice": with_records(lambda r: r.insert(photo, r[photo])),
        "lie-format-2": with_text(header.replace('"format":1', '"format":2'), records, trailer),
        "lie-format-3": with_text(header.replace('"format":1', '"format":3'), records, trailer),
        "lie-format-0": with_text(header.replace('"format":1', '"format":0'), records, trailer),
        "lie-segment-size": with_text(
            header.replace('"segment_size":1048576', '"segment_size":4096'), records, trailer
        ),
        "lie-no-trailer": with_text(header, records, ""),
        "lie-after-trailer": with_text(header, records, trailer, end="\n{}\n"),
        "lie-no-json": with_manifest(archive, b"no JSON at all\n"),
        "lie-empty": with_manifest(archive, b""),
        "lie-descriptor": with_flip(archive, archive.index(b"PK\7\x08") + 4),
        "lie-descriptor-flag": with_flip(archive, archive.index(b"nested/large.bin") - 24, 8),
        "flipped-bit": flipped(archive),
    }


def places(archive):
    """The offset of the last entry, and of the directory."""
    count, size, offset = struct.unpack("<HII", archive[-12:-2])
    return count, size, offset


def manifest_place(archive):
    """Where the central and the local record of the manifest are; it is the last of both."""
    count, size, directory = places(archive)
    central = archive.rindex(b"PK\1\2", directory, directory + size)
    (local,) = struct.unpack("<I", archive[central + 42 : central + 46])
    assert archive[local + 30 :].startswith(MANIFEST)
    return central, local


def manifest_of(archive):
    central, local = manifest_place(archive)
    (packed,) = struct.unpack("<I", archive[central + 20 : central + 24])
    name, extra = struct.unpack("<HH", archive[local + 26 : local + 30])
    start = local + 30 + name + extra
    return zlib.decompress(archive[start : start + packed], -15)


def with_manifest(archive, text):
    count, size, directory = places(archive)
    central, local = manifest_place(archive)
    entry = Entry(MANIFEST, text, 8, mode=0o100600, flags=0x800)
    start = archive[:local] + entry.local()
    records = archive[directory:central] + entry.central(local)
    return start + records + end_record(count, len(records), len(start))


def flipped(archive):
    """One bit in the middle of a file's data."""
    return with_flip(archive, archive.index(b"photo.bin") + 300, 4)


def with_flip(archive, place, bits=1):
    return archive[:place] + bytes([archive[place] ^ bits]) + archive[place + 1 :]


# stores/


def in_another_process(work):
    """Runs what ends without closing its databases, as an application does that is killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def make_stores(folder, scratch):
    for name in STORES:
        directory = folder / name
        if directory.exists():
            shutil.rmtree(directory)
        directory.mkdir(parents=True)
        STORES[name](directory)


def log_store(directory):
    def work():
        database = sqlite3.connect(directory / "log.sqlite", isolation_level=None)
        database.execute("PRAGMA page_size = 1024")
        database.execute("PRAGMA journal_mode = wal")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        database.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, text TEXT)")
        for start in range(0, 50, 10):
            database.execute("BEGIN")
            for number in range(start, start + 10):
                database.execute("INSERT INTO entry (text) VALUES (?)", [f"entry {number}"])
            database.execute("COMMIT")
        database.execute("BEGIN")
        database.execute("DELETE FROM entry")

    in_another_process(work)


def log_store_without_index(directory):
    log_store(directory)
    (directory / "log.sqlite-shm").unlink()


def journal_store(directory):
    path = directory / "journal.sqlite"
    database = sqlite3.connect(path)
    database.execute("PRAGMA page_size = 1024")
    database.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER, note BLOB)")
    database.executemany(
        "INSERT INTO account VALUES (?, 1000, zeroblob(500))", ([n] for n in range(12))
    )
    database.commit()
    database.close()

    def work():
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("PRAGMA cache_size = 2")
        database.execute("BEGIN")
        # With a cache of two pages, half of this is in the database before it is committed.
        database.execute("UPDATE account SET balance = 0")

    in_another_process(work)
    assert (directory / "journal.sqlite-journal").stat().st_size > 512


def core_data_store(directory):
    database = sqlite3.connect(directory / "Model.sqlite")
    database.executescript(
        """
        PRAGMA journal_mode = wal;
        CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
                            ZNAME VARCHAR, ZPHOTO BLOB);
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER,
                                   Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Item', 0, 4);
        INSERT INTO Z_METADATA VALUES (1, 'D4B1B2E6-2F8C-4B8C-9B44-3A2B6E0E3C11', x'62706C697374');
        """
    )
    external = directory / ".Model_SUPPORT" / "_EXTERNAL_DATA"
    external.mkdir(parents=True)
    photos = ["5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E01", "5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E02"]
    missing = "5F2C1E4A-0B7D-4E7A-8C55-6D1B7A3F9E03"
    for number, name in enumerate(photos):
        (external / name).write_bytes(looks_random(10 + number, 3_000))
    rows = [
        ("Apples", b"\2" + photos[0].encode() + b"\0"),
        ("Bread", b"\2" + photos[1].encode() + b"\0"),
        ("Cheese", b"\2" + missing.encode() + b"\0"),
        ("Dates", b"\1" + b"a small photo, in the row"),
    ]
    database.executemany("INSERT INTO ZITEM (Z_ENT, Z_OPT, ZNAME, ZPHOTO) VALUES (1, 1, ?, ?)", rows)
    database.commit()
    database.close()


def collation_store(directory):
    database = sqlite3.connect(directory / "collation.sqlite")
    database.create_collation("LOCALIZED", lambda a, b: (a.lower() > b.lower()) - (a.lower() < b.lower()))
    database.execute("CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT COLLATE LOCALIZED)")
    database.execute("CREATE UNIQUE INDEX name_text ON name (text)")
    database.executemany("INSERT INTO name (text) VALUES (?)", [["b"], ["A"], ["c"]])
    database.commit()
    database.close()


def module_store(directory):
    database = sqlite3.connect(directory / "module.sqlite")
    database.executescript(
        """
        CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);
        INSERT INTO note (text) VALUES ('one'), ('two');
        CREATE TABLE note_index_data (id INTEGER PRIMARY KEY, block BLOB);
        INSERT INTO note_index_data VALUES (1, x'00');
        PRAGMA writable_schema = on;
        INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
        VALUES ('table', 'note_index', 'note_index', 0,
                'CREATE VIRTUAL TABLE note_index USING grocery_search(text)');
        """
    )
    database.close()


def damaged_store(directory):
    path = directory / "damaged.sqlite"
    database = sqlite3.connect(path)
    database.executescript(
        """
        PRAGMA page_size = 1024;
        CREATE TABLE sound (id INTEGER PRIMARY KEY, text TEXT);
        INSERT INTO sound (text) VALUES ('whole');
        CREATE TABLE broken (id INTEGER PRIMARY KEY, text TEXT);
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        INSERT INTO broken (text) SELECT 'row ' || i FROM n;
        """
    )
    (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'broken'").fetchone()
    database.close()
    with open(path, "r+b") as file:
        file.seek((page - 1) * 1024)
        file.write(b"evil" * 256)


def header_only(directory):
    path = directory / "whole.sqlite"
    make_store(path)
    (directory / "header.sqlite").write_bytes(path.read_bytes()[:100])
    (directory / "magic.sqlite").write_bytes(path.read_bytes()[:16])
    path.unlink()


def empty_file(directory):
    (directory / "empty.sqlite").write_bytes(b"")


def encrypted_store(directory):
    (directory / "encrypted.sqlite").write_bytes(random.Random(5).randbytes(8192))


STORES = {
    "log": log_store,
    "log-without-index": log_store_without_index,
    "journal": journal_store,
    "core-data": core_data_store,
    "collation": collation_store,
    "module": module_store,
    "damaged": damaged_store,
    "header-only": header_only,
    "empty": empty_file,
    "encrypted": encrypted_store,
}


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as path:
        scratch = Path(path)
        archives = HERE / "archives"
        if len(sys.argv) == 3 and sys.argv[1] == "--format-1":
            archives.mkdir(exist_ok=True)
            make_format_1(archives, scratch, str(Path(sys.argv[2]).resolve()))
        elif len(sys.argv) == 1:
            make_archives(archives, scratch)
            make_hostile(HERE / "hostile", scratch, archives / "format-1 Stores.zip")
            make_stores(HERE / "stores", scratch)
        else:
            sys.exit(__doc__)


main()
