"""Values for a schema: some that fit, some that nearly do."""

import random

POOL = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    2.0,
    2.5,
    0.5,
    10**9,
    "",
    "a",
    "x",
    "red",
    "small",
    "cat",
    "abc",
    "12",
    "1.5",
    "-3",
    "+1",
    ".5",
    "NaN",
    "2024-02-29",
    "2023-02-29",
    "2024-02-29T10:00:00Z",
    "2024-02-29T10:00:00",
    "10:00:00",
    "10:00",
    "25:00:00",
    "10:00:00+01:00",
    "P1D",
    "PT2H30M",
    "P1Y",
    "P",
    "192.168.0.1",
    "1.2.3",
    "a/b",
    "YWJj",
    "123e4567-e89b-12d3-a456-426614174000",
    [],
    [1],
    ["a"],
    [1, 1],
    ["a", "a"],
    [1, "a"],
    [[1]],
    [[1], [2]],
    {},
    {"a": 1},
    {"1": "a"},
    {"red": 1},
    {"x": 1},
    {"x": 1, "y": 2},
    {"x": 1, "z": 2},
    {"kind": "cat", "lives": 9},
    {"kind": "dog", "name": "Rex"},
    {"title": "Alien", "year": 1979},
    {"name": "n"},
    {"value": 1, "children": []},
]
FORMATS = {
    "date-time": "2024-05-06T07:08:09Z",
    "date": "2024-05-06",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "duration": "PT90S",
    "ipv4": "10.0.0.1",
    "email": "a@b.example",
    "uri": "https://a.example/b",
}
TEXTS = ["abc", "zebra", "10:00:00", "12", "-1.5", "a", "longer than most limits allow", "ABC", ""]


def values(schema, count, seed):
    """So many values, the same for the same seed."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        value = fitting(schema, rng, schema.get("$defs", {}), 0)
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            value = changed(value, rng)
        made.append(value)
    return made


def fitting(schema, rng, defs, depth):
    if not isinstance(schema, dict) or not schema:
        return rng.choice(POOL)
    if "$ref" in schema:
        return fitting(defs[schema["$ref"].rpartition("/")[2]], rng, defs, depth)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return fitting(rng.choice(schema[key]), rng, defs, depth)
    kind = schema.get("type")
    if kind == "object":
        return an_object(schema, rng, defs, depth)
    if kind == "array":
        return a_list(schema, rng, defs, depth)
    if kind == "string":
        return a_text(schema, rng)
    if kind in ("integer", "number"):
        return a_number(schema, kind, rng)
    return {"boolean": rng.random() < 0.5, "null": None}.get(kind, rng.choice(POOL))


def an_object(schema, rng, defs, depth):
    made = {}
    for name, part in schema.get("properties", {}).items():
        if name in schema.get("required", ()) or (rng.random() < 0.6 and depth < 5):
            made[name] = fitting(part, rng, defs, depth + 1)
    rest = schema.get("additionalProperties", True)
    if rest is not False and not schema.get("properties"):
        names = schema.get("propertyNames", {})
        for _ in range(rng.randrange(3)):
            name = rng.choice(names.get("enum", ["red", "k", "1", "-7"]))
            made[name] = fitting(rest, rng, defs, depth + 1)
    return made


def a_list(schema, rng, defs, depth):
    places = schema.get("prefixItems", [])
    if places:
        least = schema.get("minItems", len(places))
        return [fitting(part, rng, defs, depth + 1) for part in places[: rng.randint(least, len(places))]]
    least, most = schema.get("minItems", 0), min(schema.get("maxItems", 3), 3)
    return [
        fitting(schema.get("items", {}), rng, defs, depth + 1)
        for _ in range(rng.randint(least, most) if depth < 5 else 0)
    ]


def a_text(schema, rng):
    if schema.get("format") in FORMATS and rng.random() < 0.8:
        return FORMATS[schema["format"]]
    text = rng.choice(TEXTS)
    return text[: schema.get("maxLength", len(text))].ljust(schema.get("minLength", 0), "x")


def a_number(schema, kind, rng):
    low = schema.get("minimum", schema.get("exclusiveMinimum", -3))
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 9))
    value = rng.uniform(low, high)
    step = schema.get("multipleOf", 1)
    return round(value / step) * step if kind == "integer" or "multipleOf" in schema else value


def changed(value, rng):
    """The value with one place changed, added or removed."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(sorted(value))
        chance = rng.random()
        if chance < 0.15:
            return {key: item for key, item in value.items() if key != name}
        if chance < 0.3:
            return {**value, rng.choice(("extra", "x", "2")): rng.choice(POOL)}
        return {**value, name: changed(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = rng.randrange(len(value))
        return [*value[:at], changed(value[at], rng), *value[at + 1 :], *([value[at]] if rng.random() < 0.2 else [])]
    return rng.choice(POOL)
