"""SQLite behind Flight SQL: the file is the embedded engine's, every call must show the login, and nothing stays up."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.engines.sqlite_flightsql import ENGINE, FlightSqlServer
from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from rowpath.runners.manifest import adapter_of
from rowpath.workloads.workload_file import load_workload
from tests.engines.life import kill_the_controller, loaded, place
from tests.waiting import gone

pytestmark = pytest.mark.skipif(not ENGINE.availability().ok, reason=ENGINE.availability().reason)
PATH = AccessPath.of({"engine": ENGINE.name, "deployment": "server"})
# A call of each kind without its header: the handshake is left out.
UNADMITTED = """
import json, sys
from pyarrow import flight
port, header = int(sys.argv[1]), sys.argv[2]
client = flight.FlightClient(f"grpc+tcp://127.0.0.1:{port}")
options = flight.FlightCallOptions(headers=[(b"authorization", header.encode())] if header else [])
calls = {
    "GetFlightInfo": lambda: client.get_flight_info(flight.FlightDescriptor.for_command(b"x"), options),
    "DoGet": lambda: client.do_get(flight.Ticket(b"x"), options),
    "DoAction": lambda: list(client.do_action(("CreatePreparedStatement", b"x"), options)),
    "ListFlights": lambda: list(client.list_flights(options=options)),
}
answers = {}
for name, call in calls.items():
    try:
        call()
        answers[name] = "let in"
    except Exception as error:
        answers[name] = type(error).__name__
print(json.dumps(sorted(set(answers.values()))))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlightSqlServer]:
    instance = ENGINE.instance("server", "full", place(tmp_path_factory.mktemp("flight")))
    try:
        instance.start()
        yield instance
    finally:
        instance.stop()


def test_it_serves_the_file_that_the_embedded_engine_makes(server: FlightSqlServer, tmp_path: Path) -> None:
    tables = loaded(load_workload("keyed"))
    server.load(tables)
    embedded = ENGINES["sqlite"].instance("embedded", "full", Place(tmp_path, tmp_path, ()))
    embedded.start()
    embedded.load(tables)
    embedded.own_copy(PATH)
    home = server.home()
    assert home is not None
    served = tmp_path / "served"
    shutil.copyfile(home / "sqlite" / "loaded.sqlite", served)
    assert served.read_bytes() == Path(embedded.options(PATH)["path"]).read_bytes()
    assert server.check()


@pytest.mark.parametrize("header", ["", "Basic", "Basic cm93cGF0aDp3cm9uZw==", "Bearer ", "Bearer wrong"])
def test_no_call_is_answered_without_the_login(server: FlightSqlServer, header: str) -> None:
    adapter = adapter_of("python", "adbc-flightsql")
    version = adapter.versions[0]
    manifest.build([(adapter, version)])
    python = manifest.command(adapter, version, PATH).arguments[0]
    words = [python, "-c", UNADMITTED, str(server.options(PATH)["port"]), header]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == '["FlightUnauthenticatedError"]\n'


def test_the_password_is_in_a_private_file_only(server: FlightSqlServer) -> None:
    home, (password,) = server.home(), server.secrets()
    assert home is not None
    assert (home / "login").stat().st_mode & 0o077 == 0
    assert home.stat().st_mode & 0o077 == 0
    pid = server.pids()[0]
    for of in ("cmdline", "environ"):
        assert password.encode() not in Path(f"/proc/{pid}/{of}").read_bytes()
    assert password not in (home / "server.log").read_text()


def test_it_ends_with_a_controller_that_is_killed(tmp_path: Path) -> None:
    (pid,) = kill_the_controller(ENGINE.name, tmp_path)
    assert gone([pid])
