"""Corners in which a tool once went wrong without a word: who it is, what it takes, and what of its answer arrives."""

from datetime import timedelta
from decimal import Decimal
from typing import Annotated

import pytest
from toolroom import Context, DefinitionError, Format, InvalidInput, Pattern
from toolroom.signature import Signature
from toolroom.testing import InvalidOutput, call, outcome
from worker import Worker, describe

MADE = """
from toolroom import tool
def make(n):
    @tool(name=f"times-{n}")
    def inner(x: int) -> int:
        "Multiplies."
        return x * n
    return inner
a, b = make(2), make(3)
def plain():
    @tool
    def inner(x: int) -> int:
        "Adds one."
        return x + 1
    return inner
plus_one = plain()
negate = tool(lambda x: -x, description="Negates.")
"""


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


def test_a_tool_that_a_function_made_is_called_by_the_name_that_the_module_has_for_it(script):
    path = script(MADE)
    kind, body = describe(path)
    assert kind == "definitions", body
    entries = {one["entry"]["name"]: one["entry"]["config"]["entrypoint"] for one in body["tools"]}
    assert entries == {"times-2": "a", "times-3": "b", "plus_one": "plus_one", "negate": "negate"}
    for name, wanted in (("a", 10), ("b", 15), ("plus_one", 6), ("negate", -5)):
        with Worker(path, name) as worker:
            assert worker.call({"x": 5}) == ("result", wanted)
    unsaid = describe(script("from toolroom import tool\nnegate = tool(lambda x: -x)\n"))
    assert unsaid[1]["type"] == "DefinitionError" and "docstring" in unsaid[1]["message"]


def test_a_parameter_named_context_is_the_context_or_refused():
    def bare(text: str, context):
        "Takes."

    def hinted(text: str, context: "Context | None" = None):
        "Takes."

    def other(text: str, context: str = ""):
        "Takes."

    for function in (bare, hinted):
        signature = Signature(function)
        assert (signature.context, list(signature.parameters["properties"])) == ("context", ["text"])
    with pytest.raises(DefinitionError, match="hint it Context.*another name"):
        Signature(other)


WRAPPED = """
from __future__ import annotations
from dataclasses import dataclass
from toolroom import Image, tool
@dataclass
class Foo:
    result: int | None
@tool
def foo() -> Foo:
    "Gives one."
    return Foo(1)
@tool
def maybe() -> Foo | None:
    "Gives one or none."
    return Foo(2)
@tool
def listed() -> list:
    "Draws a list."
    return [Image(b"\\x89PNG"), "a caption"]
"""


def test_a_hint_that_is_text_means_the_same_as_one_that_is_not(script):
    path = script(WRAPPED)
    for name, wanted in (("foo", {"result": 1}), ("maybe", {"result": {"result": 2}})):
        with Worker(path, name) as worker:
            assert worker.call({}) == ("result", wanted)
    with Worker(path, "listed") as worker:
        assert worker.call({})[1]["data"] == ["a caption"]


def test_decimals_and_spans_fit_what_their_hints_say():
    def decimals() -> list[Decimal]:
        "Counts."
        return [Decimal(1000).normalize(), Decimal("-1E-9"), Decimal("2.50")]

    def spans() -> list[timedelta]:
        "Measures."
        return [timedelta(days=-1, seconds=5), timedelta(0), timedelta(days=2, milliseconds=1500)]

    assert call(decimals) == ["1000", "-0.000000001", "2.50"]
    assert call(spans) == ["-P0DT86395S", "P0DT0S", "P2DT1.5S"]


def test_bytes_are_base64_and_nothing_else():
    def size(data: bytes) -> int:
        "Measures."
        return len(data)

    assert [call(size, data=text) for text in ("", "YQ==", "YWI=", "YWJj")] == [0, 1, 2, 3]
    for bad in ("not base64!", "YQ", "Y=Q=", "YQ==YQ==", "YW\nJj", "YWJj\n", "a", "===="):
        with pytest.raises(InvalidInput):
            call(size, data=bad)


ASKS = """
from toolroom import Context, tool
@tool
def pick(context: Context) -> int:
    "Asks how many."
    context.progress(1, "2")
    return context.ask("How many?", choices=[1, 2, 3]) or 0
@tool
def large(how: str) -> object:
    "Answers with what is large."
    return {
        "alone": 123**20,
        "deep": {"a": [1, {"b": -(2**63) - 1}]},
        "text": "1" * 40,
        "most": [2**64 - 1, -(2**63)],
        "float": 1e300,
    }[how]
"""


def test_choices_are_texts_to_the_person_and_themselves_to_the_tool(script):
    with Worker(script(ASKS), "pick") as worker:
        assert worker.call({}, answers=["2"]) == ("result", 2)
        assert worker.frames[0][2] == {"progress": 1.0, "total": 2.0, "message": None}
        assert worker.frames[1][2]["choices"] == ["1", "2", "3"]
        assert worker.call({}, answers=[None]) == ("result", 0)

    def pick(context: Context) -> int:
        "Asks how many."
        return context.ask("How many?", choices=[1, 2, 3])

    assert outcome(pick, {}, answers=["2"]).data == 2


def test_an_integer_that_would_be_rounded_is_no_answer_and_the_place_is_told(script):
    with Worker(script(ASKS), "large") as worker:
        kind, told = worker.call({"how": "alone"})
        assert kind == "unreadable" and "64 bits" in told
        kind, told = worker.call({"how": "deep"})
        assert kind == "unreadable" and "at /a/1/b" in told
        for how, wanted in (("text", "1" * 40), ("most", [2**64 - 1, -(2**63)]), ("float", 1e300)):
            assert worker.call({"how": how}) == ("result", wanted)


def test_an_authors_test_refuses_what_the_server_refuses():
    Digits, Host = Annotated[str, Pattern(r"^\d+$")], Annotated[str, Format("hostname")]

    def takes(digits: Digits = "1", host: Host = "a", n: int = 1):
        "Takes."

    texts = ({"digits": "١٢"}, {"digits": "1\n"}, {"host": "-bad-"}, {"host": "a..b"})
    for bad in (*texts, {"n": 2**64}, {"n": -(2**63) - 1}):
        with pytest.raises(InvalidInput):
            call(takes, bad)
    assert call(takes, digits="12", host="www.example.com", n=2**64 - 1) == {}

    def nested(depth: int) -> list:
        "Nests."
        made = []
        for _ in range(depth - 1):
            made = [made]
        return made

    call(nested, depth=125)
    with pytest.raises(InvalidOutput, match="nested deeper"):
        call(nested, depth=126)

    def large() -> int:
        "Counts."
        return 123**20

    with pytest.raises(InvalidOutput, match="64 bits"):
        call(large)
