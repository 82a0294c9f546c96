"""Hints as text, inherited, initialised in odd ways."""

from __future__ import annotations

import enum
from dataclasses import InitVar, dataclass, field
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Optional

import edges_elsewhere

import toolroom
from toolroom import Context, Format, Ge, Len, Secret


class Flavour(enum.Flag):
    SWEET = 1
    SOUR = 2


class Mood(enum.Enum):
    GOOD = "good"
    BAD = "bad"


class Name(str):
    pass


@dataclass
class Child(edges_elsewhere.Base):
    name: Name
    start: InitVar[int] = 1
    made: int = field(init=False, default=0)

    def __post_init__(self, start):
        if start > 9:
            raise ValueError("start must be below 10")
        self.made = start * 2


def inherited(child: Child, others: dict[str, Child] = {}): ...
def optional_enum(mood: Optional[Mood] = None, only: Literal[Mood.BAD] = Mood.BAD): ...
def limited(words: list[Annotated[str, Len(1, 3)]], count: Annotated[int, Ge(1)] | None = None): ...
def noted(key: Annotated[str, Secret, "a key"], mail: Annotated[str, Format("email"), Secret()] = "a@b.example"): ...
def defaults(
    day: date = date(2024, 5, 6),
    at: datetime = datetime(2024, 5, 6, tzinfo=timezone.utc),
    path: Path = Path("a/b"),
    own: object = object(),
): ...
def flags(flavour: Flavour): ...


class Point(NamedTuple):
    """A place on the map.

    Attributes:
        x: to the east
    """

    x: int
    y: int


class Mode(str, enum.Enum):
    """How it goes."""

    FAST = "fast"


def described(point: Point, mode: Mode): ...
def optional_context(x: int, ctx: Optional[toolroom.Context] = None): ...
def union_context(x: int, ctx: Context | None = None): ...
def contexts(given: list[Context]): ...
