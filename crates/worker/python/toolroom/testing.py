"""For an author's tests: a call with the checks that Toolroom makes of it.

from toolroom.testing import call
assert call(get_price, item="tea") == 3.5
"""

import json

from .calling import Caller
from .context import Context
from .errors import InvalidInput
from .output import to_plain
from .validation import beyond, problems


class InvalidOutput(AssertionError):
    """The answer does not fit what the function says of it."""


class Outcome:
    """All that a call gave: data, blocks of content, the author's hints, and what was reported."""

    def __init__(self, data, blocks, hints, context):
        self.data, self.blocks, self.hints = data, blocks, hints
        self.progress, self.log, self.asked = (context.reported[key] for key in ("progress", "log", "asked"))


def call(function, params=None, **fields):
    """The data of the answer. Raises InvalidInput, ToolError, InvalidOutput, or what the function raises."""
    return outcome(function, {**(params or {}), **fields}).data


def outcome(function, params, context=(), answers=()):
    """The same, with everything else that the call gave. `answers` are a person's, to context.ask."""
    caller = Caller(function, published=True)
    signature = caller.signature
    params = sent(params)
    found = beyond(params)
    if found:
        raise InvalidInput(found)
    for name, schema in signature.parameters["properties"].items():
        if name not in params and "default" in schema:
            params[name] = sent(schema["default"])
        elif params.get(name, 0) is None and name not in signature.parameters.get("required", ()):
            if problems(schema, None, signature.defs):
                del params[name]
    found = problems(signature.parameters, params)
    if found:
        raise InvalidInput(found)
    context = Context(context, answers)
    result = caller(params, context)
    if hasattr(result, "__await__"):
        import asyncio

        async def wait():
            return await result

        result = asyncio.run(wait())
    kind, body = caller.frame(result)
    if kind == "content":
        return Outcome(answered(body["data"], None), body["blocks"], body.get("agentHints"), context)
    return Outcome(answered(body, signature.output()), [], None, context)


def answered(body, schema):
    """The data of an answer as it arrives, if it does."""
    data = sent(body)
    found = beyond(data) or (problems(schema, data) if schema else [])
    if found:
        raise InvalidOutput(str(InvalidInput(found)))
    return data


def sent(value):
    """The value as it arrives: JSON and nothing else, and nobody else's."""
    return json.loads(json.dumps(to_plain(value), allow_nan=False))
