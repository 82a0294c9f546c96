"""Tools as an author writes them, for the tests of a worker."""

import asyncio
import enum
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Annotated, List, Optional

from toolroom import Context, File, Image, Len, ToolError, ToolResult, tool


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Price:
    """A price.

    Attributes:
        amount: in euro
    """

    amount: float
    size: Size
    at: datetime


PRICES = {"tea": 3.5, "coffee": 4.0}


@tool(
    category="query",
    permissions=["shop:read"],
    cacheable=True,
    cache_ttl=60,
    tags=["shop"],
    examples=[("Tea", {"item": "tea"}, 3.5)],
    env={"SHOP": "x"},
)
def get_price(item: Annotated[str, Len(most=40)], size: Size = Size.SMALL) -> float:
    """Tells what an item costs. Use it when someone asks for a price. Returns the price.

    Args:
        item: the item's name
    """
    if item not in PRICES:
        raise ToolError("not_found", "No item %r" % item, {"known": sorted(PRICES)}, retry_after=1.5)
    return PRICES[item] * (2 if size is Size.LARGE else 1)


@tool(name="quote-item")
async def quote(item: str, when: datetime, context: Context, size: Size = Size.SMALL) -> Price:
    """Gives a whole quote for an item at a time."""
    context.progress(1, 2, "looking")
    await asyncio.sleep(0)
    context.log("found %s" % item)
    assert isinstance(when, datetime) and isinstance(size, Size)
    return Price(PRICES[item], size, when.astimezone(timezone.utc))


@tool
def find_item(text: str) -> Optional[str]:
    """Finds an item by a part of its name."""
    return next((name for name in PRICES if text in name), None)


@tool
def draw(kind: str):
    """Draws a picture, or writes a file, or both."""
    picture = Image(b"\x89PNG" + bytes(10))
    if kind == "both":
        return ToolResult({"drawn": 1}, content=[picture, File(b"a,b", name="t.csv")], hints={"reasoning": "asked"})
    if kind == "large":
        return Image(b"\x89PNG" + bytes(100_000))
    if kind == "wrong":
        return {"picture": picture}
    return [picture, "a caption"]


@tool(destructive=True)
def empty(shelf: int, confirm: bool = False) -> None:
    """Empties a shelf, for ever."""


@tool
def choose(ctx: Context, drinks: List[str] = ["tea"]) -> str:
    """Asks the person which drink they want."""
    return ctx.ask("Which?", choices=drinks) or "none"


def helper(a: int):
    raise NotImplementedError
