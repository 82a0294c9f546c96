"""Corners of hints: texts, inheritance, markers, defaults."""

import json
from datetime import timedelta
from typing import Optional

import edges
import pytest
from edges_elsewhere import Hidden

from toolroom import Context, InvalidInput, ToolError
from toolroom.errors import LONGEST_WAIT, DefinitionError
from toolroom.signature import Signature


def properties(function):
    return Signature(function).parameters["properties"]


def test_fields_of_a_base_class_are_looked_up_where_it_is_written():
    schema = properties(edges.inherited)["child"]
    assert list(schema["properties"]) == ["hidden", "name", "start"]
    assert schema["properties"]["name"] == {"type": "string", "title": "Name"}
    bound = Signature(edges.inherited).bind({"child": {"hidden": {"depth": 2}, "name": "ann", "start": 3}})
    child = bound["child"]
    assert (child.hidden, child.name, child.made, type(child.name)) == (Hidden(2), "ann", 6, edges.Name)


def test_what_a_class_refuses_of_itself_is_told_with_its_place():
    given = {"hidden": {"depth": 2}, "name": "ann", "start": 30}
    with pytest.raises(InvalidInput) as refused:
        Signature(edges.inherited).bind({"child": {**given, "start": 1}, "others": {"bob": given}})
    assert refused.value.frame() == [{"pointer": "/others/bob", "message": "start must be below 10"}]


def test_optional_enums_and_members_as_literals():
    found = properties(edges.optional_enum)
    assert found["mood"]["anyOf"] == [{"type": "string", "enum": ["good", "bad"]}, {"type": "null"}]
    assert found["only"] == {"type": "string", "enum": ["bad"], "default": "bad"}
    bound = Signature(edges.optional_enum).bind({"mood": "good", "only": "bad"})
    assert bound == {"mood": edges.Mood.GOOD, "only": edges.Mood.BAD}
    assert Signature(edges.optional_enum).bind({"mood": None}) == {"mood": None}


def test_markers_inside_and_beside():
    found = properties(edges.limited)
    assert found["words"]["items"] == {"type": "string", "minLength": 1, "maxLength": 3}
    assert found["count"] == {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None}
    found = properties(edges.noted)
    assert found["key"] == {"type": "string", "writeOnly": True, "description": "a key"}
    assert found["mail"] == {"type": "string", "format": "email", "writeOnly": True, "default": "a@b.example"}


def test_defaults_are_published_where_json_has_them():
    found = properties(edges.defaults)
    given = {name: schema.get("default", "none") for name, schema in found.items()}
    assert given == {"day": "2024-05-06", "at": "2024-05-06T00:00:00+00:00", "path": "a/b", "own": "none"}
    assert "required" not in Signature(edges.defaults).parameters


def test_flags_are_their_values():
    assert properties(edges.flags)["flavour"] == {"type": "integer", "enum": [1, 2]}
    assert Signature(edges.flags).bind({"flavour": 2}) == {"flavour": edges.Flavour.SOUR}


def test_a_context_may_be_optional_and_is_never_published():
    for function in (edges.optional_context, edges.union_context, plain_optional, plain_union):
        signature = Signature(function)
        assert (signature.context, list(signature.parameters["properties"])) == ("ctx", ["x"]), function
    with pytest.raises(DefinitionError, match="Context is not a type that JSON can carry"):
        Signature(edges.contexts)


def plain_optional(x: int, ctx: Optional[Context] = None): ...
def plain_union(x: int, ctx: Context | None = None): ...


def test_docstrings_of_named_tuples_and_enums_describe_them():
    found = properties(edges.described)
    assert found["point"]["description"] == "A place on the map."
    assert found["point"]["prefixItems"] == [{"description": "to the east", "type": "integer"}, {"type": "integer"}]
    assert found["mode"] == {"type": "string", "enum": ["fast"], "description": "How it goes."}
    assert "description" not in properties(edges.optional_enum)["only"]


@pytest.mark.parametrize(
    ("given", "told"),
    [(1.5, 1500), (-3, 0), (1e300, LONGEST_WAIT), (float("inf"), LONGEST_WAIT), (10**400, None)]
    + [(float("nan"), None), ("soon", None), ("2", 2000), (timedelta(minutes=1), 60000)],
)
def test_a_time_to_wait_is_bounded_and_never_breaks_the_refusal(given, told):
    body = ToolError("rate_limited", "later", retry_after=given).frame()
    assert body.get("retryAfter") == told
    json.dumps(body, allow_nan=False)
