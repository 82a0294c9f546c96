"""Uses several servers as one through the `mcp` 1 package: lists, calls, progress, and forms in the middle of calls.

    replicas_mcp1_client.py http|sse URL ROUNDS

Prints one JSON object of what the client saw.
"""

import asyncio
import json
import sys

from mcp import ClientSession, types
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client


async def main(transport: str, url: str, rounds: int) -> dict:
    async def elicit(context, params):
        return types.ElicitResult(action="accept", content={"decision": "approve"})

    connect = sse_client if transport == "sse" else streamable_http_client
    async with connect(url) as streams:
        async with ClientSession(streams[0], streams[1], elicitation_callback=elicit) as session:
            begun = await session.initialize()
            seen = {"protocol": begun.protocolVersion, "made": 0, "deleted": 0}
            assert any(tool.name == "who-asks" for tool in (await session.list_tools()).tools)
            for number in range(rounds):
                made = await session.call_tool("create-task", {"title": f"{transport} {number}"})
                task = json.loads(made.content[0].text)["data"]["task"]["taskId"]
                seen["made"] += 1
                gone = await session.call_tool("delete-task", {"taskId": task})
                seen["deleted"] += not gone.isError
            left = await session.call_tool("list-tasks", {})
            seen["left"] = len(json.loads(left.content[0].text)["data"]["tasks"])
            seen["progress"] = []

            async def advance(done, total, text):
                seen["progress"].append([done, total])

            await session.call_tool("who-asks", {}, progress_callback=advance)
    return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
