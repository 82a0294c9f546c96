"""The network: a word's hashed letter runs and shape, then convolutions over its neighbours, then two answers for each
word. `tagger/network.rs` of `crates/planner` computes the same."""

import jax
import jax.numpy as jnp
import numpy as np

from features import BUCKETS, SHAPES
from scheme import CLAUSES, TAGS

EMBEDDED, WIDTH = 64, 128
STRIDES = (1, 2, 4, 8, 1)  # how far apart the three words of each layer are


def initial(seed):
    R = np.random.default_rng(seed)

    def matrix(rows, columns):
        return (R.standard_normal((rows, columns)) / np.sqrt(columns)).astype(np.float32)

    layers = {"embedding": (R.standard_normal((BUCKETS, EMBEDDED)) * 0.3).astype(np.float32)}
    layers["embedding"][0] = 0
    layers |= {"input": matrix(WIDTH, EMBEDDED + SHAPES), "input_bias": np.zeros(WIDTH, np.float32)}
    for name in ["norm_in", *(f"norm{at}" for at in range(len(STRIDES))), "norm_out"]:
        layers |= {name: np.ones(WIDTH, np.float32), name + "_bias": np.zeros(WIDTH, np.float32)}
    for at in range(len(STRIDES)):
        layers |= {f"conv{at}": matrix(WIDTH, 3 * WIDTH), f"conv{at}_bias": np.zeros(WIDTH, np.float32)}
    for name, count in (("tags", len(TAGS)), ("clauses", len(CLAUSES))):
        layers |= {name: matrix(count, WIDTH) * 0.5, name + "_bias": np.zeros(count, np.float32)}
    return {name: jnp.asarray(value) for name, value in layers.items()}


def norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    spread = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(spread + 1e-5) * scale + bias


def apply(p, grams, index, shape, mask, key=None):
    """Scores (tags, clauses). `grams` are those of the different words of a batch, `index` says which word stands where;
    with a key some of it is left out at random, for learning. Bucket 0 stands for the runs that a short word lacks."""
    single, runs = p["embedding"][grams[:, 0]], p["embedding"][grams[:, 1:]].sum(1)
    single, runs = single[index], runs[index]
    count = (grams > 0).sum(-1)[index].astype(jnp.float32)[..., None]
    m = mask[..., None]

    def dropped(x, rate, k):
        if key is None:
            return x
        return jnp.where(jax.random.bernoulli(k, 1 - rate, x.shape), x / (1 - rate), 0)

    keys = list(jax.random.split(key, 4)) if key is not None else [None] * 4
    if key is not None:
        keeps_word = jax.random.bernoulli(keys[0], 0.88, mask.shape)[..., None]
        keeps_runs = jax.random.bernoulli(keys[1], 0.96, mask.shape)[..., None]
        single, runs = single * keeps_word * keeps_runs, runs * keeps_runs
    x = jnp.concatenate([(single + runs) / jnp.sqrt(jnp.maximum(count, 1)), shape], -1)
    x = norm(dropped(x @ p["input"].T + p["input_bias"], 0.1, keys[2]), p["norm_in"], p["norm_in_bias"]) * m
    for at, stride in enumerate(STRIDES):
        h = norm(x, p[f"norm{at}"], p[f"norm{at}_bias"]) * m
        padded = jnp.pad(h, ((0, 0), (stride, stride), (0, 0)))
        size = x.shape[1]
        three = jnp.concatenate([padded[:, :size], h, padded[:, 2 * stride : 2 * stride + size]], -1)
        h = jax.nn.relu(three @ p[f"conv{at}"].T + p[f"conv{at}_bias"])
        x = (x + h) * m
    x = dropped(norm(x, p["norm_out"], p["norm_out_bias"]), 0.1, keys[3])
    return x @ p["tags"].T + p["tags_bias"], x @ p["clauses"].T + p["clauses_bias"]


def rounded(p):
    """As the table keeps it: rows of matrices in steps of their largest value / 127."""
    out = {}
    for name, value in p.items():
        value = np.asarray(value)
        if value.ndim == 2:
            scale = np.maximum(np.abs(value).max(1, keepdims=True), 1e-9) / np.float32(127)
            value = np.clip(np.round(value / scale), -127, 127).astype(np.float32) * scale
        out[name] = value
    return out
