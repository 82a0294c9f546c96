"""Types with fields: dataclasses, TypedDict, NamedTuple, and models of pydantic where they are used."""

import sys

from .errors import FAULTS, DefinitionError, InvalidInput, first_line, located

EMPTY = object()


def of_dataclass(walk, cls):
    fields = []
    for field in cls.__dataclass_fields__.values():
        kind = field._field_type.name
        if kind == "_FIELD" if walk.output else field.init and kind != "_FIELD_CLASSVAR":
            default = field.default if is_set(field.default) else EMPTY
            optional = default is not EMPTY or is_set(field.default_factory)
            fields.append((field.name, field.type, not optional or walk.output, default))
    return record(walk, cls, fields, cls)


def is_set(value):
    return type(value).__name__ != "_MISSING_TYPE"


def of_typed_dict(walk, cls):
    fields = []
    for name, hint in annotations(cls).items():
        required = name in cls.__required_keys__
        while True:
            hint = walk_text(walk, cls, hint)
            special = getattr(getattr(hint, "__origin__", None), "_name", None)
            if special not in ("Required", "NotRequired", "ReadOnly"):
                break
            required = {"Required": True, "NotRequired": False}.get(special, required)
            hint = hint.__args__[0]
        fields.append((name, hint, required, EMPTY))
    return record(walk, cls, fields, None)


def walk_text(walk, cls, hint):
    text = hint if isinstance(hint, str) else getattr(hint, "__forward_arg__", None)
    if text is None:
        return hint
    before, walk.owner = walk.owner, cls
    try:
        return walk.resolve(text)
    finally:
        walk.owner = before


def of_named_tuple(walk, cls):
    hints = annotations(cls)
    prose, texts = said(cls) if walk.published else ("", {})
    kinds = []
    for name in cls._fields:
        part, convert = field(walk, cls, name, hints.get(name, object))
        if name in texts and "$ref" not in part:
            part = {"description": texts[name], **part}
        kinds.append((part, convert))
    schema, convert = row(kinds, len(kinds) - len(cls._field_defaults), lambda values: cls(*values))
    if prose:
        schema["description"] = prose
    return schema, convert


def annotations(cls):
    try:
        return dict(getattr(cls, "__annotations__", {}))
    except NameError as error:
        raise DefinitionError("a hint of %s cannot be read: %s" % (cls.__name__, error)) from None


def field(walk, cls, name, hint):
    """A field's kind. Its hint is looked up where the class that states it is written."""
    owner = next((one for one in cls.__mro__ if name in one.__dict__.get("__annotations__", ())), cls)
    before = walk.owner
    if sys.modules.get(owner.__module__):
        walk.owner = owner
    try:
        return walk.type(hint)
    except DefinitionError as error:
        prefix = "%s.%s: " % (cls.__name__, name) if len(error.plain) < 200 else ""
        raise DefinitionError(prefix + error.plain) from None
    finally:
        walk.owner = before


def record(walk, cls, fields, make):
    """A closed object; `make` is called with its fields, a TypedDict stays a dict."""
    prose, texts = said(cls) if walk.published else ("", {})
    schema = {"type": "object", "properties": {}}
    slots = {}
    for name, hint, required, default in fields:
        part, slots[name] = field(walk, cls, name, hint)
        part = part if "$ref" in part else dict(part)
        if name in texts and "$ref" not in part:
            part.setdefault("description", texts[name])
        if default is not EMPTY and walk.published and not walk.output and "$ref" not in part:
            publish_default(part, default, walk.defs)
        schema["properties"][name] = part
        if required:
            schema.setdefault("required", []).append(name)
    if not walk.output:
        schema["additionalProperties"] = False
    if prose:
        schema["description"] = prose
    if make is None and not any(slots.values()):
        return schema, None

    def convert(given):
        values, name = {}, None
        try:
            for name, value in given.items():
                if name not in slots:
                    raise ValueError("unknown field")
                one = slots[name]
                values[name] = one(value) if one else value
        except FAULTS as error:
            raise located(error, name) from None
        return make(**values) if make else values

    return schema, convert


def said(cls):
    """The prose and the fields' texts of a class that has a docstring of its own."""
    text = cls.__dict__.get("__doc__") or ""
    # Dataclasses and named tuples get one made of their signature.
    if not text or text.startswith(cls.__name__ + "("):
        return "", {}
    from .docstring import read

    return read(text)


def publish_default(schema, default, defs):
    """Writes a default that JSON has and the schema takes. Any other is the function's own business."""
    import json

    from .output import to_plain
    from .validation import problems

    try:
        plain = to_plain(default)
        json.dumps(plain, allow_nan=False)
        fits = not problems(schema, plain, defs)
    except (TypeError, ValueError, RecursionError):
        return
    if fits:
        schema["default"] = plain


def row(kinds, least, make):
    """A list with a type for each place."""
    schema = {"type": "array", "prefixItems": [schema for schema, _ in kinds]}
    schema.update(minItems=least, maxItems=len(kinds))
    if not kinds:
        del schema["prefixItems"]
        schema["items"] = {}
    converts = [convert for _, convert in kinds]

    def convert(values):
        made = []
        for at, (value, one) in enumerate(zip(values, converts)):
            try:
                made.append(one(value) if one else value)
            except FAULTS as error:
                raise located(error, at) from None
        return make(made)

    return schema, convert


def is_pydantic(cls):
    return hasattr(cls, "__pydantic_core_schema__") or hasattr(cls, "__get_pydantic_core_schema__")


def wants_pydantic(marker):
    """A marker that changes how a value is validated, so that only pydantic can."""
    own = hasattr(marker, "__get_pydantic_core_schema__") and not hasattr(marker, "json_schema_extra")
    return own or type(marker).__name__ == "StringConstraints"


def pydantic(walk, hint):
    from pydantic import TypeAdapter, ValidationError
    from pydantic.errors import PydanticUserError

    from .foreign import adopt

    try:
        adapter = TypeAdapter(hint)
        schema = adapter.json_schema(mode="serialization" if walk.output else "validation")
    except (PydanticUserError, NameError) as error:
        raise DefinitionError("pydantic cannot describe it: %s" % first_line(error)) from None

    def convert(value):
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            problems = [(place(value, one["loc"]), one["msg"]) for one in error.errors(include_url=False)]
        import json

        try:
            # A strict model takes a text for a date only if it comes out of JSON.
            return adapter.validate_json(json.dumps(value))
        except ValidationError:
            raise InvalidInput(problems) from None

    return adopt(walk, schema), convert


def place(value, loc):
    """As much of pydantic's path as is in the value: it also names the members of unions."""
    path = []
    for part in loc:
        inside = part in value if isinstance(value, dict) else isinstance(value, list) and part in range(len(value))
        if inside:
            value = value[part]
            path.append(part)
    return tuple(path)
