"""Rows as numbers: all words one after the other."""

import numpy as np

from features import MOST_GRAMS, grams, shape
from network import Batch
from scheme import CLAUSE_ID, TAG_ID, encode

MOST_WORDS = 96


class Rows:
    def __init__(self, rows=()):
        self.ids, self.grams = {}, []
        self.words, self.shapes, self.tags, self.clauses, self.ends = [], [], [], [], [0]
        for row in rows:
            self.add(row)

    def word(self, word):
        at = self.ids.get(word)
        if at is None:
            at = self.ids[word] = len(self.grams)
            found = grams(word)
            self.grams.append(np.array(found + (-1,) * (MOST_GRAMS - len(found)), np.int64))
        return at

    def add(self, row):
        """Whether the row has words, and not too many."""
        text = row["text"]
        cut, tags, clauses = encode(row)
        if not 0 < len(cut) <= MOST_WORDS:
            return False
        tags, clauses = [TAG_ID[tag] for tag in tags], [CLAUSE_ID[clause] for clause in clauses]
        for at, (start, end) in enumerate(cut):
            if tags[at] == 0 and any(a < end and b > start for a, b in row.get("open", ())):
                tags[at] = -1
        if row.get("open_intent"):
            clauses = [-1] * len(cut)
        self.words.extend(self.word(text[a:b].lower()) for a, b in cut)
        self.shapes.extend(shape(text, a, b) for a, b in cut)
        self.tags.extend(tags)
        self.clauses.extend(clauses)
        self.ends.append(len(self.words))
        return True

    def __len__(self):
        return len(self.ends) - 1

    def finish(self):
        self.grams = np.stack(self.grams)
        self.words, self.shapes, self.ends = (np.array(x, np.int64) for x in (self.words, self.shapes, self.ends))
        self.tags, self.clauses = np.array(self.tags, np.int8), np.array(self.clauses, np.int8)
        return self

    def batch(self, chosen):
        """The batch of some rows, and their tags and clauses."""
        starts, lengths = self.ends[chosen], self.ends[chosen + 1] - self.ends[chosen]
        before = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = before + np.repeat(starts, lengths)
        behind = np.repeat(lengths, lengths) - 1 - before
        batch = Batch(self.grams[self.words[at]], self.shapes[at], before, behind)
        return batch, self.tags[at].astype(int), self.clauses[at].astype(int)
