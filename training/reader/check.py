"""Writes `crates/tagger/data/check.jsonl`: what the table in place makes of some sentences, for a test in Rust."""

import json
import os

import generate
import numpy as np
import table
from scheme import CLAUSES, TAGS, decode
from train import DATA, SEED, Set, best, scores

# Signs and letters that both sides must cut and fold alike.
CORNERS = [
    "",
    "Caf\u00e9 at 5\u202fpm, don\u2019t forget!\n- \u00dcbung\n- 12345 x_y",
    "\u201cdelete all\u201d, he said. ADD MILK",
    "\u4e70\u725b\u5976 \u0130stanbul e\u0301t\u00e9 \u00bd \U0001f44d",
    "  add   eggs  \n\n",
]


def main():
    texts = CORNERS + [row["text"] for row in generate.rows(195, SEED + 2)]
    p, data = table.read(os.path.join(DATA, "reader.bin")), Set()
    kept = []
    for text in texts:
        before = len(data.rows)
        data.add({"text": text, "clauses": [], "spans": []})
        kept += [text] if len(data.rows) > before else []
    with open(os.path.join(DATA, "check.jsonl"), "w", encoding="utf-8") as file:
        for text, (tags, clauses) in zip(kept, scores(p, data.finish())):
            target = TAGS.index("B-target")
            line = {
                "text": text,
                "spans": decode([TAGS[tag] for tag in best(tags, TAGS)]),
                "clauses": decode([CLAUSES[tag] for tag in best(clauses, CLAUSES)]),
                "targets": [round(float(one), 4) for one in np.exp(tags[:, target : target + 2]).sum(-1)],
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
