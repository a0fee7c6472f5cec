"""Drivers that cannot be here are listed all the same, each with its reason."""

from __future__ import annotations

import pytest

from rowpath.cli import doctor
from rowpath.cli import list as listing
from rowpath.runners import driver_facts
from rowpath.runners.manifest import every_adapter


def test_each_has_a_reason_and_is_no_adapter_of_ours() -> None:
    found = driver_facts.absent()
    assert {"OLE DB", "turbodbc"} <= {one.driver for one in found}
    assert all(one.reason and one.instead for one in found)
    assert {(one.language, one.driver) for one in found}.isdisjoint((a.language, a.driver) for a in every_adapter())


def test_the_list_ends_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_facts, "drivers", lambda: iter(()))
    lines = list(listing.drivers())[-len(driver_facts.absent()) :]
    assert [line.partition("not supported: ")[0].strip() for line in lines] == [
        f"{one.language} {one.driver}" for one in driver_facts.absent()
    ]
    assert any("only on Windows" in line for line in lines)


def test_the_doctor_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "every_adapter", lambda: iter(()))
    found = [check for check in doctor.diagnose() if check.section == "paths"]
    assert [check.what for check in found] == [f"{one.language} · {one.driver}" for one in driver_facts.absent()]
    assert {check.state for check in found} == {"missing"}
