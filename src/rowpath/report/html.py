"""The page: one self-contained HTML file, readable with scripts off, from disk, without network."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from markupsafe import Markup

from rowpath.analysis.model import Analysis
from rowpath.drawing.scale import caps
from rowpath.drawing.section import Section
from rowpath.errors import UsageError
from rowpath.report.path_panel import FEW_PATHS
from rowpath.report.self_contained import compiled, embedded, rendered
from rowpath.report.view import view

FOLDER = Path(__file__).parent
PAGE = "page.html.j2"
# End tags that HTML itself supplies, and the line after them: a fifth of a page with many rows.
_IMPLIED = re.compile(r"</(?:td|th|tr|li|dt|dd)>\n?")
# A page with very many paths leaves out further rows of tables about trust and of rankings whose paths open elsewhere,
# and tables that repeat what every path opens to.
TABLE_ROWS = 40


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
    # Cut: the tables about trust, which have a row for every block, worker or digest, and those below cut pictures.
    operations = tuple(
        msgspec.structs.replace(
            operation,
            rankings=tuple(
                msgspec.structs.replace(ranking, section=_cut(ranking.section))
                if ranking.picture and ranking.picture.left_out
                else ranking
                for ranking in operation.rankings
            ),
        )
        for operation in shown.operations
    )
    shown = msgspec.structs.replace(shown, diagnostics=tuple(map(_cut, shown.diagnostics)), operations=operations)
    written = rendered(
        FOLDER,
        PAGE,
        "matrix.css",
        "matrix.js",
        "page.js",
        view=shown,
        table_rows=TABLE_ROWS,
        few_paths=len(shown.paths) <= FEW_PATHS,
        caps=caps(),
        paths=Markup(embedded(_columns(shown.paths))),
        matrix=Markup(embedded(shown.choose.data)) if shown.choose else "",
    )
    return _IMPLIED.sub("", written)


def prepare() -> None:
    """Compile the page's template, so that processes forked later need not."""
    compiled(FOLDER, PAGE)


def _cut(section: Section) -> Section:
    rows = section.grid.rows
    grid = msgspec.structs.replace(section.grid, rows=rows[:TABLE_ROWS])
    return msgspec.structs.replace(section, grid=grid, left_out=len(rows) - len(grid.rows))


def _columns(paths: tuple[dict[str, str], ...]) -> dict[str, object]:
    """The coordinates of all paths, each value by its place among those of its coordinate."""
    keys = dict.fromkeys(key for path in paths for key in path)
    values = {key: list(dict.fromkeys(path.get(key, "none") for path in paths)) for key in keys}
    numbers = {key: {value: number for number, value in enumerate(listed)} for key, listed in values.items()}
    return {"values": values, "paths": [[numbers[key][path.get(key, "none")] for key in keys] for path in paths]}
