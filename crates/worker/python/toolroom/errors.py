"""What a tool raises, and what is raised about a tool."""


class ToolError(Exception):
    """A refusal whose words are meant for the caller; it does not count as a failure of the tool.

    raise ToolError("not_found", "No city is called Atlantis. List cities with list-cities.")
    """

    def __init__(self, code, message=None, details=None, *, retry_after=None):
        # ToolError("No such city") is how other frameworks spell it.
        self.code, self.message = ("invalid_input", str(code)) if message is None else (str(code), str(message))
        super().__init__(self.message)
        self.details = details
        # Seconds until another try makes sense.
        self.retry_after = retry_after

    def frame(self):
        """As the worker tells it: a list of field errors, or an object of the author's own, and milliseconds."""
        body = {"code": self.code, "message": self.message}
        if self.details is not None:
            body["details" if isinstance(self.details, (list, tuple)) else "data"] = self.details
        if self.retry_after is not None:
            wait = milliseconds(self.retry_after)
            if wait is not None:
                body["retryAfter"] = wait
        return body


LONGEST_WAIT = 365 * 24 * 3600 * 1000


def milliseconds(seconds):
    """Whole milliseconds from 0 to a year; None for what is no time. A refusal must not fail for its own details."""
    try:
        seconds = float(seconds.total_seconds() if hasattr(seconds, "total_seconds") else seconds)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if seconds != seconds else round(min(max(seconds * 1000, 0), LONGEST_WAIT))


class InvalidInput(Exception):
    """A value that fits the schema and cannot be what its hint says, such as a model's validator refuses."""

    def __init__(self, problems):
        # Pairs of a path (names and positions) and a message.
        self.problems = problems
        super().__init__("; ".join("%s: %s" % (pointer(path) or "/", text) for path, text in problems))

    def frame(self):
        return [{"pointer": pointer(path), "message": text} for path, text in self.problems[:20]]


# What says that a value cannot be converted; anything else is a fault of the script.
FAULTS = (ValueError, ArithmeticError, RecursionError, InvalidInput)


class DefinitionError(Exception):
    """A function that cannot be a tool as it is written: what, where, and what to write instead."""

    def __init__(self, message, function=None):
        self.plain = message
        code = getattr(function, "__code__", None)
        self.file = getattr(code, "co_filename", None)
        self.line = getattr(code, "co_firstlineno", None)
        super().__init__("%s: %s" % (function.__name__, message) if code else message)


def pointer(path):
    """The JSON pointer of a path."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def located(error, part):
    """The same problem, seen from one level up."""
    if isinstance(error, InvalidInput):
        return InvalidInput([((part, *path), text) for path, text in error.problems])
    return InvalidInput([((part,), first_line(error))])


def first_line(error):
    """What an exception says, in a line. Its own code may fail at that."""
    try:
        text = str(error).strip()
    except Exception:
        text = ""
    return text.split("\n")[0][:500] or type(error).__name__
