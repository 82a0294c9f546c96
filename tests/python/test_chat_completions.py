"""The official OpenAI package against `/v1/chat/completions` and `/v1/models`, streaming and not."""

import openai
import pytest

from toolroom_http import call_function, titles


def test_a_completion_runs_its_tools_on_the_server(client):
    done = client.chat.completions.create(
        model="toolroom/todo-chatbot", messages=[{"role": "user", "content": "add buy milk"}]
    )
    choice = done.choices[0]
    assert (choice.finish_reason, choice.message.role, choice.message.tool_calls) == ("stop", "assistant", None)
    assert "Buy milk" in choice.message.content
    assert done.usage.total_tokens == 0, "the offline planner has no tokens"
    assert titles() == ["Buy milk"]


def test_a_stream_finishes_once_and_its_pieces_are_the_answer(client):
    chunks = list(
        client.chat.completions.create(
            model="toolroom/todo-chatbot",
            messages=[{"role": "user", "content": "add buy milk"}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert choices[0].delta.role == "assistant"
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"]
    assert all(choice.delta.tool_calls is None for choice in choices)
    assert "Buy milk" in "".join(choice.delta.content or "" for choice in choices)
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens == 0
    assert titles() == ["Buy milk"]


def test_the_helper_of_the_package_that_gathers_a_stream_understands_it(client):
    messages = [{"role": "user", "content": "show my tasks"}]
    with client.chat.completions.stream(model="toolroom", messages=messages) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert "content.delta" in kinds
    assert final.choices[0].finish_reason == "stop"


def test_a_deletion_is_asked_about_in_text_and_done_after_a_yes(client):
    task = call_function("assistant", "add_task", {"title": "Old"})["task"]["id"]
    messages = [{"role": "user", "content": f"delete task {task}"}]
    create = lambda: client.chat.completions.create(model="toolroom/assistant", messages=messages)
    asked = create().choices[0].message
    assert titles() == ["Old"], asked.content
    messages += [{"role": "assistant", "content": asked.content}, {"role": "user", "content": "yes"}]
    done = create().choices[0].message
    assert titles() == [], done.content
    messages += [{"role": "assistant", "content": done.content}, {"role": "user", "content": "yes"}]
    assert "Deleted" not in create().choices[0].message.content


def test_models_are_listed_and_can_be_looked_up(client):
    ids = [model.id for model in client.models.list()]
    assert ids[0] == "toolroom" and "toolroom/assistant" in ids
    assert client.models.retrieve("toolroom/assistant").owned_by == "toolroom"


def test_errors_are_those_of_the_package(client):
    hello = [{"role": "user", "content": "hi"}]
    with pytest.raises(openai.NotFoundError) as unknown:
        client.chat.completions.create(model="gpt-9", messages=hello)
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as empty:
        client.chat.completions.create(model="toolroom", messages=[])
    assert empty.value.param == "messages"
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="wrong").models.list()
