"""The tag scheme: words, labels, inline mark-up of frames, and scoring. Nothing but the standard library."""

import re

# The key is the letter that marks a span in a frame.
LABELS = {
    "T": "title", "G": "target", "R": "ref", "W": "when", "E": "every", "Z": "zone", "P": "priority", "N": "newtitle",
    "D": "note", "F": "state", "L": "label", "C": "condition", "X": "negation", "V": "retraction", "K": "field", "O": "old",
}  # fmt: skip
INTENTS = [
    "create", "list", "get", "find", "complete", "reopen", "update", "delete", "restore",
    "amend", "pick", "more", "yes", "no", "help", "other",
]  # fmt: skip
# B- begins a span or clause, I- goes on with it. A new clause is a new wish.
TAGS = ["O"] + [mark + label for label in LABELS.values() for mark in ("B-", "I-")]
CLAUSES = [mark + intent for intent in INTENTS for mark in ("B-", "I-")]
TAG_ID = {name: at for at, name in enumerate(TAGS)}
CLAUSE_ID = {name: at for at, name in enumerate(CLAUSES)}

SPAN = re.compile(r"\[([A-Z]):([^\[\]]*?)(?:=>([^\[\]]*))?\]")
ARTICLES = re.compile(r"^(?:(?:the|my|that|this|a|an)\s+)+", re.I)
GENERIC_TAIL = re.compile(r"\s+(?:tasks?|todos?|to-dos?|ones?|thing|items?|reminders?)$", re.I)
EDGE = re.compile(r"^[\s\-–—,.;:!?]+")
# "on friday" is a date; of "by two days" only "two days" is.
BEFORE_DATE = re.compile(r"\b(?:on|at|in|by|before|after|around)\s+$", re.I)
SHIFT = re.compile(
    r"^(?:an?|one|two|three|four|five|six|ten|\d+|a few|a couple(?: of)?|half an)(?: more)?\s*"
    r"(?:min|minute|h|hr|hour|day|week|fortnight|month|year)s?$",
    re.I,
)


def is_digit(c):
    return "0" <= c <= "9"


def is_letter(c):
    return c.isalnum() and not is_digit(c)


def words(text):
    """[(start, end)]: runs of digits, runs of letters (an apostrophe between letters belongs to them), signs, line ends.
    `words.rs` of `crates/tagger` does the same; keep them alike."""
    found, at = [], 0
    while at < len(text):
        c, start = text[at], at
        at += 1
        if is_digit(c):
            while at < len(text) and is_digit(text[at]):
                at += 1
        elif is_letter(c):
            while at < len(text) and (
                is_letter(text[at]) or (text[at] in "'’" and at + 1 < len(text) and is_letter(text[at + 1]))
            ):
                at += 1
        elif c.isspace() and c != "\n":
            continue
        found.append((start, at))
    return found


def parse(line):
    """`intent: words [T:words] || intent: …` as {text, clauses: [[start, end, intent]], spans: [[start, end, label]]}."""
    text, clauses, spans = "", [], []
    for clause in line.replace("\\n", "\n").split("||"):
        intent, body = clause.split(":", 1)
        intent, body = intent.strip(), body.strip(" ")
        if intent not in INTENTS:
            raise ValueError(f"no intent {intent!r} in {line!r}")
        if text and not text.endswith("\n"):
            text += " "
        clause_start, position = len(text), 0
        for found in SPAN.finditer(body):
            text += body[position : found.start()]
            letter, inside, start = found.group(1), found.group(2), len(text)
            text += inside
            end = len(text)
            edge = EDGE.match(inside)
            if edge:
                start, inside = start + edge.end(), inside[edge.end() :]
            if letter == "G":
                head = ARTICLES.match(inside)
                if head and head.end() < len(inside):
                    start, inside = start + head.end(), inside[head.end() :]
                tail = GENERIC_TAIL.search(inside)
                if tail and tail.start() > 0:
                    end -= len(inside) - tail.start()
            if letter == "T" and inside.lower().startswith("to "):
                start += 3
            before = BEFORE_DATE.search(text[max(clause_start, spans[-1][1] if spans else 0) : start])
            shifts = "by" in before.group().lower() and SHIFT.match(inside) if before else False
            if before and (letter == "W" and not shifts or letter == "E" and before.group().lower().strip() == "on"):
                start -= len(before.group())
            if letter in "TGWP":
                end -= len(inside) - len(inside.rstrip("!?,; "))
            spans.append([start, end, LABELS[letter]])
            position = found.end()
        text += body[position:]
        clauses.append([clause_start, len(text), intent])
    return {"text": text, "clauses": clauses, "spans": spans}


def encode(row):
    """The words of a row, the tag of each, and the clause of each."""
    cut = words(row["text"])
    tags, clauses = ["O"] * len(cut), ["I-other"] * len(cut)
    for into, marked in ((tags, row["spans"]), (clauses, row["clauses"])):
        for start, end, label, *_ in marked:
            mark = "B-"
            for at, (a, b) in enumerate(cut):
                if a < end and b > start:
                    into[at], mark = mark + label, "I-"
    return cut, tags, clauses


def decode(sequence):
    """[(first word, behind the last, label)] of a sequence of tags."""
    found, open_span = [], None
    for at, tag in enumerate([*sequence, "O"]):
        mark, _, label = tag.partition("-")
        if open_span is not None and (mark != "I" or label != open_span[1]):
            found.append((open_span[0], at, open_span[1]))
            open_span = None
        if mark == "B" or (mark == "I" and open_span is None):
            open_span = (at, label)
    return found


def f1(gold, guessed):
    hit = sum(len(set(g) & set(p)) for g, p in zip(gold, guessed))
    wanted, given = sum(map(len, gold)), sum(map(len, guessed))
    return 2 * hit / (wanted + given) if hit else 0.0
