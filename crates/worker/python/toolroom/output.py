"""What a function returned, as JSON. Asked only when the plain encoder could not."""

import sys

PLAIN = (str, int, float, bool, type(None))


def to_plain(value):
    """The value in dicts, lists, texts, numbers, booleans and None."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is dict:
        return {name_of(name): to_plain(item) for name, item in value.items()}
    if kind in (list, tuple, set, frozenset):
        return [to_plain(item) for item in value]
    enum = sys.modules.get("enum")
    if enum and isinstance(value, enum.Enum):
        return to_plain(value.value)
    if hasattr(kind, "__pydantic_serializer__"):
        return kind.__pydantic_serializer__.to_python(value, mode="json", by_alias=True)
    if hasattr(kind, "__dataclass_fields__"):
        fields = kind.__dataclass_fields__.values()
        return {one.name: to_plain(getattr(value, one.name)) for one in fields if one._field_type.name == "_FIELD"}
    return special(value, kind)


def special(value, kind):
    module = kind.__module__
    if hasattr(value, "isoformat"):
        # Python reads a time without an offset as local; so is it told.
        local = hasattr(value, "astimezone") and value.tzinfo is None
        return (value.astimezone() if local else value).isoformat()
    if module == "datetime" and hasattr(value, "total_seconds"):
        return span(value)
    if module == "decimal":
        # str() would write 1E+3, which is no number to most readers.
        return format(value, "f")
    if module in ("uuid", "ipaddress") or hasattr(value, "__fspath__"):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        from binascii import b2a_base64

        return b2a_base64(value, newline=False).decode("ascii")
    for base in (str, int, float):
        if isinstance(value, base):
            return base(value)
    if hasattr(value, "tolist"):
        # numpy's arrays and numbers.
        return to_plain(value.tolist())
    if hasattr(value, "items"):
        return {name_of(name): to_plain(item) for name, item in value.items()}
    if hasattr(value, "__iter__") and hasattr(value, "__len__"):
        return [to_plain(item) for item in value]
    if module == "toolroom.content":
        raise TypeError("%s inside the data; return it alone, in a list, or as content of a ToolResult" % kind.__name__)
    raise TypeError("an object of type %s is not JSON; return a dict or a dataclass" % kind.__name__)


def name_of(name):
    plain = to_plain(name)
    if isinstance(plain, bool) or plain is None:
        return {True: "true", False: "false", None: "null"}[plain]
    if not isinstance(plain, (str, int, float)):
        raise TypeError("a dict's key of type %s is not JSON" % type(name).__name__)
    return str(plain)


def span(value):
    """ISO 8601's form of a timedelta; before a negative one stands a sign."""
    if value.days < 0:
        return "-" + span(-value)
    part = value.seconds + value.microseconds / 1e6
    return "P%dDT%sS" % (value.days, ("%f" % part).rstrip("0").rstrip("."))
