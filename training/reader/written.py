"""Sentences that were written and marked by hand (`written/*.txt`), and variations of them: other titles, targets, dates
and names in their spans, so that each is a frame; other words of the same sense around them; two messages joined."""

import glob
import os
import random
import re
import sys

import generate
from generate import CHANGES, COMMAND, FIRST_VERBS, SHIFTS, THINGS, VERBS, WORDS, clock, day, gerund, title
from scheme import ARTICLES, GENERIC_TAIL, SPAN, parse

HERE = os.path.dirname(os.path.abspath(__file__))
PAST = {form for verb in generate.DONE_VERBS for form in verb[1:]}
CLOCK = re.compile(r"\d\s*(?:am|pm|a\.m|p\.m|o'clock)|\d[:.]\d\d|noon|midnight|half past|quarter|^at |^@|lunchtime", re.I)
DAY = re.compile(
    r"\b(?:to(?:day|morrow|night)|tmrw|tmr|mon|tue|tues|wed|weds|thu|thurs|fri|sat|sun|\w*day|weekend|week|month|year|jan|feb|mar|apr|"
    r"may|june?|july?|aug|sept?|oct|nov|dec|january|february|march|april|august|september|october|november|december|"
    r"\d+(?:st|nd|rd|th)|\d+/\d+)\b",
    re.I,
)
PASSED = re.compile(r"\b(?:last|yesterday|ago|past|since|so far|ever|recently)\b", re.I)
SHIFT = re.compile(r"^(?:an?|one|two|three|four|\d+|a few|a couple of|half an)\s+(?:minute|hour|day|week|month)s?$", re.I)
BEHIND_WORD = re.compile(r"\b(?:on|by|at|for|to|until|till|til|due|from|before|after|since|in|than|not)\s*$", re.I)
PREPOSITION = re.compile(r"^(?:on|by|at|before|after|around|within|@) ?", re.I)
# Words around the spans that may stand for each other, if the wish is one of these.
ALIKE = [
    (None, "please pls plz"),
    (None, "task todo to-do item"),
    (("delete",), "delete remove erase scrap bin ditch"),
    (("complete",), "done finished completed sorted"),
    (("list",), "show list display"),
    (("update",), "move push shift bump reschedule"),
    (("create",), "add note log"),
    (("reopen",), "reopen uncheck untick"),
    (("restore",), "restore recover undelete"),
]
ALIKE = [(intents, names.split()) for intents, names in ALIKE]
# What may stand between two wishes.
ENDS = [".", ".", ",", ",", "", "", "!", ";", " -", "...", "\\n", "\\n"]
OFTEN = {"T": 0.9, "G": 0.85, "W": 0.8, "N": 0.8, "D": 0.7, "R": 0.5, "X": 0.15, "V": 0.25, "K": 0}


def lines():
    """Those to learn from, and those of `kept-apart.txt` that nothing is learned from."""
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "written", "*.txt"))):
        several = [line.rstrip("\n") for line in open(path, encoding="utf-8") if line.strip() and not line.startswith("#")]
        found.setdefault(os.path.basename(path) == "kept-apart.txt", []).extend(several)
    return found[False], found[True]


def parts(line):
    """[(intent, [text or (letter, text)])] of a marked line."""
    found = []
    for clause in line.split("||"):
        intent, body = clause.split(":", 1)
        body, pieces, at = body.strip(" "), [], 0
        for span in SPAN.finditer(body):
            pieces += [body[at : span.start()], (span.group(1), span.group(2))]
            at = span.end()
        found.append((intent.strip(), [*pieces, body[at:]]))
    return found


def marked(clauses):
    def text(piece):
        return piece if isinstance(piece, str) else f"[{piece[0]}:{piece[1]}]"

    return " || ".join(f"{intent}: {''.join(map(text, pieces))}" for intent, pieces in clauses)


class Variations:
    def __init__(self, learned):
        self.clauses = [parts(line) for line in learned]
        self.verbs = set(FIRST_VERBS)
        for _, pieces in (clause for clauses in self.clauses for clause in clauses):
            for before, piece in zip(pieces, pieces[1:]):
                if isinstance(before, str) and piece[:1] == ("T",) and re.search(r"\bto $", before):
                    self.verbs.add(piece[1].split()[0].lower())
        self.pools = {}
        named = {"E": "recurrences", "Z": "zones", "P": "priorities", "F": "states", "L": "labels", "D": "notes", "C": "conditions"}
        for letter, section in named.items():
            for words in WORDS[section]:
                self.put(letter, words)
        for _, pieces in (clause for clauses in self.clauses for clause in clauses):
            for piece in pieces:
                if not isinstance(piece, str) and piece[1].strip():
                    self.put(*piece)

    def put(self, letter, words):
        self.pools.setdefault((letter, self.form(letter, words)), []).append(bare(words) if letter == "G" else words)

    def form(self, letter, words):
        """What may be put in place of what."""
        first, *rest = bare(words).split() or [""]
        first = first.lower()
        if letter in "TNG":
            if letter == "G" and first in PAST:
                return "past"
            if first.endswith("ing") and rest:
                return "gerund"
            return "verb" if first in self.verbs and rest else "noun"
        if letter in "WO":
            if SHIFT.match(words):
                return "shift"
            if PASSED.search(words):
                return "passed"
            return ("day" if DAY.search(words) else "") + ("clock" if CLOCK.search(words) else "")
        if letter == "C":
            return first
        if letter in "PZ":
            return (words.split() or [""])[-1].lower() if " " in words.strip() else "one"
        return ""

    def other(self, R, letter, words, before):
        """Other words for a span, of the same form."""
        form = self.form(letter, words)
        pool = self.pools.get((letter, form)) or [words]
        if letter == "R":
            return re.sub(r"\d+", lambda _: str(R.choice([R.randint(1, 20), R.randint(1, 300)])), words)
        if letter in "WO":
            if form == "" or form == "passed" or R.random() < 0.3:
                made = R.choice(pool) if form else words
            elif form == "shift":
                made = R.choice(SHIFTS)
            else:
                made = " ".join(maker(R) for name, maker in (("day", day), ("clock", clock)) if name in form)
            return PREPOSITION.sub("", made) if BEHIND_WORD.search(before) else made
        if letter == "G":
            core = bare(words)
            start = words.find(core)
            made = R.choice(pool) if R.random() < 0.4 else self.name(R, form)
            return words[:start] + made + words[start + len(core) :]
        if letter in "TN" and R.random() < 0.6:
            for _ in range(6):
                made = title(R)
                if self.form("T", made) == form:
                    return made
        made = R.choice(pool)
        return made[0].upper() + made[1:] if words[:1].isupper() and R.random() < 0.5 else made

    def name(self, R, form):
        thing = R.choice(THINGS)
        if form == "past":
            return R.choice(generate.DONE_VERBS)[1] + " " + thing
        if form == "gerund":
            return gerund(R.choice(VERBS).split()[0]) + " " + thing
        if form == "verb":
            return R.choice(VERBS) + " " + thing
        names = self.pools.get(("T", "noun"), [])
        return ARTICLES.sub("", R.choice([thing, R.choice(generate.SHORT), R.choice(names or [thing])]))

    def clause(self, R, intent, pieces):
        made = []
        for piece in pieces:
            if isinstance(piece, str):
                made.append(self.alike(R, intent, piece))
            else:
                letter, words = piece
                swaps = R.random() < OFTEN.get(letter, 0.4)
                made.append((letter, self.other(R, letter, words, made[-1] if made else "") if swaps else words))
        return intent, made

    def alike(self, R, intent, text):
        for intents, names in ALIKE:
            if intents is None or intent in intents:
                for name in names:
                    if R.random() < 0.3:
                        text = re.sub(rf"(?<![\w'-]){name}(?![\w'-])", lambda _: R.choice(names), text)
        return text

    def one(self, R):
        """A sentence as it is or varied, as clauses."""
        clauses = R.choice(self.clauses)
        if R.random() < 0.08:
            return clauses
        clauses = [self.clause(R, *clause) for clause in clauses]
        for _, pieces in clauses[:-1]:
            if R.random() < 0.5 and isinstance(pieces[-1], str):
                pieces[-1] = re.sub(r"(?:[.,;! -]|\\n)*$", "", pieces[-1]) + R.choice(ENDS)
        intent, pieces = clauses[0]
        if COMMAND.match(str(pieces[0])) and R.random() < 0.2:
            clauses[0] = intent, [R.choice(WORDS["before"]), *pieces]
        intent, pieces = clauses[-1]
        if intent in CHANGES and re.search(r"(^|[\w)])$", str(pieces[-1])) and "\\n" not in marked(clauses) and R.random() < 0.15:
            clauses[-1] = intent, [*pieces, R.choice(WORDS["after"])]
        return clauses

    def sample(self, R):
        """A message as a marked line: one sentence, or two of them."""
        clauses, k = self.one(R), R.random()
        if k > 0.3 or len(clauses) > 2:
            return marked(clauses)
        ends = {"yes", "no", "pick", "amend", "more", "help"}
        second = self.one(R)
        if any(intent in ends for intent, _ in clauses + second) or len(second) > 2:
            return marked(clauses)
        if clauses[-1][0] == "other" or second[0][0] == "other":
            join = R.choice([". ", ". ", "! ", " ", "... ", "\\n"])
            if clauses[-1][0] == second[0][0]:
                return marked(clauses)
        else:
            join = R.choice(WORDS["joins"] + ["\\n", ". ", ". "])
        sign = re.match(r"(?:[,.;!]|\\n)*", join).group()
        intent, pieces = clauses[-1]
        last = str(pieces[-1])
        if re.search(r"[.!?,;]\s*$", last):
            sign = sign.lstrip(",.;!")
        clauses = [*clauses[:-1], (intent, [*pieces, sign])]
        intent, pieces = second[0]
        word = join.lstrip(",.;!\\n").strip() if "\\n" not in join else ""
        return marked([*clauses, (intent, [word + " " if word else "", *pieces]), *second[1:]])


def bare(words):
    """A target without article and "task"."""
    words = ARTICLES.sub("", words) or words
    return GENERIC_TAIL.sub("", words) or words


def rows(count, seed, learned, mined=(), vocabulary=()):
    generate.MINED[:] = mined
    R, made, variations = random.Random(seed), 0, Variations(learned)
    while made < count:
        row = parse(variations.sample(R))
        if any(start >= end for start, end, _ in row["spans"]):
            continue
        yield generate.worn(R, row, vocabulary)
        made += 1


if __name__ == "__main__":
    R, learned = random.Random(int(sys.argv[2])), lines()[0]
    variations = Variations(learned)
    for _ in range(int(sys.argv[1])):
        print(variations.sample(R))
