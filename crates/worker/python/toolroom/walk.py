"""One walk over a type gives its JSON Schema and its converter, so that they cannot disagree.

Types are known by where they come from, not by importing that: a hint proves that its module is loaded. Records are
written out where they stand; only a type that holds itself is referred to.
"""

import sys

from . import constraints, records, scalars, unions
from .errors import FAULTS, DefinitionError, located

# What a schema may be at most; the server's own limits are a little higher.
DEEPEST = 40
MOST = 4000

LISTS = {"list", "Sequence", "MutableSequence", "Iterable", "Collection", "deque"}
SETS = {"set", "frozenset", "Set", "MutableSet"}
MAPS = {"dict", "Mapping", "MutableMapping", "OrderedDict"}
WRAPPERS = {"Required", "NotRequired", "ReadOnly", "Final", "ClassVar", "InitVar", "Unpack"}


class Walk:
    """The state of one walk: whose hints they are, and the types that are being walked."""

    def __init__(self, owner, output=False, published=True):
        # The function or class whose hints are being read: names are looked up where it is written.
        self.owner = owner
        # A worker that only calls needs no texts and defaults, and starts sooner without.
        self.published = published
        # What goes out has every field, in JSON's form; what comes in may leave defaults out.
        self.output = output
        self.defs = {}
        self.bindings = {}
        self.open = {}
        self.closed = {}
        self.depth = self.count = 0

    def type(self, hint):
        """The schema of a type, and what makes its value of JSON; None if that is the value already."""
        self.count += 1
        self.depth += 1
        if self.count > MOST:
            raise DefinitionError("its types have more than %d parts; take a dict, or fewer fields" % MOST)
        if self.depth > DEEPEST:
            raise DefinitionError("its types are nested deeper than %d levels" % DEEPEST)
        try:
            return self.kind(hint)
        finally:
            self.depth -= 1

    def kind(self, hint):
        if hint is None or hint is type(None):
            return {"type": "null"}, None
        text = hint if isinstance(hint, str) else getattr(hint, "__forward_arg__", None)
        if text is not None:
            return self.type(self.resolve(text))
        special = special_name(hint)
        if special == "Any" or hint is object:
            return {}, None
        if hasattr(hint, "__metadata__"):
            return self.annotated(hint)
        args = getattr(hint, "__args__", ())
        if special == "Union":
            return unions.walk(self, args)
        if special == "Literal":
            return scalars.literal(args)
        if special in WRAPPERS:
            inner = args or (getattr(hint, "type", None),)
            return self.type(inner[0])
        if hasattr(hint, "__supertype__"):
            schema, convert = self.type(hint.__supertype__)
            return {"title": hint.__name__, **schema}, convert
        if type(hint).__name__ == "TypeVar":
            return self.variable(hint)
        origin = getattr(hint, "__origin__", hint)
        if hasattr(origin, "__value__"):
            return self.held(hint, lambda: self.bound(origin, args, lambda: self.type(origin.__value__)))
        if not isinstance(origin, type):
            raise DefinitionError("%s is not a type that JSON can carry" % shown(hint))
        return self.of_class(hint, origin, args)

    def of_class(self, hint, origin, args):
        found = scalars.walk(self, origin)
        if found:
            return found
        if records.is_pydantic(origin):
            return records.pydantic(self, hint)
        if hasattr(origin, "__dataclass_fields__"):
            return self.held(hint, lambda: self.bound(origin, args, lambda: records.of_dataclass(self, origin)))
        if hasattr(origin, "__required_keys__"):
            return self.held(hint, lambda: self.bound(origin, args, lambda: records.of_typed_dict(self, origin)))
        if issubclass(origin, tuple):
            if hasattr(origin, "_fields"):
                return self.held(hint, lambda: records.of_named_tuple(self, origin))
            return self.tuple(args)
        name = origin.__name__ if origin.__module__ in ("builtins", "collections", "collections.abc") else None
        if name in LISTS or name in SETS:
            return self.array(name, origin, args)
        if name in MAPS:
            return self.mapping(origin, args)
        raise DefinitionError(
            "%s is not a type that JSON can carry; take a dataclass, a TypedDict or a dict" % shown(hint)
        )

    def resolve(self, text):
        """A hint that was written as text."""
        if len(text) > 10_000:
            raise DefinitionError("a hint is longer than 10,000 characters")
        try:
            return eval(text, namespace_of(self.owner))
        except Exception as error:
            raise DefinitionError(
                "the hint %r cannot be read: %s: %s" % (text[:200], type(error).__name__, error)
            ) from None

    def annotated(self, hint):
        if any(records.wants_pydantic(marker) for marker in hint.__metadata__):
            return records.pydantic(self, hint)
        schema, convert = self.type(hint.__origin__)
        schema = dict(schema)
        if "anyOf" in schema:
            schema["anyOf"] = [dict(part) for part in schema["anyOf"]]
        target = unions.part_with_limits(schema)
        checks = constraints.apply(target, hint.__metadata__)
        if target is not schema and "description" in target:
            schema["description"] = target.pop("description")
        return schema, constraints.checked(convert, [] if self.output else checks)

    def variable(self, hint):
        if hint in self.bindings:
            return self.type(self.bindings[hint])
        if hint.__constraints__:
            return unions.walk(self, hint.__constraints__)
        return self.type(hint.__bound__) if hint.__bound__ is not None else ({}, None)

    def bound(self, origin, args, walk):
        """A walk with the generic's own variables bound."""
        variables = getattr(origin, "__parameters__", ()) or getattr(origin, "__type_params__", ())
        before = self.bindings
        self.bindings = {**before, **dict(zip(variables, args))}
        try:
            return walk()
        finally:
            self.bindings = before

    def held(self, hint, walk):
        """A walk over a type that may hold itself: it is then defined once, and referred to."""
        if hint in self.closed:
            return self.closed[hint]
        cell = self.open.get(hint)
        if cell:
            cell["name"] = cell["name"] or self.claim(getattr(hint, "__name__", "Type"))
            return {"$ref": "#/$defs/" + cell["name"]}, lambda value: cell["convert"](value)
        cell = self.open[hint] = {"name": None, "convert": None}
        try:
            schema, convert = walk()
        finally:
            del self.open[hint]
        if not cell["name"]:
            return schema, convert
        cell["convert"] = convert or (lambda value: value)
        self.defs[cell["name"]] = schema
        self.closed[hint] = {"$ref": "#/$defs/" + cell["name"]}, convert
        return self.closed[hint]

    def claim(self, name):
        """A name for a definition that no other type has, whatever it is called."""
        name = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name)[:60]
        free, number = name, 2
        while free in self.defs:
            free, number = "%s%d" % (name, number), number + 1
        self.defs[free] = {}
        return free

    def array(self, name, origin, args):
        schema, item = self.type(args[0]) if args else ({}, None)
        array = {"type": "array", "items": schema}
        if name in SETS:
            array["uniqueItems"] = True
        make = {"deque": origin, "frozenset": frozenset}.get(name, set if name in SETS else None)
        return array, scalars.each(item, make)

    def tuple(self, args):
        if not args:
            return {"type": "array", "items": {}}, tuple
        if args == ((),):
            args = ()
        if len(args) == 2 and args[1] is Ellipsis:
            schema, item = self.type(args[0])
            return {"type": "array", "items": schema}, scalars.each(item, tuple)
        return records.row([self.type(arg) for arg in args], len(args), tuple)

    def mapping(self, origin, args):
        key, value = args if len(args) == 2 else (str, None)
        names, read = scalars.key(self, key)
        schema, convert = self.type(value) if len(args) == 2 else ({}, None)
        mapping = {"type": "object", "properties": {}}
        if names:
            mapping["propertyNames"] = names
        if schema:
            mapping["additionalProperties"] = schema
        make = origin if origin.__name__ == "OrderedDict" else None
        if not read and not convert:
            return mapping, make

        def run(given):
            made = {}
            for name, item in given.items():
                try:
                    made[read(name) if read else name] = convert(item) if convert else item
                except FAULTS as error:
                    raise located(error, name) from None
            return make(made) if make else made

        return mapping, run


def special_name(hint):
    """`Union`, `Literal` and the like, for those forms of `typing`."""
    if type(hint).__name__ in ("UnionType", "Union"):
        return "Union"
    form = getattr(hint, "__origin__", hint)
    if type(hint).__name__ == "InitVar":
        return "InitVar"
    module = type(form).__module__
    if module in ("typing", "typing_extensions") or getattr(form, "__module__", None) == "typing":
        name = getattr(form, "_name", None) or getattr(form, "__name__", None)
        return name if name in WRAPPERS or name in ("Any", "Union", "Literal", "Optional") else None
    return None


def namespace_of(owner):
    """Where the hints of a class or function are looked up."""
    module = sys.modules.get(owner.__module__)
    names = dict(vars(module)) if module else {}
    names.setdefault(owner.__name__, owner)
    return names


def shown(hint):
    return getattr(hint, "__name__", None) or str(hint)[:100]
