"""Nouns of bulk retrieval: what each way of taking a whole table out of an engine costs, and how far from its floor."""

from __future__ import annotations

from rowpath.model.base import Frozen, Regime


class Against(Frozen, frozen=True):
    """A cost as a ratio to another one, with its interval over the sets where there is one."""

    ratio: float
    low: float | None = None
    high: float | None = None


class RetrievalPath(Frozen, frozen=True):
    """One way out; CPU is per row, everything else of the whole table; None where it was not measured."""

    name: str
    form: str  # what a call hands over: rows, blocks, columns, COPY, nothing (a floor)
    cost_ns: float
    rows_per_s: float | None
    to_drain: Against | None
    to_aggregate: Against | None
    client_cpu_ns: float | None
    server_cpu_ns: float | None
    waiting: float | None  # share of the time in which the client had nothing to do
    first_row_ns: float | None
    client_peak_bytes: float | None
    bytes_per_row: float | None


class Retrieval(Frozen, frozen=True):
    """All ways of taking one table out of one engine under the same conditions; fastest first within each form."""

    workload: str
    phase: str
    regime: Regime
    engine: str
    deployment: str
    conditions: str  # "placement=split, transport=tcp"
    rows: float
    paths: tuple[RetrievalPath, ...]
    floors: tuple[RetrievalPath, ...]  # the one that ratios are to comes first
    no_floor: str  # why there is none
    aggregate: str  # the path by which the engine computed one row over the same table; empty: none
    aggregate_ns: float | None


class BlockSize(Frozen, frozen=True):
    """One size of the block in which rows are asked for; the ratio is to the fastest size."""

    size: int
    name: str
    cost_ns: float
    against: Against | None
    client_peak_bytes: float | None


class BlockSizes(Frozen, frozen=True):
    """What the size of a block does to one path.

    `enough`: the least size that is not shown to be slower than the fastest; None where intervals are missing.
    """

    workload: str
    phase: str
    regime: Regime
    name: str  # of the path, without its size
    what: str  # "result=cursor"
    sizes: tuple[BlockSize, ...]  # smallest first
    enough: int | None
