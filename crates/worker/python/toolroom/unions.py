"""Unions: the first member that takes the value converts it; most are told apart by JSON's own types."""

from .errors import InvalidInput

NULL = {"type": "null"}
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def walk(walk, args):
    kinds = [walk.type(arg) for arg in args]
    nullable = any(takes_null(schema) for schema, _ in kinds)
    parts = []
    for schema, convert in kinds:
        for part in flat(schema):
            if part != NULL and not any(part == known for known, _ in parts):
                parts.append((part, convert))
    if any(not part for part, _ in parts):
        # A member that takes anything.
        return {}, None
    if not parts:
        return dict(NULL), None
    schemas = [part for part, _ in parts] + ([dict(NULL)] if nullable else [])
    schema = {"anyOf": schemas} if len(schemas) > 1 else schemas[0]
    if not any(convert for _, convert in parts):
        return schema, None
    if len(parts) == 1:
        convert = parts[0][1]
        return schema, (lambda value: None if value is None else convert(value)) if nullable else convert
    return schema, chooser(parts, walk.defs)


def flat(schema):
    """The members of a union in a union."""
    if set(schema) == {"anyOf"}:
        return schema["anyOf"]
    return [schema]


def takes_null(schema):
    return schema == NULL or any(part == NULL for part in schema.get("anyOf", ()))


def part_with_limits(schema):
    """Where limits of Annotated[Optional[X], ...] belong: with the one member that is not null."""
    parts = [part for part in schema.get("anyOf", ()) if part != NULL]
    return parts[0] if len(parts) == 1 else schema


def chooser(parts, defs):
    """Definitions may still be missing while the walk goes on, so it is worked out at the first value."""
    by_type = {}

    def convert(value):
        if value is None:
            return None
        kind = type(value)
        if kind not in by_type:
            by_type[kind] = candidates(parts, kind, defs)
        found = by_type[kind]
        if len(found) > 1:
            from .validation import problems

            found = [(part, one) for part, one in found if not problems(part, value, defs)]
        if not found:
            raise InvalidInput([((), "fits none of its types")])
        one = found[0][1]
        return one(value) if one else value

    return convert


def candidates(parts, kind, defs):
    """The members that may take such a value, those of exactly its type first."""
    name = TYPES.get(kind)
    exact, loose = [], []
    for part, convert in parts:
        names = types_of(part, defs)
        if names is None or name in names:
            exact.append((part, convert))
        elif (name == "integer" and "number" in names) or (name == "number" and "integer" in names):
            loose.append((part, convert))
    return exact + loose


def types_of(schema, defs):
    """The types that a schema names; None if it names none."""
    if "$ref" in schema:
        return types_of(defs.get(schema["$ref"].rpartition("/")[2], {}), defs)
    if "anyOf" in schema:
        found = [types_of(part, defs) for part in schema["anyOf"]]
        return None if None in found else set().union(*found)
    if "type" in schema:
        return {schema["type"]}
    return {TYPES.get(type(value)) for value in schema["enum"]} if "enum" in schema else None
