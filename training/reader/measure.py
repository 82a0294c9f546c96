"""How well a network reads, and how warm its chances must be to come true."""

import numpy as np

from network import Pass
from rows import Rows
from scheme import CLAUSES, TAGS, decode, f1

WARMTHS = np.geomspace(0.4, 5, 60)


def log_chances(scores):
    scores = scores - scores.max(-1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(-1, keepdims=True))


def scores(sizes, p, data):
    """For each row the scores of tags and clauses."""
    for first in range(0, len(data), 128):
        chosen = np.arange(first, min(first + 128, len(data)))
        both = Pass(sizes, p, data.batch(chosen)[0]).scores
        start = data.ends[first]
        for row in chosen:
            yield tuple(one[data.ends[row] - start : data.ends[row + 1] - start] for one in both)


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


def read(scores, names):
    return decode([names[tag] for tag in best(log_chances(scores), names)])


def wanted(data, row):
    words = slice(data.ends[row], data.ends[row + 1])
    return decode([TAGS[tag] for tag in data.tags[words]]), decode([CLAUSES[one] for one in data.clauses[words]])


def report(name, sizes, p, rows):
    data = Rows(rows).finish()
    gold, guessed, exact, intents = [], [], 0, 0
    for row, (tags, clauses) in enumerate(scores(sizes, p, data)):
        spans, wishes = wanted(data, row)
        gold.append(spans)
        guessed.append(read(tags, TAGS))
        same = [one[2] for one in wishes] == [one[2] for one in read(clauses, CLAUSES)]
        intents += same
        exact += same and spans == guessed[-1]
    count = len(gold)
    print(f"{name}: {count} rows, spans F1 {f1(gold, guessed):.3f}, intents {intents / count:.3f}, exact {exact / count:.3f}", flush=True)
    return gold, guessed


def chances_of(scores, names, found, warmth, together):
    """As `sequence.rs` of `crates/tagger` says how sure it is of each part."""
    chances = np.exp(log_chances(scores / warmth))
    for start, end, label in found:
        both = [names.index(mark + label) for mark in ("B-", "I-")]
        yield together(chances[start:end, both].sum(-1))


def warmths(sizes, p, rows):
    """The warmth of tags and of clauses with which their chances come true most nearly."""
    data, found = Rows(rows).finish(), []
    every = list(scores(sizes, p, data))
    for which, names, together in ((0, TAGS, np.min), (1, CLAUSES, np.mean)):
        parts = [read(one[which], names) for one in every]
        right = np.array([part in wanted(data, row)[which] for row, these in enumerate(parts) for part in these])
        losses = []
        for warmth in WARMTHS:
            said = [chances_of(one[which], names, these, warmth, together) for one, these in zip(every, parts)]
            said = np.clip([chance for these in said for chance in these], 1e-4, 1 - 1e-4)
            losses.append((-np.log(np.where(right, said, 1 - said)).mean(), warmth, said))
        _, warmth, said = min(losses, key=lambda one: one[0])
        found.append(warmth)
        print(f"{('spans', 'clauses')[which]}: warmth {warmth:.2f}", end="")
        for low, high in ((0, 0.5), (0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 1.1)):
            these = (said >= low) & (said < high)
            if these.any():
                print(f"; said {said[these].mean():.2f} of {these.sum()}, right {right[these].mean():.2f}", end="")
        print(flush=True)
    return found


def warmed(p, found):
    """The same network with other chances."""
    p = dict(p)
    for name, warmth in zip(("tags", "clauses"), found):
        for part in (name, name + "_bias"):
            p[part] = (p[part] / warmth).astype(np.float32)
    return p
