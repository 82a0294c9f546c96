"""Tools for Toolroom: mark a typed function with @tool, and its hints and docstring are its contract.

Nothing here imports more than a worker has loaded anyway: a tool's first call waits for it.
"""

from .constraints import Format, Ge, Gt, Le, Len, Lt, MultipleOf, Pattern, Secret
from .content import Audio, File, Image, ToolResult
from .context import Context
from .decorator import tool
from .errors import DefinitionError, InvalidInput, ToolError

__all__ = [
    "Audio",
    "Context",
    "DefinitionError",
    "File",
    "Format",
    "Ge",
    "Gt",
    "Image",
    "InvalidInput",
    "Le",
    "Len",
    "Lt",
    "MultipleOf",
    "Pattern",
    "Secret",
    "ToolError",
    "ToolResult",
    "tool",
]
