"""A server on the Python SDK 1.x: `upstream_mcp1.py stdio | sse PORT | streamable-http PORT`."""

import sys

import anyio
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import ToolAnnotations
from pydantic import BaseModel

transport = sys.argv[1]
port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
server = FastMCP("upstream-mcp1", port=port, log_level="WARNING")


class Sum(BaseModel):
    sum: int


class Name(BaseModel):
    name: str


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
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
async def ask(context: Context) -> str:
    """Asks who is there."""
    answer = await context.elicit("Who is there?", Name)
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
    await context.session.send_tool_list_changed()
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


server.run(transport)
