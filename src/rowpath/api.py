"""Rowpath in a program or a notebook: `rowpath.open("DIR")` is a run as typed objects, tables and pictures.

`rowpath` hands on what its `__all__` names; docs/api.md says what each promises. They change only with `API_VERSION`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import escape
from typing_extensions import override

from rowpath import text as fmt
from rowpath.analysis.analyse import analyse
from rowpath.analysis.answer_model import Finding
from rowpath.analysis.comparison.compare import compare as compare_runs
from rowpath.analysis.comparison.model import Comparison
from rowpath.analysis.model import RankedPath, Ranking, Result
from rowpath.drawing.scale import caps
from rowpath.errors import RowpathError
from rowpath.report import html
from rowpath.report.long_table import arrow_table, check_package, columns
from rowpath.report.self_contained import rendered
from rowpath.report.view import view

__all__ = [
    "API_VERSION", "Comparison", "Finding", "RankedPath", "Ranking", "Result", "RowpathError", "Run", "compare", "open",
]  # fmt: skip
API_VERSION = 1
ROW, ABOUT = 34, 220  # pixels: of a path in a picture, and of what stands around one


class Run:
    """A finished run, read once. Its results are a table; in a notebook it shows its pictures."""

    def __init__(self, directory: Path, together: Sequence[str] = ()) -> None:
        """Errors: RowpathError where the directory holds no run."""
        self.directory = directory
        self._analysis = analyse(directory, tuple(together))

    @property
    def experiment(self) -> str:
        """Its name."""
        return self._analysis.run.experiment.name

    @property
    def started(self) -> str:
        """When, as ISO 8601."""
        return self._analysis.run.started

    @property
    def results(self) -> tuple[Result, ...]:
        """Every figure in long form: path × workload × phase × regime × metric."""
        return self._analysis.results

    @property
    def rankings(self) -> tuple[Ranking, ...]:
        """Every ranking, each with its paths, fastest first."""
        return self._analysis.rankings

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, with evidence and the next command."""
        return self._analysis.findings

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer, at most five sentences."""
        return self._analysis.answer.sentences

    @property
    def trust(self) -> str:
        """How far to rely on it, in one line."""
        return self._analysis.answer.trust.line

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, one row per result. Errors: RowpathError without pandas."""
        check_package("to_pandas()", "pandas")
        import pandas

        frame = pandas.DataFrame(columns(self._analysis))
        floats = [field.name for field in msgspec.structs.fields(Result) if field.type == float | None]
        return frame.astype(dict.fromkeys(floats, "float64"))

    def to_arrow(self) -> Any:
        """A pyarrow.Table of the same. Errors: RowpathError without pyarrow."""
        return arrow_table(self._analysis)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For what reads Arrow: `polars.DataFrame(run)`, `duckdb.from_arrow(run)`. Errors: as `to_arrow`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        shown = view(self._analysis)
        pictures = [
            msgspec.structs.replace(
                picture,
                rows=tuple(msgspec.structs.replace(row, panel=None, marks=(), href="") for row in picture.rows),
                more=tuple(msgspec.structs.replace(row, panel=None, marks=(), href="") for row in picture.more),
            )
            for picture in shown.lead
        ]
        page = rendered(html.FOLDER, "notebook.html.j2", "matrix.css", view=shown, pictures=pictures, caps=caps())
        height = ABOUT + sum(ROW * len(picture.rows) + ABOUT for picture in pictures)
        # In a frame of its own: the notebook's styles and the page's do not meet, and nothing in it may run.
        frame = 'sandbox="" loading="lazy" style="width:100%;border:0;'
        return f'<iframe title="{escape(shown.title)}" {frame}height:{height}px" srcdoc="{escape(page)}"></iframe>'

    @override
    def __repr__(self) -> str:
        return f"<rowpath.Run {self.experiment} of {self.started[:16]}: {fmt.counted(len(self.results), 'result')}>"


def open(directory: str | Path, *, together: Sequence[str] = ()) -> Run:
    """The run in a directory; `together`: as the option. Errors: RowpathError where there is none."""
    return Run(Path(directory), together)


def compare(
    base: str | Path | Sequence[str | Path], head: str | Path | Sequence[str | Path], *, despite: Sequence[str] = ()
) -> Comparison:
    """Two runs, or several a side, row by row: ratios are head ÷ base. Errors: RowpathError."""

    def side(of: str | Path | Sequence[str | Path]) -> list[Path]:
        return [Path(of)] if isinstance(of, str | Path) else [Path(each) for each in of]

    return compare_runs(side(base), side(head), tuple(despite))
