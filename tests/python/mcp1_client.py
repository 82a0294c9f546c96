"""Uses a server through the `mcp` 1 package: list, call, progress, elicitation, changes, cancellation.

    mcp1_client.py http|sse URL
    mcp1_client.py stdio COMMAND [ARGUMENT ...]

Prints one JSON object of what the client saw.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


def connect(transport: str, target: list[str]):
    if transport == "http":
        return streamable_http_client(target[0])
    if transport == "sse":
        return sse_client(target[0])
    return stdio_client(StdioServerParameters(command=target[0], args=target[1:]))


async def main(transport: str, target: list[str]) -> dict:
    changed = asyncio.Event()

    async def elicit(context, params):
        return types.ElicitResult(action="accept", content={"username": "ada", "email": "ada@example.com"})

    async def message(incoming):
        if isinstance(incoming, types.ServerNotification) and isinstance(
            incoming.root, types.ToolListChangedNotification
        ):
            changed.set()

    async with connect(transport, target) as streams:
        async with ClientSession(
            streams[0], streams[1], elicitation_callback=elicit, message_handler=message
        ) as session:
            begun = await session.initialize()
            seen = {"protocol": begun.protocolVersion}
            seen["tools"] = [tool.name for tool in (await session.list_tools()).tools]
            seen["text"] = (await session.call_tool("test_simple_text", {})).content[0].text

            progress = []

            async def advance(done, total, text):
                progress.append([done, total])

            await session.call_tool("test_tool_with_progress", {}, progress_callback=advance)
            seen["progress"] = progress
            answer = await session.call_tool("test_elicitation", {"message": "Who are you?"})
            seen["elicited"] = answer.content[0].text
            seen["error"] = (await session.call_tool("test_error_handling", {})).isError
            await session.call_tool("test_trigger_tool_change", {})
            await asyncio.wait_for(changed.wait(), 10)
            seen["changed"] = True
            seen["stopped"] = await stops(session)
    return seen


async def stops(session) -> bool:
    """Whether a call that is given up ends on the server too."""
    number = session._request_id
    call = asyncio.create_task(session.call_tool("test_endless", {}))
    while session._request_id == number:
        await asyncio.sleep(0)
    await until(session, "running", 1)
    # This package gives up waiting without telling the server, so it is told by hand.
    cancelled = types.CancelledNotification(
        method="notifications/cancelled", params=types.CancelledNotificationParams(requestId=number, reason="enough")
    )
    await session.send_notification(types.ClientNotification(cancelled))
    await until(session, "running", 0)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    return True


async def until(session, field, wanted) -> None:
    async with asyncio.timeout(10):
        while True:
            found = json.loads((await session.call_tool("test_endless_count", {})).content[0].text)
            if found[field] == wanted:
                return
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2:]))))
