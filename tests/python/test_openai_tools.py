"""The functions of each profile in `tools=` of the official OpenAI package, and the round trip of a call."""

import json

import httpx
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionFunctionToolParam
from pydantic import TypeAdapter

from scripted_model import ScriptedModel, said, tool_call
from toolroom_http import USERS, call_function, functions

# For each profile, a call that a model might make, and what its answer must hold.
CALLS = {
    "todo-chatbot": ("create_task", {"title": "Buy groceries"}, {"message": "Created task: Buy groceries"}),
    "todo_tasks": ("add_task", {"user_id": USERS[0], "title": "Buy groceries"}, {"success": True}),
    "assistant": ("add_task", {"title": "Buy groceries"}, {"message": "Task created successfully"}),
    "default": ("create-task", {"title": "Buy groceries"}, {}),
}


@pytest.mark.parametrize("profile", CALLS)
def test_functions_are_of_the_type_that_the_package_declares(profile):
    for function in functions(profile):
        TypeAdapter(ChatCompletionFunctionToolParam).validate_python(function)


@pytest.mark.parametrize("profile", CALLS)
def test_a_tool_call_makes_the_round_trip(profile):
    name, arguments, expected = CALLS[profile]
    tools = functions(profile)
    messages = [{"role": "user", "content": "Add a task to buy groceries"}]
    with ScriptedModel([tool_call(name, arguments), said("It is on your list.")]) as model:
        with httpx.Client(trust_env=False) as plain:
            client = OpenAI(base_url=model.base_url, api_key="unused", max_retries=0, http_client=plain)
            first = client.chat.completions.create(model="scripted", messages=messages, tools=tools)
            message = first.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls:
                answer = call_function(profile, call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(answer)})
            last = client.chat.completions.create(model="scripted", messages=messages, tools=tools)

    assert last.choices[0].message.content == "It is on your list."
    offered, returned = (request["body"] for request in model.requests)
    assert offered["tools"] == tools, "the functions reach the model as they were served"
    receipt = returned["messages"][-1]
    assert (receipt["role"], receipt["tool_call_id"]) == ("tool", f"call_{name}")
    assert expected.items() <= json.loads(receipt["content"]).items()
    titles = [task["title"] for task in call_function("assistant", "list_tasks", {})["tasks"]]
    assert titles == ["Buy groceries"], "the call was made"


def test_every_call_of_a_conversation_under_the_assistant_profile_is_executed():
    script = [
        tool_call("add_task", {"title": "Buy milk from store"}),
        tool_call("find_task", {"query": "milk"}),
        said("Done."),
    ]
    messages = [{"role": "user", "content": "Add milk, then find it"}]
    with ScriptedModel(script) as model, httpx.Client(trust_env=False) as plain:
        client = OpenAI(base_url=model.base_url, api_key="unused", max_retries=0, http_client=plain)
        while True:
            chosen = client.chat.completions.create(
                model="scripted", messages=messages, tools=functions("assistant")
            ).choices[0]
            messages.append(chosen.message.model_dump(exclude_none=True))
            if chosen.finish_reason != "tool_calls":
                break
            for call in chosen.message.tool_calls:
                answer = call_function("assistant", call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(answer)})
    found = json.loads(messages[-2]["content"])
    assert (found["match_type"], found["confidence"]) == ("single", 0.87)
