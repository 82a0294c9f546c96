"""The gate: which class a prompt is of, and for tasks which intent. A multinomial logistic regression.

`crates/selection/src/features.rs` makes the same features; keep them alike.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import logsumexp

from table import embed
from words import raw_words

INTENTS = ["create", "list", "complete", "delete", "update", "find", "get", "restore"]
LABELS = [f"tasks {intent}" for intent in INTENTS] + ["web", "code", "human", "none"]
BUCKETS = 1 << 13
WORDS_READ = 40
HEAD, TAIL = 4, 3
DENSE_SCALE, WORD_SCALE, LETTER_SCALE = 3.0, 2.5, 1.2


def label(kind, intent):
    return LABELS.index(f"tasks {intent}" if kind == "tasks" else kind)


def bucket(name):
    value = 0x811C9DC5
    for byte in name.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    value ^= value >> 15
    return value % BUCKETS


def tokens(text):
    """The words that are looked at; numbers are all alike."""
    return ["#" if word.isascii() and word.isdigit() else word for word in raw_words(text)][:WORDS_READ]


def length_step(count):
    return next((at for at, most in enumerate([1, 2, 3, 4, 6, 9, 14, 24]) if count <= most), 8)


def hashed(text):
    """(buckets of word features, buckets of letter features), without repeats."""
    found = tokens(text)
    words = {f"n {length_step(len(found))}"}
    words.update(f"1 {word}" for word in found)
    framed = ["^", *found, "$"]
    words.update(f"2 {a} {b}" for a, b in zip(framed, framed[1:]))
    words.update(f"3 {a} {b} {c}" for a, b, c in zip(framed, framed[1:], framed[2:]))
    letters = set()
    for word in found:
        if len(word) >= 4 and word.isalpha():
            edged = f"<{word}>"
            letters.update(f"c {edged[at:at + 4]}" for at in range(len(edged) - 3))
    return {bucket(name) for name in words}, {bucket(name) for name in letters}


def dense(table, pieces, texts):
    """The vectors of the whole text, of its first words and of its last."""
    split = [list(raw_words(text)) for text in texts]
    parts = [
        embed(table, pieces, texts),
        embed(table, pieces, [" ".join(words[:HEAD]) for words in split]),
        embed(table, pieces, [" ".join(words[-TAIL:]) for words in split]),
    ]
    return DENSE_SCALE * np.concatenate(parts, axis=1)


def sparse(texts):
    rows, columns, values = [], [], []
    for at, text in enumerate(texts):
        words, letters = hashed(text)
        found = {}
        for group, scale in ((words, WORD_SCALE), (letters, LETTER_SCALE)):
            for name in group:
                found[name] = found.get(name, 0) + scale / np.sqrt(len(group))
        rows += [at] * len(found)
        columns += found.keys()
        values += found.values()
    return csr_matrix((values, (rows, columns)), shape=(len(texts), BUCKETS), dtype=np.float32)


def fit(x_dense, x_sparse, y, weights, penalty):
    """Weights of the dense part, of the buckets, and the bias."""
    wide = x_dense.shape[1]
    size = wide + BUCKETS + 1
    target = np.eye(len(LABELS), dtype=np.float32)[y]
    share = (weights / weights.sum()).astype(np.float32)
    turned = x_sparse.T.tocsr()

    def loss(flat):
        w = flat.reshape(size, len(LABELS)).astype(np.float32)
        scores = x_dense @ w[:wide] + x_sparse @ w[wide:-1] + w[-1]
        logs = scores - logsumexp(scores, axis=1, keepdims=True)
        value = -(share * logs[np.arange(len(y)), y]).sum(dtype=np.float64) + 0.5 * penalty * float((w[:-1] ** 2).sum())
        slope = (np.exp(logs) - target) * share[:, None]
        gradient = np.concatenate([x_dense.T @ slope, turned @ slope, slope.sum(0, keepdims=True)])
        gradient[:-1] += penalty * w[:-1]
        return float(value), gradient.ravel().astype(np.float64)

    best = minimize(loss, np.zeros(size * len(LABELS)), jac=True, method="L-BFGS-B", options={"maxiter": 80})
    w = best.x.reshape(size, len(LABELS)).astype(np.float32)
    return w[:wide], w[wide:-1], w[-1]


def chances(model, x_dense, x_sparse):
    scores = x_dense @ model[0] + x_sparse @ model[1] + model[2]
    return np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
