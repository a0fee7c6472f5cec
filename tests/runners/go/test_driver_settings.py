"""The drivers' own settings of a connection: they reach the driver or its dialer, and unknown names are refused."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from tests.runners.protocol.group_talk import subject
from tests.runners.protocol.talk import Start, talks
from tests.runners.protocol.test_groups import skip_without

go: Any = toolchain("go")
pytestmark = pytest.mark.skipif(go.tools_problem() is not None, reason="no Go")
DRIVERS = ("pgx", "pgx-stdlib", "pq", "go-sql-driver-mysql")


@pytest.fixture
def start() -> Iterator[Start]:
    yield from talks("go")


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_timeout_reaches_the_driver(start: Start, driver: str) -> None:
    setting = "readTimeout=1s" if driver == "go-sql-driver-mysql" else "connect_timeout=1"
    with socket.create_server(("127.0.0.1", 0)) as mute:
        talk = start(driver)
        talk.hello()
        begun = time.monotonic()
        reply = talk.ask("open", options={"port": str(mute.getsockname()[1]), "driver_settings": setting})
    assert "error" in reply
    assert 1 <= time.monotonic() - begun < 30


@pytest.mark.parametrize("setting", ["KeepAliveConfig.Idle=2", "KeepAliveConfig.Count=few"])
@pytest.mark.parametrize("driver", DRIVERS)
def test_a_wrong_value_for_the_dialer_is_refused(start: Start, driver: str, setting: str) -> None:
    talk = start(driver)
    talk.hello()
    reply = talk.ask("open", options={"port": "1", "driver_settings": setting})
    assert reply["error"]["kind"] == "unsupported"
    assert setting.split("=", 1)[0] in reply["error"]["text"]


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_unknown_name_is_refused_and_known_ones_are_not(tmp_path: Path, driver: str) -> None:
    """What the driver itself does not know it sends to the server, which refuses it."""
    skip_without("go", driver)
    known = "KeepAliveConfig.Idle=2s\nControl.TCP_USER_TIMEOUT=3000"
    with subject("go", driver, tmp_path, transport="tcp") as server:
        with server.talk(driver_settings=known) as talk:
            talk.run("SELECT 1")
        with pytest.raises(RunnerFailure, match="such_a_name"), server.talk(driver_settings="such_a_name=1"):
            pass
