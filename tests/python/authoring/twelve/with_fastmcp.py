"""Twelve tools, written with FastMCP."""

import asyncio
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal, Optional

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import File, Image
from packaging.version import Version
from pydantic import Field

mcp = FastMCP("twelve")
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


@mcp.tool(annotations={"readOnlyHint": True})
def add_numbers(a: Annotated[int, Field(ge=0, le=100)], b: Annotated[int, Field(ge=0, le=100)]) -> int:
    """Adds two numbers. Use it for sums. Returns the sum."""
    return a + b


@mcp.tool
def greet_customer(customer: Customer) -> str:
    """Greets a customer by name and city."""
    return f"Hello {customer.name} of {customer.address.city}"


@mcp.tool
def price_of(item: str, size: Size) -> float:
    """Tells what an item costs in a size."""
    return len(item) * (2.0 if size is Size.LARGE else 1.0)


@mcp.tool
def repeat_text(text: str, times: Annotated[int, Field(ge=1, le=9)] = 2) -> str:
    """Repeats a text."""
    return text * times


@mcp.tool
def find_user(user_id: int, email: Optional[str] = None) -> dict:
    """Finds a user by id, and by mail address if given."""
    return {"id": user_id, "email": email or "unknown"}


@mcp.tool
async def wait_briefly(unit: Literal["ms", "s"] = "ms") -> str:
    """Waits for a moment."""
    await asyncio.sleep(0.001)
    return f"waited in {unit}"


@mcp.tool
async def count_up(to: Annotated[int, Field(ge=1, le=5)], ctx: Context) -> int:
    """Counts, and reports how far it has come."""
    for step in range(to):
        await ctx.report_progress(step + 1, to)
    return to


@mcp.tool
async def note_down(text: str, ctx: Context) -> str:
    """Writes a line to the log."""
    await ctx.info(text)
    return "noted"


@mcp.tool
def city_size(city: str) -> int:
    """Tells how many people live in a city."""
    if city != "Bonn":
        raise ToolError("No such city")
    return 330_000


@mcp.tool
def draw_dot() -> Image:
    """Draws a dot."""
    return Image(data=PNG, format="png")


@mcp.tool
def export_table() -> File:
    """Exports a table."""
    return File(data=b"a,b\n1,2\n", format="csv", name="table")


@mcp.tool
def newer_version(one: str, other: str) -> str:
    """Tells which of two versions is newer."""
    return str(max(Version(one), Version(other)))


if __name__ == "__main__":
    mcp.run()
