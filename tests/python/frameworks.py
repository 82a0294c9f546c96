"""One agent framework on one profile: `frameworks.py NAME URL`.

Lists the tools as the framework makes its own of them, calls `create-task` as its agents do, and prints both as JSON.
"""

import asyncio
import json
import sys

ARGUMENTS = {"title": "Buy milk", "priority": "high", "tags": ["shop"]}


async def langchain_mcp_adapters(url):
    from langchain_mcp_adapters.client import MultiServerMCPClient

    client = MultiServerMCPClient({"toolroom": {"transport": "streamable_http", "url": url}})
    tools = await client.get_tools()
    named = {tool.name: tool for tool in tools}
    return list(named), await named["create-task"].ainvoke(ARGUMENTS)


async def pydantic_ai(url):
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    seen = {}

    def model(messages, info):
        seen["tools"] = [tool.name for tool in info.function_tools]
        returned = [part for part in messages[-1].parts if part.part_kind == "tool-return"]
        if returned:
            seen["answer"] = returned[0].content
            return ModelResponse(parts=[TextPart("Done.")])
        return ModelResponse(parts=[ToolCallPart("create-task", ARGUMENTS)])

    await Agent(FunctionModel(model), toolsets=[MCPToolset(url)]).run("Buy milk")
    return seen["tools"], seen["answer"]


async def llama_index(url):
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    tools = await McpToolSpec(BasicMCPClient(url)).to_tool_list_async()
    named = {tool.metadata.name: tool for tool in tools}
    # The form that agents hand to their models.
    [tool.metadata.to_openai_tool() for tool in tools]
    return list(named), str(await named["create-task"].acall(**ARGUMENTS))


async def openai_agents(url):
    from agents import Agent, RunContextWrapper
    from agents.mcp import MCPServerStreamableHttp, MCPUtil

    async with MCPServerStreamableHttp(params={"url": url}) as server:
        agent = Agent(name="tester", mcp_servers=[server])
        listed = []
        for strict in (True, False):
            tools = await MCPUtil.get_all_function_tools([server], strict, RunContextWrapper(None), agent)
            listed = [tool.name for tool in tools]
        return listed, str((await server.call_tool("create-task", ARGUMENTS)).content)


async def smolagents(url):
    from smolagents import ToolCollection

    def use():
        server = {"url": url, "transport": "streamable-http"}
        with ToolCollection.from_mcp(server, trust_remote_code=True, structured_output=False) as collection:
            named = {tool.name: tool for tool in collection.tools}
            return list(named), named["create_task"](**ARGUMENTS)

    return await asyncio.to_thread(use)


async def mcp_use(url):
    from mcp_use import MCPClient
    from mcp_use.agents.adapters.langchain_adapter import LangChainAdapter

    client = MCPClient.from_dict({"mcpServers": {"toolroom": {"url": url}}})
    try:
        named = {tool.name: tool for tool in await LangChainAdapter().create_tools(client)}
        create = named.get("create-task") or named["create_task"]
        return list(named), str(await create.ainvoke(ARGUMENTS))
    finally:
        await client.close_all_sessions()


async def google_adk(url):
    from google.adk.tools.mcp_tool import McpToolset, StreamableHTTPConnectionParams

    toolset = McpToolset(connection_params=StreamableHTTPConnectionParams(url=url))
    try:
        tools = await toolset.get_tools()
        named = {tool.name: tool for tool in tools}
        # The form that the model gets.
        [tool._get_declaration() for tool in tools]
        session = await toolset._mcp_session_manager.create_session()
        return list(named), str(await session.call_tool("create-task", ARGUMENTS))
    finally:
        await toolset.close()


async def ag2(url):
    from ag2 import Agent
    from ag2.events import ToolCallEvent
    from ag2.testing import TestConfig, TrackingConfig
    from ag2.tools.toolkits import MCPToolkit

    call = ToolCallEvent(name="create-task", arguments=json.dumps(ARGUMENTS))
    config = TrackingConfig(TestConfig(call, "Done."))
    await Agent("tester", config=config, tools=[MCPToolkit(url)]).ask("Buy milk")
    return [tool.function.name for tool in config.calls[0].tools], str(config.mock.call_args_list[-1])


async def autogen_ext(url):
    from autogen_core import CancellationToken
    from autogen_ext.tools.mcp import StreamableHttpServerParams, mcp_server_tools

    tools = await mcp_server_tools(StreamableHttpServerParams(url=url))
    named = {tool.name: tool for tool in tools}
    [tool.schema for tool in tools]
    return list(named), str(await named["create-task"].run_json(ARGUMENTS, CancellationToken()))


async def semantic_kernel(url):
    from semantic_kernel import Kernel
    from semantic_kernel.connectors.mcp import MCPStreamableHttpPlugin

    async with MCPStreamableHttpPlugin(name="toolroom", url=url) as plugin:
        kernel = Kernel()
        kernel.add_plugin(plugin)
        functions = kernel.plugins["toolroom"].functions
        # The form that the model gets.
        [metadata for metadata in kernel.get_full_list_of_function_metadata()]
        answer = await kernel.invoke(functions["create-task"], **ARGUMENTS)
        return list(functions), str(answer)


async def crewai(url):
    from crewai_tools import MCPServerAdapter

    def use():
        with MCPServerAdapter({"url": url, "transport": "streamable-http"}) as tools:
            named = {tool.name: tool for tool in tools}
            create = named.get("create-task") or named["create_task"]
            return list(named), str(create.run(**ARGUMENTS))

    return await asyncio.to_thread(use)


if __name__ == "__main__":
    tools, answer = asyncio.run(globals()[sys.argv[1]](sys.argv[2]))
    print(json.dumps({"tools": tools, "answer": answer if isinstance(answer, str) else json.dumps(answer, default=str)}))
