"""Schemas of functions against those that pydantic gives: equal in what they accept, but for named exceptions."""

import pytest
from generate import values
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter
from signatures import CLOSED, CORPUS, DATES, DECIMAL, EXCEPTIONS, KEYS
from toolroom import InvalidInput
from toolroom.signature import Signature
from toolroom.testing import sent
from toolroom.validation import problems

VALUES = 300
SMOKE = {function.__name__: function for function in CORPUS}


def pydantic_schema(function):
    hints = {name: hint for name, hint in function.__annotations__.items() if name != "context"}
    names = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
    if "context" in names:
        # Pydantic knows of no context.
        def plain(a: int): ...

        plain.__annotations__ = hints
        function = plain
    return TypeAdapter(function).json_schema()


def samples(function, ours, theirs):
    """Values of both schemas, as they arrive."""
    found = values(ours, VALUES, function.__name__) + values(theirs, VALUES, function.__name__ + "!")
    return [value for value in found if isinstance(value, dict)]


def test_there_are_sixty():
    assert len(CORPUS) >= 60, len(CORPUS)


@pytest.mark.parametrize("name", SMOKE)
def test_a_schema_accepts_what_pydantics_accepts(name):
    function = SMOKE[name]
    ours = sent(Signature(function).parameters)
    Draft202012Validator.check_schema(ours)
    theirs = pydantic_schema(function)
    mine, other = Draft202012Validator(ours), Draft202012Validator(theirs)
    differ, accepted, refused = [], 0, 0
    for value in samples(function, ours, theirs):
        here, there = mine.is_valid(value), other.is_valid(value)
        accepted, refused = accepted + here, refused + (not here)
        if here != there:
            differ.append((value, here))
    if ours["properties"] and ours["properties"] != {"a": {}}:
        assert accepted > 20 and refused > 20, (accepted, refused)
    exception = EXCEPTIONS.get(name)
    if exception is None:
        assert not differ, differ[:5]
        return
    # An exception is one that is met, and only ever refuses more.
    assert differ, "an exception that is none"
    assert not any(here for _, here in differ), [value for value, here in differ if here][:5]
    assert exception in (CLOSED, DECIMAL, KEYS, DATES)
    if exception == CLOSED:
        opened = Draft202012Validator(open_objects(ours))
        assert all(opened.is_valid(value) for value, _ in differ), [v for v, _ in differ if not opened.is_valid(v)][:5]


def open_objects(schema, top=True):
    """The schema with its records open, but for the parameters themselves."""
    if isinstance(schema, list):
        return [open_objects(part, False) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: open_objects(value, False)
        for key, value in schema.items()
        if key != "additionalProperties" or value is not False or top
    }


@pytest.mark.parametrize("name", SMOKE)
def test_the_modules_own_check_says_what_a_validator_says(name):
    ours = sent(Signature(SMOKE[name]).parameters)
    validator = Draft202012Validator(ours)
    plain = without_formats(ours)
    for value in values(ours, VALUES, name + "?"):
        assert (not problems(plain, value)) == validator.is_valid(value), value


def without_formats(schema):
    if isinstance(schema, list):
        return [without_formats(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_formats(value) for key, value in schema.items() if key != "format" or isinstance(value, dict)}


# Where the module gives another value than pydantic on purpose.
OTHER_VALUES = {"raw", "validated", "union", "union_three"}


@pytest.mark.parametrize("name", [name for name in SMOKE if name not in OTHER_VALUES])
def test_a_value_that_fits_converts_to_what_pydantic_makes_of_it(name):
    function = SMOKE[name]
    signature = Signature(function)
    if signature.context:
        return
    ours = sent(signature.parameters)
    adapter = TypeAdapter(catching(function))
    compared = 0
    for value in values(ours, VALUES, name + "="):
        if problems(ours, value) or not isinstance(value, dict):
            continue
        try:
            mine = signature.bind(sent(value))
        except InvalidInput as error:
            # Pydantic's year has 365 days.
            assert name == "span" and "P1Y" in str(value), error
            continue
        theirs = adapter.validate_python(sent(value))
        for key in mine:
            assert mine[key] == theirs[key] and type(mine[key]) is type(theirs[key]), (value, mine, theirs)
        compared += 1
    assert compared > 10 or not ours["properties"]


def catching(function):
    """A function of the same signature that gives back what it is called with."""
    import functools

    @functools.wraps(function)
    def caught(*args, **kwargs):
        names = function.__code__.co_varnames
        return {**dict(zip(names, args)), **kwargs}

    return caught
