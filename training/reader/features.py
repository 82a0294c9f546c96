"""What the network sees of a word: hashed letter runs and its shape. `features.rs` of `crates/tagger` does the same; keep
them alike."""

import functools
import unicodedata

MOST_GRAMS = 26
SHAPES = 16


def fnv(text):
    value = 0x811C9DC5
    for byte in text.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value ^ (value >> 15)


def normal(word):
    """Lower case, without marks."""
    word = unicodedata.normalize("NFD", word.lower().replace("’", "'"))
    return "".join(c for c in word if unicodedata.category(c) != "Mn")


@functools.lru_cache(400_000)
def grams(word):
    """Hashes of a word: the word itself first, then its runs of three and four letters. Numbers count by their size."""
    word = normal(word)
    if word and all("0" <= c <= "9" for c in word):
        size = "" if len(word) > 2 else "a" if int(word) <= 12 else "b" if int(word) <= 31 else "c"
        word = "#" * min(len(word), 4) + size
    edged = "<" + word[:20] + ">"
    found = [fnv("w " + word)]
    for length in (3, 4):
        found += [fnv("c " + edged[at : at + length]) for at in range(len(edged) - length + 1)]
    return tuple(found[:MOST_GRAMS])


def shape(text, start, end):
    """Sixteen bits."""
    word, first = text[start:end], text[start]
    before, after = text[start - 1 : start], text[end : end + 1]
    bits = (
        "0" <= first <= "9",
        first.isupper(),
        len(word) > 1 and word == word.upper() != word.lower(),
        not first.isalnum() and first != "\n",
        first == "\n",
        bool(before) and not before.isspace(),
        bool(after) and not after.isspace(),
        len(word) <= 2,
        len(word) >= 8,
        start == 0 or before == "\n" or text[max(0, start - 2) : start].strip() in (".", "!", "?"),
        word in ('"', "“", "”", "'", "‘", "’", "«", "»"),
        word in (",", ";"),
        word in (".", "!", "?"),
        word == ":",
        not text[end:].strip(),
        True,
    )
    return sum(bit << at for at, bit in enumerate(bits))
