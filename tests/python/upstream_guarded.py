"""A server without sessions (Python SDK 2.x) whose tools ask in the middle of a call: `upstream_guarded.py PORT`."""

import sys
from typing import Annotated

from mcp.server.mcpserver import Elicit, ElicitationResult, MCPServer, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("upstream-guarded", log_level="WARNING")


class Name(BaseModel):
    name: str


def who() -> Elicit[Name]:
    return Elicit("Who is there?", Name)


@server.tool()
async def ask(answer: Annotated[ElicitationResult[Name], Resolve(who)]) -> str:
    """Asks who is there."""
    return f"{answer.action}: {answer.data.name if answer.action == 'accept' else ''}"


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
async def erase(answer: Annotated[ElicitationResult[Name], Resolve(who)]) -> str:
    """Erases everything, and says for whom."""
    return f"erased: {answer.data.name if answer.action == 'accept' else ''}"


server.run("streamable-http", port=int(sys.argv[1]))
