"""docs/add-a-driver.md does what it says: its files, written as shown, are tested and measured by its commands."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rowpath.machine import c_compiler
from tests.end_to_end.command import ROOT, called, error_form, records, rowpath

DOC = (ROOT / "docs" / "add-a-driver.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL))
COMMANDS = [shlex.split(text) for text in re.findall(r"^```sh\nrowpath (.*?)\n```$", DOC, re.MULTILINE)]


def write(folder: Path, name: str) -> Path:
    """A file of the page, as the page shows it."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(FILES[name], encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the files of the worked example."""
    folder = tmp_path_factory.mktemp("kit")
    for name in FILES:
        if name.startswith("my-adapters/"):
            write(folder, name)
    return folder


def test_the_page_shows_three_commands_in_their_order() -> None:
    assert [(words[0], words[1]) for words in COMMANDS] == [
        ("adapter", "new"),
        ("adapter", "test"),
        ("run", "my-adapters/apsw-or-sqlite3.toml"),
    ]


def test_the_example_is_one_short_file_and_one_entry() -> None:
    assert len(FILES["my-adapters/apsw.py"].splitlines()) < 65
    assert len(tomllib.loads(FILES["my-adapters/adapters.toml"])["adapter"]) == 1


def test_the_first_command_leaves_what_leads_on(tmp_path: Path) -> None:
    begun = rowpath(*COMMANDS[0], cwd=tmp_path)
    assert begun.returncode == 0, begun.stderr
    manifest = "my-adapters/adapters.toml"
    assert f"rowpath adapter test apsw --adapters {manifest}" in begun.stdout
    source = tmp_path / "my-adapters" / "apsw.py"
    before = source.read_text()
    tested = rowpath("adapter", "test", "apsw", "--adapters", manifest, cwd=tmp_path)
    assert tested.returncode == 1
    assert "fill in opened()" in tested.stdout
    again = rowpath(*COMMANDS[0], cwd=tmp_path)
    assert again.returncode == 2
    assert "nothing was written" in error_form(again.stderr)[0]
    assert source.read_text() == before


def test_the_driver_conforms(folder: Path) -> None:
    tested = rowpath(*COMMANDS[1], "--junit", "tested.xml", cwd=folder)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    suite = ElementTree.parse(folder / "tested.xml").getroot()[0]
    assert (suite.get("failures"), len({case.get("classname") for case in suite})) == ("0", 4)
    assert re.search(r"^0 failed, [1-9]\d* ok, \d+ not applicable, on 4 paths$", tested.stdout, re.MULTILINE)
    assert re.search(r"^  unsupported +cancellation honoured", tested.stdout, re.MULTILINE)


def test_a_mistake_is_shown_with_what_was_expected(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    source = tmp_path / "my-adapters" / "apsw.py"
    right = 'value.isoformat(" ")'
    assert right in source.read_text()
    source.write_text(source.read_text().replace(right, 'value.isoformat(" ", "seconds")'))
    tested = rowpath(*COMMANDS[1], "statement=prepared", "clients=1", cwd=tmp_path)
    assert tested.returncode == 1, tested.stdout
    assert re.search(
        r"failed +load-transaction .*\n.*the rows in \w+.*\n +expected (\d+):\w+\n +got +\1:\w+", tested.stdout
    )


def test_it_is_measured_beside_sqlite3(folder: Path) -> None:
    words = [word for word in COMMANDS[2] if word != "--fast"]
    measured = rowpath(*words, "-r", "1", "-w", "0.05", "-o", "run", cwd=folder)
    assert measured.returncode == 0, measured.stderr
    drivers = {
        path.partition("driver=")[2].partition(",")[0]
        for record in records(folder / "run", "sample")
        if (path := record["path_id"])
    }
    assert drivers == {"apsw", "sqlite3"}
    assert all(record["ok"] for record in records(folder / "run", "verify"))


def test_the_java_example_compiles_and_needs_only_its_driver(tmp_path: Path) -> None:
    if shutil.which("javac") is None:
        pytest.skip("no JDK")
    assert rowpath("adapter", "new", "java", "mydb", "--into", ".", cwd=tmp_path).returncode == 0
    write(tmp_path, "Mydb.java")
    tested = rowpath("adapter", "test", "mydb", "statement=prepared", "--adapters", "adapters.toml", cwd=tmp_path)
    assert tested.returncode == 1, tested.stderr
    assert "No suitable driver found for jdbc:mydb" in tested.stdout


def test_the_skeleton_in_c_compiles_and_says_what_to_fill_in(tmp_path: Path) -> None:
    if shutil.which(c_compiler.words()[0]) is None:
        pytest.skip("no C compiler")
    assert rowpath("adapter", "new", "c", "my-db", "--into", ".", cwd=tmp_path).returncode == 0
    tested = rowpath("adapter", "test", "my-db", "--adapters", "adapters.toml", cwd=tmp_path)
    assert tested.returncode == 1, tested.stderr
    assert "fill in my_db_open" in tested.stdout


def test_the_skeleton_in_csharp_compiles_and_says_what_to_fill_in(tmp_path: Path) -> None:
    if shutil.which("mcs") is None:
        pytest.skip("no Mono")
    assert rowpath("adapter", "new", "csharp", "my-db", "--into", ".", cwd=tmp_path).returncode == 0
    tested = rowpath("adapter", "test", "my-db", "statement=prepared", "--adapters", "adapters.toml", cwd=tmp_path)
    assert tested.returncode == 1, tested.stderr
    assert "fill in Connect of MyDb" in tested.stdout


def test_a_program_is_tested_like_an_adapter() -> None:
    coordinates = ("engine=sqlite", "statement=prepared", "clients=1")
    tested = rowpath("adapter", "test", *coordinates, "--", "false", "--verbose")
    assert tested.returncode == 1, tested.stderr
    assert "the runner ended with status 1" in tested.stdout


@pytest.mark.parametrize(
    ("words", "wording"),
    [
        (["new", "python"], "no language or name given"),
        (["new", "cobol", "mydb"], "unknown language 'cobol'"),
        (["new", "python", "sqlite3"], "python adapter 'sqlite3' already exists"),
        (["new", "python", "My Driver"], "invalid driver name"),
        (["new", "python", "mydb", "engine=informix"], "unknown engine 'informix'"),
        (["test"], "which adapter?"),
        (["test", "nowhere"], "'nowhere' is neither an adapter nor a program"),
        (["test", "sqlite3", "statement=none"], "sqlite3 has no path with statement=none"),
        (["test", "true"], "no manifest describes 'true'"),
    ],
)
def test_mistakes_are_named(words: list[str], wording: str, tmp_path: Path) -> None:
    done = called("adapter", *words, cwd=tmp_path)
    assert done.returncode == 2
    message, hint = error_form(done.stderr)
    assert wording in message
    assert hint
    assert not list(tmp_path.iterdir())
