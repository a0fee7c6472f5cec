"""The nouns of a projection: what it shows, its matrices and their cells."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath.analysis.cells import CellKey
from rowpath.analysis.projection_points import APART, in_order
from rowpath.model.base import Frozen


class Choice(Frozen, frozen=True):
    """What a projection shows: axes by name (a coordinate, `path`, `phase`, `regime`, `stage`, `client_group`).

    Rows and columns without a name are chosen among the axes that vary; the first column is what ratios are to.
    """

    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()  # may vary within a cell without a note
    filters: dict[str, tuple[str, ...]] = {}  # axis → values; their order is that of rows and columns
    metric: str = ""  # empty: time, or what groups at work at once reached


class CellRatio(Frozen, frozen=True):
    """A figure relative to another one, with its interval where it has one."""

    ratio: float
    low: float | None = None
    high: float | None = None
    through_anchor: bool = False


class Entry(Frozen, frozen=True):
    """A cell: the figure of its fastest path, or why there is none."""

    name: str = ""  # of the path
    key: CellKey = ("", "", "", "")
    median: float | None = None
    low: float | None = None  # 95 % interval
    high: float | None = None
    paths: int = 0  # that have a figure here
    against: CellRatio | None = None
    provisional: bool = False
    reason: str = ""


class MatrixRow(Frozen, frozen=True):
    """One row: the values of the row axes, and a cell for each column."""

    values: tuple[str, ...]
    entries: tuple[Entry, ...]


class Matrix(Frozen, frozen=True):
    """One table of a projection; `title` names what all of it has in common: `keyed.read`, `placement=same`."""

    title: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]  # the values of the column axes
    rows: tuple[MatrixRow, ...]
    hidden: tuple[str, ...] = ()  # coordinates that vary within a cell
    beside: tuple[str, ...] = ()  # coordinates whose values are ranked apart and stand side by side here

    @property
    def entries(self) -> Iterator[Entry]:
        """Every cell."""
        return (entry for row in self.rows for entry in row.entries)

    @property
    def several(self) -> bool:
        """Whether a cell holds more than one path."""
        return any(entry.paths > 1 for entry in self.entries)


class Projection(Frozen, frozen=True):
    """The matrices of a run."""

    metric: str
    unit: str
    rows: tuple[str, ...]  # axes
    columns: tuple[str, ...]
    matrices: tuple[Matrix, ...]
    own_builds: tuple[str, ...] = ()  # of engines, by which paths are ranked apart, in words
    provisional: bool = False

    @property
    def hidden(self) -> tuple[str, ...]:
        """Coordinates that vary within a cell of any matrix."""
        return tuple(in_order({axis for each in self.matrices for axis in each.hidden}))

    @property
    def beside(self) -> tuple[str, ...]:
        """Coordinates whose values are ranked apart and stand side by side in a matrix."""
        return tuple(axis for axis in APART if any(axis in each.beside for each in self.matrices))
