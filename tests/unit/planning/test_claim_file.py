"""Published claims: every file names an experiment, its claims and paths; a verdict follows from their outcomes."""

from __future__ import annotations

import msgspec
import pytest

from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.cli.plan import plan_within
from rowpath.errors import UsageError
from rowpath.planning import experiment_file
from rowpath.planning.claim_file import OnlyIf, PublishedClaim, load_claim, names
from rowpath.planning.estimate import estimate_s
from rowpath.planning.experiment_file import load_experiment
from rowpath.planning.overrides import NOT_OVERRIDDEN

MOST_S = 600.0


@pytest.mark.parametrize("name", names())
def test_a_claim_can_be_decided_within_ten_minutes(name: str) -> None:
    claim = load_claim(name)
    assert claim.differs
    plan, _cost = plan_within(claim.experiment, claim.filters, NOT_OVERRIDDEN, MOST_S, extended=True, seed=1)
    assert estimate_s(plan) <= MOST_S
    assert plan.experiment.measure.sets >= SETS_FOR_CLAIMS
    checks = {each.id: each.check for each in load_experiment(claim.experiment).experiment.claims}
    for id_ in claim.decided_by:
        for side in (checks[id_].numerator, checks[id_].denominator):
            wanted = {key: (value,) if isinstance(value, str) else value for key, value in side.items()}
            assert any(
                all(planned.path.get(key) in values for key, values in wanted.items() if key in planned.path.as_dict())
                for planned in plan.paths
            ), side


def test_every_published_table_has_a_claim() -> None:
    published = {name for name in experiment_file.names() if name.startswith("published-")}
    assert published <= {load_claim(name).experiment for name in names()}


def claim_of(*decided_by: str, only_if: tuple[OnlyIf, ...] = ()) -> PublishedClaim:
    return msgspec.structs.replace(load_claim(names()[0]), decided_by=decided_by, only_if=only_if)


def test_a_verdict_needs_every_claim() -> None:
    both = claim_of("a", "b")
    assert both.verdict({"a": "holds", "b": "holds"}) == "holds"
    assert both.verdict({"a": "holds", "b": "does not hold"}) == "does not hold"
    assert both.verdict({"a": "uncertain", "b": "does not hold"}) == "does not hold"
    assert both.verdict({"a": "holds", "b": "uncertain"}) == "uncertain"
    assert both.verdict({"a": "holds"}) == "uncertain"


def test_a_condition_is_named_where_it_decides() -> None:
    conditional = claim_of("a", only_if=(OnlyIf("the link takes 1 ms", "a", "b"),))
    assert conditional.verdict({"a": "holds", "b": "does not hold"}) == "holds only if the link takes 1 ms"
    assert conditional.verdict({"a": "holds", "b": "uncertain"}) == "holds"
    assert conditional.verdict({"a": "does not hold", "b": "holds"}) == "does not hold"


def test_an_unknown_claim_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown claim 'qail-copi'") as refused:
        load_claim("qail-copi")
    assert refused.value.hint == "did you mean 'qail-copy'?"
