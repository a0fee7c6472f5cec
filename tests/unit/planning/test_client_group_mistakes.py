"""Every mistake in an experiment's groups is named with its line, and with what would be right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.planning.experiment_file import load_experiment, read_experiment

RIGHT = """\
schema_version = 1
name = "mine"
title = "Mine"
phases = ["library.read", "library.write", "connect.first"]

[[paths]]
select = { engine = "sqlite", language = "c" }

[[client_groups]]
name = "readers"
phase = "library.read"
pacing = "poisson"
rate_per_s = 100.0

[[client_groups]]
name = "writers"
phase = "library.write"
after = "backup.end"
times = 5

[[client_groups]]
name = "backup"
action = "backup"

[[stages]]
name = "all"
client_groups = ["readers", "writers", "backup"]
seconds = 5.0
until = "writers"
clients = { writers = 2 }
rates = { readers = 50.0 }

[rate_search]
client_group = "readers"
p99_ms = 5.0
"""

WRONG = [
    ('phase = "library.read"\n', 'phase = "library.raed"\n', "unknown phase 'library.raed' in this experiment"),
    ('phase = "library.read"\n', 'phase = "connect.first"\n', "of kind connect"),
    ('phase = "library.read"\n', 'phase = "library.read"\naction = "backup"\n', "either a phase or an action"),
    ('action = "backup"', 'action = "backup"\npacing = "fixed"', "an action has no pacing"),
    ('action = "backup"', 'action = "backup"\nclients = 2', "an action has no clients"),
    ('action = "backup"', 'action = "backup"\ntimes = -1', "times = -1 is negative"),
    ("rate_per_s = 100.0", "rate_per_s = 0.0", "do not fit together"),
    ('pacing = "poisson"', 'pacing = "closed"', "do not fit together"),
    ('pacing = "poisson"', 'pacing = "poisson"\npause_s = 1.0', "only a closed loop pauses"),
    ('action = "backup"', 'action = "backup"\ndispatch = "shared"', "an action has no clients that could share"),
    (
        'pacing = "poisson"',
        'pacing = "poisson"\ndispatch = "shared"\nover = "load"',
        "clients on several hosts cannot share arrivals",
    ),
    ('pacing = "poisson"', 'pacing = "poisson"\npopulation = 9', "population = 9 needs dispatch = 'shared'"),
    (
        'pacing = "poisson"',
        'pacing = "poisson"\ndispatch = "shared"\npopulation = 9',
        "population = 9 needs dispatch = 'shared' and pacing = 'closed'",
    ),
    ('phase = "library.write"\n', 'phase = "library.write"\ndispatch = "shared"\n', "a population of 0 for 1 clients"),
    (
        'phase = "library.write"\n',
        'phase = "library.write"\ndispatch = "shared"\npopulation = 1\nclients = 2\n',
        "a population of 1 for 2 clients",
    ),
    ('name = "writers"', 'name = "readers"', "duplicate group 'readers'"),
    ('groups = ["readers", "writers", "backup"]', 'groups = ["readers", "writers"]', "waits for 'backup.end'"),
    (
        'groups = ["readers", "writers", "backup"]',
        'groups = ["raeders", "writers", "backup"]',
        "unknown group 'raeders'",
    ),
    ('after = "backup.end"', 'after = "backup.ended"', "waits for 'backup.ended'"),
    ('after = "backup.end"', 'after = "writers.end"', "waits for 'writers.end'"),
    ('until = "writers"', 'until = "readers"', "never ends by itself"),
    ('until = "writers"', 'until = "writer"', "unknown group 'writer'"),
    ("seconds = 5.0", "seconds = 0.0", "lasts 0 s"),
    ("seconds = 5.0", "seconds = 5.0\nkill_s = 5.0", "kill_s = 5 is not within it"),
    ("clients = { writers = 2 }", "clients = { backup = 2 }", "2 clients for 'backup'"),
    ("rates = { readers = 50.0 }", "rates = { writers = 50.0 }", "a rate of 50 for 'writers'"),
    ('group = "readers"', 'group = "backup"', "unknown group 'backup' with operations"),
    ("p99_ms = 5.0", "p99_ms = 0.0", "p99_ms = 0 is not positive"),
]


def test_what_is_right_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(RIGHT)
    assert [group.name for group in read_experiment(file).experiment.client_groups] == ["readers", "writers", "backup"]


@pytest.mark.parametrize(("right", "wrong", "said"), WRONG)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    assert RIGHT.count(right) == 1
    text = RIGHT.replace(right, wrong)
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(said)) as caught:
        read_experiment(file)
    assert caught.value.hint
    number = re.match(rf"{re.escape(str(file))}:(\d+): ", caught.value.message)
    assert number, caught.value.message
    table = text.splitlines()[: int(number[1])]
    begin = max(at for at, line in enumerate(table) if line.startswith("["))
    wanted = RIGHT[: RIGHT.index(right)].count("\n")
    headers = [at for at, line in enumerate(text.splitlines()) if line.startswith("[") and at <= wanted]
    # A group that waits for what a stage does not have is the stage's mistake.
    assert begin == headers[-1] or ("waits for" in said and table[begin] == "[[stages]]")


def test_a_stage_has_no_more_clients_than_callers(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    writers = 'phase = "library.write"\n'
    file.write_text(RIGHT.replace(writers, f'{writers}dispatch = "shared"\npopulation = 1\n'))
    with pytest.raises(UsageError, match="2 clients for 'writers', which has a population of 1"):
        read_experiment(file)


def test_a_second_ledger_is_refused(tmp_path: Path) -> None:
    workload = tmp_path / "other.toml"
    library = (Path(__file__).parents[3] / "workloads" / "library.toml").read_text()
    workload.write_text(library.replace('name = "library"', 'name = "other"'))
    text = RIGHT.replace('"connect.first"]', '"other.write"]\nworkload_files = ["other.toml"]')
    text = text.replace('phase = "library.read"', 'phase = "other.write"')
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match="a second phase that counts its writes"):
        read_experiment(file)


def test_the_experiment_that_comes_with_rowpath() -> None:
    assert load_experiment("reads-writes-backup").experiment.client_groups
