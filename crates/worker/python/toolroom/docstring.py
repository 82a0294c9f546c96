"""What a docstring says: prose, and a text per parameter. Google, NumPy and reST styles, or plain."""

import re

PARAMETERS = {"args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters"}
FIELDS = {"attributes", "fields"}
RETURNS = {"returns", "return"}
DROPPED = {"raises", "yields", "example", "examples", "references", "see also", "todo", "methods", "warns"}
SECTIONS = PARAMETERS | FIELDS | RETURNS | DROPPED
# What a reader of foreign text looks at: beyond it stands nothing that an agent should read.
MOST = 64 << 10

FIELD = re.compile(
    r"^[:@](param|parameter|arg|argument|key|keyword|attribute|ivar|returns?|rtype|type|raises?|except)"
    r"(?:\s+([^:\n]*))?:\s*(.*)$"
)
ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^\n]*?\))?\s*:\s*(.*)$")
NUMPY = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
ITEM = re.compile(r"^\s*([-*+•]|\d+[.)])\s")


def read(text):
    """The prose, and the texts of parameters and fields by name."""
    lines = dedented((text or "")[:MOST])
    prose, texts, returns = [], {}, []
    at = 0
    while at < len(lines):
        title, body = heading(lines, at)
        if title is None:
            found = FIELD.match(lines[at])
            if not found:
                prose.append(lines[at])
                at += 1
                continue
            end = block_end(lines, at + 1, 1)
            words = joined([found.group(3), *lines[at + 1 : end]])
            name = (found.group(2) or "").split()
            if found.group(1) in ("return", "returns"):
                returns.append(words)
            elif name and found.group(1) not in ("type", "rtype", "raise", "raises", "except"):
                texts[name[-1].lstrip("*")] = words
            at = end
            continue
        numpy = body == at + 2
        end = numpy_end(lines, body) if numpy else block_end(lines, body, indent(lines[at]) + 1)
        section = lines[body:end]
        if title in PARAMETERS or title in FIELDS:
            texts.update(numpy_entries(section) if numpy else entries(section))
        elif title in RETURNS:
            returns.append(numpy_result(section) if numpy else google_result(section))
        at = end
    said = joined(prose)
    returns = " ".join(text for text in returns if text)
    return (said + "\nReturns: " + returns if said and returns else said), texts


def heading(lines, at):
    """The title of the section that begins here, and where its body does."""
    line = lines[at].strip()
    if line.endswith(":") and line[:-1].strip().lower() in SECTIONS:
        return line[:-1].strip().lower(), at + 1
    ruled = at + 1 < len(lines) and len(lines[at + 1].strip()) > 2 and not lines[at + 1].strip().strip("-=")
    if ruled and line.lower() in SECTIONS:
        return line.lower(), at + 2
    return None, at


def entries(section):
    """Google's: `name (type): text`, with what is indented deeper."""
    texts, name = {}, None
    base = min((indent(line) for line in section if line.strip()), default=0)
    for line in section:
        found = ENTRY.match(line.strip()) if indent(line) == base else None
        if found:
            name = found.group(1)
            texts[name] = [found.group(2)]
        elif name:
            texts[name].append(line)
    return {name: joined(words) for name, words in texts.items()}


def numpy_entries(section):
    """NumPy's: `name, name : type`, and the text below, indented."""
    texts, names = {}, []
    base = min((indent(line) for line in section if line.strip()), default=0)
    for line in section:
        if line.strip() and indent(line) == base:
            found = NUMPY.match(line.strip())
            names = [name.strip().lstrip("*") for name in found.group(1).split(",")] if found else []
            for name in names:
                texts[name] = []
        else:
            for name in names:
                texts[name].append(line)
    return {name: joined(words) for name, words in texts.items()}


def google_result(section):
    text = joined(section)
    kind, colon, rest = text.partition(": ")
    # `float: the price`, but not `the price: a number`.
    return rest if colon and re.match(r"^[\w.]+(\[.*\])?$", kind) else text


def numpy_result(section):
    base = min((indent(line) for line in section if line.strip()), default=0)
    return joined([line for line in section if indent(line) > base]) or joined(section)


def block_end(lines, at, deeper):
    """Where what is indented at least so deep ends."""
    end = at
    while at < len(lines) and (not lines[at].strip() or indent(lines[at]) >= deeper):
        at += 1
        end = at if lines[at - 1].strip() else end
    return max(end, min(at, len(lines)) if at == len(lines) else end)


def numpy_end(lines, at):
    while at < len(lines) and heading(lines, at)[0] is None and not FIELD.match(lines[at]):
        at += 1
    return at


def joined(lines):
    """Paragraphs as lines; items of a list each on its own."""
    parts, fresh = [], True
    for line in lines:
        text = " ".join(line.split())
        if not text:
            fresh = True
        elif fresh or ITEM.match(line) or not parts:
            parts.append(text)
            fresh = False
        else:
            parts[-1] += " " + text
    return "\n".join(parts)


def indent(line):
    return len(line) - len(line.lstrip())


def dedented(text):
    """The lines, without the indentation that they share from the second on."""
    lines = text.expandtabs().splitlines()
    margin = min((indent(line) for line in lines[1:] if line.strip()), default=0)
    return [line.strip() for line in lines[:1]] + [line[margin:].rstrip() for line in lines[1:]]
