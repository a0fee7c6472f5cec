"""The page: one self-contained HTML file, readable with scripts off, from disk, without network."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import jinja2
import msgspec
from markupsafe import Markup

from rowpath.analysis.model import Analysis
from rowpath.errors import UsageError
from rowpath.report.figures import Figure
from rowpath.report.view import View, view

FOLDER = Path(__file__).parent
# What the first screen has room for: sentences, and pictures that are not folded.
ANSWERING = 3
LEADS = 4


def write(analysis: Analysis, path: Path) -> None:
    """Writes the page in UTF-8; UsageError when the file can't be written."""
    text = page(analysis)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(
            f"can't write the page {str(path)!r}: {error.strerror or error}", "name another file with -o FILE"
        ) from error


def page(analysis: Analysis) -> str:
    """The page's text. Its security policy lets nothing in and runs only its own scripts."""
    shown = view(analysis)
    figures = _figures(shown)
    drawn = ["plot.js", "timeline.js", "figures.js"] if figures else []
    scripts = [_asset(name) for name in (*drawn, "page.js")]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        view=shown,
        answering=ANSWERING,
        leads=LEADS,
        style=Markup(_asset("page.css")),
        scripts=[Markup(script) for script in scripts],
        policy=_policy(scripts),
        figures=Markup(_embedded(figures)),
        paths=Markup(_embedded(shown.paths)),
    )


def _asset(name: str) -> str:
    return (FOLDER / "assets" / name).read_text(encoding="utf-8")


def _policy(scripts: list[str]) -> str:
    """Styles stay open because Observable Plot puts a style element into each drawing."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _figures(shown: View) -> dict[str, Figure]:
    """What a script draws, by key; empty when the page needs no library for that."""
    sections = [*shown.across, *(section for line in shown.time_lines for section in line.sections)]
    sections += [section for operation in shown.operations for section in operation.sections]
    return {section.figure.key: section.figure for section in sections if section.figure}


def _embedded(value: object) -> str:
    """A value as JSON that can't end its script element."""
    encoded = msgspec.json.encode(value).decode()
    return encoded.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
