"""Every package that a lock file names stands in docs/licences.md with its licence."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.script import script

ROOT = Path(__file__).parents[3]
LOCK_NAMES = ("*.lock", "*package-lock.json", "*checksums.toml", "*go.mod", "*Pipfile.lock", "*yarn.lock")


@pytest.fixture(scope="module")
def licences() -> Any:
    return script("licences")


def test_every_locked_package_is_in_the_list_with_its_licence(licences: Any) -> None:
    locked, listed = licences.locked(), licences.listed()
    assert list(listed) == list(locked)
    for section, packages in locked.items():
        assert sorted(listed[section]) == packages, "scripts/licences.py writes the page"
        assert [package for package, licence in listed[section].items() if not licence] == []


def test_no_lock_file_is_left_out(licences: Any) -> None:
    there_are = subprocess.run(["git", "ls-files", *LOCK_NAMES], cwd=ROOT, text=True, capture_output=True, check=True)
    assert sorted(licences.LOCKS) == sorted(there_are.stdout.split())
    assert all(licences.locked().values())


def test_what_is_not_on_this_machine_keeps_its_line(licences: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    section, package = "Rust", licences.locked()["Rust"][0]
    monkeypatch.setattr(licences, "SOURCES", {section: (licences.SOURCES[section][0], lambda *_: "")})
    assert f"| `{package[0]}` | {package[1]} | Kept |" in licences.page({section: {package: "Kept"}})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"),
        ("BSD-3-Clause", "Redistribution and use in source and binary forms …\n* Neither the name of the author"),
        ("BSD-2-Clause", "Redistribution and use in source and binary forms, with or without modification"),
        ("Apache-2.0", "  Apache License\n     Version 2.0, January 2004"),
    ],
)
def test_a_known_text_is_named(name: str, text: str, licences: Any, tmp_path: Path,
                               monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    folder = tmp_path / "example.org" / "!upper@v1.0.0"
    folder.mkdir(parents=True)
    (folder / "LICENSE").write_text(text)
    monkeypatch.setenv("GOMODCACHE", str(tmp_path))
    assert licences.go_licence("example.org/Upper", "v1.0.0") == name
