"""The tools of the profile `assistant` as Python functions, over HTTP.

The published contract injects the user behind the tools. Here a key does: `user_id` picks the key of that
user and is never sent. Without it the first user asks.

The contract's tests expect pydantic's ValidationError where a tool is called with bad input. The server
answers such a call with `code: "VALIDATION_ERROR"`; this client raises it as pydantic's ValidationError, with
the server's words in it. So the refusal is the server's own, and not one of a copy of the schema.
"""

from types import SimpleNamespace

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from toolroom_http import call_function

PROFILE = "assistant"


def add_task(user_id=1, **fields):
    return _call("add_task", fields, user_id)


def list_tasks(user_id=1, **fields):
    return _call("list_tasks", fields, user_id)


def find_task(user_id=1, **fields):
    return _call("find_task", fields, user_id)


def delete_task(user_id=1, **fields):
    return _call("delete_task", fields, user_id)


def create_task(user_id, title):
    """The service behind add_task, in the contract's tests: it gives the task itself."""
    return SimpleNamespace(**add_task(user_id, title=title)["task"])


def get_task(user_id, task_id):
    """The service behind list_tasks with an id: the task itself, or None."""
    answer = list_tasks(user_id, task_id=task_id)
    return SimpleNamespace(**answer["tasks"][0]) if answer["success"] else None


def _call(name, arguments, user_id):
    answer = call_function(PROFILE, name, arguments, user_id)
    if answer.get("code") == "VALIDATION_ERROR":
        fault = PydanticCustomError("refused_by_the_server", answer["error"].replace("{", "{{").replace("}", "}}"))
        raise ValidationError.from_exception_data(name, [{"type": fault, "loc": (), "input": arguments}])
    return answer
