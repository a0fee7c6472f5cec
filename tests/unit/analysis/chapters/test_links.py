"""A link's model from a journal: prediction, table, finding; and what a coordinate states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import links as across_links
from rowpath.analysis.model import Analysis
from rowpath.model.path import link_bytes_per_s, link_ns
from rowpath.report.view import view
from tests.unit import journal_factory
from tests.unit.journal_factory import Run

ADDED_NS = 1_100_000
WITHOUT_NS = 20_000


def analysed(
    tmp_path: Path, over_ns: float, links: int = 1, sets: int = 6, link: str = "1ms", phase: str = "keyed.read"
) -> Analysis:
    """A path without a link and over one, whose measured round trip is `ADDED_NS` longer than the direct one."""
    words = "postgresql server c libpq transport=tcp link="
    paths = [
        journal_factory.path("near", f"{words}none", {phase: WITHOUT_NS}),
        journal_factory.path("far", f"{words}{link}", {phase: over_ns}),
    ]
    records = journal_factory.records(Run(paths=paths, rounds=5, sets=sets, regimes=("steady",)))
    rate = link_bytes_per_s(link)
    measured: dict[str, Any] = {
        "record": "link", "link": link, "placement": "same", "stated_ns": 1_000_000, "direct_ns": 15_000,
        "round_trip_ns": 15_000 + ADDED_NS, "low_ns": 1_100_000, "high_ns": 1_200_000, "stated_bytes_per_s": rate,
        "rate_bytes_per_s": rate or 4e8, "rate_back_bytes_per_s": rate / 2, "cpu": 0, "method": "a proxy",
    }  # fmt: skip
    head = next(number for number, record in enumerate(records) if record["record"] == "set")
    records[head:head] = [measured] * links
    return analyse(journal_factory.write(tmp_path / "run", records))


@pytest.mark.parametrize(("greetings", "trips"), [(0, 2), (100, 3)])
def test_opening_a_connection_takes_round_trips_that_nobody_counts(tmp_path: Path, greetings: int, trips: int) -> None:
    analysed(tmp_path, WITHOUT_NS + trips * ADDED_NS)
    file = tmp_path / "run" / "samples.jsonl"
    opened = f'"connections":100,"greetings":{greetings},"round_trips"'
    file.write_text(file.read_text().replace('"round_trips"', opened))
    found = only(analyse(tmp_path / "run"))
    assert found.round_trips == trips
    assert found.ratio == pytest.approx(1.0, abs=0.02)


def only(analysis: Analysis) -> across_links.AcrossLink:
    (found,) = across_links.CHAPTER.of(analysis)
    return found


def findings(analysis: Analysis) -> list[str]:
    return [finding.text for finding in analysis.findings if finding.id == "link-not-as-predicted"]


def test_the_time_over_a_link_is_predicted_from_the_time_without_it(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, WITHOUT_NS + ADDED_NS)
    found = only(analysis)
    assert (found.name, found.link, found.round_trips, found.added_ns) == ("far", "1ms", 1.0, ADDED_NS)
    assert found.predicted_ns == pytest.approx(WITHOUT_NS + ADDED_NS, rel=0.01)
    assert found.ratio == pytest.approx(1.0, abs=0.02)
    assert found.low is not None
    assert found.low < found.ratio < (found.high or 0)
    assert findings(analysis) == []
    (grid,) = [section.grid for section in view(analysis).across if section.key == "links"]
    assert grid.rows[0].cells[:3] == ("far", "keyed · read", "steady")
    assert "1.10 ms" in grid.note
    assert analysis.diagnostics["links"][0]["round trip, stated"] == "1.00 ms"


@pytest.mark.parametrize(("share", "word"), [(1.3, "slower"), (0.7, "faster")])
def test_a_time_that_the_round_trips_do_not_explain_is_a_finding(tmp_path: Path, share: float, word: str) -> None:
    (told,) = findings(analysed(tmp_path, share * (WITHOUT_NS + ADDED_NS)))
    assert told == f"far is {word} over the link in keyed.read, steady, than its round trips predict"


def test_one_set_is_no_evidence(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, 2 * (WITHOUT_NS + ADDED_NS), sets=1)
    assert only(analysis).ratio == pytest.approx(2, rel=0.1)
    assert only(analysis).low is None
    assert findings(analysis) == []


def test_without_a_measured_round_trip_nothing_is_predicted(tmp_path: Path) -> None:
    assert across_links.CHAPTER.of(analysed(tmp_path, WITHOUT_NS + ADDED_NS, links=0)) == ()


@pytest.mark.parametrize(("link", "raised"), [("none", True), ("40ms", False)])
def test_what_a_link_takes_is_no_delayed_acknowledgement(tmp_path: Path, link: str, raised: bool) -> None:
    words = f"postgresql server c libpq transport=tcp link={link}"
    paths = [journal_factory.path("slow", words, {"keyed.read": 40_200_000}, between_sets=0.001, between_blocks=0.001)]
    records = journal_factory.records(Run(paths=paths, rounds=5, regimes=("steady",)))
    idle = [
        record | ({"client_cpu_ns": 0, "server_cpu_ns": 0} if record["record"] == "sample" else {})
        for record in records
    ]
    analysis = analyse(journal_factory.write(tmp_path / "run", idle))
    assert ("delayed-acknowledgement" in {finding.id for finding in analysis.findings}) == raised


def test_paths_with_and_without_a_link_are_held_against_their_own_floor(tmp_path: Path) -> None:
    words = "server c ping transport=tcp link="
    paths = [
        journal_factory.path("ping near", f"null {words}none", {"floor.null": 10_000}),
        journal_factory.path("ping far", f"null {words}1ms", {"floor.null": 1_100_000}),
        journal_factory.path("near", "postgresql server c libpq transport=tcp link=none", {"keyed.read": 20_000}),
        journal_factory.path("far", "postgresql server c libpq transport=tcp link=1ms", {"keyed.read": 1_120_000}),
    ]
    records = journal_factory.records(Run(paths=paths, rounds=5, regimes=("steady",)))
    for record in records:
        if record["record"] == "path":
            record["comparison"] = f"link={record['coordinates']['link']}"
    rankings = analyse(journal_factory.write(tmp_path / "run", records)).rankings
    floors = {row.name: ranking.floor_ns or 0 for ranking in rankings for row in ranking.rows}
    assert floors["near"] == pytest.approx(10_000, rel=0.1)
    assert floors["far"] == pytest.approx(1_100_000, rel=0.1)


RATED = "2ms@100mbit"
SCAN = "scan.read"
SCAN_WIRE_NS = 30 * 80 + (40 + 130 * journal_factory.SCAN_ROWS) * 160  # 8 ns a bit; back at half of the rate


def test_over_a_link_with_a_rate_its_bytes_are_predicted_too(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, WITHOUT_NS + ADDED_NS + SCAN_WIRE_NS, link=RATED, phase=SCAN)
    found = only(analysis)
    assert found.wire_ns == pytest.approx(SCAN_WIRE_NS, rel=0.001)
    assert found.predicted_ns == pytest.approx(WITHOUT_NS + ADDED_NS + SCAN_WIRE_NS, rel=0.001)
    assert found.ratio == pytest.approx(1.0, abs=0.02)
    assert findings(analysis) == []
    (section,) = [section for section in view(analysis).across if section.key == "links"]
    assert section.opening.sentence.startswith("Round trips and bytes predict 1 of 1 times")
    assert "bytes ÷ rate" in [column.title for column in section.grid.columns]
    assert f"{RATED}: no slow start here. Over TCP the first " in section.grid.note
    shown = analysis.diagnostics["links"][0]
    assert shown["over TCP"].startswith(f"{RATED}: no slow start here.")
    assert [shown[name] for name in ("rate, stated", "to the server", "from the server")] == [
        "100 Mb/s", "100 Mb/s", "50.0 Mb/s",
    ]  # fmt: skip


def test_rows_that_are_made_and_read_while_others_cross_are_not_too_fast() -> None:
    def least(without_ns: float, wire_ns: float) -> float:
        whole_ns = without_ns + wire_ns + 1_000
        across = across_links.AcrossLink(
            "w", "p", "steady", "a", RATED, 1_000, 1, without_ns, whole_ns, 1, 1, None, None
        )
        return msgspec.structs.replace(across, wire_ns=wire_ns).least_ratio * whole_ns

    assert least(5_000, 90_000) == pytest.approx(91_000)
    assert least(90_000, 5_000) == pytest.approx(91_000)
    assert least(90_000, 0) == pytest.approx(91_000)


def test_times_that_overlap_raise_no_finding_and_impossible_ones_do(tmp_path: Path) -> None:
    overlapped = analysed(tmp_path / "1", 0.995 * (ADDED_NS + SCAN_WIRE_NS), link=RATED, phase=SCAN)
    assert findings(overlapped) == []
    (told,) = findings(analysed(tmp_path / "2", 0.5 * SCAN_WIRE_NS, link=RATED, phase=SCAN))
    assert told == "far is faster over the link in scan.read, steady, than its round trips and bytes predict"


@pytest.mark.parametrize(
    ("link", "moved_bytes", "words"),
    [
        ("20ms@100mbit", 1e6, "the first 438 KiB of a connection take up to 5 round trips more"),
        ("20ms@100mbit", 10_000, ""),  # an operation that fits into the first packets
        ("1ms@100mbit", 1e6, ""),  # a link that these fill
        ("20ms", 1e6, ""),
    ],
)
def test_slow_start_is_said_where_it_would_matter(link: str, moved_bytes: float, words: str) -> None:
    said = across_links.slow_start(link, moved_bytes)
    assert bool(said) == bool(words)
    assert words in said


@pytest.mark.parametrize(
    ("value", "stated", "bytes_per_s"),
    [
        ("none", 0, 0),
        ("1ms", 1_000_000, 0),
        ("0.25ms", 250_000, 0),
        ("25ms@100mbit", 25_000_000, 12.5e6),
        ("0ms@1.5gbit", 0, 187.5e6),
        ("1ms@56kbit", 1_000_000, 7_000),
    ],
)
def test_what_a_link_states(value: str, stated: int, bytes_per_s: float) -> None:
    assert (link_ns(value), link_bytes_per_s(value)) == (stated, bytes_per_s)
