"""The answer in a terminal: one screen whatever the run, in any width, without colour and without UTF-8."""

from __future__ import annotations

import io
import random
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from rowpath.analysis.analyse import analyse
from rowpath.analysis.answer_model import (
    Answer,
    Bar,
    Finding,
    GroupAnswer,
    Hidden,
    MergedFinding,
    PhaseAnswer,
    RateBar,
    Trust,
)
from rowpath.analysis.model import Analysis
from rowpath.cli.plan import plan_for
from rowpath.journal.records import RunRecord
from rowpath.planning.experiment_file import load_experiment, names
from rowpath.planning.overrides import Overrides
from rowpath.report import terminal, terminal_tables
from rowpath.report.console import PlainStream, make_console
from tests.unit import groups_factory as groups
from tests.unit import journal_factory as factory

WIDTHS = (60, 61, 79, 80, 99, 100, 132, 200)
DIRECTORY = Path("rowpath-runs/tour")
WORDS = (
    "PostgreSQL",
    "Derby",
    "embedded",
    "server",
    "Java",
    "text",
    "fetch=1000",
    "42.7.14",
    "1.63×",
    "(1.59–1.67)",
    "of",
)


def printed(analysis: Analysis, width: int, *, color: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=color, color_system="truecolor" if color else None)
    terminal.render(analysis, console, DIRECTORY, DIRECTORY / "report.html")
    return file.getvalue()


def fits(analysis: Analysis) -> None:
    for width in WIDTHS:
        lines = printed(analysis, width).splitlines()
        assert len(lines) <= terminal.LINES, width
        assert max(map(len, lines)) <= width, max(lines, key=len)


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words))


def anything(seed: int) -> Analysis:
    """An answer of any size with texts of any length."""
    rng = random.Random(seed)

    def phase(number: int) -> PhaseAnswer:
        costs = sorted(rng.lognormvariate(10, rng.choice((0.001, 1, 5))) for _ in range(rng.randrange(1, 90)))
        bars = tuple(
            Bar(
                _text(rng, rng.randrange(1, 7)), str(at), cost, cost * 0.9, cost * 1.1, cost / costs[0],
                cost / costs[0] * 0.9, cost / costs[0] * 1.1, at, tied=at > 0 and rng.random() < 0.4,
            )
            for at, cost in enumerate(costs)
        )  # fmt: skip
        unranked = {_text(rng, 3): _text(rng, 8) for _ in range(rng.randrange(4))}
        return PhaseAnswer("w", "p", "steady", _text(rng, 5), f"w.p{number}", bars, unranked=unranked, sets=6)

    def group(number: int) -> GroupAnswer:
        rates = sorted((rng.choice((0.0, rng.lognormvariate(8, 3))) for _ in range(rng.randrange(1, 6))), reverse=True)
        bars = tuple(
            RateBar(_text(rng, 2), "", rate, None, None, rate / (rates[0] or 1), None, rng.random() < 0.5, 0)
            for rate in rates
        )
        return GroupAnswer(f"stage {number}", _text(rng, 1), 1, rng.choice((None, 200.0)), bars, 2)

    findings = tuple(
        MergedFinding(f"id-{at}", rng.choice(("error", "note")), _text(rng, rng.randrange(3, 30)), (), 0.1, ())
        for at in range(rng.randrange(9))
    )
    answer = Answer(
        question=_text(rng, rng.randrange(0, 40)),
        trust=Trust("disturbed", _text(rng, rng.randrange(4, 40))),
        phases=tuple(map(phase, range(rng.choice((0, 1, 2, 5, 40))))),
        groups=tuple(map(group, range(rng.choice((0, 0, 8, 30))))),
        sentences=tuple(_text(rng, rng.randrange(5, 120)) for _ in range(rng.randrange(6))),
        findings=findings,
        hidden=tuple(Hidden(f"{_text(rng, 2)} things", rng.randrange(1, 99)) for _ in range(rng.randrange(6))),
    )
    refusal = _text(rng, 60) if rng.random() < 0.3 else ""
    return Analysis(RunRecord(), {}, (), (), (), (), refusal, answer=answer)


@pytest.mark.parametrize("seed", range(60))
def test_an_answer_of_any_size_fits_one_screen(seed: int) -> None:
    fits(anything(seed))


def made_of(experiment: str) -> list[factory.Record]:
    """A journal with all paths and phases of an experiment, its times made up."""
    plan = plan_for(experiment, {}, Overrides(sets=2), seed=1)
    rng = random.Random(1)
    paths = [
        factory.MadePath(
            planned.name,
            planned.path.as_dict(),
            {phase: rng.lognormvariate(13, 2) for phase in planned.phases},
            client_share=0.4 if planned.path.get("deployment") == "server" else 1.0,
        )
        for planned in plan.paths
    ]
    comparisons = {planned.name: planned.comparison for planned in plan.paths}
    made = factory.records(factory.Run(paths=paths, sets=2, rounds=2, experiment={"name": experiment}))
    for record in made:
        if record["record"] == "path":
            record["comparison"] = comparisons[record["name"]]
    return made


@pytest.mark.parametrize("experiment", [name for name in names() if not load_experiment(name).experiment.client_groups])
def test_every_experiment_fits_one_screen(experiment: str, tmp_path: Path) -> None:
    analysis = analyse(factory.write(tmp_path, made_of(experiment)))
    assert analysis.answer.phases
    fits(analysis)


def test_client_groups_fit_one_screen(tmp_path: Path) -> None:
    analysis = analyse(factory.write(tmp_path, groups.records()))
    fits(analysis)
    text = printed(analysis, 100)
    assert "with a backup · readers" in text
    assert "0.500×" in text


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analyse(factory.write(tmp_path_factory.mktemp("run"), factory.records(factory.Run())))


def test_the_refusal_is_the_first_line(usual: Analysis) -> None:
    refused = msgspec.structs.replace(usual, refusal="The machine was too busy to measure a.")
    assert printed(refused, 100).splitlines()[0] == "The machine was too busy to measure a."


def test_bars_are_longer_where_more_time_is_taken_and_ties_are_joined(usual: Analysis) -> None:
    lines = printed(usual, 120).splitlines()
    scan = lines[next(at for at, line in enumerate(lines) if line.startswith("scan.read")) + 1 :]
    bars = [line.count("█") for line in scan[:6]]
    assert bars == sorted(bars)
    assert bars[0] < bars[-1]
    both = [line for line in lines if ("libpq unix" in line and "█" in line) or ("libpq tcp" in line and "█" in line)]
    assert {line[0] for line in both} >= {"╭", "╰"}


def test_colour_adds_nothing_that_is_not_said_without(usual: Analysis) -> None:
    import re

    colored = printed(usual, 100, color=True)
    assert "\x1b[" in colored
    plain = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in plain.splitlines()] == printed(usual, 100).splitlines()


class Latin(io.StringIO):
    """What a terminal without UTF-8 would get; writing anything else is an error."""

    encoding = "iso-8859-1"  # type: ignore[assignment]

    def write(self, text: str) -> int:
        text.encode("ascii")
        return super().write(text)


def test_a_terminal_without_utf_8_gets_ascii_in_the_same_columns(usual: Analysis) -> None:
    for render in (terminal.render, terminal_tables.render):
        texts = []
        for file in (Latin(), io.StringIO()):
            stream = PlainStream(file)
            console = Console(file=stream, width=100, color_system=None)  # type: ignore[arg-type]
            render(usual, console, DIRECTORY)
            texts.append(file.getvalue())
        plain, full = texts
        assert [len(line) for line in plain.splitlines()] == [len(line) for line in full.splitlines()]
        assert plain.isascii()
        assert not full.isascii()
        assert "?" not in plain.replace("here?", "")


def test_a_pipe_gets_no_blanks_at_the_end_of_lines(usual: Analysis, capsys: pytest.CaptureFixture[str]) -> None:
    for color in ("never", "always"):
        terminal_tables.render(usual, make_console(color))
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) > 100
        bare = [line.removesuffix("\x1b[0m") for line in lines]
        assert not [line for line in bare if line.endswith(" ")]


def test_findings_that_trust_holds_already_are_not_listed_twice() -> None:
    noise = Finding("neighbour-noise", "warning", "other programs used the machine during 6 of 6 sets", "")
    found = MergedFinding(noise.id, "warning", noise.text, (), 1.0, (noise,))
    answer = Answer("?", Trust("disturbed", f"disturbed: 6 sets; {noise.text}"), findings=(found,))
    text = printed(Analysis(RunRecord(), {}, (), (), (), (), answer=answer), 100)
    assert text.count("used the machine") == 1
