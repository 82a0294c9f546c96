"""Uses a server through the `fastmcp` package: list, call, progress, elicitation, changes, cancellation.

    fastmcp_client.py MODE http|sse URL
    fastmcp_client.py MODE stdio COMMAND [ARGUMENT ...]

MODE is auto, legacy or a revision. Prints one JSON object of what the client saw.
"""

import asyncio
import json
import sys

import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport


async def main(mode: str, transport: str, target: list[str]) -> dict:
    changed = asyncio.Event()
    progress = []

    async def elicit(message, response_type, params, context):
        return {"username": "ada", "email": "ada@example.com"}

    async def message(incoming):
        if isinstance(incoming, types.ToolListChangedNotification):
            changed.set()

    async def advance(done, total, text):
        progress.append([done, total])

    transports = {
        "http": lambda: StreamableHttpTransport(target[0]),
        "sse": lambda: SSETransport(target[0]),
        "stdio": lambda: StdioTransport(command=target[0], args=target[1:], keep_alive=False),
    }
    client = Client(
        transports[transport](), mode=mode, elicitation_handler=elicit, message_handler=message, timeout=30
    )
    async with client:
        seen = {"protocol": client.session.protocol_version}
        seen["tools"] = [tool.name for tool in await client.list_tools()]
        seen["text"] = (await client.call_tool("test_simple_text", {})).content[0].text
        await client.call_tool("test_tool_with_progress", {}, progress_handler=advance)
        seen["progress"] = progress
        seen["elicited"] = (await client.call_tool("test_elicitation", {"message": "Who are you?"})).content[0].text
        failed = await client.call_tool("test_error_handling", {}, raise_on_error=False)
        seen["error"] = failed.is_error
        await stops(client)
        seen["stopped"] = True
        if seen["protocol"] < "2026-07-28":
            await client.call_tool("test_trigger_tool_change", {})
            await asyncio.wait_for(changed.wait(), 10)
            seen["changed"] = True
    return seen


async def stops(client) -> None:
    """Ends once a call that is given up has ended on the server too."""
    call = asyncio.create_task(client.call_tool("test_endless", {}))
    await until(client, 1)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await until(client, 0)


async def until(client, wanted) -> None:
    async with asyncio.timeout(10):
        while True:
            found = json.loads((await client.call_tool("test_endless_count", {})).content[0].text)
            if found["running"] == wanted:
                return
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))))
