"""Makes `crates/tagger/data/reader.bin`, the word tagger of the offline reader. `check.py` then writes what the Rust
code is compared with.

    train.py --language FOLDER [--test FILE] [--steps N] [--sentences N]
"""

import argparse
import json
import os
import random
import re
import struct
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy as np
import optax

import generate
import people
import table
from features import MOST_GRAMS, SHAPES, grams, shape
from network import apply, initial, rounded
from scheme import CLAUSE_ID, CLAUSES, TAG_ID, TAGS, decode, encode, f1

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
DATA = os.path.join(ROOT, "crates", "tagger", "data")
LENGTHS = (8, 12, 16, 24, 32, 48, 96)
WORDS_IN_BATCH = 2048
SEED = 11
jax.config.update("jax_default_prng_impl", "unsafe_rbg")  # three times as fast on a processor


class Set:
    """Rows as numbers."""

    def __init__(self):
        self.ids, self.grams, self.rows = {}, [np.zeros(MOST_GRAMS, np.int32)], []

    def word(self, word):
        at = self.ids.get(word)
        if at is None:
            at = self.ids[word] = len(self.grams)
            found = grams(word)
            self.grams.append(np.array(found + (0,) * (MOST_GRAMS - len(found)), np.int32))
        return at

    def add(self, row):
        text = row["text"]
        cut, tags, clauses = encode(row)
        if not 0 < len(cut) <= LENGTHS[-1]:
            return
        tags, clauses = [TAG_ID[tag] for tag in tags], [CLAUSE_ID[clause] for clause in clauses]
        for at, (start, end) in enumerate(cut):
            if tags[at] == 0 and any(a < end and b > start for a, b in row.get("open", ())):
                tags[at] = -1
        if row.get("open_intent"):
            clauses = [-1] * len(cut)
        words = [self.word(text[a:b].lower()) for a, b in cut]
        shapes = [shape(text, a, b) for a, b in cut]
        self.rows.append(tuple(np.array(x, t) for x, t in ((words, np.int32), (shapes, np.int32), (tags, np.int8), (clauses, np.int8))))

    def finish(self):
        self.grams = np.stack(self.grams)
        self.length = np.array([len(row[0]) for row in self.rows])
        return self

    def batch(self, ids, size, count):
        shaped = [np.zeros((count, size), np.int32) for _ in range(2)] + [np.full((count, size), -1, np.int32) for _ in range(2)]
        for at, id_ in enumerate(ids):
            for into, values in zip(shaped, self.rows[id_]):
                into[at, : len(values)] = values
        words, shapes, tags, clauses = shaped
        different, index = np.unique(words, return_inverse=True)
        most = 256 if len(different) <= 256 else 1024 if len(different) <= 1024 else 2048
        used = np.zeros((most, MOST_GRAMS), np.int32)
        used[: len(different)] = self.grams[different]
        bits = (shapes[..., None] >> np.arange(SHAPES) & 1).astype(np.float32)
        mask = (words > 0).astype(np.float32)
        return used, index.reshape(words.shape), bits, mask, tags, clauses


def vocabulary():
    """Plain words of the table of `crates/selection`."""
    file = open(os.path.join(ROOT, "crates", "selection", "data", "selection.bin"), "rb").read()
    count, size = struct.unpack_from("<II", file, 8)
    names = file[16 + 4 * (count + 1) :][:size]
    starts = struct.unpack_from(f"<{count + 1}I", file, 16)
    names = [names[a:b].decode("utf-8", "replace") for a, b in zip(starts, starts[1:])]
    return [name for name in names if re.fullmatch("[a-z]{3,12}", name)]


def loss(p, batch, key):
    used, index, bits, mask, tags, clauses = batch
    scores = apply(p, used, index, bits, mask, key)
    total = 0.0
    for score, wanted, weight in zip(scores, (tags, clauses), (1.0, 0.6)):
        chances = jax.nn.log_softmax(score)
        count = score.shape[-1]
        smooth = jax.nn.one_hot(wanted, count) * 0.97 + 0.03 / count
        known = (wanted >= 0).astype(jnp.float32)
        total += weight * -(known * (smooth * chances).sum(-1)).sum() / jnp.maximum(known.sum(), 1)
    return total


def learn(data, steps, start):
    """From the beginning, or on from a table, with smaller steps."""
    p = {name: jnp.asarray(value) for name, value in table.read(start).items()} if start else initial(SEED)
    schedule = optax.cosine_onecycle_schedule(steps, 1e-3 if start else 3e-3, pct_start=0.1)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.01))
    state, R = optimizer.init(p), np.random.default_rng(SEED)

    @jax.jit
    def step(p, state, batch, key):
        value, slope = jax.value_and_grad(loss)(p, batch, key)
        change, state = optimizer.update(slope, state, p)
        return optax.apply_updates(p, change), state, value

    bounds = (0, *LENGTHS)
    pools = {size: np.flatnonzero((data.length > low) & (data.length <= size)) for low, size in zip(bounds, LENGTHS)}
    share = np.array([len(pool) * size for size, pool in pools.items()], float)
    key, began = jax.random.key(SEED), time.time()
    for at in range(steps):
        size = int(R.choice(LENGTHS, p=share / share.sum()))
        count = WORDS_IN_BATCH // size
        ids = R.choice(pools[size], count)
        p, state, value = step(p, state, data.batch(ids, size, count), jax.random.fold_in(key, at))
        if at % 200 == 0 or at == steps - 1:
            print(f"step {at} of {steps}, loss {float(value):.3f}, {time.time() - began:.0f} s", flush=True)
    return p


def scores(p, data):
    """For each row the logarithms of the chances of tags and clauses."""
    p = {name: jnp.asarray(value) for name, value in p.items()}
    run = jax.jit(lambda *batch: [jax.nn.log_softmax(one) for one in apply(p, *batch)])
    for at, length in enumerate(data.length):
        size = next(size for size in LENGTHS if size >= length)
        batch = data.batch([at], size, 1)[:4]
        tags, clauses = run(*batch)
        yield np.asarray(tags[0, :length]), np.asarray(clauses[0, :length])


def best(chances, names):
    """The likeliest sequence in which nothing goes on that has not begun."""
    allowed = np.array([[0 if b[:2] != "I-" or a[2:] == b[2:] and a != "O" else -1e4 for b in names] for a in names])
    total = chances[0] + np.array([-1e4 if name[:2] == "I-" else 0 for name in names])
    back = []
    for row in chances[1:]:
        step = total[:, None] + allowed
        back.append(step.argmax(0))
        total = step.max(0) + row
    path = [int(total.argmax())]
    for pointers in reversed(back):
        path.append(int(pointers[path[-1]]))
    return path[::-1]


def report(name, p, rows):
    data = Set()
    for row in rows:
        data.add(row)
    gold, guessed, exact, intents = [], [], 0, 0
    for (_, _, tags, clauses), (tag_chances, clause_chances) in zip(data.finish().rows, scores(p, data)):
        gold.append(decode([TAGS[tag] for tag in tags]))
        guessed.append(decode([TAGS[tag] for tag in best(tag_chances, TAGS)]))
        wanted = [one[2] for one in decode([CLAUSES[one] for one in clauses])]
        given = [one[2] for one in decode([CLAUSES[one] for one in best(clause_chances, CLAUSES)])]
        intents += wanted == given
        exact += wanted == given and gold[-1] == guessed[-1]
    count = len(gold)
    print(f"{name}: {count} rows, spans F1 {f1(gold, guessed):.3f}, intents {intents / count:.3f}, exact {exact / count:.3f}", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--language", required=True, help="folder with hwu64.jsonl and clinc150.jsonl")
    options.add_argument("--test", help="rows of {text, clauses, spans} that nothing is learned from")
    options.add_argument("--steps", type=int, default=4000)
    options.add_argument("--sentences", type=int, default=300_000)
    options.add_argument("--start", help="a table to go on from")
    given = options.parse_args()
    human, titles = people.rows(given.language, os.path.join(ROOT, "eval", "learn.jsonl"))
    plain = vocabulary()
    R, data = random.Random(SEED), Set()
    for row in generate.rows(given.sentences, SEED, titles, plain):
        data.add(row)
    for row in human:
        data.add(row)
    print(len(data.rows), "rows,", len(data.ids), "words", flush=True)
    p = learn(data.finish(), given.steps, given.start)
    small = rounded(p)
    fresh = list(generate.rows(2000, SEED + 1, titles, plain))
    report("generated", small, fresh)
    if given.test:
        rows = [json.loads(line) for line in open(given.test)]
        rows = [{**row, "spans": [span[:3] for span in row["spans"]]} for row in rows if "text" in row]
        report("test", small, rows)
        report("test, misspelt", small, [generate.misspelt(R, row, 0.15, 4) for row in rows])
    os.makedirs(DATA, exist_ok=True)
    table.write(p, os.path.join(DATA, "reader.bin"))


if __name__ == "__main__":
    main()
