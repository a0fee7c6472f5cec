"""The five articles: each comparison is a claim, and the default run has every path that claims and figures need."""

from __future__ import annotations

import re

import pytest

from rowpath.analysis.claims import MEASURED_AT, selected
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.cli.plan import plan_for
from rowpath.model.claims import Check, Selector
from rowpath.planning.experiment_file import load_experiment
from rowpath.planning.plan import Plan
from tests.script import script

# What each article compares, in our words, and the claims of its experiment that answer it.
SENTENCES = {
    "keyed-reads": {
        "MySQL creates the table far faster": ("create-table",),
        "reading costs about as much as inserting": ("reading-costs-as-much-as-inserting",),
        "the workstation beats the server itself": ("workstation-beats-server",),
        "MySQL leads from the workstation, Toolbox on the server": ("ranking-flips",),
        "the gap of 1,000 inserts is gone with 10,000": ("insert-gap-vanishes",),
        "native access is over 50 times faster": ("native-50-times", "native-20-times"),
        "both drivers perform roughly alike": ("drivers-equal",),
        "SQL is made for sets, the test reads single records": ("a-set-at-a-time",),
        "thousands of records are fine, millions are not": ("not-for-millions",),
        "a record through SQL takes 2 ms": ("two-milliseconds",),
    },
    "embedded-or-server": {
        "the library is about 3 times as fast": (
            "three-times-select",
            "three-times-select-split",
            "three-times-insert",
            "three-times-update",
        ),
        "heavier statements gain less": ("heavier-statements-shrink-it",),
        "with InnoDB the gain is smaller in per cent": ("innodb-gains-less",),
        "not time is saved, but hardware": ("saves-hardware",),
    },
    "reads-writes-backup": {
        "a backup takes two thirds of the writes": ("writes-fall-embedded", "writes-fall-network"),
        "no write is suspended or rejected": ("none-rejected", "none-suspended"),
        "a backup does not touch reads": ("reads-unaffected-embedded", "reads-unaffected-network"),
        "embedded and network server are equal within error": ("reads-equal", "writes-equal", "backup-equal"),
        "the loopback's traffic grows with the rate": ("traffic-grows-with-rate",),
        "a difference may show with many rows": ("many-rows",),
    },
    "access-methods": {
        "SQL embedded in RPG beats record-level access": (
            "embedded-sql-beats-records",
            "embedded-sql-beats-records-steady",
        ),
        "it is 92 % faster than records from C": ("embedded-sql-beats-c-records",),
        "it is 246 % faster than SQL embedded in C": ("embedded-sql-in-blocks",),
        "ADO costs 8.5 %": ("layer-ado",),
        "OLE DB costs 26 %": ("layer-ole-db",),
        "JDBC is 63.3 % of ODBC; ODBC is not slow": ("layer-jdbc", "layer-jdbc-steady"),
        "ODBC called from another language": ("odbc-from-another-language",),
        "speed depends on number and types of fields": ("number-of-fields", "types-of-fields"),
        "packages make JDBC faster": ("packages-beat-none", "cached-plan-halves-preparing"),
        "packages against the native driver": ("packages-beat-native-driver", "order-flips-with-size"),
        "record-level access from Java is hopeless": ("java-records-hopeless",),
        "ODBC takes ten times the code of ADO": ("ten-times-the-code",),
    },
    "bulk-retrieval": {
        "text is 6 times faster than Oracle": ("text-beats-oracle", "text-beats-oracle-steady"),
        "text is 9 times faster than MySQL": ("text-beats-mysql", "text-beats-mysql-steady"),
        "Oracle delivers faster than MySQL": ("oracle-beats-mysql",),
        "100,000 and 80,000 rows a second": ("rows-per-second",),
        "the columnar file is 3 times faster than text": ("columns-beat-text",),
        "an aggregate returns fast: the driver is the obstacle": ("aggregate-is-fast",),
        "it is much faster than over the text file": ("aggregate-beats-text",),
        "6 connections bring 5 times the speed": ("parallel-oracle",),
        "4 segments bring 3.6 and 3.8 times": ("parallel-text", "parallel-columnar"),
    },
}
NOT_OF_THE_ARTICLE = {"embedded-or-server": {"placement-decides"}, "bulk-retrieval": {"aggregate-over-parquet"}}
ELSEWHERE = {*MEASURED_AT, "name", "stage", "client_group"}  # what a selector names beside coordinates

articles = pytest.mark.parametrize("name", SENTENCES)


@articles
def test_each_comparison_has_its_claims_and_each_claim_its_comparison(name: str) -> None:
    claims = [claim.id for claim in load_experiment(name).experiment.claims]
    answering = [id_ for ids in SENTENCES[name].values() for id_ in ids]
    assert all(SENTENCES[name].values())
    assert sorted(claims) == sorted([*answering, *NOT_OF_THE_ARTICLE.get(name, ())])


def sides(check: Check) -> list[Selector]:
    """Every selector for which the claim needs a path, with the workload and phase at which."""
    if check.kind == "not-testable":
        return []
    place: Selector = {"workload": check.workload, "phase": check.phase}
    both = (check.numerator,) if check.kind in ("figure", "never-above") else (check.numerator, check.denominator)
    return [place | side | added for side in both for added in (check.first, check.second)]


def planned(plan: Plan, wanted: Selector) -> bool:
    """Whether a path of the plan, or one that only this machine lacks, is what is wanted, where it is wanted."""
    own = {key: value for key, value in wanted.items() if key not in ELSEWHERE}
    where = [str(wanted.get(key, "")) for key in ("workload", "phase")]
    served = ".".join(where) if all(where) else ""
    return any(selected(one.path.as_dict(), own) and (not served or served in one.phases) for one in plan.paths) or any(
        selected(one.path.as_dict(), own) for one in plan.dropped
    )


@articles
def test_nothing_needs_a_path_that_only_all_runs(name: str) -> None:
    plan = plan_for(name, {}, seed=1)
    experiment = plan.experiment
    assert experiment.measure.sets >= SETS_FOR_CLAIMS
    rows = [
        {"workload": column.workload, "phase": column.phase} | row.path
        for column in experiment.published
        for row in column.rows
        if row.path
    ]
    wanted = [*rows, *(side for claim in experiment.claims for side in sides(claim.check))]
    assert [one for one in wanted if not planned(plan, one)] == []
    stages = {stage.name for stage in experiment.stages if not stage.extended}
    assert {one["stage"] for one in wanted if "stage" in one} <= stages


def test_the_page_has_a_place_for_each_article_and_no_provisional_result() -> None:
    results = script("docs_results")
    found = list(results.RESULT.finditer(results.ARTICLES.read_text(encoding="utf-8")))
    assert {each["name"] for each in found} == set(SENTENCES)
    for each in found:
        if each["shown"]:  # a place stays empty until its experiment was measured
            assert each[0] == each["begin"] + results.sealed(each["shown"]), "edited by hand"
            assert "Measured on " in each["shown"]
            assert not re.search(r"provisional|Trust: (unproven|partial|refused)", each["shown"]), each["name"]
