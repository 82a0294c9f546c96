"""A call of a typed function in a worker: arguments in, a frame out."""

from .content import body_of
from .errors import InvalidInput, ToolError
from .output import to_plain
from .signature import Signature


class Caller:
    """How the worker calls one function."""

    def __init__(self, function, published=False):
        self.signature = Signature(function, published)
        self.function = function
        self.context = self.signature.context
        self.bind = self.signature.bind
        self.wraps = self.signature.wraps()
        self.lists = self.signature.lists()

    def __call__(self, params, context):
        """What the function returns, which may have to be awaited."""
        values = self.bind(params)
        if self.context:
            values = {**values, self.context: context}
        return self.function(**values)

    def frame(self, result):
        """The kind and body of the frame that answers with it."""
        body = body_of(result, self.lists)
        if body:
            body["data"] = to_plain(body["data"])
            return "content", to_plain(body)
        if self.wraps:
            return "result", {"result": result}
        # Data is never null: a function that returns nothing is done.
        return "result", {} if result is None else result


def refusal(error):
    """The frame for what the author raised on purpose, or what could not be converted; None for any other."""
    if isinstance(error, ToolError):
        return "refusal", to_plain(error.frame())
    if isinstance(error, InvalidInput):
        return "invalid", error.frame()
    return None
