"""`rowpath claim`: the list, a verdict from a run, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.planning.claim_file import load_claim, names
from tests.end_to_end.command import called, error_form, rowpath


def test_every_claim_is_listed_with_its_figure() -> None:
    done = called("claim", "list")
    assert done.returncode == 0 and done.stderr == ""
    assert [line.split()[0] for line in done.stdout.splitlines() if line[:1].strip()] == names()
    for name in names():
        assert load_claim(name).figure in done.stdout


def test_a_run_of_the_claims_experiment_gives_the_verdict(tmp_path: Path) -> None:
    claim, run = load_claim("gitea-sqlite"), tmp_path / "run"
    short = ["-r", "2", "-w", "0.1", "--wait-for-quiet", "0s", "-q", "-o", str(run)]
    assert rowpath("run", claim.experiment, *short).returncode == 0
    done = rowpath("claim", "gitea-sqlite", run)
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == claim.title
    assert all(text in done.stdout for text in (claim.source, claim.date, claim.compared, *claim.differs))
    (verdict,) = (line for line in lines if line.startswith("verdict"))
    assert verdict.split(maxsplit=1)[1] == "uncertain"  # of two sets
    assert sum("uncertain: " in line for line in lines) == len(claim.decided_by)
    (trust,) = (line for line in lines if line.startswith("trust"))
    assert ": 2 sets; all ranked rows proven" in trust
    refused = called("claim", "qail-copy", str(run))
    assert refused.returncode == 2
    assert "is a run of published-gitea-sqlite, not of published-qail" in refused.stderr
    error_form(refused.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["qail-copi"], "unknown claim 'qail-copi'\n\nhint: did you mean 'qail-copy'?"),
        (["xyz"], "unknown claim 'xyz'\n\nhint: rowpath claim list"),
        (["qail-copy", "nowhere"], "nowhere is not a run directory"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], said: str) -> None:
    done = called("claim", *words)
    assert done.returncode == 2
    assert said in done.stderr
    error_form(done.stderr)


def test_a_plan_says_what_would_run() -> None:
    done = called("claim", "gitea-sqlite", "--plan")
    assert done.returncode == 0 and done.stderr == ""
    assert "estimated time" in done.stdout
