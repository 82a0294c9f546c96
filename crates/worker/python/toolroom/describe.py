"""The definitions of the tools in a file, as the worker reports them when the file is read."""

from .decorator import CONFIG
from .errors import DefinitionError
from .output import to_plain
from .signature import Signature, check_size
from .walk import Walk


def definitions(module, is_plain):
    """An entry of tools.json for each tool of a module, in the order in which they are written.

    `is_plain` is the bootstrap's: a worker without this module needs it too.
    """
    functions = {attribute_of(module, one): one for one in find(module, is_plain)}
    refuse_replaced(module, functions)
    names = {}
    tools = []
    for attribute, function in functions.items():
        entry = entry_of(function, attribute)
        first = names.setdefault(entry["name"], attribute)
        if first != attribute:
            raise DefinitionError("the name %r is taken by %s" % (entry["name"], first), function)
        tools.append({"line": Signature(function).code.co_firstlineno, "entry": entry})
    return {"tools": tools}


def attribute_of(module, function):
    """The name by which a worker finds it: that of a function which another one made is not its own."""
    own = function.__name__
    if getattr(module, own, None) is function:
        return own
    return next(name for name, value in vars(module).items() if value is function)


def refuse_replaced(module, tools):
    """Of two functions with one name Python keeps the second, and the first would be gone without a word."""
    import ast

    with open(module.__file__, "rb") as file:
        tree = ast.parse(file.read())
    first = {}
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or is_marked(node, "overload"):
            continue
        other = first.setdefault(node.name, node)
        if other is not node and (node.name in tools or is_marked(other, "tool")):
            message = "the functions in lines %d and %d have the same name, %s; rename one" % (
                other.lineno,
                node.lineno,
                node.name,
            )
            raise DefinitionError(message, tools.get(node.name))


def is_marked(node, name):
    marks = (mark.func if hasattr(mark, "func") else mark for mark in node.decorator_list)
    return any(getattr(mark, "attr", getattr(mark, "id", None)) == name for mark in marks)


def find(module, is_plain):
    """The functions that are marked; else the one typed function, if there is just one."""
    own = [
        value
        for value in dict.fromkeys(one for one in vars(module).values() if callable(one) and hashable(one))
        if getattr(value, "__module__", None) == module.__name__ and hasattr(value, "__name__")
    ]
    marked = [one for one in own if "__toolroom__" in getattr(one, "__dict__", ())]
    if marked:
        return marked
    public = [one for one in own if hasattr(one, "__code__") and not one.__name__.startswith("_")]
    if any(is_plain(one) for one in public if one.__name__ == "run"):
        # Its header says what it is.
        return []
    typed = [one for one in public if not is_plain(one) and one.__name__ != "main"]
    if len(typed) > 1:
        names = ", ".join(one.__name__ for one in typed[:5])
        raise DefinitionError("several functions could be the tool (%s); mark the tools with @tool" % names, typed[0])
    return typed


def hashable(value):
    return getattr(type(value), "__hash__", None) is not None


def entry_of(function, attribute):
    fields = dict(function.__dict__.get("__toolroom__", {}))
    signature = Signature(function)
    config = {name: fields.pop(name) for name in CONFIG if name in fields}
    config["entrypoint"] = attribute
    name = fields.pop("name", attribute)
    description = fields.pop("description", None) or signature.prose
    if not description:
        raise DefinitionError("says nothing of what it does; give it a docstring", signature.plain)
    output = output_of(fields.pop("output_schema", None), signature)
    entry = {"name": name, "description": description, "input_schema": signature.parameters}
    if output:
        entry["output_schema"] = output
    examples = fields.pop("examples", None)
    if examples:
        entry["examples"] = [example(one, signature.plain) for one in examples]
    try:
        return {**entry, **to_plain(fields), "config": to_plain(config)}
    except TypeError as error:
        raise DefinitionError("@tool: %s" % error, signature.plain) from None


def output_of(stated, signature):
    """A schema as it is, or a type; else what the function's own hint says."""
    if stated is None:
        return signature.output()
    if isinstance(stated, dict):
        return stated
    walk = Walk(signature.plain, output=True)
    schema, _ = walk.type(stated)
    schema = {**schema, "$defs": walk.defs} if walk.defs else schema
    check_size(schema)
    return schema


def example(given, function):
    """`(params, result)`, `(description, params, result)`, or the contract's own form."""
    if isinstance(given, dict) and "params" in given:
        result = given.get("expectedResult", given.get("expected_result"))
        made = {"description": given.get("description"), "params": given["params"], "expectedResult": result}
        if "varies" in given:
            made["varies"] = given["varies"]
    elif isinstance(given, (list, tuple)) and len(given) in (2, 3):
        made = dict(zip(("description", "params", "expectedResult"), (None, *given) if len(given) == 2 else given))
    else:
        raise DefinitionError("an example is (params, result) or (description, params, result)", function)
    made["description"] = made["description"] or "As its author wrote it"
    return to_plain(made)
