"""A base class whose hints are texts, and resolve only here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Hidden:
    depth: int


@dataclass
class Base:
    hidden: Hidden
