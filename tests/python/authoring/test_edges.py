"""Corners of hints: texts, inheritance, markers, defaults."""

import edges
import pytest
from edges_elsewhere import Hidden

from toolroom import InvalidInput
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
