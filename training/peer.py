"""Ranks tools by all-MiniLM-L6-v2, for `cargo xtask bench recall`: JSON in, JSON out."""

import json
import sys

import numpy as np

from minilm import Teacher
from train import spoken

PIECES = 128


def main():
    given = json.load(sys.stdin)
    tools = [spoken({"name": name, "description": description}) for name, description in given["tools"]]
    teacher = Teacher()
    scores = teacher.embed(given["queries"], PIECES) @ teacher.embed(tools, PIECES).T
    best = np.argsort(-scores, axis=1, kind="stable")[:, : given["most"]]
    json.dump(best.tolist(), sys.stdout)


if __name__ == "__main__":
    main()
