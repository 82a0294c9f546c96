"""Cuts text into the pieces of the table. `crates/selection/src/pieces.rs` does the same; keep them alike."""

import unicodedata

LONGEST_TEXT = 2000  # characters of a text that are read
LONGEST_WORD = 40  # characters of a word that are cut into pieces; a longer one is skipped


def normal(text):
    """Lower case, without marks."""
    decomposed = unicodedata.normalize("NFD", text[:LONGEST_TEXT].lower())
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn")


def raw_words(text):
    """Runs of letters and digits, in order; every other visible character stands alone."""
    word = ""
    for c in normal(text):
        if c.isalnum():
            word += c
            continue
        if word:
            yield word
            word = ""
        if not c.isspace():
            yield c
    if word:
        yield word


class Pieces:
    """The vocabulary: longest match first, `##` before pieces that go on."""

    def __init__(self, names):
        self.names = names
        self.ids = {name: at for at, name in enumerate(names)}

    def of_word(self, word):
        if len(word) > LONGEST_WORD:
            return []
        found, start = [], 0
        while start < len(word):
            end = len(word)
            while end > start:
                name = ("##" if start else "") + word[start:end]
                if name in self.ids:
                    found.append(self.ids[name])
                    break
                end -= 1
            else:
                return []
            start = end
        return found

    def of(self, text):
        return [piece for word in raw_words(text) for piece in self.of_word(word)]
