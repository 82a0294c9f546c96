"""Hints that are deep, huge, recursive or broken: refused in bounded time, with the parameter and the line."""

import time
from dataclasses import dataclass, field, make_dataclass
from typing import Any, Callable, Dict, List, Literal, Optional, Union

import pytest
from toolroom import DefinitionError, InvalidInput
from toolroom.signature import Signature


def taking(hint, **extra):
    def function(a): ...

    function.__annotations__ = {"a": hint, **extra}
    return function


def deep(levels):
    hint = int
    for _ in range(levels):
        hint = List[hint]
    return hint


def doubling(levels):
    """Each class holds the one below twice: written out, 2**levels parts."""
    made = make_dataclass("Leaf", [("x", int)])
    for level in range(levels):
        made = make_dataclass("Level%d" % level, [("left", made), ("right", made)])
    return made


HOSTILE = {
    "deep": lambda: deep(150),
    "doubling": lambda: doubling(30),
    "wide": lambda: make_dataclass("Wide", [("f%d" % at, int) for at in range(6000)]),
    "long text": lambda: "int" + " " * 20_000,
    "many members": lambda: Union[tuple(make_dataclass("M%d" % at, [("m%d" % at, int)]) for at in range(5000))],
    "huge literal": lambda: Literal[tuple("%050d" % at for at in range(20_000))],
    "unknown name": lambda: "NoSuchType",
    "text that is no hint": lambda: "1 +",
    "text that raises": lambda: "1 / 0",
    "callable": lambda: Callable[[int], int],
    "class of its own": lambda: type("Plain", (), {}),
    "a value": lambda: 3,
    "complex": lambda: complex,
    "keys that are lists": lambda: Dict[List[int], int],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_hint_is_refused_in_time(name):
    hint = HOSTILE[name]()
    began = time.monotonic()
    with pytest.raises(DefinitionError) as refused:
        Signature(taking(hint))
    assert time.monotonic() - began < 2
    assert "function: parameter a: " in str(refused.value) or "bytes" in str(refused.value)
    assert refused.value.line and refused.value.file == __file__
    assert len(str(refused.value)) < 600


@dataclass
class Left:
    right: Optional["Right"] = None


@dataclass
class Right:
    left: Optional[Left] = None
    more: List["Right"] = field(default_factory=list)


def test_types_that_hold_each_other_are_defined_once():
    signature = Signature(taking(Left))
    assert set(signature.parameters["$defs"]) <= {"Left", "Right"}
    value = signature.bind({"a": {"right": {"left": {}, "more": [{}]}}})["a"]
    assert value == Left(Right(Left(), [Right()]))


def test_classes_of_one_name_do_not_collide():
    def made(kind):
        @dataclass
        class Node:
            value: kind
            below: "List[Node]" = field(default_factory=list)

        Node.__dataclass_fields__["below"].type = List[Node]
        return Node

    one, two = made(int), made(str)

    def function(a: Any, b: Any): ...

    function.__annotations__ = {"a": one, "b": two}
    signature = Signature(function)
    assert set(signature.parameters["$defs"]) == {"Node", "Node2"}
    bound = signature.bind({"a": {"value": 1, "below": [{"value": 2}]}, "b": {"value": "x"}})
    assert bound == {"a": one(1, [one(2)]), "b": two("x")}


def test_a_deep_value_of_a_recursive_type_is_refused():
    value = {}
    for _ in range(100_000):
        value = {"right": {"left": value}}
    with pytest.raises(InvalidInput):
        Signature(taking(Left)).bind({"a": value})
    while value:
        value = value.get("right", {}).get("left")


FORMS = {
    "*args": lambda *args: None,
    "**kwargs": lambda **kwargs: None,
    "generator": lambda: (yield),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_that_cannot_be_called_by_name_are_refused(name):
    with pytest.raises(DefinitionError):
        Signature(FORMS[name])


def test_positional_only_parameters_are_refused():
    def function(a, /): ...

    with pytest.raises(DefinitionError, match="positional-only"):
        Signature(function)


@pytest.mark.parametrize("pattern", ["(?=a)b", "a(?!b)", r"(a)\1", "(?<=a)b", r"a\Z", "(", "(?P<n>a)(?P=n)"])
def test_a_pattern_that_the_server_cannot_run_is_refused(pattern):
    from typing import Annotated

    from toolroom import Pattern

    with pytest.raises(DefinitionError, match="pattern"):
        Signature(taking(Annotated[str, Pattern(pattern)]))
