"""An older client of Toolroom, on the Python SDK 1.x: `federation_client.py URL KEY`. Prints what it got as JSON."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import ElicitResult

url, key = sys.argv[1:]


async def told(context, params):
    return ElicitResult(action="accept", content={"name": "Ada"})


async def main():
    got = {}
    async with streamablehttp_client(url, headers={"X-API-Key": key}) as (read, write, _):
        async with ClientSession(read, write, elicitation_callback=told) as session:
            hello = await session.initialize()
            got["revision"] = hello.protocolVersion
            got["tools"] = [tool.name for tool in (await session.list_tools()).tools]
            added = await session.call_tool("old__add", {"a": 1, "b": 2})
            got["sum"] = added.structuredContent["data"]
            steps = []

            async def progress(done, total, message):
                steps.append([done, total, message])

            await session.call_tool("old__steps", {"count": 3}, progress_callback=progress)
            got["steps"] = steps
            for server in ["old", "new"]:
                asked = await session.call_tool(f"{server}__ask", {})
                got[f"asked_{server}"] = asked.content[0].text
            failed = await session.call_tool("old__fail", {})
            got["failed"] = [failed.isError, failed.content[0].text]
    print(json.dumps(got))


asyncio.run(main())
