"""Does what a peer of sync does, and prints how many seconds it took; run by syncs.py.

    syncpeers.py WHAT ARGUMENT...

It runs with the Python of an environment of its own, in which apsw and pygeodiff are. Starting Python and
opening databases is not timed.
"""

import sys
import time


def timed(action):
    started = time.perf_counter()
    result = action()
    print(time.perf_counter() - started)
    return result


def scan(store):
    """Reads each value of each row by SQL."""
    import apsw
    cursor = apsw.Connection(store, flags=apsw.SQLITE_OPEN_READONLY).cursor()

    def read():
        for _ in cursor.execute("SELECT * FROM item"):
            pass
    timed(read)


def session_diff(old, new, output):
    """Compares two stores by SQLite's session extension, and writes the changeset."""
    import apsw
    database = apsw.Connection(new)
    database.execute("ATTACH ? AS old", (old,))

    def compare():
        session = apsw.Session(database, "main")
        session.attach("item")
        session.diff("old", "item")
        return session.changeset()
    changes = timed(compare)
    with open(output, "wb") as file:
        file.write(changes)


def session_apply(changeset, store):
    """Writes a changeset into a store."""
    import apsw
    database = apsw.Connection(store)
    with open(changeset, "rb") as file:
        changes = file.read()

    def apply():
        with database:
            apsw.Changeset.apply(changes, database)
    timed(apply)


def geodiff(old, new, output):
    """Compares two stores by pygeodiff."""
    import pygeodiff
    tool = pygeodiff.GeoDiff()
    timed(lambda: tool.create_changeset(old, new, output))


def lock(store):
    """Asks for the write lock until the input ends, and prints the longest that it was not to be had."""
    import select
    import sqlite3
    database = sqlite3.connect(store, isolation_level=None, timeout=60)
    longest = 0
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 0.002)[0]:
        started = time.perf_counter()
        database.execute("BEGIN IMMEDIATE")
        longest = max(longest, time.perf_counter() - started)
        database.execute("ROLLBACK")
    print(longest)


if __name__ == "__main__":
    {"scan": scan, "session-diff": session_diff, "session-apply": session_apply,
     "geodiff": geodiff, "lock": lock}[sys.argv[1]](*sys.argv[2:])
