"""The file of the trained weights: sizes, then in the order of their names matrices (a scale for each row, then the rows in
bytes) and vectors. `crates/tagger/src/table.rs` reads it."""

import struct

import numpy as np

from network import EMBEDDED, STRIDES, WIDTH, initial
from scheme import CLAUSES, TAGS

MAGIC = b"TRREADER"
SIZES = struct.pack(f"<{5 + len(STRIDES)}I", EMBEDDED, WIDTH, len(TAGS), len(CLAUSES), len(STRIDES), *STRIDES)


def write(p, path):
    out = [MAGIC, SIZES]
    for name in sorted(p):
        value = np.asarray(p[name])
        if value.ndim == 1:
            out.append(value.astype("<f4").tobytes())
            continue
        scale = np.maximum(np.abs(value).max(1), 1e-9) / np.float32(127)
        out.append(scale.astype("<f4").tobytes())
        out.append(np.clip(np.round(value / scale[:, None]), -127, 127).astype(np.int8).tobytes())
    with open(path, "wb") as file:
        file.write(b"".join(out))


def read(path):
    file = open(path, "rb").read()
    assert file.startswith(MAGIC + SIZES), "a table of another form"
    at, p = len(MAGIC + SIZES), {}
    for name, like in sorted(initial(0).items()):
        if like.ndim == 1:
            p[name] = np.frombuffer(file, "<f4", like.shape[0], at)
            at += 4 * like.shape[0]
            continue
        rows, columns = like.shape
        scale = np.frombuffer(file, "<f4", rows, at)
        at += 4 * rows
        p[name] = np.frombuffer(file, np.int8, rows * columns, at).reshape(rows, columns) * scale[:, None]
        at += rows * columns
    assert at == len(file), "the file is longer than its table"
    return p
