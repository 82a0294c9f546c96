"""FastMCP's proxy with one client that stays connected: `fastmcp_proxy.py URL`. Says where it listens; ends with its input."""

import asyncio
import os
import socket
import sys
import threading

import uvicorn
from fastmcp import Client
from fastmcp.server import create_proxy


def end_with_input():
    sys.stdin.buffer.read()
    os._exit(0)


async def main(url):
    # The core of what is measured, as for the others.
    os.sched_setaffinity(0, {0})
    threading.Thread(target=end_with_input, daemon=True).start()
    async with Client(url, mode="2026-07-28") as client:
        app = create_proxy(client).http_app(path="/mcp", json_response=True, stateless_http=True)
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="warning", access_log=False)
        print("%s:%d none" % listener.getsockname(), flush=True)
        await uvicorn.Server(config).serve(sockets=[listener])


asyncio.run(main(sys.argv[1]))
