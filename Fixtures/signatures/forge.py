#!/usr/bin/env python3
"""Makes archives of the format of Documentation/Design/ArchiveFormat.md, written from that page alone.

    forge.py OUTPUT KEY [change ...]

KEY is a private key of OpenSSH, or '-' for none. The changes, each of which a reader has to refuse or distrust:
cut, namespace, other-manifest, twice, unlisted, more-listed, rsa, sha512 (which is good), helper, setuid, origin=ID, name=NAME
"""
import hashlib, io, json, os, struct, subprocess, sys, tempfile, time, zlib

SEGMENT = 1 << 20


def entry(path, data, mode):
    """The local record, the data, and a central record of which only the offset is missing."""
    name = path.encode()
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = deflate.compress(data) + deflate.flush()
    method = 8
    if len(body) >= len(data):
        body, method = data, 0
    crc = zlib.crc32(data)
    moment = time.gmtime()
    dos_time = moment.tm_hour << 11 | moment.tm_min << 5 | moment.tm_sec // 2
    dos_date = moment.tm_year - 1980 << 9 | moment.tm_mon << 5 | moment.tm_mday
    extra = b"UT" + struct.pack("<HBI", 5, 1, int(time.time()))
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0x800, method, dos_time, dos_date, crc, len(body), len(data), len(name), len(extra))
    central = struct.pack("<IHHHHHHIIIHHHHHI", 0x02014B50, 0x0314, 20, 0x800, method, dos_time, dos_date, crc, len(body), len(data), len(name), len(extra), 0, 0, 0, (0o100000 | mode) << 16)
    return local + name + extra + body, central, name + extra, len(body)


def sign(manifest, key, namespace, algorithm):
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "manifest")
        with open(path, "wb") as file:
            file.write(manifest)
        subprocess.run(
            ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace, "-O", "hashalg=" + algorithm, path],
            check=True, stderr=subprocess.DEVNULL,
        )
        with open(path + ".sig", "rb") as file:
            return file.read()


def main():
    output, key, changes = sys.argv[1], sys.argv[2], set(sys.argv[3:])
    given = dict(word.split("=", 1) for word in changes if "=" in word)
    files = [("forged.txt", b"forged\n", 0o6755 if "setuid" in changes else 0o644)]
    if "unlisted" in changes:
        files.append(("unlisted.txt", b"not in the manifest\n", 0o644))
    parts = [entry(*file) for file in files]
    records = []
    for (path, data, mode), part in zip(files, parts):
        if path == "unlisted.txt":
            continue
        records.append({
            "path": path, "type": "file", "mode": "%04o" % mode, "uid": 0, "gid": 0, "modified": int(time.time()) * 10**9,
            "size": len(data), "segments": [[hashlib.sha256(data).hexdigest(), part[3]]],
        })
    header = {
        "created": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()), "format": 1,
        "id": hashlib.sha256(os.urandom(16)).hexdigest()[:32], "root": {"gid": 0, "mode": "0755", "uid": 0},
        "segment_size": SEGMENT, "stores": [], "tool": "forge",
    }
    if "origin" in given:
        header.update(origin=given["origin"], origin_name=given.get("name", "forged:/srv"))
    head = json.dumps(header, separators=(",", ":"), sort_keys=True)[:-1]
    lines = ",\n".join(json.dumps(record, separators=(",", ":"), sort_keys=True) for record in records)
    if "more-listed" in changes:
        lines += ",\n" + lines.replace("forged.txt", "not-there.txt")
    trailer = {"bytes": 7, "content": "0" * 64, "entries": len(records), "problems": []}
    manifest = (head + ',"files":[\n' + lines + "\n]," + json.dumps(trailer, separators=(",", ":"), sort_keys=True)[1:] + "\n").encode()
    parts.append(entry(".grocerydude/manifest.json", manifest, 0o600))
    if key != "-":
        signed = manifest.replace(b"forged", b"f0rged") if "other-manifest" in changes else manifest
        namespace = "file" if "namespace" in changes else "grocerydude-backup"
        text = sign(signed, key, namespace, "sha512" if "sha512" in changes else "sha256")
        if "cut" in changes:
            text = text[: len(text) // 2]
        if "twice" in changes:
            text += text
        parts.append(entry(".grocerydude/signature", text, 0o600))
    archive, central = io.BytesIO(), b""
    for data, record, rest, _ in parts:
        central += record + struct.pack("<I", archive.tell()) + rest
        archive.write(data)
    start = archive.tell()
    archive.write(central)
    archive.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(parts), len(parts), len(central), start, 0))
    with open(output, "wb") as file:
        file.write(archive.getvalue())


main()
