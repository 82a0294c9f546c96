"""Sentences that people wrote (HWU64, CLINC150, `eval/learn.jsonl`) in the reader's scheme. Only what is sure is tagged:
`open` are ranges whose tags nobody knows, `open_intent` says that of the intent; neither is learned from."""

import json
import os
import random
import re

DATE_SLOTS = {"date", "time", "timeofday"}
BEFORE_DATE = re.compile(r"\b(on|at|in|by|before|after|around)( the)? $", re.I)
LIST = r"(?:my|the|our)?\s*[\w' -]*\b(?:list|lists|todo|to-do|to do|reminders)\b.*$"
ADD = re.compile(r"^(?:.*?\b)?(?:add|put|include|insert|place|stick)\s+(.+?)\s+(?:to|on|onto|in|into)\s+" + LIST, re.I)
REMOVE = re.compile(
    r"^(?:.*?\b)?(?:remove|delete|take|cross|erase|drop|scratch|strike)\s+(.+?)\s+(?:from|off|off of|of)\s+" + LIST, re.I
)
REMIND = re.compile(r"^(?:.*?\b)?(?:remind me|reminder(?: for me)?|remember)\s+to\s+(.+?)(?:\s+please|\?)?$", re.I)
DATEY = re.compile(
    r"\b(today|tomorrow|tonight|yesterday|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|"
    r"may|june|july|august|september|october|november|december|week|weekend|month|year|morning|evening|afternoon|night|noon|hour|"
    r"hours|minutes|days|day|am|pm|o'clock|\d+(?:st|nd|rd|th)|\d+:\d+)\b",
    re.I,
)
GENERIC = re.compile(r"^(an?|the|this|that|some|new|all|everything|something|items?|it|my|list)(\s+(items?|lists?|things?|event|name|content))?$", re.I)
MAYBE = ("alarm", "timer", "meeting_schedule", "shopping_list", "shopping_list_update", "order")


def row(text, intent, spans=(), open_=(), open_intent=False):
    return {
        "text": text,
        "clauses": [[0, len(text), intent]],
        "spans": sorted(list(span) for span in spans),
        "open": [list(one) for one in open_],
        "open_intent": open_intent,
    }


def whole(text):
    return [[0, len(text)]]


def dates(text):
    return [[found.start(), found.end()] for found in DATEY.finditer(text)]


def slot_dates(text, slots):
    found = []
    for start, end, name in sorted(slots):
        if name not in DATE_SLOTS:
            continue
        for before in (BEFORE_DATE, re.compile(r"\b(the|next|this) $"), BEFORE_DATE):
            start = at.start() if (at := before.search(text[:start])) else start
        if found and start - found[-1][1] <= 1:
            found[-1][1] = end
        else:
            found.append([start, end, "when"])
    names = {"general_frequency": "every", "time_zone": "zone"}
    return found + [[a, b, names[name]] for a, b, name in slots if name in names]


def taken(pattern, text):
    """What a pattern takes out of a text, if it is a thing of its own without a date."""
    found = pattern.match(text)
    if found and not GENERIC.match(found.group(1)) and not DATEY.search(found.group(1)):
        return list(found.span(1))
    return None


def of_hwu(path):
    for line in open(path):
        one = json.loads(line)
        text, intent, slots = one["text"], one["intent"], one["slots"]
        spans = slot_dates(text, slots)
        if intent == "lists_createoradd":
            thing = taken(ADD, text)
            made = row(text, "create", [*spans, [*thing, "title"]]) if thing else row(text, "create", spans, whole(text), True)
        elif intent == "lists_remove":
            thing = taken(REMOVE, text)
            made = row(text, "delete", [*spans, [*thing, "target"]]) if thing else row(text, "delete", spans, whole(text))
        elif intent == "lists_query":
            made = row(text, "list", spans)
        elif intent in ("calendar_set", "calendar_remove"):
            made = row(text, "create" if intent == "calendar_set" else "delete", spans, whole(text))
        elif intent == "calendar_query":
            made = row(text, "list", spans, whole(text), True)
        elif intent.startswith("alarm"):
            made = row(text, "other", spans, whole(text), True)
        elif intent == "general_affirm":
            made = row(text, "yes")
        elif intent in ("general_negate", "general_commandstop"):
            made = row(text, "no", [], whole(text))
        elif intent == "general_dontcare":
            made = row(text, "other", [], [], True)
        else:
            made = row(text, "other", spans)
        yield made | {"list": intent.startswith("lists"), "near": intent.startswith(("lists_", "calendar_"))}


def of_clinc(path):
    for line in open(path):
        one = json.loads(line)
        text, intent = one["text"], one["intent"]
        added, removed = taken(ADD, text), taken(REMOVE, text)
        if intent in ("todo_list_update", "shopping_list_update") and added:
            yield row(text, "create", [[*added, "title"]], dates(text)) | {"list": True}
        elif intent in ("todo_list_update", "shopping_list_update") and removed:
            yield row(text, "delete", [[*removed, "target"]], dates(text)) | {"list": True}
        elif intent in ("todo_list_update",):
            continue
        elif intent in ("todo_list", "reminder"):
            yield row(text, "list", [], whole(text), True)
        elif intent == "reminder_update":
            thing = taken(REMIND, text)
            yield row(text, "create", [[*thing, "title"]]) if thing else row(text, "create", [], whole(text))
        elif intent in ("calendar_update", "calendar", "schedule_meeting"):
            yield row(text, "create", [], whole(text), True)
        elif intent == "yes":
            yield row(text, "yes")
        elif intent in ("no", "cancel"):
            yield row(text, "no", [], whole(text))
        elif intent == "what_can_i_ask_you":
            yield row(text, "help")
        elif intent in MAYBE:
            yield row(text, "other", [], whole(text), True)
        else:
            yield row(text, "other", [], dates(text))


def of_learn(path):
    for line in open(path):
        one = json.loads(line)
        text = one["prompt"]
        if one["class"] == "tasks":
            yield row(text, one["intent"], [], whole(text))
        elif one["class"] == "human":
            yield row(text, "other", [], whole(text), True)
        else:
            yield row(text, "other", [], dates(text))


def rows(folder, learn):
    """Rows to learn from, and titles that people wrote."""
    R = random.Random(7)
    hwu = list(of_hwu(os.path.join(folder, "hwu64.jsonl")))
    clinc = list(of_clinc(os.path.join(folder, "clinc150.jsonl")))
    R.shuffle(clinc)
    talk = [one for one in clinc if one["clauses"][0][2] == "other" and not one["open_intent"]]
    wishes = [one for one in clinc if one["clauses"][0][2] != "other" or one["open_intent"]]
    found = hwu + wishes + talk[:9000] + 2 * list(of_learn(learn))
    titles = {
        one["text"][a:b] for one in found if one.get("list") for a, b, label in one["spans"] if label in ("title", "target")
    }
    return found, sorted(title for title in titles if len(title.split()) <= 8 and not re.search(r"[|\[\]:]", title))


if __name__ == "__main__":
    import sys

    found, titles = rows(sys.argv[1], sys.argv[2])
    print(len(found), len(titles), random.sample(titles, 20))
