"""What makes a page one file that asks for nothing: data inside it, and a policy that runs only its own scripts."""

from __future__ import annotations

import base64
import functools
import hashlib
from pathlib import Path

import jinja2
import msgspec
from markupsafe import Markup

ASSETS = Path(__file__).parent / "assets"


def rendered(folder: Path, template: str, style: str, *scripts: str, more_style: str = "", **values: object) -> str:
    """The page that a template of the folder makes of the values, with style and scripts inside; no others run.

    `style`, `scripts`: the names of their files among the folder's assets; the style of all pages comes first.
    """
    assets = folder / "assets"
    sheet = "".join(file.read_text(encoding="utf-8") for file in (ASSETS / "page.css", assets / style)) + more_style
    script = "".join((assets / name).read_text(encoding="utf-8") for name in scripts)
    allowed = _hash(script) if script else "'none'"
    policy = f"default-src 'none'; script-src {allowed}; style-src {_hash(sheet)}; base-uri 'none'; form-action 'none'"
    inside = {"style": Markup(sheet), "scripts": [Markup(script)] if script else [], "policy": policy}
    return compiled(folder, template).render(inside, **values)


def compiled(folder: Path, template: str) -> jinja2.Template:
    """A template, compiled once in a process."""
    return _templates(folder / "templates").get_template(template)


@functools.cache
def _templates(folder: Path) -> jinja2.Environment:
    """The templates of a folder, each compiled once."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def embedded(value: object) -> str:
    """A value as JSON that can't end its script element."""
    encoded = msgspec.json.encode(value).decode()
    return encoded.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
