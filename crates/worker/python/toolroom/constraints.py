"""Constraints in Annotated[...]: ours, and any with the same attributes (annotated_types, pydantic's Field)."""

from .errors import DefinitionError, InvalidInput


class Ge:
    """At least this."""

    def __init__(self, ge):
        self.ge = ge


class Gt:
    """More than this."""

    def __init__(self, gt):
        self.gt = gt


class Le:
    """At most this."""

    def __init__(self, le):
        self.le = le


class Lt:
    """Less than this."""

    def __init__(self, lt):
        self.lt = lt


class MultipleOf:
    """A multiple of this."""

    def __init__(self, multiple_of):
        self.multiple_of = multiple_of


class Len:
    """How long a text, or how many items: Len(most=40), Len(1, 5)."""

    def __init__(self, least=None, most=None):
        self.min_length = least
        self.max_length = most


class Pattern:
    """A regular expression that occurs in the text; write ^ and $ to mean the whole. No look-around."""

    def __init__(self, pattern):
        self.pattern = pattern


class Format:
    """A format of JSON Schema, such as email or uri."""

    def __init__(self, format):
        self.format = format


class Secret:
    """Masked in logs, the journal and errors."""

    write_only = True


BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
CHECKS = {
    "ge": (lambda value, bound: value >= bound, "at least"),
    "gt": (lambda value, bound: value > bound, "more than"),
    "le": (lambda value, bound: value <= bound, "at most"),
    "lt": (lambda value, bound: value < bound, "less than"),
}
LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}
NOTES = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern", "format", "write_only")


def flat(markers):
    """The markers with those that pydantic's Field collected in itself."""
    for marker in markers:
        yield marker
        if is_field(marker):
            yield from flat(marker.metadata)


def is_field(marker):
    """Whether it is pydantic's Field(...), or one made like it."""
    return hasattr(marker, "metadata") and hasattr(marker, "json_schema_extra")


def apply(schema, markers):
    """Writes the markers into the schema; gives the checks that no schema can state."""
    checks = []
    for marker in flat(markers):
        if isinstance(marker, str):
            schema["description"] = " ".join(marker.split())
            continue
        if isinstance(marker, type):
            marker = marker() if marker is Secret else None
        for name in NOTES:
            value = getattr(marker, name, None)
            if value is not None and not callable(value):
                state(schema, name, value, checks)
        notes(schema, marker)
        predicate = getattr(marker, "func", None)
        if callable(predicate) and type(marker).__name__ == "Predicate":
            checks.append((predicate, "the value is not allowed"))
    return checks


def state(schema, name, value, checks):
    kind = schema.get("type")
    if name in BOUNDS:
        numbers = [part for part in (schema, *schema.get("anyOf", ())) if part.get("type") in ("integer", "number")]
        for part in numbers:
            part[BOUNDS[name]] = plain_number(value)
        if schema not in numbers:
            test, words = CHECKS[name]
            checks.append((lambda given: test(given, value), "must be %s %s" % (words, value)))
    elif name in ("min_length", "max_length"):
        what = LENGTHS.get(kind)
        if what is None:
            raise DefinitionError("a length on a value that has none; put it on a text, list or dict")
        if value or name == "max_length":
            schema[name[:3] + what] = value
    elif name == "multiple_of":
        schema["multipleOf"] = plain_number(value)
    elif name == "pattern":
        schema["pattern"] = checked_pattern(value)
    elif name == "format":
        schema["format"] = str(value)
    else:
        schema["writeOnly"] = True


def notes(schema, marker):
    """What a marker says for readers."""
    text = getattr(marker, "description", None) or getattr(marker, "documentation", None)
    if isinstance(text, str):
        schema["description"] = " ".join(text.split())
    if is_field(marker):
        if getattr(marker, "alias", None):
            raise DefinitionError("Field(alias=...) would change the parameter's name; name it so instead")
        examples = getattr(marker, "examples", None)
        if examples:
            schema["examples"] = list(examples)
        if isinstance(marker.json_schema_extra, dict):
            schema.update(marker.json_schema_extra)


def plain_number(value):
    """A bound as JSON has it."""
    return value if isinstance(value, (int, float)) else float(value)


def checked_pattern(pattern):
    """The server's engine takes linear time, and so has neither look-around nor back references."""
    flags = getattr(pattern, "flags", 32)
    text = getattr(pattern, "pattern", pattern)
    if flags != 32:
        raise DefinitionError("a pattern with flags; write them out, as in [Aa] for a or A")
    marks = text.replace("\\\\", "")
    found = [mark for mark in ("(?=", "(?!", "(?<=", "(?<!", "(?P=", "\\Z") if mark in marks]
    found += ["\\" + digit for digit in "123456789" if "\\" + digit in marks]
    if found:
        raise DefinitionError("the pattern %r has %s, which is not supported" % (text, found[0]))
    import re

    try:
        re.compile(text)
    except re.error as error:
        raise DefinitionError("the pattern %r is wrong: %s" % (text, error)) from None
    return text.replace("(?P<", "(?<")


def checked(convert, checks):
    """The conversion with those checks behind it."""
    if not checks:
        return convert

    def run(value):
        value = convert(value) if convert else value
        for test, message in checks:
            if not test(value):
                raise InvalidInput([((), message)])
        return value

    return run
