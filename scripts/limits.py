#!/usr/bin/env python3
"""Holds types to 40 members and functions to 40 lines.

    scripts/limits.py [--lower]

The members of a type, over all its files and extensions, are its functions, initialisers, subscripts and computed
properties. The lines of a function are those between its braces that are neither blank nor comments. Everything is
found by its indentation, which the formatter guarantees. scripts/limits.txt lists the breaches that there were when
the limits came. A number may only fall: '--lower' writes down those that did.
"""

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts" / "limits.txt"
LIMIT = 40

MODIFIERS = r"(?:(?:@\w+(?:\([^)]*\))?|[a-z]+(?:\([a-z]+\))?)[ ]+)*?"
TYPE = re.compile(rf"{MODIFIERS}(?:struct|class|enum|protocol|actor|extension) ([\w.]+)(?! *\()")
FUNCTION = re.compile(rf"{MODIFIERS}(?:func ([^\s(<]+|[^\s(]+)|(init|subscript|deinit)\b)")
PROPERTY = re.compile(rf"{MODIFIERS}var (\w+)[^=]*\{{")
HEAD_GOES_ON = re.compile(r"\)|\{|where |-> ")


def indentation(line):
    return len(line) - len(line.lstrip(" "))


def body(lines, start):
    """Returns the lines between the braces of the declaration that starts at a line."""
    indent, line = indentation(lines[start]), start
    while not lines[line].endswith("{"):
        line += 1
        is_head = line < len(lines) and (
            indentation(lines[line]) > indent
            or indentation(lines[line]) == indent and HEAD_GOES_ON.match(lines[line].strip())
        )
        if not is_head:
            return []
    end = next(here for here in range(line + 1, len(lines)) if lines[here].startswith(" " * indent + "}"))
    return lines[line + 1 : end]


def survey(path):
    """Yields the functions and computed properties of a file: the type, the name and the number of lines."""
    lines = [re.sub(r"(^|\s)//.*", "", line).rstrip() for line in path.read_text().splitlines()]
    lines = [line for line in lines if line]
    types = []
    for number, line in enumerate(lines):
        if indentation(line) > 4 * len(types):
            continue
        code = line.strip()
        if code.startswith("}"):
            del types[indentation(line) // 4 :]
        elif (found := FUNCTION.match(code)) or (found := PROPERTY.match(code)):
            inner = body(lines, number)
            if not (inner and re.match(r"(willSet|didSet)\b", inner[0].strip())):
                yield ".".join(types), found[1] or found[2], len(inner)
        elif (found := TYPE.match(code)) and not code.endswith("}"):
            types.append(found[1])


def count():
    """Returns the numbers above the limit, by what they count."""
    sources = sorted((ROOT / "Sources").rglob("*.swift"))
    homes = {}
    for path in sources:
        for name in re.findall(r"(?m)^(?! *//|.*extension).*\b(?:struct|class|enum|protocol|actor) (\w+)", path.read_text()):
            homes.setdefault(name, set()).add(path.parts[len(ROOT.parts) + 1])
    numbers, members = {}, defaultdict(int)
    for path in sources:
        module = path.parts[len(ROOT.parts) + 1]
        for owner, name, lines in survey(path):
            # A type's members in other modules count where it is declared.
            found = homes.get(owner.split(".")[0], {module})
            home = f"{module if module in found else min(found)}.{owner}".rstrip(".")
            members[home] += bool(owner)
            label = f"function {home}.{name}"
            numbers[label] = max(lines, numbers.get(label, 0))
    numbers |= {f"type {name}": number for name, number in members.items()}
    return {label: number for label, number in numbers.items() if number > LIMIT}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lower", action="store_true", help="write down the numbers that fell")
    options = parser.parse_args()
    numbers = count()
    listed = {label: int(number) for label, number in (line.rsplit(" ", 1) for line in LIST.read_text().splitlines())}
    if options.lower:
        listed = {label: min(number, numbers[label]) for label, number in listed.items() if label in numbers}
        LIST.write_text("".join(f"{label} {number}\n" for label, number in sorted(listed.items())))
    breaches = 0
    for label in sorted(numbers.keys() | listed.keys()):
        number, limit = numbers.get(label, LIMIT), listed.get(label, LIMIT)
        if number > limit:
            print(f"{label} has {number}, and at most {limit} are allowed")
        elif number < limit:
            print(f"{label} has fewer than {limit} now: run scripts/limits.py --lower")
        breaches += number != limit
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
