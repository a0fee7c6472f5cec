"""Colours of the page that text is written in: WCAG 2.1's contrast of 4.5 to the paper, in both themes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rowpath.report

CSS = (Path(rowpath.report.__file__).parent / "assets" / "page.css").read_text(encoding="utf-8")
OF_TEXT = ("ink", "soft", "link", "error", "warning", "client", "controller", *(f"line-{n}" for n in range(1, 6)))
LEAST = 4.5


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2.1 defines it."""
    digits = colour.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", OF_TEXT)
def test_text_can_be_read(name: str, dark: bool) -> None:
    theme = CSS.split("@media (prefers-color-scheme: dark)")[dark].partition("* {")[0]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]+);", theme))
    lighter, darker = sorted((luminance(colours[name]), luminance(colours["paper"])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= LEAST
