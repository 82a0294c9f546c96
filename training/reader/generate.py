"""Varied sentences with known tags: frames, filled with words, dressed and misspelt. `generate.py N SEED` prints some."""

import json
import os
import random
import re
import sys

from scheme import parse

HERE = os.path.dirname(os.path.abspath(__file__))


def sections(name):
    """{section: entries} of a file."""
    found, entries = {}, None
    for line in open(os.path.join(HERE, name), encoding="utf-8"):
        line = line.rstrip("\n")
        head = re.fullmatch(r"\[([a-z ]+)\]", line)
        if line.startswith("#") and not head:
            continue
        if head:
            entries = found[head.group(1)] = []
        elif name == "words.txt":
            entries.extend(line.split("|"))
        else:
            entries.append(line)
    return found


WORDS, FRAMES = sections("words.txt"), sections("frames.txt")
VERBS, THINGS, PEOPLE, SHORT = WORDS["verbs"], WORDS["things"], WORDS["people"], WORDS["short titles"]
FIRST_VERBS = {verb.split()[0] for verb in VERBS}
DONE_VERBS = [entry.split("/") for entry in WORDS["done verbs"]]
STOP = set("the a an my to for of on in at from with and about up out off by your that it is some two".split())
DAYS = "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun".split()
DAYS += [day.capitalize() for day in DAYS[:7]]
MONTHS = "january february march april may june july august september october november december".split()
MONTHS += "jan feb mar apr jun jul aug sep sept oct nov dec".split() + [month.capitalize() for month in MONTHS]
NUMBERS = "two three four five six seven eight nine ten twelve fifteen twenty thirty".split()
ORDINALS = "1st 2nd 3rd 4th 5th 9th 12th 15th 20th 21st 22nd 25th 28th 30th 31st first second third fifth tenth".split()
ORDINALS += ["twelfth", "fifteenth", "twentieth", "twenty first", "thirtieth"]
SOON = """today|tomorrow|tonight|tmrw|tomorrow|the day after tomorrow|tomorrow morning|tomorrow evening|tomorrow night
this afternoon|this evening|tonight|later today|today|tomorrow""".replace("\n", "|").split("|")
SPELLS = """next week|this week|this weekend|next month|by the end of the week|end of the month|by end of month
at the end of the year|end of week|early next week|the weekend|next weekend|next year|before the weekend|by the weekend
sometime next week|in the summer|in spring|by christmas|before easter|on new year's eve|mid june|end of quarter
the week after next|a week from today|first thing tomorrow|the first of the month|on the last day of the month
two fridays from now|over the holidays""".replace("\n", "|").split("|")
PARTS = """after work|after lunch|before lunch|before dinner|at lunchtime|after school|over breakfast|around noon
in the morning|in the evening|first thing in the morning|at the weekend|before bed|after the holidays
at some point next week|soon|later|someday""".replace("\n", "|").split("|")


def day(R):
    k, c = R.random(), R.choice
    if k < 0.16:
        return c(SOON)
    if k < 0.36:
        before = ["on ", "on ", "", "", "by ", "this ", "next ", "next ", "before ", "this coming ", "by next ", "after "]
        return c(before) + c(DAYS) + c(["", "", "", "", " morning", " evening", " afternoon", " night"])
    if k < 0.46:
        return c([*SPELLS, "a week from " + c(DAYS)])
    if k < 0.58:
        n = c([str(R.randint(2, 45)), c(NUMBERS), "a couple of", "a few", "half an", "an", "a"])
        unit = c(["minutes", "hours", "days", "weeks", "months", "mins", "hrs"])
        if n in ("half an", "an"):
            unit = "hour"
        if n == "a":
            unit = c(["day", "week", "month", "fortnight"])
        return c(["in ", "in ", "in ", "within "]) + n + " " + unit
    if k < 0.86:
        m, d, o = c(MONTHS), str(R.randint(1, 31)), c(ORDINALS)
        date = c([
            f"{m} {d}", f"{d} {m}", f"{m} {o}", f"the {o} of {m}", f"the {o}", f"{o} {m}", f"{d}.{R.randint(1, 12)}.",
            f"{R.randint(1, 12)}/{d}", f"20{R.randint(25, 29)}-{R.randint(1, 12):02}-{R.randint(1, 28):02}",
            f"{m} {d} 20{R.randint(25, 28)}", f"{d}. {m}", f"{c(DAYS)} the {o}", f"{c(DAYS)} {m} {d}",
        ])  # fmt: skip
        return c(["on ", "on ", "by ", "", "before "]) + date
    return c(PARTS)


def clock(R):
    c, h = R.choice, R.randint(1, 12)
    time = c([
        f"{h}pm", f"{h} pm", f"{h}am", f"{h}:{c(['00', '15', '30', '45'])}", f"{h}:{R.randint(10, 59)} pm",
        f"{R.randint(13, 23)}:{c(['00', '15', '30'])}", f"{h}", f"{h} o'clock", f"half past {h}", f"quarter to {h}",
        c(NUMBERS), f"{c(NUMBERS)} pm", f"{c(NUMBERS)} thirty", f"half {c(NUMBERS)}", f"{h} in the evening",
        f"{h} in the morning", "noon", "midnight", "lunchtime", f"{R.randint(10, 23)}h", f"{h}.30", f"{h}p",
        f"half past {c(NUMBERS)}",
    ])  # fmt: skip
    return c(["at ", "at ", "at ", "at ", "by ", "around ", "before ", "", "@ "]) + time


def when(R):
    k = R.random()
    if k < 0.55:
        return day(R)
    if k < 0.72:
        return clock(R)
    return day(R) + " " + clock(R) if k < 0.9 else clock(R) + " " + day(R)


def zoned(R, date):
    return f"[W:{date}]" + (f" [Z:{R.choice(WORDS['zones'])}]" if R.random() < 0.08 else "")


def to_date(R):
    return zoned(R, re.sub(r"^(on|by|at) ", "", when(R)) if R.random() < 0.7 else when(R))


MINED = []  # titles that people wrote


def title(R):
    c, k = R.choice, R.random()
    if MINED and k < 0.22:
        return c(MINED)
    if k < 0.62:
        return c(VERBS) + " " + c(THINGS) + (" " + c(WORDS["tails"]) if R.random() < 0.3 else "")
    if k < 0.66:
        return f"{c(VERBS)} {c(THINGS)} and {c(VERBS)} {c(THINGS)}"
    if k < 0.7:
        heads = "look for|ask about|read up on|think about|talk to|go to|deal with|work on|take care of"
        return c(heads.split("|")) + " " + c(THINGS)
    if k < 0.73:
        return c(PEOPLE) + "'s " + c("birthday present report visit request laptop wedding".split())
    if k < 0.76:  # a date inside a title is part of it
        inside = "the friday meeting|monday's demo|the june issue|the 2024 audit|the weekend trip|next year's budget|day 3"
        return f"{c(VERBS)} {c(THINGS)} {c(['for', 'of', 'before'])} {c(inside.split('|'))}"
    return c(SHORT)


def gerund(verb):
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if re.fullmatch(r"[^aeiou]*[aeiou][bdgmnpt]", verb) else "") + "ing"


def mention(R, whole):
    """How a person would name the task `whole`; the span is what names it."""
    c, cut, k = R.choice, whole.split(), R.random()
    content = [word for word in cut if word.lower() not in STOP]
    if k < 0.25 or len(content) < 2:
        name = whole
    elif k < 0.5:
        name = " ".join(content[1:]) if content[0].lower() in FIRST_VERBS else " ".join(content[-2:])
    elif k < 0.62:
        name = " ".join(cut[1:]) if cut[0].lower() in FIRST_VERBS else whole
    elif k < 0.72:
        name = c(content)
    elif k < 0.8 and cut[0].lower() in FIRST_VERBS:
        name = gerund(cut[0].lower()) + " " + " ".join(cut[1:])
    elif k < 0.88:
        name = " ".join(content[-2:])
    else:
        name = content[-1] + " " + content[0]
    span, k = f"[G:{name.strip()}]", R.random()
    if re.match(r"(?i)(the|my|a|an) ", name):
        return span if k < 0.7 else span + c([" task", " one", " thing", " todo"])
    if k < 0.33:
        return span
    if k < 0.55:
        return "the " + span + c([" task", " one", " todo", " thing", " reminder", " item", ""])
    if k < 0.68:
        return "the " + span
    if k < 0.78:
        return "my " + span + c([" task", " reminder", "", " todo"])
    if k < 0.86:
        heads = """the task about |the one about |the one with |the todo about |task |the task |the reminder to
the thing about |the task called """
        return c([head.rstrip("\n") for head in heads.replace("to\n", "to |").split("|")]) + span
    if k < 0.93:
        quote = c(['"', "'", '"'])
        return quote + span + quote
    return span


def done(R, how):
    """That something is done, said by the verb of its title."""
    c, (verb, past, *rest) = R.choice, R.choice(DONE_VERBS)
    participle, thing = rest[0] if rest else past, R.choice(THINGS if R.random() < 0.7 else SHORT)
    if R.random() < 0.2:
        thing += " " + c(WORDS["tails"])
    bare = re.sub(r"^(the|a|an) ", "", thing)
    if how in ("da", "dq"):
        return f"{past if how == 'da' else participle} [G:{thing}]"
    if how == "do":
        return c([f"[G:{bare}] {participle}", f"[G:{bare}]: {participle}", f"[G:{bare}] - {participle}!", f"{participle}: [G:{bare}]"])
    is_ = c(["is", "is", "are", "has been", "have been", "got", "'s"])
    return c(["the ", "the ", "", "my "]) + f"[G:{bare}]" + (" " if is_ != "'s" else "") + f"{is_} {participle}"


def number(R):
    c, n = R.choice, str(R.choice([R.randint(1, 20), R.randint(1, 300)]))
    heads = ["task ", "task ", "#", "number ", "no. ", "", "todo ", "task #", "item ", "task number ", "id "]
    return f"[R:{c(NUMBERS)}]" if R.random() < 0.08 else f"[R:{c(heads)}{n}]"


PRONOUNS = """it|it|that|that one|this|this one|the first one|the second one|the last one|them|both|both of them
the other one|those|the last two|all of them|the first two|the one before|the one you just added|the top one|these|the 2nd
the former|the latter""".replace("\n", "|").split("|")


def pronoun(R):
    return "the [R:third] one" if R.random() < 0.04 else f"[R:{R.choice(PRONOUNS)}]"


def bulk(R):
    n, c = R.randint(1, 9), R.choice
    return c([
        "[R:everything]", "[R:all] my tasks", "[R:all] tasks", "[R:all] of my [F:completed] tasks",
        f"[R:all] [F:{c(WORDS['states'])}] tasks", "[R:every] [F:overdue] one", f"[R:tasks {n} to {n + 3}]",
        f"[R:{n}] and [R:{n + 2}]", f"[R:task {n}] and [R:task {n + 4}]", f"[R:{n}], [R:{n + 1}] and [R:{n + 5}]",
        f"[R:everything] due [W:{c(['today', 'this week', 'yesterday', 'last month'])}]", "[R:the whole list]",
        f"[R:all] tasks tagged [L:{c(WORDS['labels'])}]", f"[R:tasks {n}-{n + 4}]", f"the [F:{c(WORDS['states'])}] ones",
        f"[R:{n} through {n + 6}]",
    ])  # fmt: skip


def named(R):
    return mention(R, title(R))


def targets(R):
    k = R.random()
    if k < 0.56:
        return named(R)
    if k < 0.66:
        return named(R) + R.choice([" and ", " and ", ", ", " and also ", " as well as "]) + named(R)
    return number(R) if k < 0.82 else pronoun(R) if k < 0.93 else bulk(R)


def target(R):
    k = R.random()
    return named(R) if k < 0.66 else number(R) if k < 0.86 else pronoun(R)


def new_title(R):
    text = title(R)
    if R.random() < 0.12:
        quotes = R.choice(['""', "''", "“”"])
        return quotes[0] + f"[T:{text}]" + quotes[1]
    if R.random() < 0.06 and len(text.split()) > 2:
        cut = text.split()
        at = R.randint(1, len(cut) - 1)
        text = " ".join([*cut[:at], R.choice(WORDS["fillers"]), *cut[at:]])
    return f"[T:{text[0].upper() + text[1:] if R.random() < 0.12 else text}]"


def items(R):
    several = [new_title(R) if R.random() < 0.4 else f"[T:{R.choice(SHORT)}]" for _ in range(R.randint(2, 5))]
    form = R.choice([0, 0, 0, 1, 2, 3, 4, 5])
    if form == 0:
        return ", ".join(several[:-1]) + R.choice([" and ", ", and ", " & "]) + several[-1]
    if form == 1:
        return ", ".join(several)
    if form == 2:
        return "\\n" + "\\n".join(R.choice("-*•") + " " + item for item in several)
    if form == 3:
        return "\\n" + "\\n".join(f"{at + 1}. {item}" for at, item in enumerate(several))
    return "; ".join(several) if form == 4 else "\\n" + "\\n".join(several)


SHIFTS = "a day|two days|a week|an hour|30 minutes|one week|3 days|a month|2 hours|a couple of days|a few days".split("|")


def in_quotes(R, letter, text, quotes):
    quote = R.choice(quotes)
    return f"{quote}[{letter}:{text}]{quote}"


def capital(R, text):
    return text[0].upper() + text[1:] if R.random() < 0.2 else text


FILLINGS = {
    "t": new_title, "T": items, "w1": lambda R: zoned(R, when(R)), "w2": to_date, "g": targets, "1": target, "g1": named,
    "w": lambda R: "" if R.random() < 0.55 else R.choice([" ", " ", " ", " ", " for ", " due ", ", ", " - due "]) + zoned(R, when(R)),
    "W": lambda R: " " + zoned(R, when(R)) if R.random() < 0.6 else "",
    "by": lambda R: f"[W:{R.choice(SHIFTS)}]", "p": lambda R: f"[P:{R.choice(WORDS['priorities'])}]",
    "q": lambda R: f"[P:{R.choice(WORDS['new priorities'])}]",
    "s": lambda R: f"[F:{R.choice(WORDS['states'])}]" if R.random() < 0.8 else f"[P:{R.choice(WORDS['priorities'])}]",
    "d": lambda R: in_quotes(R, "D", R.choice(WORDS["notes"]) if R.random() < 0.6 else title(R), ["", "", '"']),
    "n": lambda R: in_quotes(R, "N", capital(R, title(R)), ["", "", '"', "'"]),
    "l": lambda R: f"[L:{R.choice(WORDS['labels'])}]", "e": lambda R: f"[E:{R.choice(WORDS['recurrences'])}]",
    "e0": lambda R: R.choice(WORDS["recurrences"]), "r": number, "u": pronoun,
    "o": lambda R: f"[O:{re.sub(r'^(on|by|at) ', '', when(R))}]", "o1": lambda R: f"[O:{day(R)}]",
    "o2": lambda R: f"[O:{R.choice(WORDS['new priorities'])}]", "z0": lambda R: f"[Z:{R.choice(WORDS['zones'])}]",
    "n0": lambda R: R.choice(PEOPLE), "v": lambda R: R.choice("delete finish add move cancel sell clean".split()),
    "x0": lambda R: R.choice(["", " and i laughed", ", can you believe it", " but i won't"]),
    "cmd": lambda R: R.choice(WORDS["commands quoted"]), "no": lambda R: R.choice(SHORT),
    "past": lambda R: R.choice(WORDS["past verbs"]) + " " + R.choice(THINGS),
    "bt": lambda R: R.choice(VERBS) + " " + R.choice(THINGS),
    **{how: (lambda R, how=how: done(R, how)) for how in ("dp", "da", "dq", "do")},
}  # fmt: skip
WEIGHTS = {
    "create": 28, "complete": 12, "reopen": 2.5, "delete": 11, "restore": 3, "update": 17, "list": 6, "get": 5, "find": 4,
    "amend": 5, "more": 2.5, "pick": 3, "yes": 1.5, "no": 2, "help": 1.5, "other": 14,
}  # fmt: skip
CHANGES = ["create", "complete", "delete", "update", "reopen", "restore"]
COMMAND = re.compile(
    r"^(add|mark|delete|remove|complete|check|tick|close|move|rename|push|cancel|drop|erase|put|create|remind|set|change|make|"
    r"restore|reopen|postpone|take|get|clear|throw|bring)\b"
)


def clause(R, intent, dressed=True):
    text = re.sub(r"\{(\w+)\}", lambda hole: FILLINGS[hole.group(1)](R), R.choice(FRAMES[intent]))
    short = intent in ("yes", "no", "pick", "more", "amend") and R.random() < 0.75
    if not dressed or short or intent in ("other", "help"):
        return text
    if intent in CHANGES and R.random() < 0.06 and COMMAND.match(text):
        return f"[X:{R.choice(WORDS['negations'])}] " + text
    if R.random() < 0.35:
        text = R.choice(WORDS["before"]) + text
    if R.random() < 0.28:
        text += R.choice(WORDS["after"])
    if intent in CHANGES and R.random() < 0.08:
        condition = f"[C:{R.choice(WORDS['conditions'])}]"
        if R.random() < 0.5:
            text = condition + R.choice([", ", " ", ", please "]) + text
        else:
            text += R.choice([" ", " ", ", but only " if condition.startswith("[C:if") else ", "]) + condition
    if intent in CHANGES and R.random() < 0.07:
        text += R.choice([" ", ", ", "... ", ". ", " - ", " — "]) + f"[V:{R.choice(WORDS['retractions'])}]"
    if R.random() < 0.06:
        cut = text.split(" ")
        at = R.randint(0, len(cut))
        if not re.search(r"\[[^\]]*$", " ".join(cut[:at])):
            text = " ".join([*cut[:at], R.choice(WORDS["fillers"]), *cut[at:]])
    return text


def story(R):
    return R.choice(WORDS["stories"]).format(n=R.choice(PEOPLE)).strip()


def sample(R):
    """One message as a marked line."""
    k = R.random()
    if k < 0.78:
        intent = R.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        line = [(intent, clause(R, intent))]
    elif k < 0.93:
        count = 2 if R.random() < 0.8 else 3
        several = "create complete delete update list get find".split()
        line, before = [], ""
        for at, intent in enumerate(R.choices(several, [6, 4, 4, 5, 2, 1, 1], k=count)):
            text = clause(R, intent, dressed=at == 0 or R.random() < 0.2)
            text, before = (before + " " if before else "") + text, ""
            if at < count - 1:
                join = R.choice(WORDS["joins"])
                sign = join[0] if join[0] in ",.;" else ""
                text, before = text + sign, join[len(sign) :].strip()
            line.append((intent, text))
        if R.random() < 0.08:
            line.insert(0, ("other", story(R)))
    else:
        intent = R.choices(["create", "complete", "delete", "update"], [6, 3, 3, 3])[0]
        line = [("other", " ".join(story(R) for _ in range(R.randint(1, 4)))), (intent, clause(R, intent))]
        if R.random() < 0.3:
            line.append(("other", story(R)))
    return " || ".join(f"{intent}: {text}" for intent, text in line)


NEAR = dict(q="wa", w="qes", e="wrd", r="etf", t="ryg", y="tuh", u="yij", i="uok", o="ipl", p="ol", a="sq", s="adw", d="sfe")
NEAR |= dict(f="dgr", g="fht", h="gjy", j="hku", k="jli", l="kop", z="xa", x="zcs", c="xvd", v="cbf", b="vng", n="bmh", m="nj")


def slip(R, word):
    """One slip of the fingers."""
    at, k = R.randint(0, len(word) - 1), R.random()
    if len(word) < 3 or not word[at].isalpha():
        return word
    if k < 0.28:
        return word[:at] + word[at + 1 :]
    if k < 0.45:
        return word[:at] + word[at] + word[at:]
    if k < 0.75 and at + 1 < len(word):
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + R.choice(NEAR.get(word[at].lower(), "e")) + word[at + 1 :]


def edited(row, edits):
    """A row with some of its text replaced: [(start, end, text)] in order."""
    def moved(at):
        return at + sum(len(new) - (end - start) for start, end, new in edits if end <= at)

    text, position = "", 0
    for start, end, new in edits:
        text, position = text + row["text"][position:start] + new, end
    text += row["text"][position:]
    marks = {name: [[moved(a), moved(b), *rest] for a, b, *rest in row[name]] for name in ("clauses", "spans")}
    return {**row, "text": text, **marks}


def other_words(R, row, vocabulary):
    """Other words in titles and notes: any word may stand there."""
    free = [span for span in row["spans"] if span[2] in ("title", "target", "newtitle", "note")]
    edits = []
    for start, end, _ in free:
        for word in re.finditer(r"[A-Za-z]{3,}", row["text"][start:end]):
            if R.random() < 0.35:
                edits.append((start + word.start(), start + word.end(), R.choice(vocabulary)))
    return edited(row, sorted(edits))


def misspelt(R, row, share=0.12, shortest=3):
    words = re.finditer(r"[^\W\d_]{%d,}" % shortest, row["text"])
    return edited(row, [(w.start(), w.end(), slip(R, w.group())) for w in words if R.random() < share])


def in_case(R, row):
    k, text = R.random(), row["text"]
    if k < 0.25:
        text = text.lower()
    elif k < 0.4:
        text = text[:1].upper() + text[1:]
    elif k < 0.43:
        text = text.upper()
    return {**row, "text": text} if len(text) == len(row["text"]) else row


def worn(R, row, vocabulary=()):
    """A row with other words in its titles, slips, and case, each now and then."""
    if vocabulary and R.random() < 0.35:
        row = other_words(R, row, vocabulary)
    if R.random() < 0.3:
        row = misspelt(R, row)
    return in_case(R, row)


def rows(count, seed, mined=(), vocabulary=()):
    MINED[:] = mined
    R = random.Random(seed)
    made = 0
    while made < count:
        row = parse(sample(R))
        if any(start >= end for start, end, _ in row["spans"]):
            continue
        yield worn(R, row, vocabulary)
        made += 1


if __name__ == "__main__":
    for row in rows(int(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(row, ensure_ascii=False))
