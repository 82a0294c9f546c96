"""Types whose JSON is a single value, and what turns it into them."""

import sys

from .errors import FAULTS, DefinitionError, InvalidInput, located

TIME = r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?$"
DECIMAL = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$"
INTEGER = r"^-?[0-9]+$"
NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
# What an answer may say: a timedelta can be negative, and the format knows no sign.
SIGNED_SPAN = r"^-?P[0-9]+DT[0-9]+(\.[0-9]+)?S$"
SPAN = r"^P(?:([0-9.]+)W)?(?:([0-9.]+)D)?(?:T(?:([0-9.]+)H)?(?:([0-9.]+)M)?(?:([0-9.]+)S)?)?$"


def whole(value):
    """JSON's 2.0 is an integer too."""
    return value if type(value) is int else int(value)


def number(value):
    return value if type(value) is float else float(value)


def instant(cls):
    def convert(text):
        text = text.upper()
        if sys.version_info < (3, 11):
            text = six_digits(text.replace("Z", "+00:00"))
        return cls.fromisoformat(text)

    return convert


def six_digits(text):
    """Before Python 3.11 a fraction of a second has three digits or six."""
    head, point, rest = text.partition(".")
    if not point:
        return text
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    return head + "." + (digits + "000000")[:6] + rest[len(digits) :]


def span(cls):
    def convert(text):
        import re

        found = re.match(SPAN, text)
        if not found or not any(found.groups()):
            raise ValueError("years and months have no fixed length; write weeks, days, hours, minutes, seconds")
        weeks, days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return cls(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)

    return convert


def base64_bytes(text):
    import re
    from binascii import Error, a2b_base64

    # Left to itself it skips what is not base64; its strict mode came with Python 3.11.
    if len(text) % 4 or not re.fullmatch("[A-Za-z0-9+/]*={0,2}", text):
        raise ValueError("must be base64, padded with =")
    try:
        return a2b_base64(text)
    except Error:
        raise ValueError("must be base64, padded with =") from None


def decimal(cls):
    return lambda value: cls(value if isinstance(value, str) else str(value))


TEXT = {"type": "string"}
KNOWN = {
    "builtins.str": lambda cls: (dict(TEXT), None),
    "builtins.bool": lambda cls: ({"type": "boolean"}, None),
    "builtins.int": lambda cls: ({"type": "integer"}, whole),
    "builtins.float": lambda cls: ({"type": "number"}, number),
    "builtins.bytes": lambda cls: ({**TEXT, "contentEncoding": "base64"}, base64_bytes),
    "datetime.datetime": lambda cls: ({**TEXT, "format": "date-time"}, instant(cls)),
    "datetime.date": lambda cls: ({**TEXT, "format": "date"}, cls.fromisoformat),
    "datetime.time": lambda cls: ({**TEXT, "pattern": TIME}, instant(cls)),
    "datetime.timedelta": lambda cls: ({**TEXT, "format": "duration"}, span(cls)),
    "uuid.UUID": lambda cls: ({**TEXT, "format": "uuid"}, cls),
    "ipaddress.IPv4Address": lambda cls: ({**TEXT, "format": "ipv4"}, cls),
    "ipaddress.IPv6Address": lambda cls: ({**TEXT, "format": "ipv6"}, cls),
    "decimal.Decimal": lambda cls: ({"anyOf": [{"type": "number"}, {**TEXT, "pattern": DECIMAL}]}, decimal(cls)),
}


def walk(walk, cls):
    """The schema and converter of such a class; None if it is another."""
    enum = sys.modules.get("enum")
    if enum and issubclass(cls, enum.Enum):
        schema, convert = enumeration(cls)
        prose = walk.published and described(cls)
        return ({**schema, "description": prose} if prose else schema), convert
    if cls.__module__.startswith("pathlib"):
        return dict(TEXT), cls
    found = KNOWN.get(cls.__module__ + "." + cls.__qualname__)
    if found:
        schema, convert = found(cls)
        if walk.output and "anyOf" in schema:
            schema = schema["anyOf"][1]
        elif walk.output and schema.get("format") == "duration":
            schema = {**TEXT, "pattern": SIGNED_SPAN}
        return schema, convert
    if hasattr(cls, "__get_pydantic_core_schema__"):
        return None
    for base in (str, int, float):
        # A class of the author's own, such as `class UserId(str)`.
        if issubclass(cls, base) and cls is not bool:
            return {"title": cls.__name__, **KNOWN["builtins." + base.__name__](base)[0]}, cls
    return None


def described(cls):
    """What the author wrote of an enum; Python gives some a text of its own, or that of their base."""
    from .records import said

    text = cls.__doc__
    own = text and text != "An enumeration." and all(base.__doc__ != text for base in cls.__mro__[1:])
    return said(cls)[0] if own else ""


def enumeration(cls):
    members = list(cls)
    schema, convert = choices([member.value for member in members], cls.__name__)
    by_value = {key_of(member.value): member for member in members}
    return schema, lambda value: pick(by_value, value)


def literal(values):
    enum = sys.modules.get("enum")
    plain = [value.value if enum and isinstance(value, enum.Enum) else value for value in values]
    schema, _ = choices(plain, "Literal")
    if all(type(value) in (str, bool, type(None)) for value in values):
        return schema, None
    by_value = {key_of(key): value for key, value in zip(plain, values)}
    return schema, lambda value: pick(by_value, value)


def choices(values, name):
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number"}
    plain = [value for value in values if value is not None]
    names = {
        next((kinds[kind] for kind in (bool, str, int, float) if isinstance(value, kind)), None) for value in plain
    }
    if None in names or not values:
        raise DefinitionError("the values of %s must be texts, numbers or booleans" % name)
    schema = (
        {"enum": list({key_of(value): value for value in plain}.values())}
        if len(names) != 1
        else {"type": names.pop(), "enum": plain}
    )
    if len(plain) < len(values):
        schema = {"anyOf": [schema, {"type": "null"}]} if plain else {"type": "null"}
    return schema, None


def key_of(value):
    """True and 1 are equal to Python, and not to JSON; 1 and 1.0 are the same to both."""
    return (isinstance(value, bool), value)


def pick(by_value, value):
    try:
        return by_value[key_of(value)]
    except (KeyError, TypeError):
        raise InvalidInput([((), "not one of the values")]) from None


def key(walk, hint):
    """The schema of an object's names for a dict with such keys, and what reads them."""
    schema, convert = walk.type(hint)
    if schema.get("type") == "integer":
        return {"pattern": INTEGER}, lambda name: convert(int(name))
    if schema.get("type") == "number":
        return {"pattern": NUMBER}, lambda name: convert(float(name))
    if "anyOf" in schema and hint in (getattr(sys.modules.get("decimal"), "Decimal", None),):
        return {"pattern": DECIMAL}, convert
    if schema.get("type") != "string" and schema:
        raise DefinitionError("the keys of a dict must be texts, whole numbers or values of an Enum")
    names = {name: value for name, value in schema.items() if name not in ("type", "title", "contentEncoding")}
    return names, convert


def each(item, make):
    """Converts every item of a list."""
    if item is None:
        return make

    def convert(values):
        made = []
        try:
            for value in values:
                made.append(item(value))
        except FAULTS as error:
            raise located(error, len(made)) from None
        return make(made) if make else made

    return convert
