"""Drivers that cannot be here are listed all the same, each with its reason."""

from __future__ import annotations

import pytest

from rowpath import doctor, drivers, listing
from rowpath.languages import every_adapter


def test_each_has_a_reason_and_is_no_adapter_of_ours() -> None:
    found = drivers.absent()
    assert {"OLE DB", "turbodbc"} <= {one.driver for one in found}
    assert all(one.reason and one.instead for one in found)
    assert {(one.language, one.driver) for one in found}.isdisjoint((a.language, a.driver) for a in every_adapter())


def test_the_list_ends_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "drivers", lambda: iter(()))
    lines = list(listing.drivers())[-len(drivers.absent()) :]
    assert [line.partition("cannot be here: ")[0].strip() for line in lines] == [
        f"{one.language} {one.driver}" for one in drivers.absent()
    ]
    assert any("Windows alone" in line for line in lines)


def test_the_doctor_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LANGUAGES", ())
    found = [check for check in doctor.diagnose() if check.group == "paths"]
    assert [check.what for check in found] == [f"{one.language} · {one.driver}" for one in drivers.absent()]
    assert {check.state for check in found} == {"missing"}
