"""@tool: the contract of a function, as arguments."""

from .errors import DefinitionError

# What a tool may say of itself, by both spellings: as Python has it, and as the contract has it.
FIELDS = {name: name for name in "name description version category permissions tags examples cacheable".split()}
FIELDS.update({name: name for name in "idempotent destructive effect timeout deprecated".split()})
FIELDS.update(cache_ttl="cacheTTL", response_time="responseTime", rate_limit="rateLimit", next_actions="nextActions")
FIELDS.update(parallel="parallel_capable", output="output_schema")
CONFIG = ("env", "isolation", "limits", "sandbox")
SPELLINGS = {**FIELDS, **{field: field for field in FIELDS.values()}}


def tool(function=None, **fields):
    """Marks a function as a tool. It stays the function that it is.

    @tool
    @tool(category="query", permissions=["shop:read"], cacheable=True, cache_ttl=60)
    """
    if function is None:
        return lambda marked: tool(marked, **fields)
    if not callable(function):
        raise DefinitionError("@tool marks a function, and its arguments have names: @tool(category='query')")
    for name in fields:
        if name not in SPELLINGS and name not in CONFIG:
            raise DefinitionError("@tool has no %r; it has %s" % (name, ", ".join([*FIELDS, *CONFIG])), function)
    function.__toolroom__ = {SPELLINGS.get(name, name): value for name, value in fields.items() if value is not None}
    return function
