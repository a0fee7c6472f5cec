"""The C runner's `driver_settings`: each reaches the driver, and one that is unknown is refused."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine import c_compiler
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import RunReply, RunStatements
from tests.runners.c.talk import ADAPTERS, Talk, started

pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")
SHOWN = {"libpq": "application_name", "psqlodbc": "application_name", "ecpg": "client_encoding"}
TIMEOUTS = {"libmariadb": "MYSQL_OPT_READ_TIMEOUT", "odbc-mariadb": "READ_TIMEOUT"}


@pytest.fixture(scope="module")
def instances() -> Iterator[dict[str, Instance]]:
    """Servers by engine, made once."""
    with contextlib.ExitStack() as stack:
        engines = [name for name in ("postgresql", "mariadb") if ENGINES[name].availability().ok]
        yield {name: stack.enter_context(started(name)) for name in engines}


def _opened(driver: str, instances: dict[str, Instance], settings: str) -> Talk:
    engine = ADAPTERS[driver].engines[0]
    if engine not in instances:
        pytest.skip(ENGINES[engine].availability().reason)
    talk = Talk.start_only(driver, instances[engine])
    try:
        talk.open(talk.options | {"driver_settings": settings})
    except BaseException:
        talk.runner.stop()
        raise
    return talk


@pytest.mark.parametrize(("driver", "name"), SHOWN.items())
def test_the_server_sees_a_setting(driver: str, name: str, instances: dict[str, Instance]) -> None:
    with _opened(driver, instances, f"connect_timeout=5\n{name}=LATIN1") as talk:
        assert talk.facts().settings[name] == "LATIN1"


@pytest.mark.parametrize(("driver", "name"), TIMEOUTS.items())
def test_a_timeout_ends_a_statement(driver: str, name: str, instances: dict[str, Instance]) -> None:
    with _opened(driver, instances, f"{name}=1") as talk:
        began = time.monotonic()
        with pytest.raises(RunnerFailure, match="Lost connection"):
            talk.ask(RunStatements, RunReply, statements=["SELECT SLEEP(20)"])
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("setting", ["unheard_of=1", "no sign"])
@pytest.mark.parametrize("driver", [*SHOWN, *TIMEOUTS])
def test_what_is_no_setting_is_refused(driver: str, setting: str, instances: dict[str, Instance]) -> None:
    with pytest.raises(RunnerFailure) as refused:
        _opened(driver, instances, setting)
    if setting == "no sign" or driver != "ecpg":  # libecpg keeps libpq's reason to itself
        assert setting.removesuffix("=1") in refused.value.text
