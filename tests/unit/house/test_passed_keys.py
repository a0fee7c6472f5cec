"""A key of the full matrix changes with everything that an adapter's answers rest on, and with nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from rowpath.runners import manifest
from rowpath.runners.manifest import Adapter
from tests import conftest, passed_keys
from tests.passed_keys import ROOT, key_of

Changes = Callable[[str], bool]
ADAPTERS = {(each.language, each.driver): each for each in manifest.every_adapter()}
PGJDBC, PSYCOPG = ADAPTERS["java", "pgjdbc"], ADAPTERS["python", "psycopg"]


def relative(files: set[Path] | frozenset[Path]) -> set[str]:
    return {str(file.relative_to(ROOT)) for file in files}


def changed(monkeypatch: pytest.MonkeyPatch, file: Path, adapter: Adapter, engine: str = "postgresql") -> bool:
    """Whether the key is another one after the file was written to."""
    before = key_of(adapter, engine)
    usual = passed_keys.hash_of
    with monkeypatch.context() as patched:
        patched.setattr(passed_keys, "hash_of", lambda each: "another" if each == file else usual(each))
        return key_of(adapter, engine) != before


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> Changes:
    """Whether a change of this file, relative to the clone, changes the key of pgjdbc on PostgreSQL."""
    return lambda file: changed(monkeypatch, ROOT / file, PGJDBC)


def test_what_an_adapter_rests_on_changes_its_key(changes: Changes) -> None:
    own = manifest.source_file(PGJDBC).relative_to(ROOT)
    assert changes(str(own))
    assert changes("runners/java/checksums.toml")
    assert changes("runners/java/toolchain.py")
    assert changes("src/rowpath/machine/jvm.py"), "its toolchain imports it"
    assert changes("workloads/library.toml")
    engine = next(name for name in relative(passed_keys.imported("rowpath.engines.postgresql")) if "server" in name)
    assert changes(engine)


def test_every_case_and_every_file_of_the_languages_core_change_the_key(changes: Changes) -> None:
    cases = sorted((ROOT / "src").rglob("conformance/cases/*.toml"))
    core = [file for file in passed_keys.sources_of(PGJDBC) if file.name == "Main.java"]
    assert cases
    assert core
    assert all(changes(str(file.relative_to(ROOT))) for file in (cases[0], core[0]))


def test_what_others_rest_on_changes_nothing(changes: Changes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not changes("runners/java/adapters.toml"), "the adapter's own entry counts, not those of others"
    assert not changes(str(manifest.source_file(ADAPTERS["java", "h2"]).relative_to(ROOT)))
    assert not changes(str(manifest.source_file(PSYCOPG).relative_to(ROOT)))
    assert not changes("README.md")
    assert changed(monkeypatch, manifest.source_file(PSYCOPG), PSYCOPG)


def test_a_source_that_the_own_source_names_counts() -> None:
    """Jcc.java speaks Derby's protocol and rests on Derby's source."""
    jcc = ADAPTERS["java", "jcc"]
    assert manifest.source_file(ADAPTERS["java", "derby"]) in passed_keys.sources_of(jcc)


def test_the_manifest_entry_counts_and_the_place_of_the_clone_does_not() -> None:
    here = key_of(PSYCOPG, "postgresql")
    assert key_of(msgspec.structs.replace(PSYCOPG, versions=("0.1",)), "postgresql") != here
    assert passed_keys.portable(PSYCOPG) == passed_keys.portable(msgspec.structs.replace(PSYCOPG, folder="/other"))


def test_what_is_kept_of_the_adapter_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(PSYCOPG, "postgresql"), key_of(PGJDBC, "postgresql")
    kept = passed_keys.capabilities.kept()
    kept["adapters"]["python psycopg server"]["types"]["c_uuid"] = ["text"]
    monkeypatch.setattr(passed_keys.capabilities, "kept", lambda: kept)
    assert key_of(PSYCOPG, "postgresql") != before[0]
    assert key_of(PGJDBC, "postgresql") == before[1]


def test_every_unit_has_a_key_of_its_own() -> None:
    units = [(each, engine) for each in ADAPTERS.values() for engine in each.engines]
    assert len({key_of(*each) for each in units}) == len(units)


def test_a_key_has_passed_when_it_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    assert not passed_keys.passed("abc")
    passed_keys.record("abc", "c libpq postgresql")
    assert passed_keys.passed("abc")
    assert not passed_keys.passed("abd")
    assert (tmp_path / "test-passed" / "abc").read_text() == "c libpq postgresql\n"


def test_imports_are_followed_to_their_imports() -> None:
    found = relative(passed_keys.imported("rowpath.engines.postgresql"))
    assert {"src/rowpath/__init__.py", "src/rowpath/errors.py"} <= found
    assert not any("report/" in name for name in found)


@pytest.fixture
def changes_tests(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], bool]:
    """Whether a change of the second file changes the key of the first, a file of tests."""

    def found(tests: str, file: str) -> bool:
        assert (ROOT / file).is_file()
        before, usual = passed_keys.key_of_tests(tests), passed_keys.hash_of
        with monkeypatch.context() as patched:
            patched.setattr(passed_keys, "hash_of", lambda each: "another" if each == ROOT / file else usual(each))
            return passed_keys.key_of_tests(tests) != before

    return found


def test_what_a_file_of_tests_rests_on_changes_its_key(changes_tests: Callable[[str, str], bool]) -> None:
    columnar = "tests/runners/python/test_columnar.py"
    for file in (
        columnar,
        "tests/runners/python/talk.py",
        "tests/conftest.py",
        "runners/python/adapters.toml",
        "runners/java/adapters.toml",
        "runners/c/core/main.c",
        "runners/java/toolchain.py",
        "src/rowpath/machine/jvm.py",
        "src/rowpath/engines/duckdb.py",
        "workloads/library.toml",
        "requirements.lock",
    ):
        assert changes_tests(columnar, file), file
    for file in ("runners/java/checksums.toml", "src/rowpath/probe/search.py", "tests/runners/java/test_load.py"):
        assert not changes_tests(columnar, file), file
    assert changes_tests("tests/runners/protocol/test_any_result.py", "runners/java/checksums.toml")
    # Of a program that a test starts: the modules that it imports, or all of them where it is `rowpath`.
    assert changes_tests("tests/engines/test_crash_recovery.py", "tests/engines/crashes.py")
    assert changes_tests("tests/engines/test_tape.py", "src/rowpath/probe/search.py")
    for file in ("src/rowpath/report/view.py", "tests/hosts/lab.py", "bench/idle_hosts.py"):
        assert changes_tests("tests/hosts/test_run.py", file), file


def test_only_tests_of_engines_runners_and_hosts_have_a_key() -> None:
    assert passed_keys.file_of_tests(ROOT / "tests/engines/test_duckdb.py") == "tests/engines/test_duckdb.py"
    assert passed_keys.file_of_tests(ROOT / "tests/hosts/test_run.py") == "tests/hosts/test_run.py"
    for file in ("tests/end_to_end/test_cli.py", "tests/measuring/test_link.py", "tests/unit/house/test_rooms.py"):
        assert passed_keys.file_of_tests(ROOT / file) == ""
    assert passed_keys.file_of_tests(Path("/elsewhere/tests/engines/test_some.py")) == ""


@pytest.mark.parametrize(
    ("passed", "words", "kept"),
    [(2, ["tests"], True), (1, ["tests"], False), (2, ["tests/engines"], False)],
    ids=["all", "one failed", "a part was asked for"],
)
def test_a_file_of_tests_is_kept_when_all_of_it_passed(
    passed: int, words: list[str], kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, recorded = "tests/engines/test_duckdb.py", list[str]()
    monkeypatch.setattr(passed_keys, "record", lambda _key, name: recorded.append(name))
    monkeypatch.setattr(conftest, "_keys", lambda: {name: passed_keys.key_of_tests(name)})  # those of all take long
    outcome = outcome_of(name, words)
    outcome.passed[name] = passed
    outcome.pytest_sessionfinish(cast(pytest.Session, SimpleNamespace(exitstatus=pytest.ExitCode.OK)))
    assert recorded == ([name] if kept else [])


def outcome_of(name: str, words: list[str], **asked: object) -> conftest.Outcome:
    """Of a session that collected two tests of one file."""
    options = ("full", "changed_only", "again", "and_before", "keyword", "markexpr", "deselect", "ignore_glob")
    option = SimpleNamespace(**dict.fromkeys(options) | asked)
    config = SimpleNamespace(stash=pytest.Stash(), option=option, args=words, rootpath=ROOT)
    config.stash[conftest.COLLECTED] = Counter({name: 2})
    return conftest.Outcome(cast(pytest.Config, config))


def test_what_failed_is_met_again_even_where_it_had_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    name = "tests/engines/test_duckdb.py"
    key = passed_keys.key_of_tests(name)
    monkeypatch.setattr(conftest, "_keys", lambda: {name: key})
    passed_keys.record(key, name)
    outcome = outcome_of(name, ["tests"])
    outcome.failed.add(name)
    outcome.pytest_sessionfinish(cast(pytest.Session, SimpleNamespace(exitstatus=pytest.ExitCode.TESTS_FAILED)))
    assert not passed_keys.passed(key)


def test_seven_numbers_in_a_row_meet_everything_that_passed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    units = {passed_keys.unit(each, engine) for each in ADAPTERS.values() for engine in each.engines}
    files = {passed_keys.file_of_tests(file) for folder in passed_keys.KEYED for file in folder.rglob("test_*.py")}
    monkeypatch.setattr(conftest, "_keys", lambda: dict.fromkeys(units | files, "key"))
    monkeypatch.setattr(passed_keys, "passed", lambda _key: True)

    def met_again(number: int | None) -> set[str]:
        option = SimpleNamespace(again=number)
        return conftest.met_again(cast(pytest.Config, SimpleNamespace(option=option)))

    assert met_again(None) == set()
    again = [met_again(number) for number in range(1000, 1007)]
    for meant in (units, files):
        met = [meant & each for each in again]
        assert set().union(*met) == meant
        assert sum(map(len, met)) == len(meant)
        assert max(map(len, met)) < 2 * len(meant) / passed_keys.SEVENTHS
