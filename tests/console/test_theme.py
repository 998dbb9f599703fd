"""The colour of what can be chosen is readable in the light and in the dark."""

import tomllib

import pytest

from console import navigation

CONFIG = navigation.PAGES_DIRECTORY.parent / "entry" / ".streamlit" / "config.toml"
WHITE = "#ffffff"
"""Streamlit writes on the primary colour in white."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_chosen_texts_icons_and_grey_badges_stand_out(theme: str) -> None:
    colours = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][theme]
    for ground in (colours["backgroundColor"], colours["secondaryBackgroundColor"]):
        assert _contrast(colours["primaryColor"], ground) >= 4.5
    assert _contrast(WHITE, colours["primaryColor"]) >= 3
    assert _contrast(colours["grayTextColor"], colours["grayBackgroundColor"]) >= 4.5


def test_no_text_is_written_on_the_primary_colour() -> None:
    sources = navigation.PAGES_DIRECTORY.parent.rglob("*.py")
    assert not [path.name for path in sources if 'type="primary"' in path.read_text(encoding="utf-8")]


def _contrast(one: str, other: str) -> float:
    """After WCAG 2.2: 4.5 is asked for texts, 3 for icons."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
