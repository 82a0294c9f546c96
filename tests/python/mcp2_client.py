"""Uses a server through the `mcp` 2 package: list, call, progress, elicitation, changes, cancellation.

    mcp2_client.py MODE http|sse URL
    mcp2_client.py MODE stdio COMMAND [ARGUMENT ...]

MODE is auto, legacy or a revision. Prints one JSON object of what the client saw.
"""

import asyncio
import json
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client


async def main(mode: str, transport: str, target: list[str]) -> dict:
    changed = asyncio.Event()

    async def elicit(context, params):
        return types.ElicitResult(action="accept", content={"username": "ada", "email": "ada@example.com"})

    async def message(incoming):
        if isinstance(incoming, types.ToolListChangedNotification):
            changed.set()

    servers = {
        "http": lambda: target[0],
        "sse": lambda: sse_client(target[0]),
        "stdio": lambda: StdioServerParameters(command=target[0], args=target[1:]),
    }
    client = Client(
        servers[transport](), mode=mode, elicitation_callback=elicit, message_handler=message, read_timeout_seconds=30
    )
    async with client:
        seen = {"protocol": client.protocol_version}
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        seen["text"] = (await client.call_tool("test_simple_text", {})).content[0].text

        progress = []

        async def advance(done, total, text):
            progress.append([done, total])

        await client.call_tool("test_tool_with_progress", {}, progress_callback=advance)
        seen["progress"] = progress
        seen["elicited"] = (await client.call_tool("test_elicitation", {"message": "Who are you?"})).content[0].text
        failed = await client.call_tool("test_error_handling", {})
        seen["error"] = failed.is_error
        seen["changed"] = await hears_of_change(client, changed)
        seen["stopped"] = await stops(client)
    return seen


async def hears_of_change(client, changed) -> bool:
    async def trigger():
        await client.call_tool("test_trigger_tool_change", {})

    async with asyncio.timeout(10):
        if client.protocol_version >= "2026-07-28":
            async with client.listen(tools_list_changed=True) as subscription:
                await trigger()
                async for _ in subscription:
                    return True
        else:
            await trigger()
            await changed.wait()
            return True
    return False


async def stops(client) -> bool:
    """Whether a call that is given up ends on the server too."""
    call = asyncio.create_task(client.call_tool("test_endless", {}))
    await until(client, "running", 1)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await until(client, "running", 0)
    return True


async def until(client, field, wanted) -> None:
    async with asyncio.timeout(10):
        while True:
            found = json.loads((await client.call_tool("test_endless_count", {})).content[0].text)
            if found[field] == wanted:
                return
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))))
