"""What documents show of runs is taken from them: commands, screens, tables, machine."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis, ClaimCheck, Published
from rowpath.planning.experiment_file import names
from tests.script import script
from tests.unit import journal_factory as factory

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
SCREEN = """\
scan.read · steady                                          time      ×       95 %
  C records (Berkeley DB)  ███████████████▏               4.09 ms  1.00×
╭ a path, with comma       █████████████████████████████  11.2 ms  2.76×  0.6–12.8
╰ Java records             █                              12.2 ms  3.86×  0.2–70.0

scan.read: C records (Berkeley DB) is fastest at 4.09 ms.
Report: records/report.html
"""
PAGE = f"""\
# A page

```sh
rowpath run one -o records
```

What it does.

```
{SCREEN}```

```console
$ rowpath run two
```

```sh
rowpath doctor
rowpath show records
```

Words.
"""


@pytest.fixture(scope="module")
def results() -> Any:
    return script("docs_results")


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analyse(factory.write(tmp_path_factory.mktemp("run"), factory.records(factory.Run())))


def test_only_sh_blocks_are_commands_and_the_next_plain_block_is_its_screen(results: Any) -> None:
    first, second = results.steps(PAGE)
    assert (first.command, first.screen) == ("rowpath run one -o records\n", SCREEN)
    assert PAGE[slice(*first.span)] == SCREEN
    assert (second.command, second.screen) == ("rowpath doctor\nrowpath show records\n", None)


def test_an_empty_screen_is_a_screen(results: Any) -> None:
    assert [step.screen for step in results.steps("```sh\nrowpath doctor\n```\n\n```\n```\n")] == [""]


def test_the_paths_of_a_screen_are_those_with_a_bar(results: Any) -> None:
    assert results.paths_shown(SCREEN) == ["C records (Berkeley DB)", "a path, with comma", "Java records"]


def test_a_result_has_each_ranked_path_once_in_each_ranking(results: Any, usual: Analysis) -> None:
    shown = results.result(usual)
    rows = [line.strip("| ").split(" | ") for line in shown.splitlines() if line.startswith("| ")]
    places = [(row[0], row[1]) for row in rows if row[0].isdigit()]
    bars = [bar for phase in usual.answer.phases for bar in phase.bars]
    assert [name for _, name in places] == [bar.name for bar in bars]
    assert bars
    tied = [place == before for (before, _), (place, _) in itertools.pairwise(places)]
    assert tied == [bar.tied for bar in bars[1:]]


def test_a_result_states_answer_trust_date_machine_and_versions(results: Any, usual: Analysis) -> None:
    shown = " ".join(results.result(usual).split())
    for said in (*usual.answer.sentences, usual.answer.trust.line, usual.run.started[:10]):
        assert results.escaped(" ".join(said.split())) in shown, said
    for each in usual.path_details:
        assert each.name in shown


def test_a_refused_run_is_refused_first(results: Any, usual: Analysis) -> None:
    refused = msgspec.structs.replace(usual, refusal="The machine was too busy.")
    assert results.result(refused).startswith("**The machine was too busy.**\n")


def test_a_page_takes_the_result_of_a_run(results: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- begin result -->\nold\n<!-- end result -->\nafter\n", encoding="utf-8")
    directory = factory.write(tmp_path, factory.records(factory.Run()))
    results.renew_question(page, directory)
    text = page.read_text(encoding="utf-8")
    shown = results.result(analyse(directory))
    assert text == f"before\n<!-- begin result -->\n{results.sealed(shown)}\nafter\n"


def test_no_result_was_edited_by_hand(results: Any) -> None:
    pages = [*(DOCS / "questions").glob("*.md"), results.TABLES, results.WIRES]
    shown = [each for page in pages for each in results.RESULT.finditer(page.read_text(encoding="utf-8"))]
    assert len(shown) > len(pages)
    for each in shown:
        assert each[0] == each["begin"] + results.sealed(each["shown"]), f"{each['name']}: make docs-results"
    (page,) = (page for page in pages if page.stem == "sqlite-or-postgresql")
    edited = results.RESULT.search(page.read_text(encoding="utf-8").replace("Measured on 20", "Measured on 21"))
    assert edited[0] != edited["begin"] + results.sealed(edited["shown"])


@pytest.mark.parametrize("page", sorted((DOCS / "questions").glob("*.md")), ids=lambda page: page.stem)
def test_a_question_page_shows_the_run_of_its_own_experiment(results: Any, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = text.partition("<!-- begin result -->")[2].partition("<!-- end result")[0]
    assert "Measured on " in shown and "Trust: " in shown
    experiment = results.steps(text)[0].command.split()[2]
    assert experiment in {page.with_suffix(".toml").name, *names()}


MOST_LINES = 25  # of what Rowpath says of a public table
TABLE = """\
<!-- begin result of one -->
old
<!-- end result -->
words
<!-- begin result of two -->
<!-- end result -->
"""


def test_a_table_run_again_has_both_figures_every_claim_and_the_machine(results: Any, usual: Analysis) -> None:
    rows = tuple(
        Published("500 rows", row, value, "µs", value / 700, row, value * 500, 1.5 if value > 700 else 1.0)
        for row, value in (("pg", 700.0), ("other", 770.0))
    )
    claims = (ClaimCheck("slower", "other is slower", "does not hold", "1.01× (0.98–1.04)"),)
    shown = results.table_result(msgspec.structs.replace(usual, chapters={"published": rows, "claims": claims}))
    assert "| 500 rows | other | 770 µs | 1.10× | 385 ms | 1.50× |\n" in shown
    assert "- **does not hold**: other is slower: 1.01× (0.98–1.04)\n" in shown
    assert " ".join(shown.split()).endswith(results.escaped(results.machine(usual)))
    refused = msgspec.structs.replace(usual, refusal="The machine was too busy.")
    assert results.table_result(refused).startswith("**The machine was too busy.**\n")


def test_a_run_fills_the_place_of_its_own_experiment_only(results: Any, tmp_path: Path) -> None:
    page = tmp_path / "tables.md"
    directory = factory.write(tmp_path, factory.records(factory.Run()))
    analysis = analyse(directory)
    name = analysis.run.experiment.name
    page.write_text(TABLE.replace("result of two", f"result of {name}"), encoding="utf-8")
    results.renew_tables(page, directory)
    first, second = (each["shown"] for each in results.RESULT.finditer(page.read_text(encoding="utf-8")))
    assert (first, second) == ("old\n", results.table_result(analysis))


def test_a_refused_run_replaces_no_result(
    results: Any, usual: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "tables.md"
    named = TABLE.replace("result of one", f"result of {usual.run.experiment.name}")
    refused = msgspec.structs.replace(usual, refusal="The machine was too busy.")
    monkeypatch.setattr(results, "analyse", lambda directory: refused)
    page.write_text(named.replace("old", "Measured on a day"), encoding="utf-8")
    results.renew_tables(page, tmp_path)
    assert "Measured on a day" in page.read_text(encoding="utf-8")
    page.write_text(named, encoding="utf-8")
    results.renew_tables(page, tmp_path)
    assert "too busy" in page.read_text(encoding="utf-8")


def test_each_public_table_shows_a_run_of_its_own_experiment(results: Any) -> None:
    text = results.TABLES.read_text(encoding="utf-8")
    found = list(results.RESULT.finditer(text))
    assert [each["name"] for each in found] == re.findall(r"`rowpath run (\S+)`", text)
    assert {each["name"] for each in found} <= {name for name in names() if name.startswith("published-")}
    for each in found:
        assert "Measured on " in each["shown"] and "Trust: " in each["shown"], each["name"]
        assert each["shown"].count("\n") <= MOST_LINES, each["name"]


@pytest.mark.parametrize("language", ["python", "java"])
def test_a_page_of_layers_has_each_layer_in_both_profiles_beside_its_code(results: Any, language: str) -> None:
    page = DOCS / f"layers-{language}.md"
    text = page.read_text(encoding="utf-8")
    (found,) = results.RESULT.finditer(text)
    assert results.steps(text)[0].command.split()[2] == page.with_suffix(".toml").name == f"{found['name']}.toml"
    assert found[0] == found["begin"] + results.sealed(found["shown"]), "edited by hand"
    assert "Measured on " in found["shown"] and "Trust: " in found["shown"]
    for layer in re.findall(r"^## (\S+)\nAbove", text, re.MULTILINE):
        for profile in ("shipped", "tuned"):
            assert re.search(rf"^\| {layer} \({profile}\) \|", found["shown"], re.MULTILINE), (layer, profile)


def test_the_picture_is_small() -> None:
    assert 10_000 < (DOCS / "images" / "page.png").stat().st_size < 150_000
