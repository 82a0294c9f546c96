"""Prints sentences of `written/` that are close to one of a test set: those must not be learned from.

    near.py [FILE of {text} …]
"""

import collections
import glob
import json
import os
import re
import sys

import written
from scheme import parse

EVAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "eval")


def tests(files):
    """The sentences that the offline assistant is measured on."""
    found = [line.strip() for line in open(os.path.join(EVAL, "not-commands.txt"), encoding="utf-8")]
    for path in glob.glob(os.path.join(EVAL, "dialogues*.jsonl")):
        for line in open(path, encoding="utf-8"):
            found += json.loads(line).get("turns", [])
    for path in files:
        found += [json.loads(line).get("text", "") for line in open(path, encoding="utf-8")]
    return found


def words(text):
    return collections.Counter(re.findall(r"[\w']+", text.lower()))


def is_near(a, b):
    """Short ones if they have the same words, others if they share three of five."""
    both, either = sum((a & b).values()), sum((a | b).values())
    return both == either if min(sum(a.values()), sum(b.values())) < 4 else both >= 0.6 * either


def near(lines, others):
    """Which of the marked lines are close to one of the others."""
    others, holding = [words(other) for other in others], collections.defaultdict(set)
    for at, other in enumerate(others):
        for word in other:
            holding[word].add(at)
    for line in lines:
        of_line = words(parse(line)["text"])
        some = collections.Counter(at for word in of_line for at in holding[word])
        if any(2 * count >= len(of_line) and is_near(of_line, others[at]) for at, count in some.items()):
            yield line


if __name__ == "__main__":
    for line in near(sum(written.lines(), []), tests(sys.argv[1:])):
        print(line)
