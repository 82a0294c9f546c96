"""A file of tools from its text to the frames of its calls."""

import os
import subprocess
import sys

import pytest
import shop
from toolroom import DefinitionError, InvalidInput, ToolError, tool
from toolroom.testing import InvalidOutput, call, outcome
from worker import MODULE, Worker, describe

SHOP = shop.__file__


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


def test_reading_a_file_gives_an_entry_for_each_tool():
    kind, body = describe(SHOP)
    assert kind == "definitions"
    entries = {one["entry"]["name"]: one["entry"] for one in body["tools"]}
    assert list(entries) == ["get_price", "quote-item", "find_item", "draw", "empty", "choose"]
    assert entries["get_price"] == {
        "name": "get_price",
        "description": "Tells what an item costs. Use it when someone asks for a price. Returns the price.",
        "input_schema": {
            "type": "object",
            "properties": {
                "item": {"type": "string", "maxLength": 40, "description": "the item's name"},
                "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
            },
            "required": ["item"],
            "additionalProperties": False,
        },
        "output_schema": {"type": "number"},
        "examples": [{"description": "Tea", "params": {"item": "tea"}, "expectedResult": 3.5}],
        "category": "query",
        "permissions": ["shop:read"],
        "cacheable": True,
        "cacheTTL": 60,
        "tags": ["shop"],
        "config": {"env": {"SHOP": "x"}, "entrypoint": "get_price"},
    }
    assert list(entries["quote-item"]["input_schema"]["properties"]) == ["item", "when", "size"]
    assert entries["quote-item"]["output_schema"]["required"] == ["amount", "size", "at"]
    assert entries["quote-item"]["output_schema"]["properties"]["amount"]["description"] == "in euro"
    assert entries["find_item"]["output_schema"]["properties"]["result"]["anyOf"][1] == {"type": "null"}
    assert "output_schema" not in entries["draw"]
    assert entries["empty"]["destructive"] is True
    lines = [one["line"] for one in body["tools"]]
    assert lines == sorted(lines) and open(SHOP).read().split("\n")[lines[0] - 1].startswith("@tool")


def test_one_typed_function_needs_no_mark(script):
    path = script('def add(a: int, b: int = 2) -> int:\n    "Adds two numbers."\n    return a + b\n')
    kind, body = describe(path)
    assert [one["entry"]["config"]["entrypoint"] for one in body["tools"]] == ["add"]
    with Worker(path, "add") as worker:
        assert worker.call({"a": 2.0, "b": 3}) == ("result", 5)
        assert worker.call({"a": 2, "b": None}) == ("result", 4)


def test_a_plain_run_stays_as_it_is(script):
    path = script("def run(params, context):\n    return [params, context.user_id]\n")
    assert describe(path) == ("definitions", {"tools": []})
    with Worker(path) as worker:
        assert worker.call({"a": None}, {"userId": "ann"}) == ("result", [{"a": None}, "ann"])


FORMS = """
import functools
def retry(function):
    @functools.wraps(function)
    def again(*args, **kwargs):
        return function(*args, **kwargs)
    return again
@retry
def wrapped(params, context):
    return params
def hinted(params: dict, context: dict) -> dict:
    return params
def named(a, b):
    return a
def loose(*args):
    return args[0]
class Handler:
    def __call__(self, params, context):
        return params
handler = Handler()
partial = functools.partial(lambda extra, params, context: params, 1)
"""


@pytest.mark.parametrize("name", ["wrapped", "hinted", "named", "loose", "handler", "partial"])
def test_every_form_of_run_that_worked_before_is_called_as_before(script, name):
    path = script(FORMS)
    for folder in ("", MODULE):
        with Worker(path, name, folder=folder) as worker:
            assert worker.call({"x": 1}) == ("result", {"x": 1})


BROKEN = {
    "syntax": ("x = 1\ndef f(:\n", "SyntaxError", 2),
    "import": ("import os\nimport no_such_module\n", "ModuleNotFoundError", 2),
    "name": ("\n\nprint(unknown)\n", "NameError", 3),
    "hint": ("def f(a: 'Unknown'):\n    'Does.'\n", "DefinitionError", 1),
    "no docstring": ("\ndef f(a: int):\n    pass\n", "DefinitionError", 2),
    "several": ("def f(a: int):\n    'A.'\ndef g(a: int):\n    'B.'\n", "DefinitionError", 1),
    "unknown field": ("from toolroom import tool\n@tool(colour=1)\ndef f(a: int):\n    'A.'\n", "DefinitionError", 2),
    "same name": (
        "from toolroom import tool\n@tool\ndef f(a: int):\n    'A.'\n@tool(name='f')\ndef g(a: int):\n    'B.'\n",
        "DefinitionError",
        5,
    ),
    "one name": (
        "from toolroom import tool\n@tool\ndef f(a: int):\n    'A.'\n@tool\ndef f(a: str):\n    'B.'\n",
        "DefinitionError",
        5,
    ),
    "one name, no mark": ("def f(a: int):\n    'A.'\n\ndef f(a: str):\n    'B.'\n", "DefinitionError", 4),
    "exits": ("raise SystemExit(3)\n", "SystemExit", 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read_says_where_and_why(script, name):
    text, wanted, line = BROKEN[name]
    kind, body = describe(script(text))
    assert (kind, body["type"], body["line"]) == ("error", wanted, line), body
    assert body["message"]
    if name == "one name":
        assert "lines 3 and 6 have the same name, f" in body["message"]


def test_overloads_are_one_function(script):
    path = script(
        "from typing import overload\nfrom toolroom import tool\n@overload\ndef f(a: int) -> int: ...\n@overload\n"
        "def f(a: str) -> str: ...\n@tool\ndef f(a: int | str):\n    'Does.'\n    return a\n"
    )
    assert describe(path)[0] == "definitions"


def test_a_long_traceback_keeps_its_end_and_says_that_it_was_cut(script):
    path = script("def run(params, context):\n    raise ValueError('x' * 40000 + 'the end')\n")
    with Worker(path) as worker:
        _, body = worker.call({})
        trace = body["traceback"]
        assert trace.startswith("[the beginning was cut]") and trace.rstrip().endswith("the end")
    path = script("def run(params, context):\n    raise ValueError('short')\n")
    with Worker(path) as worker:
        assert "cut" not in worker.call({})[1]["traceback"]


def test_calls_convert_run_and_answer():
    with Worker(SHOP, "get_price") as worker:
        assert worker.call({"item": "tea", "size": "large"}) == ("result", 7.0)
        kind, body = worker.call({"item": "gold"})
        assert kind == "refusal"
        assert body == {
            "code": "not_found",
            "message": "No item 'gold'",
            "data": {"known": ["coffee", "tea"]},
            "retryAfter": 1500,
        }
    with Worker(SHOP, "quote") as worker:
        for _ in range(3):
            kind, body = worker.call({"item": "tea", "when": "2024-05-06T07:08:09+02:00", "size": "large"})
            assert (kind, body) == ("result", {"amount": 3.5, "size": "large", "at": "2024-05-06T05:08:09+00:00"})
            assert [kind for _, kind, _ in worker.frames] == ["progress", "log", "result"]
        kind, body = worker.call({"item": "tea", "when": "2024-05-06T07:08:60Z"})
        assert kind == "invalid" and body[0]["pointer"] == "/when", body
        kind, body = worker.call({"item": "gold", "when": "2024-05-06T07:08:09Z"})
        assert (kind, body["type"], body["fatal"]) == ("error", "KeyError", False)
        assert "in quote" in body["traceback"]


def test_answers_that_are_none_are_not_null():
    with Worker(SHOP, "find_item") as worker:
        assert worker.call({"text": "te"}) == ("result", {"result": "tea"})
        assert worker.call({"text": "gold"}) == ("result", {"result": None})
    with Worker(SHOP, "empty") as worker:
        assert worker.call({"shelf": 1}) == ("result", {})


def test_a_person_is_asked_in_the_middle_of_a_call():
    with Worker(SHOP, "choose") as worker:
        assert worker.call({"drinks": ["tea", "water"]}, answers=["water"]) == ("result", "water")
        assert worker.frames[0][1:] == ("ask", {"question": "Which?", "choices": ["tea", "water"], "schema": None})
        assert worker.call({}, answers=[None]) == ("result", "none")


def test_content_goes_in_the_frame_or_by_a_file(tmp_path):
    with Worker(SHOP, "draw", cwd=tmp_path) as worker:
        kind, body = worker.call({"kind": "small"})
        assert kind == "content" and body["data"] == "a caption"
        assert body["blocks"][0] == {
            "type": "image",
            "mimeType": "image/png",
            "size": 14,
            "data": "iVBORwAAAAAAAAAAAAA=",
        }
        kind, body = worker.call({"kind": "both"})
        assert [block["mimeType"] for block in body["blocks"]] == ["image/png", "text/csv"]
        assert (body["data"], body["agentHints"]) == ({"drawn": 1}, {"reasoning": "asked"})
        kind, body = worker.call({"kind": "large"})
        name = body["blocks"][0]["file"]
        assert os.path.getsize(tmp_path / name) == 100_004 == body["blocks"][0]["size"]
        assert os.stat(tmp_path / name).st_mode & 0o777 == 0o600
        assert body["data"] == {"content": [{"type": "image", "mimeType": "image/png", "size": 100_004}]}
        kind, body = worker.call({"kind": "wrong"})
        assert kind == "badOutput" and "Image inside the data" in body


LISTED = """
import math
from toolroom import Image, tool
@tool
def listed(most: float = math.inf) -> list:
    "Draws a list."
    return [Image(b"\\x89PNG" + bytes(4)), "a caption"]
@tool
def paired() -> tuple[dict, Image]:
    "Draws a pair."
    return {"drawn": 1}, Image(b"\\x89PNG" + bytes(4))
"""


def test_the_data_beside_an_image_is_what_the_hint_says(script):
    path = script(LISTED)
    kind, body = describe(path)
    assert kind == "definitions", body
    listed, paired = [one["entry"] for one in body["tools"]]
    assert listed["output_schema"]["type"] == "array" and "output_schema" not in paired
    assert "default" not in listed["input_schema"]["properties"]["most"], "a default that JSON cannot carry"
    with Worker(path, "listed") as worker:
        kind, body = worker.call({})
        assert (kind, body["data"]) == ("content", ["a caption"])
    with Worker(path, "paired") as worker:
        kind, body = worker.call({})
        assert (kind, body["data"]) == ("content", {"drawn": 1})


LEFT = """
import asyncio
from toolroom import tool
seen = []
@tool
async def f(how: str) -> list:
    "Leaves something behind."
    async def later():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("ended")
            raise
    if how == "task":
        asyncio.ensure_future(later())
        await asyncio.sleep(0)
    if how == "thread":
        await asyncio.to_thread(seen.append, "thread")
    return seen
"""


def test_what_a_call_leaves_in_the_loop_is_ended(script):
    with Worker(script(LEFT), "f") as worker:
        assert worker.call({"how": "task"}) == ("result", ["ended"])
        assert worker.call({"how": "thread"}) == ("result", ["ended", "thread"])
        # The threads of the loop ended with the call: nothing is left that could speak in the next one.
        assert not [kind for _, kind, _ in worker.frames if kind == "left"]
        assert worker.call({"how": "thread"}) == ("result", ["ended", "thread", "thread"])


def test_an_authors_test_calls_with_the_checks_of_the_server():
    assert call(shop.get_price, item="tea") == 3.5
    assert call(shop.get_price, {"item": "tea", "size": "large"}) == 7.0
    with pytest.raises(ToolError) as refused:
        call(shop.get_price, item="gold")
    assert refused.value.code == "not_found"
    for bad in ({"item": 1}, {"item": "x" * 41}, {}, {"item": "tea", "size": "huge"}, {"item": "tea", "more": 1}):
        with pytest.raises(InvalidInput):
            call(shop.get_price, bad)
    assert call(shop.quote, item="tea", when="2024-05-06T07:08:09Z")["at"] == "2024-05-06T07:08:09+00:00"
    seen = outcome(shop.quote, {"item": "tea", "when": "2024-05-06T07:08:09Z"}, {"userId": "ann"})
    assert (seen.progress, seen.log) == ([(1, 2, "looking")], [("info", "found tea")])
    assert outcome(shop.choose, {}, answers=["tea"]).data == "tea"
    assert outcome(shop.draw, {"kind": "both"}).hints == {"reasoning": "asked"}

    @tool
    def liar() -> int:
        "Says that it counts."
        return "three"

    with pytest.raises(InvalidOutput):
        call(liar)


def test_a_marked_function_is_still_itself():
    assert shop.get_price("tea") == 3.5
    with pytest.raises(DefinitionError, match="no 'colour'; it has name, description"):
        tool(colour="red")(shop.helper)


def test_the_module_loads_nothing_that_a_worker_has_not_loaded():
    text = (
        "import json, os, sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]);"
        "import toolroom, toolroom.calling; print(*sorted(set(sys.modules) - before))"
    )
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", text, str(MODULE)], capture_output=True, check=True, text=True
    )
    loaded = told.stdout.split()
    assert loaded and all(name.partition(".")[0] == "toolroom" for name in loaded), loaded
    # What only publishing needs is not among them.
    assert not {"toolroom.docstring", "toolroom.describe", "toolroom.validation", "toolroom.foreign"} & set(loaded)
