"""A schema that pydantic wrote, in the spelling that every framework takes."""

from .errors import DefinitionError
from .scalars import DECIMAL, TIME

MAPS = ("properties", "patternProperties", "dependentSchemas")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
ONES = ("items", "additionalProperties", "propertyNames", "not", "contains", "if", "then", "else")
# No validator asserts them, and no model needs them.
FORMATS = ("binary", "path", "file-path", "directory-path", "multi-host-uri", "json-string")
MOST = 4000


def adopt(walk, schema):
    """References are written out, but for those of types that hold themselves; objects are closed unless they say
    that they are open; constants are enums; no titles, no boolean schemas."""
    defs = schema.pop("$defs", {})
    names, count = {}, [0]

    def visit(part, within):
        count[0] += 1
        if count[0] > MOST:
            raise DefinitionError("its models have more than %d parts" % MOST)
        if part is True:
            return {}
        if part is False:
            return {"not": {}}
        if "$ref" in part:
            return refer(part, within)
        made = {}
        for key, value in part.items():
            if key in MAPS:
                made[key] = {name: visit(one, within) for name, one in value.items()}
            elif key in LISTS:
                made["anyOf" if key == "oneOf" else key] = [visit(one, within) for one in value]
            elif key in ONES and isinstance(value, (dict, bool)):
                if value is not True:
                    made[key] = visit(value, within) if value is not False or key != "additionalProperties" else False
            elif key == "const":
                made["enum"] = [value]
            elif key not in ("title", "discriminator"):
                made[key] = value
        return respelled(made, part, walk.output)

    def refer(part, within):
        name = part["$ref"].rpartition("/")[2]
        beside = {key: value for key, value in part.items() if key in ("description", "default", "examples")}
        if name in within:
            if name not in names:
                names[name] = walk.claim(name)
            return {"$ref": "#/$defs/" + names[name]}
        made = visit(defs.get(name, {}), (*within, name))
        if name in names:
            if made.get("$ref") != "#/$defs/" + names[name]:
                walk.defs[names[name]] = made
            return {"$ref": "#/$defs/" + names[name]}
        return {**made, **beside}

    return visit(schema, ())


def respelled(made, part, output):
    if isinstance(made.get("type"), list):
        kinds = made.pop("type")
        made = {"anyOf": [{"type": kind, **(made if kind != "null" else {})} for kind in kinds]}
    if made.get("type") == "object":
        # An open model says so; what is left open by silence drops unknown fields.
        if "properties" in part and "additionalProperties" not in part and not output:
            made["additionalProperties"] = False
        made.setdefault("properties", {})
    form = made.get("format")
    if form == "time":
        del made["format"]
        made["pattern"] = TIME
    elif form in FORMATS:
        del made["format"]
    if "(?!" in made.get("pattern", ""):
        # Of pydantic's own patterns, that of Decimal looks ahead.
        made["pattern"] = DECIMAL
    if len(made.get("allOf", ())) == 1:
        made = {**made.pop("allOf")[0], **made}
    return made
