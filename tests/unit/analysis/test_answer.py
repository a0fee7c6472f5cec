"""The short form of an analysis: what it shows first, what it merges, what it counts."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.answer import CHOSEN, SENTENCES, answer, chosen, merged
from rowpath.analysis.answer_model import Bar, Finding, PhaseAnswer, Sentence
from rowpath.analysis.model import Analysis
from rowpath.journal.records import RunRecord
from rowpath.model.probe import LanguageBest, LanguageRow, Probe
from tests.unit import groups_factory as groups
from tests.unit import journal_factory as factory


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analyse(factory.write(tmp_path_factory.mktemp("run"), factory.records(factory.Run())))


def made(tmp_path: Path, **options: Any) -> Analysis:
    return analyse(factory.write(tmp_path, factory.records(factory.Run(**options))))


def finding(id_: str, *paths: str, severity: Any = "warning", share: float | None = None) -> Finding:
    return Finding(id_, severity, f"{id_} of {', '.join(paths)}", "evidence", paths=paths, share=share)


def test_every_leading_ranking_is_steady_and_its_bars_are_the_ranked_paths(usual: Analysis) -> None:
    assert [(each.title, each.regime) for each in usual.answer.phases] == [
        ("scan.read", "steady"),
        ("keyed.read", "steady"),
    ]
    for phase in usual.answer.phases:
        ranking = next(
            each
            for each in usual.rankings
            if (each.workload, each.phase, each.regime, each.comparison)
            == (phase.workload, phase.phase, phase.regime, phase.comparison)
        )
        ranked = [row for row in ranking.rows if row.rank]
        assert [(bar.name, bar.cost_ns) for bar in phase.bars] == [(row.name, row.cost_ns) for row in ranked]
        assert phase.unranked.keys() == {row.name for row in ranking.rows if not row.rank}
    scan = usual.answer.phases[0]
    assert "digest" in scan.unranked["psycopg cursor"]
    assert scan.rows == factory.SCAN_ROWS


def test_the_parts_of_a_bar_are_its_time(usual: Analysis) -> None:
    served = [bar for phase in usual.answer.phases for bar in phase.bars if bar.server_cpu_ns is not None]
    assert {bar.name for bar in served} >= {"libpq unix", "pgjdbc tcp"}
    for bar in served:
        assert bar.client_cpu_ns is not None
        assert bar.waiting_ns is not None
        assert bar.server_cpu_ns is not None
        whole = bar.client_cpu_ns + bar.server_cpu_ns + bar.waiting_ns - bar.overlap_ns
        assert whole == pytest.approx(bar.cost_ns)
        assert bar.low_ns is not None
        assert bar.high_ns is not None
        assert bar.low_ns < bar.cost_ns < bar.high_ns
    libpq = next(bar for bar in served if bar.name == "libpq unix")
    assert libpq.client_cpu_ns == pytest.approx(0.3 * libpq.cost_ns, rel=0.05)


def test_tied_paths_are_marked_after_the_first_of_their_tier(usual: Analysis) -> None:
    bars = usual.answer.phases[1].bars
    for before, bar in itertools.pairwise(bars):
        assert bar.tied == (bar.tier == before.tier)
    assert {bar.name for bar in bars if bar.tied} & {"libpq tcp", "libpq unix"}
    assert not bars[0].tied


def test_a_few_sentences_of_different_kinds_are_chosen(usual: Analysis) -> None:
    sentences = usual.answer.sentences
    assert len(sentences) == SENTENCES
    assert set(sentences) < set(usual.verdict)
    assert sentences[0].startswith("scan.read: file c is fastest at")
    assert sentences[1].startswith("keyed.read: sqlite c is fastest at 5.6")
    assert any("the time of" in each for each in sentences[2:])


def test_no_ratio_is_said_twice(usual: Analysis) -> None:
    words = " ".join(usual.verdict).replace(";", "").replace(".", "").split()
    ratios = [f"{word} {interval}" for word, interval in itertools.pairwise(words) if word.endswith("×")]
    assert len(ratios) > 6
    assert len(ratios) == len(set(ratios))


def test_what_is_provisional_is_said_once(tmp_path: Path) -> None:
    answer = made(tmp_path, sets=3).answer
    assert answer.trust.level == "provisional"
    assert [each for each in answer.sentences if "rovisional" in each] == [
        "Provisional: at most 3 sets, and claims need 6; no difference is claimed."
    ]
    assert not [each for each in answer.sentences if "no significant" in each or "no difference shown" in each]


@pytest.mark.parametrize("about", CHOSEN)
def test_the_uncertain_is_among_the_five_whatever_else_there_is(about: str) -> None:
    sentences = [
        Sentence(kind, f"{kind} {number}", number) for kind in dict.fromkeys(CHOSEN[about]) for number in range(9)
    ]
    texts = chosen(sentences)
    assert len(texts) == SENTENCES
    assert "uncertain 8" in texts
    assert texts[0] == f"{about or 'fastest'} 0"


def test_findings_of_one_id_are_one_and_errors_come_first() -> None:
    phase = PhaseAnswer("w", "p", "steady", "", "w.p", tuple(_bar(n, c) for n, c in (("a", 1.0), ("b", 9.0))))
    found = merged(
        [
            finding("periodic-cost", "a"),
            finding("width-not-reached", "a", severity="note"),
            finding("periodic-cost", "b"),
            finding("collector-pauses", "b", share=0.02),
            finding("periodic-cost", "c"),
            finding("wrong-rows", "z", severity="error"),
        ],
        [phase],
    )
    assert [each.id for each in found] == ["wrong-rows", "periodic-cost", "collector-pauses", "width-not-reached"]
    assert found[1].text == "a cost that the median hides: 3 paths"
    assert found[1].paths == ("a", "b", "c")
    assert [each.paths for each in found[1].members] == [("a",), ("b",), ("c",)]
    assert found[2].weight == pytest.approx(0.02 * 0.9)


def test_one_finding_is_its_own_text_where_that_is_short_or_names_no_path() -> None:
    long = "a text that says much more than fits into one line of a terminal, and then some more of it"
    (short,) = merged([finding("periodic-cost", "a")])
    (bare,) = merged([Finding("neighbour-noise", "warning", long, "")])
    (named,) = merged([Finding("periodic-cost", "warning", long, "", paths=("a", "b"))])
    assert (short.text, bare.text) == ("periodic-cost of a", long)
    assert named.text == "a cost that the median hides: a and b"


def test_a_group_is_shown_with_its_rate_on_every_path(tmp_path: Path) -> None:
    answer = analyse(factory.write(tmp_path, groups.records())).answer
    assert [(each.stage, each.client_group) for each in answer.groups] == [
        ("together", "readers"),
        ("together", "writers"),
        ("with a backup", "readers"),
        ("with a backup", "writers"),
    ]
    readers = answer.groups[0].bars
    assert [(bar.name, round(bar.ratio, 3)) for bar in readers] == [("embedded", 1.0), ("server", 0.5)]
    assert readers[0].low is not None
    assert any("backup" in each for each in answer.sentences)
    assert answer.trust.line.startswith("proven and quiet: 6 sets")


def test_an_interrupted_run_is_not_trusted_whole(tmp_path: Path) -> None:
    records = factory.records(factory.Run(sets=2))
    answer = analyse(factory.write(tmp_path, records[: len(records) // 2])).answer
    assert answer.trust.level == "partial"
    assert answer.trust.reasons[0].startswith("The run is partial")


def test_what_is_not_shown_is_counted(usual: Analysis) -> None:
    hidden = {each.what: each.count for each in usual.answer.hidden}
    assert hidden["rankings"] == len(usual.rankings) - 2
    assert hidden["sentences"] == len(usual.verdict) - SENTENCES


def _bar(name: str, cost: float) -> Bar:
    return Bar(name, name, cost, None, None, cost, None, None, 0, tied=False)


def test_findings_know_which_share_of_the_time_they_concern(usual: Analysis) -> None:
    (disturbed,) = (each for each in usual.findings if each.id == "disturbed-blocks")
    assert disturbed.share == usual.diagnostics["disturbed"]["share"]
    assert {each.id: each.weight for each in usual.answer.findings}["disturbed-blocks"] <= disturbed.share


def test_what_was_refused_has_no_bar_in_a_probe() -> None:
    def shown(step: str, fastest: str) -> PhaseAnswer:
        rows = (row("a", 1.0, fastest), row("b", 2.0, step))
        best = LanguageBest("c", "a", "row", 1.0, 1.0, fastest, "C", rows)
        probe = Probe((), (best,), (), (), (), ())
        made = Analysis(RunRecord(), {}, (), (), (), (), chapters={"probe": probe})
        (phase,) = answer(made, (), (), {}).phases
        return phase

    def row(name: str, ratio: float, step: str) -> LanguageRow:
        return LanguageRow(name, name, "row", ratio, ratio, None, None, step)

    assert [bar.name for bar in shown("full sets", "full sets").bars] == ["a", "b"]
    assert [bar.name for bar in shown("too busy", "full sets").bars] == ["a"]
    refused = shown("try", "too busy")
    assert refused.bars == ()
    assert refused.unranked == {"a": "too busy"}
