"""Bulk retrieval's figures from a made journal: distance to the drain, the engine's own work, sizes of blocks."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import block_sizes, retrievals
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis
from rowpath.report.markdown import write_markdown
from rowpath.report.view import view
from tests.unit import journal_factory
from tests.unit.journal_factory import SCAN_ROWS, MadePath, path

DRAIN_NS, AGGREGATE_NS = 4e6, 1e6
TCP = "postgresql server c"


def read(name: str, words: str, ns: float, **more: float) -> MadePath:
    return path(name, words, {"scan.read": ns}, **more)


def analysed(tmp_path: Path, paths: list[MadePath], drained: dict[str, int] | None = None) -> Analysis:
    run = journal_factory.Run(paths=paths, rounds=5, regimes=("steady",), disturbed_share=0)
    made = journal_factory.records(run)
    phases = [
        {"name": "read", "scan": True, "table": "hits", "expected": "whole-table"},
        {"name": "sum", "table": "hits", "expected": "aggregate"},
    ]
    made[0] |= {"workloads": {"scan": {"phases": phases}}}
    floors = {each.path_id: each.name for each in paths if each.coordinates["fetch"].startswith("drain")}
    for record in made:
        if record["record"] == "sample" and record["path_id"] in floors:
            size = (drained or {}).get(floors[record["path_id"]], 500_000)
            record |= {"rows": 0, "values": 0, "touch_ok": None, "bytes": record["operations"] * size}
    return analyse(journal_factory.write(tmp_path, made))


def bulk(tmp_path: Path, placement: str = "split") -> Analysis:
    where = f"transport=tcp placement={placement}"
    return analysed(
        tmp_path,
        [
            read("rows", f"{TCP} libpq result=single-row {where}", 6e6, client_share=0.25),
            read("copy", f"{TCP} libpq fetch=copy {where}", 5e6, client_share=0.2),
            read("slow rows", f"postgresql server python psycopg {where}", 20e6, client_share=0.75),
            read("busy", f"{TCP} drain fetch=drain poll=busy {where}", DRAIN_NS),
            read("asleep", f"{TCP} drain fetch=drain poll=sleep {where}", 2 * DRAIN_NS),
            path("sums", f"{TCP} libpq {where}", {"scan.sum": AGGREGATE_NS}),
            read("file", f"file file c file placement={placement}", 3e6),
        ],
    )


def test_each_way_out_against_the_drain_and_the_aggregate(tmp_path: Path) -> None:
    retrieval = next(each for each in retrievals.CHAPTER.of(bulk(tmp_path)) if each.engine == "postgresql")
    assert [(each.name, each.form) for each in retrieval.paths] == [
        ("rows", "rows"),
        ("slow rows", "rows"),
        ("copy", "COPY"),
    ]
    assert [each.name for each in retrieval.floors] == ["busy", "asleep"], "across cores the busy one is the reference"
    first = retrieval.paths[0]
    assert first.to_drain is not None
    assert first.to_aggregate is not None
    assert first.to_drain.ratio == pytest.approx(6e6 / DRAIN_NS, rel=0.05)
    assert first.to_drain.low is not None
    assert first.to_drain.low < first.to_drain.ratio
    assert first.to_aggregate.ratio == pytest.approx(6e6 / AGGREGATE_NS, rel=0.05)
    assert first.rows_per_s == pytest.approx(SCAN_ROWS / 6e-3, rel=0.05)
    assert first.client_cpu_ns == pytest.approx(6e6 * 0.25 / SCAN_ROWS, rel=0.05)
    assert first.server_cpu_ns == pytest.approx(6e6 * 0.75 / SCAN_ROWS, rel=0.05)
    assert first.waiting == pytest.approx(0.75, abs=0.02)
    assert first.bytes_per_row == pytest.approx((40 + 130 * SCAN_ROWS) / SCAN_ROWS)
    assert retrieval.floors[0].client_cpu_ns is not None, "a floor's CPU too is per row of the table"


def test_a_path_stands_beside_the_drain_of_its_own_bytes_and_beside_netcat(tmp_path: Path) -> None:
    where, own = "transport=tcp placement=split", 40 + 130 * SCAN_ROWS  # what every path receives
    analysis = analysed(
        tmp_path,
        [
            read("rows", f"{TCP} libpq result=single-row {where}", 6e6),
            read("text", f"{TCP} drain fetch=drain poll=busy {where}", 2e6),
            read("binary", f"{TCP} drain fetch=drain format=binary poll=busy {where}", 3e6),
            read("copy", f"{TCP} drain fetch=drain:copy format=binary poll=busy {where}", 4e6),
            read("wire", f"file server c netcat fetch=drain poll=busy {where}", 1e6),
        ],
        {"text": 3 * own, "binary": own + 9, "copy": own},
    )
    (retrieval,) = retrievals.CHAPTER.of(analysis)
    (rows,) = retrieval.paths
    assert (rows.drain, [floor.name for floor in retrieval.floors]) == ("binary", ["text", "binary", "copy"])
    assert rows.to_drain and rows.to_netcat and retrieval.netcat
    assert rows.to_drain.ratio == pytest.approx(2, rel=0.05)
    assert rows.to_netcat.ratio == pytest.approx(6, rel=0.05)
    assert retrieval.netcat.to_drain is None
    shown = retrievals.grid(retrieval)
    assert "of netcat" in [column.title for column in shown.columns]
    assert [row.cells[0] for row in shown.rows] == ["rows", "text", "binary", "copy", "wire"]
    assert "wire: the table as text through a socket" in shown.note
    assert any(", 6.0" in text and " of wire" in text for text in analysis.verdict), analysis.verdict


def test_on_one_core_the_sleeping_drain_is_the_reference(tmp_path: Path) -> None:
    retrieval = next(each for each in retrievals.CHAPTER.of(bulk(tmp_path, "same")) if each.engine == "postgresql")
    assert retrieval.floors[0].name == "asleep"


def test_a_floor_is_never_ranked_and_never_missed(tmp_path: Path) -> None:
    analysis = bulk(tmp_path)
    ranked = {row.name for ranking in analysis.rankings for row in ranking.rows if row.rank}
    assert not ranked & {"busy", "asleep"}
    assert {"rows", "copy", "slow rows", "file"} <= ranked
    assert not [text for text in analysis.verdict if text.startswith("Not ranked") and "busy" in text]
    drained = [each for each in analysis.results if each.metric == "bytes_drained" and each.name == "busy"]
    assert [each.median for each in drained] == [500_000]


def test_the_verdict_says_what_is_not_the_engines_own_work(tmp_path: Path) -> None:
    verdict = "\n".join(bulk(tmp_path).verdict)
    assert "by rows rows is the fastest" in verdict
    assert "83." in verdict.partition("is not the engine's reading")[0][-60:], "1 - 1/6 of the retrieval"
    assert "by COPY copy is the fastest" in verdict


def test_without_a_floor_the_table_says_why(tmp_path: Path) -> None:
    analysis = bulk(tmp_path)
    file = next(each for each in retrievals.CHAPTER.of(analysis) if each.engine == "file")
    assert not file.floors
    assert "no raw read" in retrievals.grid(file).note
    text = io.StringIO()
    write_markdown(analysis, text)
    assert "scan.read from postgresql" in text.getvalue()
    assert any("from file" in section.grid.caption for section in view(analysis).across)


@pytest.mark.parametrize(("tenth", "enough"), [(1.5, 1000), (1.0, 10)])
def test_from_which_size_on_nothing_is_gained(tmp_path: Path, tenth: float, enough: int) -> None:
    costs = {1: 40e6, 10: 5e6 * tenth, 1000: 5e6}
    paths = [
        read(f"pg cursor:{n}", f"{TCP} libpq result=cursor:{n} transport=tcp", ns, between_sets=0.001)
        for n, ns in costs.items()
    ]
    analysis = analysed(tmp_path, paths)
    (sizes,) = block_sizes.CHAPTER.of(analysis)
    assert (sizes.name, sizes.what, sizes.enough) == ("pg", "result=cursor", enough)
    assert [size.size for size in sizes.sizes] == [1, 10, 1000]
    (section,) = block_sizes.CHAPTER.sections((sizes,), Lookup(analysis))
    (row,) = section.grid.rows
    assert row.cells[3] == f"{enough:,}"
    assert row.cells[4] in ("8.00×", "7.99×", "8.01×") or row.cells[4].startswith(("7.9", "8.0"))


def test_two_sizes_are_no_sweep(tmp_path: Path) -> None:
    paths = [read(f"pg cursor:{n}", f"{TCP} libpq result=cursor:{n}", 5e6) for n in (1, 10)]
    assert block_sizes.CHAPTER.of(analysed(tmp_path, paths)) == ()
