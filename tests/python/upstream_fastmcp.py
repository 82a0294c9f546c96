"""A server on FastMCP: `upstream_fastmcp.py stdio | sse PORT | http PORT`."""

import sys
from dataclasses import dataclass

import anyio
from fastmcp import Context, FastMCP
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

transport = sys.argv[1]
server = FastMCP("upstream-fastmcp")


@dataclass
class Sum:
    sum: int


@dataclass
class Name:
    name: str


@server.tool(annotations={"readOnlyHint": True})
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool
def add(a: int, b: int) -> Sum:
    """Adds two whole numbers."""
    return Sum(sum=a + b)


@server.tool
async def steps(count: int, context: Context) -> str:
    """Works in steps, and says so."""
    for step in range(1, count + 1):
        await context.report_progress(step, count, f"step {step}")
        await context.info(f"did step {step}")
    return "done"


@server.tool(output_schema=None)
async def ask(context: Context):
    """Asks who is there."""
    if context.request_context.protocol_version < "2026-07-28":
        answer = await context.elicit("Who is there?", Name)
        return f"{answer.action}: {answer.data.name if answer.action == 'accept' else ''}"
    answer = (context.input_responses or {}).get("who")
    if answer is None:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        asked = ElicitRequest(params=ElicitRequestFormParams(message="Who is there?", requested_schema=schema))
        return InputRequiredResult(input_requests={"who": asked})
    return f"{answer.action}: {answer.content['name'] if answer.action == 'accept' else ''}"


@server.tool
async def wait(started: str, ended: str) -> str:
    """Waits for ever, and leaves a mark at both ends."""
    open(started, "w").close()
    try:
        await anyio.sleep_forever()
    finally:
        open(ended, "w").close()
    return "never"


@server.tool
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


@server.prompt
def greet(name: str) -> str:
    """Greets someone."""
    return f"Say hello to {name}."


if transport == "stdio":
    server.run(show_banner=False, log_level="WARNING")
else:
    server.run(transport, show_banner=False, port=int(sys.argv[2]), log_level="WARNING")
