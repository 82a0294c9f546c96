"""Agents of `openai-agents`. Driven by a scripted model, one has the `assistant` profile by MCP, one its functions; others
have Toolroom itself as their model, which answers by the Responses API."""

import asyncio
import json

import httpx
from agents import (
    Agent,
    FunctionTool,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    set_tracing_disabled,
)
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI

from scripted_model import ScriptedModel, said, tool_call
from toolroom_http import BASE_URL, KEYS, call_function, functions, titles

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
    assert titles() == ["Buy milk from store"]


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


def toolroom_agent():
    plain = httpx.AsyncClient(trust_env=False)
    client = AsyncOpenAI(base_url=f"{BASE_URL}/v1", api_key=KEYS[0], max_retries=0, http_client=plain)
    model = OpenAIResponsesModel(model="toolroom/assistant", openai_client=client)
    return Agent(name="tasks", instructions="Be kind.", model=model)


def test_an_agent_with_its_usual_model_has_toolroom_as_its_model():
    async def run():
        agent, session = toolroom_agent(), SQLiteSession("kept by the client")
        await Runner.run(agent, "add buy milk", session=session)
        return await Runner.run(agent, "yes", session=session)

    result = asyncio.run(run())
    assert titles() == ["Buy milk"], result.final_output


def test_an_agent_streams_and_goes_on_from_the_last_response():
    async def run():
        agent = toolroom_agent()
        asked = Runner.run_streamed(agent, "add buy milk")
        pieces = [
            event.data.delta
            async for event in asked.stream_events()
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
        ]
        assert "".join(pieces) == asked.final_output
        return await Runner.run(agent, "yes", previous_response_id=asked.last_response_id)

    result = asyncio.run(run())
    assert titles() == ["Buy milk"], result.final_output
