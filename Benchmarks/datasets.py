"""Makes the data sets: the same bytes every time, of any size."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import uuid

STORE = "Grocery-Dude.sqlite"
EXTERNAL = ".Grocery-Dude_SUPPORT/_EXTERNAL_DATA"
ROWS_SHARE = 0.7
BYTES_A_ROW = 293  # with its part of the indexes
WORDS = (
    "apples bread butter carrots cheese coffee eggs flour milk rice tomatoes olive oil organic "
    "fresh frozen sliced whole small large family pack offer weekly from the market near station "
    "ask for if there is none then take other brand not too ripe check date before fridge pantry "
    "freezer cellar garage two three half dozen kilo litre bottle bag box jar tin sweet bitter"
).split()


def text_source(chance, length):
    """Text of words, common ones more often than rare ones, to cut notes from."""
    words = WORDS + [
        "".join(chance.choices("aeioulnrstdkmpbgvz", k=chance.randint(4, 9))) for _ in range(3000)
    ]
    weights = [1 / (rank + 8) for rank in range(len(words))]
    return " ".join(chance.choices(words, weights, k=length // 6))


def schema(database):
    """The tables that Core Data makes for an entity with a few attributes."""
    database.executescript(
        """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = OFF;
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR, Z_PLIST BLOB);
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER,
            Z_MAX INTEGER);
        CREATE TABLE ZUNIT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
        CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZLISTED INTEGER, ZCOLLECTED INTEGER, ZUNIT INTEGER, ZCREATED TIMESTAMP,
            ZMODIFIED TIMESTAMP, ZQUANTITY FLOAT, ZIDENTIFIER VARCHAR, ZNAME VARCHAR,
            ZNOTE VARCHAR, ZSYNCTOKEN BLOB, ZPHOTO BLOB);
        """
    )


def items(chance, count, photos):
    """Rows of items; as many as there are photos refer to one."""
    source = text_source(chance, 1 << 20)
    every = max(1, count // max(1, len(photos)))
    for key in range(1, count + 1):
        start = chance.randrange(len(source) - 400)
        tail = start + 20 + chance.randrange(12)
        token = chance.randbytes(40)
        created = 6.0e8 + chance.random() * 1.5e8
        photo = None
        if key % every == 0 and photos:
            photo = b"\x02" + photos.pop().encode() + b"\x00"
        yield (
            key, 2, chance.randrange(9), key & 1, token[0] & 1, token[1] % 30, created,
            created + token[2] * 86400.5, token[3] / 4, str(uuid.UUID(bytes=token[24:])).upper(),
            source[start:tail], source[tail:tail + token[4] * 2 // 3], token[:12], photo,
        )


def make_mixed(path, size):
    """A store with its external files: 70 % rows, 30 % data that does not compress."""
    chance = random.Random(size)
    external = os.path.join(path, EXTERNAL)
    os.makedirs(external)
    names = []
    left = int(size * (1 - ROWS_SHARE))
    while left > 0:
        name = str(uuid.UUID(bytes=chance.randbytes(16))).upper()
        length = chance.randint(50_000, 400_000)
        with open(os.path.join(external, name), "wb") as file:
            file.write(chance.randbytes(length))
        names.append(name)
        left -= length
    database = sqlite3.connect(os.path.join(path, STORE), isolation_level=None)
    schema(database)
    count = max(1, int(size * ROWS_SHARE) // BYTES_A_ROW)
    database.execute("BEGIN")
    database.execute("INSERT INTO Z_METADATA VALUES (1, ?, ?)", (names[0], bytes(600)))
    database.execute("INSERT INTO Z_PRIMARYKEY VALUES (2, 'Item', 0, ?)", (count,))
    units = [(key, 3, 1, WORDS[key]) for key in range(30)]
    database.executemany("INSERT INTO ZUNIT VALUES (?, ?, ?, ?)", units)
    marks = ", ".join("?" * 14)
    database.executemany(f"INSERT INTO ZITEM VALUES ({marks})", items(chance, count, names[:]))
    database.execute("CREATE INDEX ZITEM_NAME ON ZITEM (ZNAME)")
    database.execute("CREATE INDEX ZITEM_IDENTIFIER ON ZITEM (ZIDENTIFIER)")
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def change(path, seed):
    """A small change: 0.4 % of the rows, as a day's use leaves it, in a few runs of neighbours."""
    chance = random.Random(seed)
    database = sqlite3.connect(os.path.join(path, STORE), isolation_level=None)
    (count,) = database.execute("SELECT max(Z_PK) FROM ZITEM").fetchone()
    wanted = max(1, count * 4 // 1000)
    run = max(1, wanted // 40)
    database.execute("BEGIN")
    for _ in range(max(1, wanted // run)):
        start = chance.randrange(1, max(2, count - run))
        database.execute(
            "UPDATE ZITEM SET Z_OPT = Z_OPT + 1, ZMODIFIED = ZMODIFIED + 60.5, ZCOLLECTED = ? "
            "WHERE Z_PK BETWEEN ? AND ?",
            (seed & 1, start, start + run - 1),
        )
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def change_recent(path, seed):
    """A small change as most applications make it: 0.4 % of the rows, among the last 5 %, and a few new ones."""
    chance = random.Random(seed)
    database = sqlite3.connect(os.path.join(path, STORE), isolation_level=None)
    (count,) = database.execute("SELECT max(Z_PK) FROM ZITEM").fetchone()
    wanted = max(1, count * 4 // 1000)
    keys = [(key,) for key in chance.sample(range(count - count // 20, count + 1), wanted)]
    database.execute("BEGIN")
    database.executemany("UPDATE ZITEM SET Z_OPT = Z_OPT + 1, ZMODIFIED = ZMODIFIED + 60.5 "
                         "WHERE Z_PK = ?", keys)
    database.executemany(
        "INSERT INTO ZITEM (Z_ENT, Z_OPT, ZCREATED, ZMODIFIED, ZIDENTIFIER, ZNAME, ZNOTE) "
        "SELECT Z_ENT, 1, ZCREATED, ZMODIFIED, ?, ZNAME, ZNOTE FROM ZITEM WHERE Z_PK = ?",
        [(str(uuid.UUID(bytes=chance.randbytes(16))).upper(), *key) for key in keys[::20]])
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def make_small(path, count, each=1000):
    """Text files of about 4 KB, a thousand in a directory."""
    chance = random.Random(count)
    source = text_source(chance, 4 << 20)
    for number in range(count):
        directory = os.path.join(path, f"notes-{number // each:03}")
        if number % each == 0:
            os.makedirs(directory)
        start = chance.randrange(len(source) - 8192)
        length = chance.randint(2048, 6144)
        with open(os.path.join(directory, f"note-{number:06}.txt"), "w") as file:
            file.write(source[start:start + length])


def make_crowded(path, count):
    """The same, ten thousand in a directory."""
    make_small(path, count, 10_000)


KINDS = {"mixed": make_mixed, "small": make_small, "crowded": make_crowded}


def ensure(work, kind, size):
    """The directory of a data set, which is made where it is missing, by a process of its own:
    what a process once had in memory is counted as that of the commands it starts."""
    path = os.path.join(work, "data", f"{kind}-{size}")
    stores = os.path.join(path, "Stores")
    if not os.path.exists(os.path.join(path, "complete")):
        subprocess.run(["rm", "-rf", path], check=True)
        os.makedirs(stores)
        subprocess.run([sys.executable, __file__, kind, stores, str(size)], check=True)
        open(os.path.join(path, "complete"), "w").close()
    return stores


def facts(path):
    """How many files there are, and how many bytes they have."""
    files = size = 0
    for parent, _, names in os.walk(path):
        files += len(names)
        size += sum(os.path.getsize(os.path.join(parent, name)) for name in names)
    return {"files": files, "bytes": size}


def main():
    if sys.argv[1] == "change":
        change(sys.argv[2], int(sys.argv[3]))
    else:
        KINDS[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
        print(json.dumps(facts(sys.argv[2])), file=sys.stderr)


if __name__ == "__main__":
    main()
