"""A server on the Python SDK 2.x: `upstream_mcp2.py stdio | sse PORT | streamable-http PORT`."""

import sys
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel

transport = sys.argv[1]
server = MCPServer("upstream-mcp2", log_level="WARNING")


class Sum(BaseModel):
    sum: int


class Name(BaseModel):
    name: str


def who() -> Elicit[Name]:
    return Elicit("Who is there?", Name)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool()
def add(a: int, b: int) -> Sum:
    """Adds two whole numbers."""
    return Sum(sum=a + b)


@server.tool()
async def steps(count: int, context: Context) -> str:
    """Works in steps, and says so."""
    for step in range(1, count + 1):
        await context.report_progress(step, count, f"step {step}")
        await context.info(f"did step {step}")
    return "done"


@server.tool()
async def ask(answer: Annotated[ElicitationResult[Name], Resolve(who)]) -> str:
    """Asks who is there."""
    return f"{answer.action}: {answer.data.name if answer.action == 'accept' else ''}"


@server.tool()
async def wait(started: str, ended: str) -> str:
    """Waits for ever, and leaves a mark at both ends."""
    open(started, "w").close()
    try:
        await anyio.sleep_forever()
    finally:
        open(ended, "w").close()
    return "never"


@server.tool()
async def grow(context: Context) -> str:
    """Adds a tool to the list."""
    server.add_tool(lambda: "new", name="grown", description="Was not there before.")
    await context.notify_tools_changed()
    return "grown"


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("as it should")


@server.resource("memo://note")
def note() -> str:
    """A note."""
    return "remember"


@server.resource("memo://about/{name}")
def about(name: str) -> str:
    """About someone."""
    return f"about {name}"


@server.prompt()
def greet(name: str) -> str:
    """Greets someone."""
    return f"Say hello to {name}."


if transport == "stdio":
    server.run()
else:
    server.run(transport, port=int(sys.argv[2]))
