"""Claims and published figures."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters.published import CLAIMS, PUBLISHED
from rowpath.analysis.model import Analysis
from rowpath.errors import InternalError
from rowpath.model.claims import Check, Claim, Factors, PublishedColumn
from tests.unit import journal_factory as factory


def answered(tmp_path: Path, check: dict[str, Any], **options: Any) -> tuple[str, str]:
    """Outcome and figure of one check on the usual run."""
    experiment = {"claims": [{"id": "c", "claim": "said so", "check": check}]}
    analysis = analyse(factory.write(tmp_path, factory.records(factory.Run(experiment=experiment, **options))))
    (claim,) = CLAIMS.of(analysis)
    return claim.outcome, claim.figure


KEYED = {"workload": "keyed", "phase": "read", "regime": "steady"}
LAYER = {"numerator": {"driver": "pgjdbc"}, "denominator": {"driver": "libpq"}}  # truly 1.42


@pytest.mark.parametrize(
    ("bounds", "outcome"),
    [
        ({"at_least": 1.3}, "holds"),
        ({"at_least": 1.3, "at_most": 1.5}, "holds"),
        ({"at_least": 1.6}, "does not hold"),
        ({"at_most": 1.2}, "does not hold"),
        ({"at_least": 1.42}, "uncertain"),
    ],
)
def test_a_ratio_holds_when_its_interval_does(tmp_path: Path, bounds: dict[str, float], outcome: str) -> None:
    told, figure = answered(tmp_path, {"kind": "ratio", **KEYED, **LAYER, **bounds})
    assert told == outcome
    assert figure.startswith("1.4")
    assert figure.endswith("pgjdbc tcp / libpq unix")


def test_rates_are_the_other_way_round(tmp_path: Path) -> None:
    check = {"kind": "ratio", "metric": "row_rate", **KEYED, **LAYER, "at_most": 0.8}
    told, figure = answered(tmp_path, check)
    assert told == "holds"
    assert figure.startswith("0.70")


@pytest.mark.parametrize(
    "metric",
    ["client_cpu", "cpu", "client_peak_memory", "prepare", "lines_of_code", "lines_of_code_closure", "warm_up"],
)
def test_every_kind_of_metric_can_be_claimed(tmp_path: Path, metric: str) -> None:
    sides = {"numerator": {"name": "psycopg tcp"}, "denominator": {"name": "libpq unix"}}
    regime = "cold" if metric == "prepare" else "steady"
    told, figure = answered(
        tmp_path, {"kind": "ratio", "metric": metric, **KEYED, "regime": regime, **sides, "at_least": 0.001}
    )
    assert told == "holds", figure


@pytest.mark.parametrize(("metric", "outcome"), [("client_cpu", "holds"), ("cpu", "uncertain"), ("time", "uncertain")])
def test_of_a_stand_in_only_the_client_s_side_is_claimed(tmp_path: Path, metric: str, outcome: str) -> None:
    sides = {"numerator": {"name": "psycopg tcp"}, "denominator": {"name": "libpq unix"}}
    check = {"kind": "ratio", "metric": metric, **KEYED, **sides, "at_least": 0.001}
    made = factory.records(factory.Run(experiment={"claims": [{"id": "c", "claim": "said so", "check": check}]}))
    for record in made:
        if record.get("name") == "psycopg tcp":
            record["stands_in"] = "stand-in: client side only"
    (claim,) = CLAIMS.of(analyse(factory.write(tmp_path, made)))
    assert claim.outcome == outcome, claim.figure


def test_phases_can_be_compared(tmp_path: Path) -> None:
    sides = {"numerator": {"workload": "scan"}, "denominator": {"workload": "keyed"}}
    check = {"kind": "ratio", "phase": "read", "regime": "steady", **sides, "at_least": 200}
    assert answered(tmp_path, check) == ("holds", answered(tmp_path, check)[1])


def test_fewer_than_6_sets_decide_nothing(tmp_path: Path) -> None:
    told, figure = answered(tmp_path, {"kind": "ratio", **KEYED, **LAYER, "at_least": 1.1}, sets=3)
    assert told == "uncertain"
    assert "provisional: 3 sets" in figure


def test_what_was_not_measured_is_named(tmp_path: Path) -> None:
    check = {"kind": "ratio", **KEYED, "numerator": {"driver": "odbc"}, "denominator": {"language": "c"}, "at_least": 1}
    assert answered(tmp_path, check) == ("uncertain", "no path has a ranked figure for driver=odbc")


def test_a_wrong_path_stands_for_nothing(tmp_path: Path) -> None:
    sides = {"numerator": {"name": "psycopg cursor"}, "denominator": {"language": "c"}}
    check = {"kind": "ratio", "workload": "scan", "phase": "read", **sides, "at_least": 1}
    assert answered(tmp_path, check)[0] == "uncertain"


def test_flip_and_shrink(tmp_path: Path) -> None:
    sides = {
        "numerator": {"engine": "postgresql", "language": "c"},
        "denominator": {"engine": "sqlite", "language": "c"},
    }
    phases = {"first": {"workload": "keyed"}, "second": {"workload": "scan"}}
    at = {"phase": "read", "regime": "steady", **phases}
    assert answered(tmp_path, {"kind": "shrinks", **at, **sides})[0] == "holds"  # 2.96 to 2.48
    assert answered(tmp_path, {"kind": "flip", **at, **sides})[0] == "does not hold"
    turned = {"numerator": {"name": "derby embedded"}, "denominator": {"driver": "libpq"}}
    assert answered(tmp_path, {"kind": "flip", **at, **turned})[0] == "holds"  # 0.70 to 1.79


def test_not_testable_gives_its_reason(tmp_path: Path) -> None:
    assert answered(tmp_path, {"kind": "not-testable", "reason": "no such machine"}) == (
        "uncertain",
        "no such machine",
    )


@pytest.mark.parametrize(
    "check",
    [
        {"kind": "ratio", **LAYER},
        {"kind": "not-testable"},
        {"kind": "flip", **LAYER},
        {"kind": "ratio", "metric": "speed", "at_least": 1},
        {"kind": "ratio", "at_leest": 1},
        {"kind": "guess"},
    ],
)
def test_a_check_that_could_never_be_told_is_refused(tmp_path: Path, check: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(check, Check)
    with pytest.raises(InternalError, match="invalid head of a run"):
        answered(tmp_path, check)


COLUMN = {
    "column": "on the server",
    "unit": "records/s",
    "metric": "row_rate",
    "statistic": "best_of_five",
    "workload": "scan",
    "phase": "read",
    "reference": "C",
    "rows": [
        {"row": "C", "value": 20_000, "path": {"driver": "libpq"}},
        {"row": "Java", "value": 5_000, "path": {"driver": "pgjdbc"}},
        {"row": "RPG", "value": 50_000},
        {"row": "ODBC", "value": 6_000, "path": {"driver": "odbc"}, "note": "slip in print"},
    ],
}


def _published(tmp_path: Path, column: dict[str, Any]) -> Analysis:
    experiment = {"published": [column]}
    return analyse(factory.write(tmp_path, factory.records(factory.Run(experiment=experiment))))


def test_published_figures_stand_beside_measured_ones_as_ratios(tmp_path: Path) -> None:
    c, java, rpg, odbc = PUBLISHED.of(_published(tmp_path, COLUMN))
    assert (c.ratio, java.ratio, rpg.ratio) == (1, 0.25, 2.5)
    assert c.measured_ratio == 1
    assert java.measured_name == "pgjdbc tcp"
    assert java.measured_ratio == pytest.approx(2 * 5.2e6 / (25 * 8.8e6), rel=0.05)
    assert (rpg.measured_value, rpg.note) == (None, "")
    assert odbc.note == "slip in print; not measured in this run"


def test_a_scale_brings_the_figure_into_the_published_unit(tmp_path: Path) -> None:
    rows = [{"row": "SELECT", "value": 6.92, "path": {"name": "sqlite c"}}]
    column = {"column": "s", "unit": "s per 100,000", "scale": 1e-4, **KEYED, "rows": rows}
    (row,) = PUBLISHED.of(_published(tmp_path, column))
    assert row.measured_value == pytest.approx(0.57, rel=0.05)


def test_the_documentation_names_every_metric_and_its_examples_are_valid() -> None:
    import re
    import tomllib

    from rowpath.model.metrics import METRICS

    text = (Path(__file__).parents[3] / "docs" / "claims.md").read_text(encoding="utf-8")
    assert not [metric for metric in METRICS if f"`{metric}`" not in text]
    blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    for block in blocks:
        for line in block.splitlines():
            if line.startswith("check = "):
                msgspec.convert(tomllib.loads(line)["check"], Check)
        if block.startswith("[["):
            document = tomllib.loads(block)
            msgspec.convert(document.get("claims", []), list[Claim])
            msgspec.convert(document.get("published", []), list[PublishedColumn])
            msgspec.convert(document.get("factors", []), list[Factors])
