"""`rowpath run`: what a resumed run takes, and filters that are repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.cli.arguments import commands, option_names, parse
from rowpath.cli.options import filters_of, parse_filters
from rowpath.cli.run import run
from rowpath.errors import UsageError


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["tour"], "tour"),
        (["engine=sqlite"], "engine=sqlite"),
        (["-r", "3"], "--runs"),
        (["--within", "3m"], "--within"),
        (["--scale", "0.5"], "--scale"),
        (["--seed", "0"], "--seed"),
        (["-R", "100"], "--rate"),
        (["--rigorous"], "--rigorous"),
        (["--fast"], "--fast"),
        (["--together", "fetch"], "--together"),
        (["--tape", "a.tape"], "--tape"),
        (["-M", "text"], "--mode"),
        (["--all"], "--all"),
        (["-o", "elsewhere"], "--out"),
        (["--hosts", "hosts.toml"], "--hosts"),
        (["--plan", "-w", "1"], "--warmup"),
    ],
)
def test_a_resumed_run_refuses_what_says_what_to_measure(given: list[str], named: str) -> None:
    with pytest.raises(UsageError, match=f"--resume does not take '{named}': what is measured comes from") as refused:
        run(parse(["run", "--resume", "some-run", *given]))
    assert refused.value.hint == "rowpath run --resume some-run"


@pytest.mark.parametrize(
    "given", [[], ["--timeout", "120"], ["--wait-for-quiet", "0s", "-q", "--tables", "--gate"], ["--export-csv", "-"]]
)
def test_it_takes_what_says_how_to_go_on_and_what_to_show(given: list[str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run directory"):
        run(parse(["run", "--resume", str(tmp_path), *given]))


def test_every_option_of_run_is_of_one_kind_or_the_other() -> None:
    """A new option is refused with --resume unless it is listed as taken, and what is listed exists."""
    from rowpath.cli.run import WITH_RESUME

    assert set(option_names(commands()["run"]).values()) > WITH_RESUME


def test_values_of_a_repeated_filter_add_up() -> None:
    found = parse_filters(["engine=sqlite,null", "language=c", "engine=postgresql", "engine=null"])
    assert found == {"engine": ("sqlite", "null", "postgresql"), "language": ("c",)}
    options = parse(["run", "tour", "-M", "text", "statement=bound", "statement=prepared"])
    assert filters_of(options) == {"statement": ("bound", "prepared", "text")}
