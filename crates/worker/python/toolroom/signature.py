"""A function as a tool: what it takes, what it gives, and how a call reaches it."""

from .constraints import is_field
from .content import Media, ToolResult
from .context import Context
from .errors import FAULTS, DefinitionError, located
from .records import EMPTY, publish_default
from .unions import takes_null
from .walk import Walk, special_name

VARARGS, VARKEYWORDS, GENERATOR, ASYNC_GENERATOR = 0x04, 0x08, 0x20, 0x200
# The server's limits.
MOST_BYTES, DEEPEST_SCHEMA = 256 * 1024, 90


class Signature:
    """How one function is called. A worker needs less of it than what is published, and starts sooner without."""

    def __init__(self, function, published=True):
        self.published = published
        self.function = function
        self.plain = unwrapped(function)
        self.code = self.plain.__code__
        try:
            self.hints = dict(self.plain.__annotations__)
        except NameError as error:
            raise DefinitionError("a hint cannot be read: %s" % error, self.plain) from None
        self.context = None
        self.slots = []
        self.parameters = {"type": "object", "properties": {}}
        self.prose, self.texts = self.documentation()
        try:
            self.check_form()
            self.read_parameters()
            self.takes_as_is = not any(convert or drop for _, convert, drop in self.slots)
        except DefinitionError as error:
            raise DefinitionError(error.plain, self.plain) from None

    def documentation(self):
        if not self.published:
            return "", {}
        from .docstring import read

        return read(self.plain.__doc__)

    def check_form(self):
        if self.code.co_flags & (VARARGS | VARKEYWORDS):
            raise DefinitionError("*args and **kwargs cannot be published; name the parameters")
        if self.code.co_posonlyargcount:
            raise DefinitionError("positional-only parameters cannot be passed by name; remove the '/'")
        if self.code.co_flags & (GENERATOR | ASYNC_GENERATOR):
            raise DefinitionError("a generator has no single answer; return a list, and report with context.progress")

    def read_parameters(self):
        count = self.code.co_argcount
        names = self.code.co_varnames[: count + self.code.co_kwonlyargcount]
        given = self.plain.__defaults__ or ()
        defaults = dict(zip(names[count - len(given) : count], given))
        defaults.update(self.plain.__kwdefaults__ or {})
        walk = Walk(self.plain, published=self.published)
        for name in names:
            hint = self.hints.get(name, object)
            if name == "context" or is_context(hint):
                if self.published and not (is_context(hint) or hint is object or special_name(hint) == "Any"):
                    # A worker lets a tool go on that was registered before this was refused.
                    raise DefinitionError(
                        "the parameter named context is filled in with the call's context, and not published; "
                        "hint it Context if you mean that, else give it another name"
                    )
                if self.context:
                    raise DefinitionError("two parameters for the context, %s and %s" % (self.context, name))
                self.context = name
                continue
            try:
                self.read_parameter(walk, name, hint, defaults.get(name, EMPTY))
            except DefinitionError as error:
                raise DefinitionError("parameter %s: %s" % (name, error.plain)) from None
        self.parameters["additionalProperties"] = False
        self.defs = walk.defs
        if walk.defs:
            self.parameters["$defs"] = walk.defs
        if self.published:
            check_size(self.parameters)

    def read_parameter(self, walk, name, hint, default):
        schema, convert = walk.type(hint)
        schema = dict(schema)
        if default is not EMPTY and is_field(default):
            # `x: int = Field(1, ge=0)`
            from . import constraints

            constraints.notes(schema, default)
            checks = [check for marker in default.metadata for check in constraints.apply(schema, [marker])]
            convert = constraints.checked(convert, checks)
            default = default.default if type(default.default).__name__ != "PydanticUndefinedType" else EMPTY
        if "$ref" in schema and len(schema) == 1:
            schema = {"allOf": [schema]} if name in self.texts else schema
        if name in self.texts:
            schema.setdefault("description", self.texts[name])
        if default is EMPTY:
            self.parameters.setdefault("required", []).append(name)
        elif self.published:
            publish_default(schema, default, walk.defs)
        self.parameters["properties"][name] = schema
        # Null for a parameter that takes none reads as absent, and then its default applies.
        drop = default is not EMPTY and bool(schema) and not takes_null(schema)
        self.slots.append((name, convert, drop))

    def output(self):
        """The schema of the answer; None if the hint says nothing of it. An answer is never null: one that may be
        stands as `result` in an object."""
        schema, defs = self.answer()
        if not schema:
            return None
        if takes_null(schema):
            schema = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
        if defs:
            schema = {**schema, "$defs": defs}
        check_size(schema)
        return schema

    def answer(self):
        """The schema of what the function returns, as its hint says it, and the definitions that it refers to."""
        hint = self.returned()
        if hint is EMPTY or is_content(hint):
            return None, None
        if hint is None or hint is type(None):
            return {"type": "object", "properties": {}}, None
        walk = Walk(self.plain, output=True, published=self.published)
        try:
            return walk.type(hint)[0], walk.defs
        except DefinitionError as error:
            raise DefinitionError("the answer: %s" % error.plain, self.plain) from None

    def returned(self):
        """The hint of the answer, read if it was written as text."""
        hint = self.hints.get("return", EMPTY)
        try:
            return Walk(self.plain).resolve(hint) if isinstance(hint, str) else hint
        except DefinitionError as error:
            raise DefinitionError("the answer: %s" % error.plain, self.plain) from None

    def lists(self):
        """Whether the hint says that the answer is a list, whatever comes beside it."""
        hint = self.returned()
        return getattr(hint, "__origin__", hint) in (list, tuple) and not is_content(hint)

    def wraps(self):
        """Whether the answer stands as `result` in an object."""
        hint = self.returned()
        if special_name(hint) is None and not hasattr(hint, "__value__"):
            # Nothing that could be null.
            return False
        schema, _ = self.answer()
        return bool(schema) and takes_null(schema)

    def bind(self, params):
        """The arguments of a call, from parameters that the server has checked."""
        if self.takes_as_is:
            return params
        values = {}
        for name, convert, drop in self.slots:
            if name in params:
                value = params[name]
                if value is None and drop:
                    continue
                if convert:
                    try:
                        value = convert(value)
                    except FAULTS as error:
                        raise located(error, name) from None
                values[name] = value
        return values


def unwrapped(function):
    """The function that was written, behind decorators."""
    for _ in range(32):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    if not hasattr(function, "__code__"):
        raise DefinitionError("%r is not a function; write it with def" % getattr(function, "__name__", function))
    return function


def is_context(hint):
    if isinstance(hint, str):
        # "Context | None" and "Optional[toolroom.Context]" too, without looking anything up.
        for sign in "|[],":
            hint = hint.replace(sign, " ")
        words = {word.rpartition(".")[2] for word in hint.split()}
        return "Context" in words and words <= {"Context", "None", "Optional", "Union"}
    if special_name(hint) in ("Union", "Optional"):
        members = [one for one in hint.__args__ if one is not type(None)]
        return len(members) == 1 and is_context(members[0])
    return hint is Context or (
        getattr(hint, "__name__", "") == "Context" and isinstance(hint, type) and issubclass(hint, Context)
    )


def is_content(hint):
    """Whether images, files or whole results are in the answer, which then has no schema."""
    if isinstance(hint, type) and not getattr(hint, "__args__", None):
        return issubclass(hint, (Media, ToolResult))
    return any(is_content(arg) for arg in getattr(hint, "__args__", ()))


def check_size(schema):
    import json

    size, depth = len(json.dumps(schema, default=str)), depth_of(schema)
    if size > MOST_BYTES:
        raise DefinitionError("its schema has %d bytes, and may have %d" % (size, MOST_BYTES))
    if depth > DEEPEST_SCHEMA:
        raise DefinitionError("its schema is nested deeper than %d levels" % DEEPEST_SCHEMA)


def depth_of(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth_of, inner), default=0)
