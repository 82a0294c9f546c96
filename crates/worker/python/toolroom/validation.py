"""A check of values against the schemas that the walk makes, for unions, defaults and an author's own tests.

The server checks every call itself, with the same meaning.
"""

import re

from . import scalars

TYPES = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: is_number(value) and value == value // 1,
    "number": lambda value: is_number(value),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
DAY = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
FORMATS = {
    "date": "^" + DAY + "$",
    "date-time": "^"
    + DAY
    + r"[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$",
    "uuid": r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
    "duration": r"^P([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?)$",
    "email": r"^[^@\s]+@[^@\s]+$",
    "hostname": r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",
    "ipv4": r"^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(\.|$)){4}$",
    "ipv6": r"^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$",
    "uri": r"^[A-Za-z][A-Za-z0-9+.-]*:\S*$",
}
LIMITS = (
    ("minimum", lambda value, limit: value >= limit, "must be at least %s"),
    ("maximum", lambda value, limit: value <= limit, "must be at most %s"),
    ("exclusiveMinimum", lambda value, limit: value > limit, "must be more than %s"),
    ("exclusiveMaximum", lambda value, limit: value < limit, "must be less than %s"),
    ("multipleOf", lambda value, limit: is_multiple(value, limit), "must be a multiple of %s"),
)
LENGTHS = ((str, "Length", "characters"), (list, "Items", "items"), (dict, "Properties", "fields"))


def problems(schema, value, defs=None, path=()):
    """What is wrong with the value: pairs of a path and a message; empty if it fits."""
    if schema is True or not schema and schema is not False:
        return []
    if schema is False:
        return [(path, "nothing may stand here")]
    defs = schema.get("$defs", defs) or {}
    if "$ref" in schema:
        return problems(defs[schema["$ref"].rpartition("/")[2]], value, defs, path)
    kind = schema.get("type")
    if kind and not TYPES[kind](value):
        return [(path, "must be of type %s" % kind)]
    if "enum" in schema and not any(same(value, one) for one in schema["enum"]):
        return [(path, "must be one of %s" % ", ".join(map(repr, schema["enum"][:10])))]
    if "anyOf" in schema:
        tried = [problems(part, value, defs, path) for part in schema["anyOf"]]
        if all(tried):
            # The member that came furthest says most.
            return max(tried, key=lambda found: max(len(where) for where, _ in found))
    if "not" in schema and not problems(schema["not"], value, defs, path):
        return [(path, "is not allowed")]
    found = []
    for part in schema.get("allOf", ()):
        found += problems(part, value, defs, path)
    for of, what, word in LENGTHS:
        if isinstance(value, of):
            if len(value) < schema.get("min" + what, 0):
                found.append((path, "must have at least %d %s" % (schema["min" + what], word)))
            if len(value) > schema.get("max" + what, len(value)):
                found.append((path, "must have at most %d %s" % (schema["max" + what], word)))
    if isinstance(value, str):
        found += of_text(schema, value, path)
    elif is_number(value):
        found += [
            (path, text % schema[key]) for key, test, text in LIMITS if key in schema and not test(value, schema[key])
        ]
    elif isinstance(value, list):
        found += of_list(schema, value, defs, path)
    elif isinstance(value, dict):
        found += of_object(schema, value, defs, path)
    return found


# What the server's reader takes: containers within each other, and integers of 64 bits.
DEEPEST, LEAST, MOST = 125, -(1 << 63), (1 << 64) - 1


def beyond(value, path=()):
    """What of the value does not reach the other side as it is: pairs of a path and a message."""
    if isinstance(value, int) and not LEAST <= value <= MOST:
        return [(path, "does not fit into 64 bits and would lose digits; send it as text")]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return []
    if len(path) >= DEEPEST:
        return [(path, "is nested deeper than %d levels" % DEEPEST)]
    return [one for name, item in items for one in beyond(item, (*path, name))]


def matches(pattern, text):
    """Whether the pattern is found, as the server finds it: \\d and \\w are of ASCII, and $ is the very end."""
    found, within = [], False
    for part in re.findall(r"\\.|.", pattern, re.DOTALL):
        within = part == "[" or within and part != "]"
        found.append("\\Z" if part == "$" and not within else part)
    return re.search("".join(found).replace("(?<", "(?P<"), text, re.ASCII)


def of_text(schema, value, path):
    if "pattern" in schema and not matches(schema["pattern"], value):
        return [(path, "does not match %s" % schema["pattern"])]
    form = FORMATS.get(schema.get("format"))
    if form and not matches(form, value) or (schema.get("format") == "duration" and value[-1:] in "PT"):
        return [(path, "is not a %s" % schema["format"])]
    if schema.get("format") == "hostname" and len(value) > 253:
        return [(path, "is not a hostname")]
    if form and schema["format"] in ("date", "date-time"):
        import datetime

        try:
            datetime.date.fromisoformat(value[:10])
        except ValueError:
            return [(path, "is not a %s" % schema["format"])]
    return []


def of_list(schema, value, defs, path):
    found, places = [], schema.get("prefixItems", ())
    for at, item in enumerate(value):
        part = places[at] if at < len(places) else schema.get("items", {})
        found += problems(part, item, defs, (*path, at))
    if schema.get("uniqueItems") and any(same(a, b) for at, a in enumerate(value) for b in value[:at]):
        found.append((path, "has an item twice"))
    return found


def of_object(schema, value, defs, path):
    known = schema.get("properties", {})
    found = [((*path, name), "is required") for name in schema.get("required", ()) if name not in value]
    rest = schema.get("additionalProperties", {})
    patterns = schema.get("patternProperties", {})
    for name, item in value.items():
        below = (*path, name)
        if "propertyNames" in schema:
            found += [(below, "its name " + text) for _, text in problems(schema["propertyNames"], name, defs)]
        matched = [part for pattern, part in patterns.items() if matches(pattern, name)]
        if name in known:
            matched.append(known[name])
        elif not matched:
            if rest is False:
                found.append((below, "unknown field"))
                continue
            matched = [rest]
        for part in matched:
            found += problems(part, item, defs, below)
    return found


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_multiple(value, limit):
    ratio = value / limit
    return abs(ratio - round(ratio)) < 1e-9


def same(one, other):
    """Equality of JSON: 1 and 1.0 are the same, 1 and true are not."""
    if isinstance(one, (list, dict)) and type(one) is type(other) and len(one) == len(other):
        if isinstance(one, list):
            return all(map(same, one, other))
        return all(name in other and same(item, other[name]) for name, item in one.items())
    return scalars.key_of(one) == scalars.key_of(other)
