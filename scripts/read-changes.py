#!/usr/bin/env python3
"""Prints files of a sync container as JSON, one line for each header and row.

    scripts/read-changes.py FILE...

A second reader of the formats, written from Documentation/Design/Sync.md alone. A file that breaks the format
is refused whole: one line {"refused": why}, nothing else of it, and the exit code is 1.
"""

import hashlib
import json
import math
import struct
import sys
import zlib

MAGIC = b"GDSYNC1\n"
CHANGES, PART, INDEX, BLOB, CARD, GROUP, MAP = range(1, 8)
CLOCK_LIMIT = 1 << 59


class Refused(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Refused(why)


class Reader:
    """Bytes, read one after the other and never beyond their end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def raw(self, count):
        need(count <= self.left(), "ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self):
        return self.raw(1)[0]

    def varint(self):
        number = 0
        for place in range(10):
            byte = self.byte()
            number |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                need(byte or not place, "number not in its shortest form")
                need(number < 1 << 64, "number beyond 64 bits")
                return number
        raise Refused("number beyond 64 bits")

    def zigzag(self):
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def bytes(self):
        return self.raw(self.varint())

    def big(self):
        return struct.unpack(">Q", self.raw(8))[0]

    def clock(self):
        clock = self.big()
        need(clock < CLOCK_LIMIT, "clock beyond its limit")
        return clock

    def id(self):
        return self.raw(16).hex()

    def digest(self):
        return self.raw(32).hex()

    def count(self, width, limit=1 << 64):
        count = self.varint()
        need(count <= limit and count <= self.left() // width, "too many")
        return count

    def end(self):
        need(not self.left(), "goes on after its end")


def text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused("no UTF-8") from None


def text_or_hex(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.hex()


def is_file_name(data):
    """Whether bytes are a path below a directory, which they never leave."""
    def is_name(part):
        return 0 < len(part) < 256 and part not in (b".", b"..") and 0 not in part

    return len(data) <= 4096 and all(map(is_name, data.split(b"/")))


def name(data):
    need(0 < len(data) <= 1024 and 0 not in data and data == data.lower(), "bad name")
    return text(data)


def envelope(data):
    """Returns the kind, the header, the body and the id of a file."""
    need(len(data) >= 64 and hashlib.sha256(data[:-32]).digest() == data[-32:], "not complete")
    need(data[:8] == MAGIC, "not ours")
    kind, flags, version, h, b, u = struct.unpack(">BBHIQQ", data[8:32])
    need(version == 1, "another version")
    need(kind in range(1, 8), "unknown kind")
    need(flags in (0, 1), "encrypted, or unknown flags")
    limit = 16 << 20 if kind <= INDEX else 1 << 30 if kind == BLOB else 1 << 20
    need(h <= 1 << 20 and b <= limit and u <= limit, "too long")
    need(32 + h + b + 32 == len(data) and (flags or b == u), "lengths contradict each other")
    header, body = data[32 : 32 + h], data[32 + h : -32]
    if flags:
        need(kind != BLOB, "a deflated blob")
        stream = zlib.decompressobj(-15)
        try:
            body = stream.decompress(body, u + 1)
        except zlib.error:
            raise Refused("no deflate data") from None
        need(len(body) == u and stream.eof and not stream.unused_data, "inflates to something else")
    return kind, header, body, data[-32:].hex()


def change_header(data):
    r = Reader(data)
    h = {"group": r.id(), "device": r.id(), "clock": r.clock(), "wall": r.varint()}
    h |= {"sequence": r.varint(), "part": r.varint(), "parts": r.varint(), "schema": r.id()}
    program = r.bytes()
    need(len(program) <= 1024, "bad program")
    h["program"] = text(program)
    h["seen"] = [[r.id(), r.clock()] for _ in range(r.count(24, 4096))]
    h["replaces"] = [r.digest() for _ in range(r.count(32))]
    rising(["0" * 32] + [device for device, _ in h["seen"]])
    need(int(h["device"], 16) and h["part"] < h["parts"], "no device, or no part")
    return h


def rising(things):
    need(all(a < b for a, b in zip(things, things[1:])), "not in order")


def value(r):
    tag = r.byte()
    if tag == 0:
        return None
    if tag == 1:
        return {"integer": r.zigzag()}
    if tag == 2:
        data = r.raw(8)
        need(not math.isnan(struct.unpack(">d", data)[0]), "NaN")
        return {"real": data.hex()}
    if tag in (3, 4):
        data = r.bytes()
        if tag == 3:
            try:
                return {"text": data.decode()}
            except UnicodeDecodeError:
                return {"text-bytes": data.hex()}
        return {"blob": data.hex()}
    if tag == 5:
        return {"row": r.id()}
    if tag in (6, 7, 8):
        words = []
        if tag == 6:
            words = [r.bytes()]
            need(is_file_name(words[0]), "a file's name is no path below a directory")
            words = [text_or_hex(words[0])]
        words += [r.digest(), r.varint()]
        need(words[-1] <= 1 << 30, "a blob is too long")
        return {("file", "long-text", "long-blob")[tag - 6]: words}
    if tag == 9:
        need(r.left() and r.data[r.at] in (1, 2, 3, 4, 7, 8), "no value of a store")
        return {"plain": value(r)}
    if tag == 10:
        row = r.id()
        need(r.left() and r.data[r.at] in (1, 2, 3, 4, 7, 8), "no value of a store")
        return {"naming": [row, value(r)]}
    raise Refused("unknown kind of value")


def rows(kind, header, body):
    """Returns the rows of a change file, as they are printed."""
    r, lines = Reader(body), []
    tables = []
    for _ in range(r.count(4, 10_000)):
        table = name(r.bytes())
        tables.append((table, [name(r.bytes()) for _ in range(r.count(2, 2000))]))
        rising([column.encode() for column in tables[-1][1]])
    rising([table.encode() for table, _ in tables])
    need(sum(len(columns) for _, columns in tables) <= 200_000, "too many columns")
    devices = ["0" * 32] + [r.id() for _ in range(r.count(16, 4096))]
    rising(devices)

    def stamp():
        index = r.varint()
        need(index < len(devices), "no such device")
        clock = header["clock"] + r.zigzag() if index else 0
        need(0 <= clock < CLOCK_LIMIT, "clock beyond its limit")
        return [clock, devices[index]]

    total = 0
    for table, columns in tables:
        count = r.count(6, 4_000_000)
        total += count
        need(total <= 4_000_000, "too many rows")
        before = bytes(16)
        for _ in range(count):
            shared = r.byte()
            need(shared < 16, "bad id")
            row_id = before[:shared] + r.raw(16 - shared)
            need(row_id > before, "not in order")
            before = row_id
            length, flags = r.varint(), r.byte()
            need(0 < length < 1 << 32, "bad length")
            alive = length % 2
            need(flags < (16 if alive else 1) and flags & 9 != 8, "bad flags")
            birth = stamp() if flags & 1 else None
            own = birth if flags & 8 else stamp()
            hint = value(r) if flags & 2 else None
            cells, floor = [], 0
            for _ in range(r.count(2, len(columns))):
                column = r.varint()
                need(alive and floor <= column < len(columns), "bad cell")
                floor = column + 1
                cell_stamp = own if flags & 4 else stamp()
                cells.append([columns[column], cell_stamp, value(r)])
            line = {"table": table, "id": row_id.hex(), "cl": length}
            if alive:
                line |= {"birth": birth, "hint": hint, "cells": cells}
            else:
                line |= {"deleted": own}
            lines.append(line)
    r.end()
    return lines


def read(data):
    """Returns the lines of a file."""
    kind, header, body, file_id = envelope(data)
    start = {"kind": kind, "id": file_id}
    if kind in (CHANGES, PART):
        head = change_header(header)
        return [start | head] + rows(kind, head, body)
    if kind == INDEX:
        head, r = change_header(header), Reader(body)
        lists = [[r.digest() for _ in range(r.count(32))] for _ in range(2)]
        r.end()
        return [start | head | {"part_ids": lists[0], "covers": lists[1]}]
    r = Reader(header)
    start["group"] = r.id()
    if kind == BLOB:
        return [start | {"content": hashlib.sha256(body).hexdigest(), "size": len(body)}]
    start |= {"device": r.id(), "clock": r.clock()}
    return [start | {"json": json.loads(body)}]


def main():
    status = 0
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            data = file.read()
        try:
            lines = read(data)
        except (Refused, ValueError, RecursionError) as error:
            lines, status = [{"refused": str(error)}], 1
        for line in lines:
            print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    return status


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main())
