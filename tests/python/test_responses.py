"""The official OpenAI package against `/v1/responses`, streaming and not."""

import json

import openai
import pytest

from toolroom_http import call_function, titles

WINDOW = {
    "type": "function",
    "name": "open_window",
    "parameters": {"type": "object", "properties": {"which": {"type": "integer"}}},
    "strict": False,
}


def test_a_response_runs_its_tools_on_the_server(client):
    done = client.responses.create(model="toolroom/todo-chatbot", input="add buy milk")
    assert (done.status, done.error, [item.type for item in done.output]) == ("completed", None, ["message"])
    assert "Buy milk" in done.output_text
    assert done.usage.total_tokens == 0, "the offline planner has no tokens"
    assert titles() == ["Buy milk"]


def test_the_events_of_a_stream_are_typed_and_their_pieces_are_the_answer(client):
    events = list(client.responses.create(model="toolroom/todo-chatbot", input="add buy milk", stream=True))
    assert events[0].type == "response.created" and events[-1].type == "response.completed"
    assert [event.sequence_number for event in events] == list(range(len(events)))
    pieces = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert pieces == events[-1].response.output_text and "Buy milk" in pieces
    assert titles() == ["Buy milk"]


def test_the_helper_of_the_package_that_gathers_a_stream_understands_it(client):
    with client.responses.stream(model="toolroom", input="show my tasks") as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_response()
    assert "response.output_text.delta" in kinds
    assert final.status == "completed" and final.output_text


def test_a_deletion_is_asked_about_and_done_after_a_yes_to_the_response(client):
    task = call_function("assistant", "add_task", {"title": "Old"})["task"]["id"]
    asked = client.responses.create(model="toolroom/assistant", input=f"delete task {task}")
    assert titles() == ["Old"], asked.output_text
    said = {"model": "toolroom/assistant", "input": "yes"}
    done = client.responses.create(previous_response_id=asked.id, **said)
    assert titles() == [], done.output_text
    again = client.responses.create(previous_response_id=done.id, **said)
    assert "Deleted" not in again.output_text


def test_the_output_of_a_response_can_be_sent_back_as_input(client):
    first = client.responses.create(model="toolroom", input="hello", tools=[WINDOW], store=False)
    items = [{"role": "user", "content": "hello"}, *first.output, {"role": "user", "content": "show my tasks"}]
    second = client.responses.create(model="toolroom", input=items, tools=[WINDOW], store=False)
    assert second.status == "completed" and json.loads(second.tools[0].to_json())["name"] == "open_window"


def test_errors_are_those_of_the_package(client):
    with pytest.raises(openai.NotFoundError) as unknown:
        client.responses.create(model="gpt-9", input="hi")
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as lost:
        client.responses.create(model="toolroom", input="hi", previous_response_id="resp_1")
    assert (lost.value.code, lost.value.param) == ("previous_response_not_found", "previous_response_id")
    with pytest.raises(openai.BadRequestError) as empty:
        client.responses.create(model="toolroom", input=[])
    assert empty.value.param == "input"
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="wrong").responses.create(model="toolroom", input="hi")
