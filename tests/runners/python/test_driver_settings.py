"""The option `driver_settings` reaches every Python driver of PostgreSQL: a name that none knows is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rowpath.runners.manifest import load_manifest
from rowpath.runners.process import RunnerFailure
from tests.runners.python.engines import postgresql_fixture  # noqa: F401
from tests.runners.python.talk import Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401

CURES = {
    adapter.driver: [line for cure in adapter.cures for line in cure.settings]
    for adapter in load_manifest("python").adapter
    if adapter.cures and "postgresql" in adapter.engines
}
THROUGH = {"pandas": {"through": "psycopg"}, "polars-database": {"through": "psycopg"}}


@pytest.mark.parametrize("driver", CURES)
def test_a_driver_takes_its_cures_and_refuses_an_unknown_name(
    kept: Callable[..., Talk], postgresql: dict[str, Any], driver: str
) -> None:
    more = THROUGH.get(driver, {})
    talk = kept(driver, engine="postgresql", **more)
    chosen = {**postgresql, "engine": "postgresql", "transport": "tcp", **more}
    with pytest.raises(RunnerFailure, match="no_such_name") as refused:
        talk.open(**chosen, driver_settings="no_such_name=1")
    assert refused.value.kind in ("connect", "unsupported")
    talk.open(**chosen, driver_settings="\n".join(CURES[driver]))
