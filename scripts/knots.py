#!/usr/bin/env python3
"""Counts what is tied up in a module of Swift sources.

    scripts/knots.py Sources/MODULE [--knot 8] [--list]

A file uses another if it mentions a type that the other declares, or a member that only the other
declares: of a type that both add to, with a name that is declared nowhere else in the module, or, after
a dot, with a name of eight letters or more that is declared nowhere else beside the module. A knot is a set of files each of which uses all the others, directly or through
each other (a strongly connected component). Each knot of more files than the limit is printed, and the exit code is 1
if there is any. '--list' prints all knots, and what is used in them.
"""

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

ATTRIBUTES = r"(?:@\w+(?:\([^)\n]*\))?[ \t]+)*"
MODIFIERS = (
    r"(?:(?:public|package|internal|static|final|indirect|mutating|nonisolated)(?:\(set\))?[ \t]+)*"
    r"(?:private\(set\)[ \t]+)?"
)
TYPE = re.compile(
    rf"^{ATTRIBUTES}{MODIFIERS}(?:struct|class|enum|protocol|actor|typealias)[ \t]+(\w+)", re.M
)
EXTENSION = re.compile(rf"^{ATTRIBUTES}{MODIFIERS}extension[ \t]+\[?(\w+)", re.M)
MEMBER = re.compile(rf"^    {ATTRIBUTES}{MODIFIERS}(?:func|var|let)[ \t]+(\w+)", re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
WORD = re.compile(r"\w+")
# A member that is asked of something.
ASKED = re.compile(r"\.(\w+)")
# The letters that a name needs to be known by itself; shorter ones are words of Swift as well.
DISTINCTIVE = 8


class Source:
    """What one file declares and mentions."""

    def __init__(self, path):
        code = COMMENT.sub("", path.read_text())
        self.types = set(TYPE.findall(code))
        # The types that it adds members to.
        self.subjects = self.types | set(EXTENSION.findall(code))
        # The members that it declares, by type.
        self.members = defaultdict(set)
        subject = None
        for line in code.splitlines():
            if declared := TYPE.match(line) or EXTENSION.match(line):
                subject = declared.group(1)
            elif subject and (member := MEMBER.match(line)):
                self.members[subject].add(member.group(1))
        self.words = set(WORD.findall(code))
        self.asked = set(ASKED.findall(code))

    def mentions(self, other, is_only_there):
        """Returns the members of another file's types that this one mentions."""
        found = set()
        for subject, members in other.members.items():
            if subject in self.subjects:
                found |= {name for name in self.words & members if is_only_there(subject, name)}
            else:
                found |= {
                    name for name in self.asked & members
                    if len(name) >= DISTINCTIVE and is_only_there(None, name)
                }
        return found


def uses(module):
    """Returns, for each file of a module, the files of it that it uses, and by which names."""
    sources = {path: Source(path) for path in sorted(module.parent.rglob("*.swift"))}
    owners = defaultdict(set)
    for path, source in sources.items():
        for member in set().union(*source.members.values()):
            owners[member].add(path)
    own = {path: source for path, source in sources.items() if module in path.parents}
    graph = {path: {} for path in own}
    for path, source in own.items():
        for other, its in own.items():
            if other == path:
                continue

            def is_only_there(subject, name):
                return {other} == (owners[name] & own.keys() if subject else owners[name])

            if names := source.words & its.types | source.mentions(its, is_only_there):
                graph[path][other] = names
    return graph


def knots(graph):
    """Returns the strongly connected components of more than one file, the largest first."""

    def reached(start):
        seen, open_ends = {start}, [start]
        while open_ends:
            for other in graph[open_ends.pop()]:
                if other not in seen:
                    seen.add(other)
                    open_ends.append(other)
        return seen

    reach = {path: reached(path) for path in graph}
    found = {frozenset(other for other in reach[path] if path in reach[other]) for path in graph}
    return sorted((sorted(knot) for knot in found if len(knot) > 1), key=len, reverse=True)


def main():
    parser = argparse.ArgumentParser(description="Counts knots of files.")
    parser.add_argument("module", type=Path, help="its folder among the sources")
    parser.add_argument("--knot", type=int, default=8, help="the most files in a knot")
    parser.add_argument("--list", action="store_true", help="print all knots, and their uses")
    options = parser.parse_args()
    if not options.module.is_dir():
        parser.error(f"'{options.module}' is no directory")

    breaches = 0
    graph = uses(options.module)
    for knot in knots(graph):
        is_breach = len(knot) > options.knot
        breaches += is_breach
        if is_breach or options.list:
            names = ", ".join(path.stem for path in knot)
            print(f"{knot[0].parent}: a knot of {len(knot)} files: {names}")
        if options.list:
            for path in knot:
                for other in sorted(set(graph[path]) & set(knot)):
                    print(f"    {path.stem} → {other.stem}: {' '.join(sorted(graph[path][other]))}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
