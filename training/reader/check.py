"""Writes `crates/tagger/data/check.jsonl`: what the table in place makes of some sentences, for a test in Rust."""

import json
import os

import generate
import numpy as np
import table
import written
from measure import log_chances, read, scores
from network import views
from rows import Rows
from scheme import CLAUSES, TAGS, parse
from train import DATA, SEED

# Signs and letters that both sides must cut and fold alike.
CORNERS = [
    "",
    "Caf\u00e9 at 5\u202fpm, don\u2019t forget!\n- \u00dcbung\n- 12345 x_y",
    "\u201cdelete all\u201d, he said. ADD MILK",
    "\u4e70\u725b\u5976 \u0130stanbul e\u0301t\u00e9 \u00bd \U0001f44d",
    "  add   eggs  \n\n",
]


def main():
    texts = CORNERS + [row["text"] for row in generate.rows(95, SEED + 2)] + [parse(line)["text"] for line in written.lines()[1][:100]]
    sizes, flat = table.read(os.path.join(DATA, "reader.bin"))
    data = Rows()
    kept = [text for text in texts if data.add({"text": text, "clauses": [], "spans": []})]
    target = TAGS.index("B-target")
    with open(os.path.join(DATA, "check.jsonl"), "w", encoding="utf-8") as file:
        for text, (tags, clauses) in zip(kept, scores(sizes, views(sizes, flat), data.finish())):
            line = {
                "text": text,
                "spans": read(tags, TAGS),
                "clauses": read(clauses, CLAUSES),
                "targets": [round(float(one), 4) for one in np.exp(log_chances(tags)[:, target : target + 2]).sum(-1)],
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
