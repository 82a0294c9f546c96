"""The file of the trained weights: sizes, then in the order of their names matrices (a scale for each row, then the rows in
bytes) and vectors. `crates/tagger/src/table.rs` reads it."""

import struct

import numpy as np

from network import Sizes, empty, views
from scheme import CLAUSES, TAGS

MAGIC = b"TRREADER"


def head(sizes):
    numbers = (sizes.buckets, sizes.embedded, sizes.width, len(TAGS), len(CLAUSES), len(sizes.strides), *sizes.strides)
    return MAGIC + struct.pack(f"<{len(numbers)}I", *numbers)


def write(sizes, p, path):
    out = [head(sizes)]
    for name in sizes.shapes():
        value = p[name]
        if value.ndim == 1:
            out.append(value.astype("<f4").tobytes())
            continue
        scale = np.maximum(np.abs(value).max(1), 1e-9) / np.float32(127)
        out.append(scale.astype("<f4").tobytes())
        out.append(np.clip(np.round(value / scale[:, None]), -127, 127).astype(np.int8).tobytes())
    with open(path, "wb") as file:
        file.write(b"".join(out))


def read(path):
    """Sizes and weights."""
    file = open(path, "rb").read()
    buckets, embedded, width, _, _, layers = struct.unpack_from("<6I", file, len(MAGIC))
    sizes = Sizes(buckets, embedded, width, struct.unpack_from(f"<{layers}I", file, len(MAGIC) + 24))
    assert file.startswith(head(sizes)), "a table of another form"
    at, flat = len(head(sizes)), empty(sizes)
    for value in views(sizes, flat).values():
        if value.ndim == 1:
            value[:] = np.frombuffer(file, "<f4", len(value), at)
            at += 4 * len(value)
            continue
        scale = np.frombuffer(file, "<f4", len(value), at)
        at += 4 * len(value)
        value[:] = np.frombuffer(file, np.int8, value.size, at).reshape(value.shape) * scale[:, None]
        at += value.size
    assert at == len(file), "the file is longer than its table"
    return sizes, flat
