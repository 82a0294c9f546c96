"""@tool: the contract of a function, as arguments."""

from .errors import DefinitionError

# What a tool may say of itself, by both spellings: as Python has it, and as the contract has it.
FIELDS = {
    "name": "name", "description": "description", "version": "version", "category": "category",
    "permissions": "permissions", "tags": "tags", "examples": "examples", "cacheable": "cacheable",
    "cache_ttl": "cacheTTL", "idempotent": "idempotent", "destructive": "destructive", "timeout": "timeout",
    "response_time": "responseTime", "rate_limit": "rateLimit", "deprecated": "deprecated",
    "next_actions": "nextActions", "parallel": "parallel_capable", "output": "output_schema",
}  # fmt: skip
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
