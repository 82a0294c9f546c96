"""The twelve tools both ways, by the same MCP client: the same schemas by what they accept, the same results.

Needs FastMCP, and the command of a Toolroom that has the tools; prints a table.

Fails with a status of 1 if a tool differs in more than what is named.
"""

import asyncio
import base64
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[3] / "crates/worker/python")]

from fastmcp import Client  # noqa: E402
from fastmcp.client.transports import StdioTransport  # noqa: E402
from generate import values  # noqa: E402
from jsonschema import Draft202012Validator  # noqa: E402

import with_fastmcp  # noqa: E402

CALLS = {
    "add_numbers": {"a": 1, "b": 2},
    "greet_customer": {"customer": {"name": "Ann", "address": {"street": "A 1", "city": "Bonn"}}},
    "price_of": {"item": "tea", "size": "large"},
    "repeat_text": {"text": "ab"},
    "find_user": {"user_id": 7},
    "wait_briefly": {},
    "count_up": {"to": 3},
    "note_down": {"text": "hello"},
    "city_size": {"city": "Atlantis"},
    "draw_dot": {},
    "export_table": {},
    "newer_version": {"one": "1.10", "other": "1.9"},
}
# Nested records are closed.
EXCEPTIONS = {"greet_customer"}


async def seen(server):
    """What a client sees of a server: schemas, results, and what it heard meanwhile."""
    heard = {"progress": [], "log": []}

    async def on_progress(progress, total, message):
        heard["progress"].append((progress, total))

    async def on_log(message):
        heard["log"].append(message.data["msg"] if isinstance(message.data, dict) else message.data)

    async with Client(server, progress_handler=on_progress, log_handler=on_log) as client:
        tools = [tool for tool in await client.list_tools() if tool.name in CALLS]
        schemas = {tool.name: tool.input_schema for tool in tools}
        results = {}
        for name, params in CALLS.items():
            answer = await client.call_tool(name, params, raise_on_error=False)
            results[name] = "refused: " + words_of(answer) if answer.is_error else result_of(answer)
        return schemas, results, heard


def words_of(answer):
    text = answer.content[0].text
    return json.loads(text)["error"]["message"] if text.startswith("{") else text


def result_of(answer):
    block = answer.content[0]
    if block.type == "text":
        data = answer.structured_content
        # Toolroom's own envelope, and FastMCP's around a scalar.
        data = data["data"] if "agentHints" in data else data
        return data["result"] if isinstance(data, dict) and set(data) == {"result"} else data
    if block.type == "image":
        return block.data
    # A file of text comes as text from FastMCP.
    text = getattr(block.resource, "text", None)
    return block.resource.blob if text is None else base64.b64encode(text.encode()).decode()


def differing(mine, other):
    one, two = Draft202012Validator(mine), Draft202012Validator(other)
    found = [value for seed in ("a", "b") for value in values(mine if seed == "a" else other, 300, seed)]
    return [value for value in found if isinstance(value, dict) and one.is_valid(value) != two.is_valid(value)]


def main():
    their_schemas, their_results, their_heard = asyncio.run(seen(with_fastmcp.mcp))
    # A Toolroom whose home has the other file: the command that serves it is given.
    ours = StdioTransport(sys.argv[1], sys.argv[2:], env=dict(os.environ))
    schemas, results, heard = asyncio.run(seen(ours))
    assert set(schemas) == set(CALLS) == set(their_schemas), set(CALLS) ^ set(schemas)
    failed = heard != their_heard
    print("heard", heard, "" if not failed else their_heard)
    for name in CALLS:
        differ = differing(schemas[name], their_schemas[name])
        same = str(results[name]).strip() == str(their_results[name]).strip()
        fits = not differ or name in EXCEPTIONS
        failed |= not same or not fits
        schema = "same" if not differ else "closed" if fits else "DIFFERS"
        result = "same" if same else "DIFFERS: %r %r" % (results[name], their_results[name])
        print("%-16s schema %-9s result %s" % (name, schema, result))
    lines = [sum(1 for line in open(HERE / file) if line.strip()) for file in ("with_fastmcp.py", "with_toolroom.py")]
    print("lines", *lines)
    sys.exit(failed or lines[1] > lines[0])


os.chdir(HERE)
main()
