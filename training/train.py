"""Trains the table and the gate, and writes them as one file. See README.md.

    python train.py --data FOLDER [--cache FOLDER]

FOLDER holds the files of MetaTool and Seal-Tools as README.md describes them. The test prompts in eval/ are not read.
"""

import argparse
import json
import pathlib
import re

import numpy as np

import gate
import generate
import others
import table as tables
from minilm import Teacher, vocabulary
from words import Pieces

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "crates" / "selection" / "data"
SEED = 11
FOLDS = 5
# What acting must keep on prompts that the gate has not seen.
MOST_WRONG_CHANGES, LEAST_RIGHT = 0.005, 0.925
PENALTY = 2e-4
# What the words say beside the meaning when tools are searched.
WORDS = 0.6

# Tools of MetaTool whose prompts are what the web is for, and what code is for.
WEB = """WeatherTool NewsTool EarthquakeTool AusSurfReport internetSearch MixerBox_WebSearchG_web_search web_requests Now
keyplays_football Agones AusPetrolPrices airqualityforeast""".split()
CODE = "calculator word_counter noteable".split()


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def spoken(tool):
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", tool["name"]).replace("_", " ")
    return f"{name}. {tool['description']}"


class Data:
    def __init__(self, folder):
        self.tools = {tool["id"]: tool for tool in lines(folder / "metatool.tools.jsonl")}
        self.more_tools = {tool["id"]: tool for tool in lines(folder / "seal_dev.tools.jsonl")}
        self.prompts = [one for one in lines(folder / "metatool.queries.jsonl") if len(one["gold"]) == 1]
        self.more_prompts = lines(folder / "seal_dev.queries.jsonl")
        self.need = lines(folder / "metatool_need.queries.jsonl")
        self.learn = lines(ROOT / "eval" / "learn.jsonl")

    def some_of_each(self, random, most):
        by_tool = {}
        for one in self.prompts:
            by_tool.setdefault(one["gold"][0], []).append(one["query"])
        for tool in sorted(by_tool):
            found = by_tool[tool]
            for at in random.permutation(len(found))[:most]:
                yield tool, found[at]


def sentences(data):
    """What the table hears the teacher say."""
    random = np.random.default_rng(5)
    found = [text for _, text in data.some_of_each(random, 50)]
    found += [one["query"] for one in data.need + data.more_prompts]
    found += [one["description"] for one in [*data.tools.values(), *data.more_tools.values()]]
    found += [one["prompt"] for one in data.learn]
    found += [text for text, _, _ in generate.filled(random, 4)]
    return sorted({text[:300] for text in found})


def heard(texts, cache):
    """The teacher's vectors of the single pieces and of the texts; kept in the cache folder if there is one."""
    teacher = None
    pieces_file, texts_file = (cache / "pieces.npy", cache / "texts.npz") if cache else (None, None)
    if pieces_file and pieces_file.exists():
        pieces = np.load(pieces_file)
    else:
        teacher = Teacher()
        pieces = teacher.embed_ids([[101, at, 102] for at in range(len(vocabulary()))])
        if pieces_file:
            np.save(pieces_file, pieces)
    known = {}
    if texts_file and texts_file.exists():
        kept = np.load(texts_file, allow_pickle=False)
        known = dict(zip(kept["texts"].tolist(), kept["vectors"]))
    missing = [text for text in texts if text not in known]
    if missing:
        teacher = teacher or Teacher()
        known.update(zip(missing, teacher.embed(missing, 40)))
        if texts_file:
            np.savez(texts_file, texts=np.array(list(known)), vectors=np.stack(list(known.values())))
    return pieces, np.stack([known[text] for text in texts])


def train_table(data, cache):
    """The names of the pieces, sorted by their bytes, and their vectors."""
    names = vocabulary()
    kept = sorted((at for at, name in enumerate(names) if tables.useful(name)), key=lambda at: names[at].encode())
    pieces = Pieces([names[at] for at in kept])
    texts = sentences(data)
    single, whole = heard(texts, cache)
    _, axes = tables.principal_axes(whole)
    targets = whole @ axes
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    table = (single[kept] - single[kept].mean(0)) @ axes
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    rows = [np.array(pieces.of(text)[: tables.PIECES_READ] or [0]) for text in texts]
    counts = np.bincount(np.concatenate(rows), minlength=len(kept))
    often = (counts + 1) / counts.sum()
    table = (table * (1e-3 / (1e-3 + often))[:, None]).astype(np.float32)
    random = np.random.default_rng(SEED)
    learner = tables.Learner(table, 0.003)
    tables.distil(learner, rows, targets, random, 6)

    def ids(text):
        return np.array(pieces.of(text)[: tables.PIECES_READ] or [0])

    pairs = [(ids(text), ids(spoken(data.tools[tool])), tool) for tool, text in data.some_of_each(random, 60)]
    for name, tool in data.more_tools.items():
        hints = " ".join(hint for _, hint in tool["params"][:2])
        pairs.append((ids(f"{tool['description']} {hints}"), ids(spoken(tool)), name))
    for one in data.more_prompts:
        pairs.append((ids(one["query"]), ids(spoken(data.more_tools[one["gold"][0]])), one["gold"][0]))
    number = {name: at for at, name in enumerate(sorted({pair[2] for pair in pairs}))}
    pairs = [(a, b, number[name]) for a, b, name in pairs]
    tables.tune(learner, pairs, rows, targets, random, 4)
    return pieces, table


def examples(data, random):
    """(text, label, weight, number of the learning prompt or -1)."""
    found = []
    for at, one in enumerate(data.learn):
        label = gate.label(one["class"], one.get("intent"))
        found.append((one["prompt"], label, 1.0, at))
        for _ in range(2):
            found.append((generate.dressed(random, one["prompt"]), label, 0.4, at))
    for text, kind, intent in generate.filled(random, 5):
        text = generate.dressed(random, text) if random.random() < 0.5 else text
        found.append((text, gate.label(kind, intent), 0.4 if kind == "tasks" else 0.2, -1))
    for one in data.need:
        if one["label"] == "none":
            found.append((one["query"], gate.label("none", None), 0.3, -1))
    for kind, names, most in (("web", WEB, 500), ("code", CODE, 120)):
        texts = [one["query"] for one in data.prompts if one["gold"][0] in names]
        for at in random.permutation(len(texts))[:most]:
            found.append((texts[at], gate.label(kind, None), 0.15, -1))
    return found


def balanced(labels, weights):
    """Rare classes count more, so that the gate does not learn how many prompts of each somebody wrote."""
    classes = np.maximum(labels - 7, 0)
    totals = np.array([weights[classes == one].sum() for one in range(5)])
    return weights * (totals.mean() / totals[classes]) ** 0.7


def out_of_fold(x_dense, x_sparse, labels, weights, numbers, random):
    """What the gate says of each learning prompt when it has not learned from it."""
    count = numbers.max() + 1
    fold = random.permutation(count) % FOLDS
    chances = np.zeros((count, len(gate.LABELS)))
    first = {number: at for at, number in reversed(list(enumerate(numbers))) if number >= 0}
    for one in range(FOLDS):
        inside = np.array([number < 0 or fold[number] != one for number in numbers])
        model = gate.fit(x_dense[inside], x_sparse[inside], labels[inside], weights[inside], PENALTY)
        tested = [number for number in range(count) if fold[number] == one]
        at = [first[number] for number in tested]
        chances[tested] = gate.chances(model, x_dense[at], x_sparse[at])
    return chances, labels[[first[number] for number in range(count)]]


def warmed(chances, warmth):
    logs = np.log(np.maximum(chances, 1e-12)) / warmth
    logs = np.exp(logs - logs.max(1, keepdims=True))
    return logs / logs.sum(1, keepdims=True)


def calibrate(chances, labels):
    """The warmth that makes the chances honest, and how sure to be before acting."""
    at = np.arange(len(labels))
    warmth = min(np.arange(0.6, 3.0, 0.05), key=lambda one: -np.log(warmed(chances, one)[at, labels]).mean())
    chances = warmed(chances, warmth)
    by_class = np.stack([chances[:, :8].sum(1), *chances[:, 8:].T], 1)
    kind = by_class.argmax(1)
    intent = chances[:, :8].argmax(1)
    likely = np.where(kind == 0, chances[at, intent], by_class.max(1))
    chosen = np.where(kind == 0, intent, kind + 7)
    right_class = kind == np.maximum(labels - 7, 0)
    changing = np.isin(chosen, [0, 2, 3, 4, 7, 9])
    grid = np.arange(0.4, 0.96, 0.01)
    wrong = chosen != labels
    change = next((one for one in grid if (wrong & changing & (likely >= one)).mean() <= MOST_WRONG_CHANGES), 0.9)

    def share_right(read):
        return right_class[likely >= np.where(changing, change, read)].mean()

    read = next((one for one in grid if share_right(one) >= LEAST_RIGHT), 0.6)
    acted = likely >= np.where(changing, change, read)
    print(f"out of fold: {right_class.mean():.3f} right, intents {np.mean((chosen == labels)[labels < 8]):.3f}, warmth")
    print(f"  {warmth:.2f}, acts from {read:.2f} and {change:.2f} on: coverage {acted.mean():.3f},")
    print(f"  right {right_class[acted].mean():.3f}, wrong changes {(wrong & changing & acted).mean():.4f}")
    for one in range(5):
        own = np.maximum(labels - 7, 0) == one
        print(f"  class {one}: {right_class[own].mean():.3f}, acts {acted[own].mean():.3f}")
    return warmth, read, change


def write(pieces, rows, scales, model, tuned, path):
    names = [name.encode() for name in pieces.names]
    starts = np.cumsum([0] + [len(name) for name in names]).astype("<u4")
    bucket_scales = np.maximum(np.abs(model[1]).max(0), 1e-9).astype("<f4") / 127
    buckets = np.clip(np.rint(model[1] / bucket_scales), -127, 127).astype(np.int8)
    tuned = np.array(tuned + [0.0] * (16 - len(tuned)), dtype="<f4")
    head = np.array([len(names), starts[-1]], dtype="<u4")
    parts = [head, starts, b"".join(names), scales.astype("<f4"), rows, model[0].astype("<f4"), model[2].astype("<f4")]
    parts += [bucket_scales, buckets, tuned]
    path.write_bytes(b"TRSELECT" + b"".join(part if isinstance(part, bytes) else part.tobytes() for part in parts))
    return model[0], buckets * bucket_scales, model[2]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=pathlib.Path, required=True)
    arguments.add_argument("--cache", type=pathlib.Path)
    given = arguments.parse_args()
    data = Data(given.data)
    table_file = given.cache / "table.npz" if given.cache else None
    if table_file and table_file.exists():
        kept = np.load(table_file, allow_pickle=False)
        pieces, table = Pieces(kept["names"].tolist()), kept["table"]
    else:
        pieces, table = train_table(data, given.cache)
        if table_file:
            np.savez(table_file, names=np.array(pieces.names), table=table)
    rows, scales = tables.quantise(table)
    table = rows * scales[:, None]
    random = np.random.default_rng(SEED)
    found = examples(data, random)
    texts = [one[0] for one in found]
    labels, weights = np.array([one[1] for one in found]), np.array([one[2] for one in found])
    numbers = np.array([one[3] for one in found])
    weights = balanced(labels, weights)
    x_dense, x_sparse = gate.dense(table, pieces, texts).astype(np.float32), gate.sparse(texts)
    print(f"{len(texts)} examples", flush=True)
    unseen, true = out_of_fold(x_dense, x_sparse, labels, weights, numbers, random)
    if given.cache:
        np.save(given.cache / "unseen.npy", unseen)
    warmth, read, change = calibrate(unseen, true)
    model = gate.fit(x_dense, x_sparse, labels, weights, PENALTY)

    def chances(texts):
        raw = gate.chances(model, gate.dense(table, pieces, texts), gate.sparse(texts))
        return warmed(raw, warmth)

    fits = others.fit(data, table, pieces, chances, warmed(unseen, warmth), random, spoken)
    OUT.mkdir(exist_ok=True)
    tuned = [warmth, read, change, WORDS, 0.3, 0.35, *fits]
    model = write(pieces, rows, scales, model, tuned, OUT / "selection.bin")
    some = [data.learn[at]["prompt"] for at in random.permutation(len(data.learn))[:60]]
    some += ["", "Ünïcödé naïve café", "delete task #42 & 'buy milk'", "x" * 60, "what's 12*7?"]
    with (OUT / "check.jsonl").open("w", encoding="utf-8") as out:
        for text, row in zip(some, chances(some)):
            line = {"prompt": text, "chances": [round(float(one), 4) for one in row]}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
