"""The network: a word's hashed letter runs and shape, then convolutions over its neighbours, then two answers for each
word. `network.rs` of `crates/tagger` computes the same. Learning is written out by hand: it
needs NumPy and SciPy alone, and messages of any length stand one after the other without padding."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from features import SHAPES
from scheme import CLAUSES, TAGS


# What is left out at random while learning: numbers between the layers, what a word is, and its letters altogether.
NUMBERS_DROPPED, WORDS_DROPPED, LETTERS_DROPPED = 0.15, 0.25, 0.1


class Sizes(NamedTuple):
    buckets: int = 16384  # of letter runs
    embedded: int = 96
    width: int = 192
    strides: tuple = (1, 2, 4, 8, 2, 1)  # how far apart the three words of each layer are

    def shapes(self):
        """{name: shape} of matrices, a row for each output, and of vectors."""
        width, found = self.width, {"embedding": (self.buckets, self.embedded)}
        dense = {"input": (width, self.embedded + SHAPES), "tags": (len(TAGS), width), "clauses": (len(CLAUSES), width)}
        dense |= {f"conv{at}": (width, 3 * width) for at in range(len(self.strides))}
        for name, shape in dense.items():
            found |= {name: shape, name + "_bias": shape[:1]}
        for name in ["norm_in", *(f"norm{at}" for at in range(len(self.strides))), "norm_out"]:
            found |= {name: (width,), name + "_bias": (width,)}
        return dict(sorted(found.items()))


def views(sizes, flat):
    """The matrices and vectors that lie one after the other in `flat`."""
    found, at = {}, 0
    for name, shape in sizes.shapes().items():
        count = int(np.prod(shape))
        found[name], at = flat[at : at + count].reshape(shape), at + count
    assert at == len(flat)
    return found


def empty(sizes):
    return np.zeros(sum(int(np.prod(shape)) for shape in sizes.shapes().values()), np.float32)


def initial(sizes, seed):
    R, flat = np.random.default_rng(seed), empty(sizes)
    for name, value in views(sizes, flat).items():
        if value.ndim == 2:
            spread = 0.3 if name == "embedding" else (0.5 if name in ("tags", "clauses") else 1) / np.sqrt(value.shape[1])
            value[:] = R.standard_normal(value.shape) * spread
        elif name.startswith("norm") and not name.endswith("_bias"):
            value[:] = 1
    return flat


class Batch(NamedTuple):
    """Words of several messages, one message after the other."""

    grams: np.ndarray  # hashes of letter runs, a row for each word; -1 for those that it lacks
    shapes: np.ndarray  # bits
    before: np.ndarray  # how many words of its message stand before a word
    behind: np.ndarray  # and how many behind it


class Norm:
    def __init__(self, p, name):
        self.scale, self.bias, self.name = p[name], p[name + "_bias"], name

    def apply(self, x):
        width = x.shape[1]
        ones = np.full(width, 1 / width, np.float32)
        centred = x - (x @ ones)[:, None]
        self.spread = 1 / np.sqrt(np.einsum("ij,ij->i", centred, centred) / width + np.float32(1e-5))[:, None]
        self.unit = np.multiply(centred, self.spread, out=centred)
        return self.unit * self.scale + self.bias

    def slope(self, d, g):
        width = d.shape[1]
        np.einsum("ij,ij->j", d, self.unit, out=g[self.name])
        g[self.name + "_bias"][:] = d.sum(0)
        d = d * self.scale
        mean = d @ np.full(width, 1 / width, np.float32)
        along = np.einsum("ij,ij->i", d, self.unit) / width
        d -= mean[:, None]
        d -= self.unit * along[:, None]
        d *= self.spread
        return d


class Pass:
    """One pass over a batch; with a source of randomness some of it is left out, for learning."""

    def __init__(self, sizes, p, batch, random=None):
        self.sizes, self.p, self.random, width = sizes, p, random, sizes.width
        self.letters = self.embedding(batch)
        bits = (batch.shapes[:, None] >> np.arange(SHAPES) & 1).astype(np.float32)
        self.seen = np.concatenate([self.letters @ p["embedding"], bits], 1)
        x, self.kept_in = self.dropped(self.seen @ p["input"].T + p["input_bias"])
        self.norm_in = Norm(p, "norm_in")
        x = self.norm_in.apply(x)
        self.layers = []
        for at, stride in enumerate(sizes.strides):
            norm = Norm(p, f"norm{at}")
            h = norm.apply(x)
            left = (batch.before >= stride)[stride:, None]
            right = (batch.behind >= stride)[:-stride, None]
            three = np.zeros((len(h), 3 * width), np.float32)
            three[:, width : 2 * width] = h
            np.multiply(h[:-stride], left, out=three[stride:, :width])
            np.multiply(h[stride:], right, out=three[:-stride, 2 * width :])
            h = three @ p[f"conv{at}"].T
            h += p[f"conv{at}_bias"]
            h, kept = self.dropped(np.maximum(h, 0, out=h))
            x = x + h
            self.layers.append((norm, three, h, kept, left, right))
        self.norm_out = Norm(p, "norm_out")
        self.last, self.kept_out = self.dropped(self.norm_out.apply(x))
        self.scores = [self.last @ p[name].T + p[name + "_bias"] for name in ("tags", "clauses")]

    def embedding(self, batch):
        """How much of each bucket a word has."""
        there = batch.grams >= 0
        count = there.sum(1)
        share = np.repeat(1 / np.sqrt(count, dtype=np.float32)[:, None], there.shape[1], 1)
        if self.random:
            chances = self.random.random((2, len(count)), np.float32)
            share[:, 0] *= chances[0] >= WORDS_DROPPED
            share *= (chances[1] >= LETTERS_DROPPED)[:, None]
        buckets = 1 + batch.grams[there] % (self.sizes.buckets - 1)
        ends = np.concatenate([[0], np.cumsum(count)])
        return csr_matrix((share[there], buckets, ends), (len(count), self.sizes.buckets))

    def dropped(self, x):
        if not self.random:
            return x, None
        share = int(256 * NUMBERS_DROPPED)
        kept = (self.random.integers(0, 256, x.shape, np.uint8) >= share) * np.float32(256 / (256 - share))
        return x * kept, kept

    def slopes(self, of_scores, g):
        """Writes into `g` how the loss changes with each weight, given how it changes with the scores."""
        p, width = self.p, self.sizes.width
        for name, d in zip(("tags", "clauses"), of_scores):
            np.matmul(d.T, self.last, out=g[name])
            g[name + "_bias"][:] = d.sum(0)
        d = of_scores[0] @ p["tags"]
        d += of_scores[1] @ p["clauses"]
        d *= self.kept_out
        dx = self.norm_out.slope(d, g)
        for at, stride in reversed(list(enumerate(self.sizes.strides))):
            norm, three, h, kept, left, right = self.layers[at]
            d = dx * kept
            d *= h > 0
            np.matmul(d.T, three, out=g[f"conv{at}"])
            g[f"conv{at}_bias"][:] = d.sum(0)
            d = d @ p[f"conv{at}"]
            dh = d[:, width : 2 * width].copy()
            dh[:-stride] += d[stride:, :width] * left
            dh[stride:] += d[:-stride, 2 * width :] * right
            dx += norm.slope(dh, g)
        d = self.norm_in.slope(dx, g)
        d *= self.kept_in
        np.matmul(d.T, self.seen, out=g["input"])
        g["input_bias"][:] = d.sum(0)
        d = d @ p["input"][:, : self.sizes.embedded]
        g["embedding"][:] = self.letters.T @ d


def rounded(p):
    """As the table keeps it: rows of matrices in steps of their largest value / 127."""
    out = {}
    for name, value in p.items():
        if value.ndim == 2:
            scale = np.maximum(np.abs(value).max(1, keepdims=True), 1e-9) / np.float32(127)
            value = np.clip(np.round(value / scale), -127, 127).astype(np.float32) * scale
        out[name] = value
    return out
