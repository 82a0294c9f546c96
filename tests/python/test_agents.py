"""Agents of `openai-agents`, driven by a scripted model: one has the `assistant` profile by MCP, one its functions."""

import asyncio
import json

import httpx
from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI

from scripted_model import ScriptedModel, said, tool_call
from toolroom_http import BASE_URL, KEYS, call_function, functions

set_tracing_disabled(True)

SCRIPT = [
    tool_call("add_task", {"title": "Buy milk from store"}),
    tool_call("find_task", {"query": "milk"}),
    said("It is on your list."),
]


def model_of(scripted):
    plain = httpx.AsyncClient(trust_env=False)
    client = AsyncOpenAI(base_url=scripted.base_url, api_key="unused", max_retries=0, http_client=plain)
    return OpenAIChatCompletionsModel(model="scripted", openai_client=client)


def check(result, scripted):
    assert result.final_output == "It is on your list."
    offered = {tool["function"]["name"] for tool in scripted.requests[0]["body"]["tools"]}
    assert offered == {"add_task", "list_tasks", "update_task", "delete_task", "complete_task", "find_task"}
    results = [one for one in scripted.requests[-1]["body"]["messages"] if one["role"] == "tool"]
    assert len(results) == 2
    assert "0.87" in json.dumps(results[1]["content"]), "the match's confidence reached the model"
    titles = [task["title"] for task in call_function("assistant", "list_tasks", {})["tasks"]]
    assert titles == ["Buy milk from store"]


def test_an_agent_uses_the_assistant_profile_by_mcp():
    async def run(scripted):
        params = {"url": f"{BASE_URL}/mcp/assistant", "headers": {"X-API-Key": KEYS[0]}, "timeout": 30}
        async with MCPServerStreamableHttp(params=params, client_session_timeout_seconds=30) as server:
            agent = Agent(name="tasks", model=model_of(scripted), mcp_servers=[server])
            return await Runner.run(agent, "Add milk, then find it")

    with ScriptedModel(SCRIPT) as scripted:
        check(asyncio.run(run(scripted)), scripted)


def test_an_agent_uses_the_exported_function_schemas():
    def tool(exported):
        function = exported["function"]

        async def invoke(_, arguments):
            answer = await asyncio.to_thread(
                call_function, "assistant", function["name"], json.loads(arguments)
            )
            return json.dumps(answer)

        return FunctionTool(
            name=function["name"],
            description=function["description"],
            params_json_schema=function["parameters"],
            on_invoke_tool=invoke,
            strict_json_schema=False,
        )

    async def run(scripted):
        tools = [tool(exported) for exported in functions("assistant")]
        agent = Agent(name="tasks", model=model_of(scripted), tools=tools)
        return await Runner.run(agent, "Add milk, then find it")

    with ScriptedModel(SCRIPT) as scripted:
        check(asyncio.run(run(scripted)), scripted)
