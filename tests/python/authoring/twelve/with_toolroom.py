# /// script
# dependencies = ["packaging"]
# ///
"""Twelve tools, written for Toolroom."""

import asyncio
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal, Optional

from packaging.version import Version

from toolroom import Context, File, Ge, Image, Le, ToolError, tool

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Address:
    street: str
    city: str


@dataclass
class Customer:
    name: str
    address: Address
    orders: int = 0


@tool(category="query", permissions=["sums:read"])
def add_numbers(a: Annotated[int, Ge(0), Le(100)], b: Annotated[int, Ge(0), Le(100)]) -> int:
    """Adds two numbers. Use it for sums. Returns the sum."""
    return a + b


@tool
def greet_customer(customer: Customer) -> str:
    """Greets a customer by name and city."""
    return f"Hello {customer.name} of {customer.address.city}"


@tool
def price_of(item: str, size: Size) -> float:
    """Tells what an item costs in a size."""
    return len(item) * (2.0 if size is Size.LARGE else 1.0)


@tool
def repeat_text(text: str, times: Annotated[int, Ge(1), Le(9)] = 2) -> str:
    """Repeats a text."""
    return text * times


@tool
def find_user(user_id: int, email: Optional[str] = None) -> dict:
    """Finds a user by id, and by mail address if given."""
    return {"id": user_id, "email": email or "unknown"}


@tool
async def wait_briefly(unit: Literal["ms", "s"] = "ms") -> str:
    """Waits for a moment."""
    await asyncio.sleep(0.001)
    return f"waited in {unit}"


@tool
def count_up(to: Annotated[int, Ge(1), Le(5)], context: Context) -> int:
    """Counts, and reports how far it has come."""
    for step in range(to):
        context.progress(step + 1, to)
    return to


@tool
def note_down(text: str, context: Context) -> str:
    """Writes a line to the log."""
    context.log(text)
    return "noted"


@tool
def city_size(city: str) -> int:
    """Tells how many people live in a city."""
    if city != "Bonn":
        raise ToolError("not_found", "No such city")
    return 330_000


@tool
def draw_dot() -> Image:
    """Draws a dot."""
    return Image(PNG)


@tool
def export_table() -> File:
    """Exports a table."""
    return File(b"a,b\n1,2\n", name="table.csv")


@tool
def newer_version(one: str, other: str) -> str:
    """Tells which of two versions is newer."""
    return str(max(Version(one), Version(other)))
