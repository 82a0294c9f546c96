"""A client of the MCP SDK that starts `toolroom mcp` and calls a tool: own_tool_client.py PROGRAM TOOL ARGUMENTS."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(program: str, tool: str, arguments: str) -> None:
    server = StdioServerParameters(command=program, args=["mcp"], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        assert tool in [one.name for one in (await session.list_tools()).tools]
        result = await session.call_tool(tool, json.loads(arguments))
        assert not result.isError, result
        print(json.dumps(result.structuredContent))


asyncio.run(main(*sys.argv[1:]))
