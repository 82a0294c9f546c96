"""Trains the table: a vector for each piece, so that a text's vector is the sum of its pieces' vectors, made a unit.

First the pieces are read out of the teacher one by one; then the table learns to say of whole sentences what the
teacher says; then, beside that, it learns by contrast that a prompt belongs to the description of its tool.
"""

import unicodedata

import numpy as np

DIMENSIONS = 128
PIECES_READ = 64
WARMTH = 0.05


def useful(name):
    """Pieces that can occur: no markers, no unused places, no letters of scripts that the vocabulary barely covers."""
    if name.startswith("[") and name.endswith("]") and len(name) > 1:
        return False
    bare = name.removeprefix("##") if len(name) > 2 else name
    if unicodedata.normalize("NFD", bare) != bare:
        return False
    return all(c.isascii() or c in "€£¥°§×ßæøœð–—‘’“”…" for c in bare)


def principal_axes(vectors):
    mean = vectors.mean(0)
    _, _, axes = np.linalg.svd(vectors - mean, full_matrices=False)
    return mean, axes[:DIMENSIONS].T


def embed(table, pieces, texts):
    """One unit vector per text; that of a text without pieces is zero."""
    sums = np.stack([table[pieces.of(text)[:PIECES_READ]].sum(0) for text in texts])
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)


class Learner:
    """Adam on the rows of the table that a step touches."""

    def __init__(self, table, rate):
        self.table, self.rate, self.step = table, rate, 0
        self.first, self.second = np.zeros_like(table), np.zeros_like(table)

    def forward(self, rows):
        ids = np.concatenate(rows)
        counts = np.array([len(row) for row in rows])
        starts = np.cumsum(counts) - counts
        sums = np.add.reduceat(self.table[ids], starts, axis=0)
        norms = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
        return sums / norms, (ids, counts, norms)

    def backward(self, gradient, unit, kept):
        ids, counts, norms = kept
        inner = (gradient - unit * (gradient * unit).sum(1, keepdims=True)) / norms
        return ids, np.repeat(inner, counts, axis=0)

    def update(self, parts):
        self.step += 1
        ids = np.concatenate([part[0] for part in parts])
        gradients = np.concatenate([part[1] for part in parts])
        order = np.argsort(ids, kind="stable")
        rows, starts = np.unique(ids[order], return_index=True)
        gradient = np.add.reduceat(gradients[order], starts, axis=0)
        first = self.first[rows] = 0.9 * self.first[rows] + 0.1 * gradient
        second = self.second[rows] = 0.999 * self.second[rows] + 0.001 * gradient * gradient
        first = first / (1 - 0.9**self.step)
        second = second / (1 - 0.999**self.step)
        self.table[rows] -= self.rate * first / (np.sqrt(second) + 1e-8)


def contrast(a, b, same):
    """Gradients of the symmetric contrastive loss. `same` marks pairs that must not push each other apart."""
    scores = a @ b.T / WARMTH
    scores[same] = -1e9
    np.fill_diagonal(scores, (a * b).sum(1) / WARMTH)
    size = len(a)

    def soft(x):
        x = np.exp(x - x.max(1, keepdims=True))
        return x / x.sum(1, keepdims=True)

    slope = (soft(scores) + soft(scores.T).T - 2 * np.eye(size, dtype=np.float32)) / (2 * size * WARMTH)
    slope[same & ~np.eye(size, dtype=bool)] = 0
    return slope @ b, slope.T @ a


def distil(learner, rows, targets, random, epochs, batch=256):
    for _ in range(epochs):
        order = random.permutation(len(rows))
        for start in range(0, len(order), batch):
            chunk = order[start : start + batch]
            unit, kept = learner.forward([rows[at] for at in chunk])
            learner.update([learner.backward((unit - targets[chunk]) / len(chunk), unit, kept)])


def tune(learner, pairs, rows, targets, random, epochs, batch=256, weight=2.0):
    """`pairs`: (ids of the prompt, ids of the description, tool). Every step also repeats some of the distilling."""
    for _ in range(epochs):
        order = random.permutation(len(pairs))
        for start in range(0, len(order) - 8, batch):
            chunk = [pairs[at] for at in order[start : start + batch]]
            tools = np.array([pair[2] for pair in chunk])
            same = (tools[:, None] == tools[None, :]) & ~np.eye(len(chunk), dtype=bool)
            a, kept_a = learner.forward([pair[0] for pair in chunk])
            b, kept_b = learner.forward([pair[1] for pair in chunk])
            slope_a, slope_b = contrast(a, b, same)
            parts = [learner.backward(slope_a, a, kept_a), learner.backward(slope_b, b, kept_b)]
            again = random.integers(0, len(rows), batch)
            unit, kept = learner.forward([rows[at] for at in again])
            parts.append(learner.backward(weight * (unit - targets[again]) / batch, unit, kept))
            learner.update(parts)


def quantise(table):
    """int8 and one scale per row."""
    scales = np.maximum(np.abs(table).max(1), 1e-6).astype(np.float32) / 127
    return np.clip(np.rint(table / scales[:, None]), -127, 127).astype(np.int8), scales
