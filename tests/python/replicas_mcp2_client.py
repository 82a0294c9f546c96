"""Uses several servers as one through the `mcp` 2 package: lists, calls, progress, and forms in the middle of calls.

    replicas_mcp2_client.py MODE URL ROUNDS

MODE is auto, legacy or a revision. Prints one JSON object of what the client saw.
"""

import asyncio
import json
import sys

import mcp_types as types
from mcp import Client


async def main(mode: str, url: str, rounds: int) -> dict:
    async def elicit(context, params):
        return types.ElicitResult(action="accept", content={"decision": "approve"})

    client = Client(url, mode=mode, elicitation_callback=elicit, read_timeout_seconds=30)
    async with client:
        seen = {"protocol": client.protocol_version, "made": 0, "deleted": 0}
        assert any(tool.name == "who-asks" for tool in (await client.list_tools()).tools)
        for number in range(rounds):
            made = await client.call_tool("create-task", {"title": f"{mode} {number}"})
            task = json.loads(made.content[0].text)["data"]["task"]["taskId"]
            seen["made"] += 1
            gone = await client.call_tool("delete-task", {"taskId": task})
            seen["deleted"] += not gone.is_error
        left = await client.call_tool("list-tasks", {})
        seen["left"] = len(json.loads(left.content[0].text)["data"]["tasks"])
        seen["progress"] = []

        async def advance(done, total, text):
            seen["progress"].append([done, total])

        await client.call_tool("who-asks", {}, progress_callback=advance)
    return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
