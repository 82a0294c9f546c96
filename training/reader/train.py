"""Makes `crates/tagger/data/reader.bin`, the word tagger of the offline reader. `check.py` then writes what the Rust
code is compared with.

    train.py --language FOLDER [--test FILE] [--steps N | --minutes N] [--start TABLE]
"""

import argparse
import json
import os
import random
import re
import struct
import time

import generate
import numpy as np
import people
import table
import written
from measure import log_chances, report, warmed, warmths
from network import Pass, Sizes, empty, initial, rounded, views
from rows import Rows
from scheme import parse

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
DATA = os.path.join(ROOT, "crates", "tagger", "data")
WORDS_IN_BATCH = 2048
SEED = 11


def vocabulary():
    """Plain words of the table of `crates/selection`."""
    file = open(os.path.join(ROOT, "crates", "selection", "data", "selection.bin"), "rb").read()
    count, size = struct.unpack_from("<II", file, 8)
    names = file[16 + 4 * (count + 1) :][:size]
    starts = struct.unpack_from(f"<{count + 1}I", file, 16)
    names = [names[a:b].decode("utf-8", "replace") for a, b in zip(starts, starts[1:])]
    return [name for name in names if re.fullmatch("[a-z]{3,12}", name)]


def loss(scores, wanted, weight):
    """How wrong the scores are, and how that changes with each of them. What is wanted is -1 where nobody knows."""
    chances, known = log_chances(scores), np.flatnonzero(wanted >= 0)
    scale = np.float32(weight / max(len(known), 1))
    slope = np.zeros_like(scores)
    slope[known] = np.exp(chances[known]) * scale
    slope[known, wanted[known]] -= scale
    return -chances[known, wanted[known]].sum() * scale, slope


def rate(done, highest):
    """Up over the first twentieth of the way, then down along a cosine."""
    return highest * max(done, 1e-4) / 0.05 if done < 0.05 else highest * (1 + np.cos(np.pi * (done - 0.05) / 0.95)) / 2


def learn(data, steps, minutes=None, start=None, checkpoint=None):
    """Adam, from the beginning or on from a table with smaller steps, for a number of steps or of minutes. What comes out
    is a running mean of the weights."""
    sizes, flat = table.read(start) if start else (Sizes(), initial(Sizes(), SEED))
    p, slope, mean, spread = views(sizes, flat), empty(sizes), empty(sizes), empty(sizes)
    g, kept, R, began = views(sizes, slope), flat.copy(), np.random.default_rng(SEED), time.time()
    count = int(WORDS_IN_BATCH * len(data) / data.ends[-1])
    at, done, total = 0, 0.0, 0.0
    while done < 1:
        batch, tags, clauses = data.batch(R.integers(0, len(data), count))
        work = Pass(sizes, p, batch, R)
        losses = [loss(*one) for one in zip(work.scores, (tags, clauses), (1.0, 0.6))]
        work.slopes([one[1] for one in losses], g)
        total += sum(one[0] for one in losses)
        slope *= np.float32(min(1, 1 / (np.sqrt(slope @ slope) + 1e-9)))
        mean += np.float32(0.1) * (slope - mean)
        np.square(slope, out=slope)
        spread += np.float32(0.001) * (slope - spread)
        step = rate(done, 1e-3 if start else 2e-3)
        np.sqrt(spread, out=slope)
        slope *= np.float32(1 / np.sqrt(1 - 0.999 ** (at + 1)))
        slope += np.float32(1e-8)
        np.divide(mean, slope, out=slope)
        slope *= np.float32(step / (1 - 0.9 ** (at + 1)))
        flat *= np.float32(1 - 0.01 * step)
        flat -= slope
        if at % 10 == 0:
            kept += np.float32(max(0.01, 1 / (2 + at / 10))) * (flat - kept)
        at += 1
        done = (time.time() - began) / (60 * minutes) if minutes else at / steps
        if at % 500 == 0:
            print(f"step {at}, {100 * done:.0f} %, loss {total / 500:.3f}, {time.time() - began:.0f} s", flush=True)
            total = 0.0
            if checkpoint:
                checkpoint(at, sizes, views(sizes, kept.copy()))
    print(at, "steps", flush=True)
    return sizes, views(sizes, kept)


def rows_to_learn(options):
    """Generated sentences, variations of those written by hand, and those of people."""
    human, titles = people.rows(options.language, os.path.join(ROOT, "eval", "learn.jsonl"))
    plain, data = vocabulary(), Rows()
    learned, apart = written.lines()
    for several in (
        generate.rows(options.sentences, SEED, titles, plain),
        written.rows(options.variations, SEED, learned, titles, plain),
        human,
        human,
    ):
        for row in several:
            data.add(row)
    fresh = list(generate.rows(2000, SEED + 1, titles, plain))
    print(len(data), "rows,", len(data.ids), "words,", len(learned), "sentences written", flush=True)
    return data.finish(), [parse(line) for line in apart], fresh


def tests(options, apart, fresh):
    found = {"generated": fresh, "written, kept apart": apart}
    if options.test:
        R, rows = random.Random(SEED), [json.loads(line) for line in open(options.test)]
        rows = [{**row, "spans": [span[:3] for span in row["spans"]]} for row in rows if "text" in row]
        found |= {"test": rows, "test, misspelt": [generate.misspelt(R, row, 0.15, 4) for row in rows]}
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--language", required=True, help="folder with hwu64.jsonl and clinc150.jsonl")
    options.add_argument("--test", help="rows of {text, clauses, spans} that nothing is learned from")
    options.add_argument("--steps", type=int, default=16_000)
    options.add_argument("--minutes", type=float, help="in place of a number of steps")
    options.add_argument("--sentences", type=int, default=300_000, help="generated")
    options.add_argument("--variations", type=int, default=500_000, help="of written sentences")
    options.add_argument("--start", help="a table to go on from")
    options.add_argument("--out", default=os.path.join(DATA, "reader.bin"))
    options = options.parse_args()
    data, apart, fresh = rows_to_learn(options)

    def finish(sizes, p):
        small = rounded(p)
        for name, rows in tests(options, apart, fresh).items():
            report(name, sizes, small, rows)
        table.write(sizes, warmed(p, warmths(sizes, small, apart)), options.out)

    finish(*learn(data, options.steps, options.minutes, options.start))


if __name__ == "__main__":
    main()
