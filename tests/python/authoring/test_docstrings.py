"""What is read out of docstrings, style by style."""

import time

import pytest
from toolroom.docstring import read

PROSE = "Tells the price. Use it in a shop.\nNot for wholesale."
STYLES = {
    "google": """Tells the price.
        Use it in a shop.

        Not for wholesale.

        Args:
            item (str): the item's name,
                as on its label
            days (Optional[int]): how long: at least one
            **extra: more

        Returns:
            float: the price in euro

        Raises:
            KeyError: never
        """,
    "numpy": """
        Tells the price. Use it in a shop.

        Not for wholesale.

        Parameters
        ----------
        item : str
            the item's name,
            as on its label
        days, hours : int, optional
            how long: at least one

        Returns
        -------
        float
            the price in euro

        Examples
        --------
        >>> price("tea")
        """,
    "sphinx": """Tells the price. Use it in a shop.

        Not for wholesale.

        :param str item: the item's name,
            as on its label
        :param days: how long: at least one
        :type days: int
        :returns: the price in euro
        :raises KeyError: never
        """,
    "epytext": """Tells the price. Use it in a shop.

        Not for wholesale.

        @param item: the item's name,
            as on its label
        @param days: how long: at least one
        @return: the price in euro
        """,
}


@pytest.mark.parametrize("style", STYLES)
def test_a_style_gives_prose_and_parameters(style):
    prose, texts = read(STYLES[style])
    assert prose == PROSE + "\nReturns: the price in euro"
    assert texts["item"] == "the item's name, as on its label"
    assert texts["days"] == "how long: at least one"
    if style == "numpy":
        assert texts["hours"] == texts["days"]


def test_a_plain_docstring_is_prose():
    assert read("Tells the price.") == ("Tells the price.", {})
    assert read(None) == ("", {})
    listed = read("Does one of:\n\n- this\n- that\n  or other\n")
    assert listed == ("Does one of:\n- this\n- that or other", {})
    assert read("Ends with: nothing.\nArgs are many.")[1] == {}


def test_a_section_at_the_end_without_text_is_harmless():
    assert read("Prose.\n\nArgs:\n") == ("Prose.", {})
    assert read("Prose.\n\nParameters\n---") == ("Prose.", {})


@pytest.mark.parametrize(
    "text",
    [
        "Args:\n" + "  a: b\n" * 50_000,
        ":" * 200_000,
        ":param " * 30_000,
        "x\n---\n" * 30_000,
        "Args:\n  a (" + "(" * 60_000,
        " " * 100_000 + "x",
    ],
)
def test_a_hostile_docstring_takes_no_time(text):
    began = time.monotonic()
    read(text)
    assert time.monotonic() - began < 1
