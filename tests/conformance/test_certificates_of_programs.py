"""The programs that a probe ends with check the server's certificate as the probe did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conformance.certificate_servers import HOST, Certificates, CertifiedServer
from tests.conformance.test_certificates import ADDRESS, CLAIMS
from tests.runners.protocol.snippet_programs import STARTS, run
from tests.runners.protocol.test_probe_snippets import COLUMNS, QUERIES, ROWS

from rowpath.machine import postgresql_programs
from rowpath.model.path import CHECKED
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.target import Target
from rowpath.own_database.tls import Tls
from rowpath.probe.snippets import snippet
from rowpath.runners.manifest import Adapter

pytestmark = pytest.mark.apart
PROGRAMS = {
    f"{engine} {adapter.language} {adapter.driver}": (engine, adapter)
    for engine, adapter, _way in CLAIMS
    if engine in QUERIES and set(CHECKED) & set(adapter.certificates)
}


# Rust compiles the crates of each driver: one is enough of a small change.
LONG = {name for name, (_engine, adapter) in PROGRAMS.items() if adapter.language == "rust"} - {
    "postgresql rust tokio-postgres"
}
EVERY = [pytest.param(*each, id=name, marks=[pytest.mark.long] * (name in LONG)) for name, each in PROGRAMS.items()]


@pytest.mark.parametrize(("engine", "adapter"), EVERY)
def test_a_program_keeps_the_check(
    engine: str,
    adapter: Adapter,
    servers: Callable[[str], CertifiedServer],
    made: Certificates,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mode = next(mode for mode in ("verify-full", "verify-ca") if mode in adapter.certificates)
    where = {"languages": (adapter.language,), "drivers": (adapter.driver,), "tls": mode}
    found = candidates(Wanted(engine, "server", Phase("query", "query", "SELECT 1"), **where))  # type: ignore[arg-type]
    assert found.paths, found.dropped
    (planned, *_others), server = found.paths, servers(engine)
    # MySQL2 checks an address for the name localhost: a probe of an address has no program of it.
    shown, host = ("right", HOST) if adapter.driver == "mysql2" else ("address", ADDRESS)
    server.show(shown)
    options = server.options(host)
    if adapter.driver == "libpq":  # else the program is linked with one that was built without TLS
        (tmp_path / "include").symlink_to(postgresql_programs.install() / "include")
        (tmp_path / "lib").symlink_to(postgresql_programs.install_tls() / "lib")
        monkeypatch.setattr(postgresql_programs, "install", lambda: tmp_path)

    def written(authority: str) -> list[str]:
        login = {key: options[key] for key in ("host", "port", "database", "user", "password")}
        files = Tls(mode, str(made.certificate(authority)))
        target = Target(engine, "server", **login, encryption=files, shown="…")
        program = snippet(planned.name, planned.path.as_dict(), target, QUERIES[engine], COLUMNS)
        assert program is not None
        (tmp_path / program.file).write_text(program.text, encoding="utf-8")
        return STARTS[adapter.language](adapter, tmp_path, program.file)

    assert run(written("ca"), tmp_path, options["password"]) == f"{ROWS} rows\n"
    refused = written("other")
    with pytest.raises(AssertionError, match=r"(?i)certificat|verify|trust|SSL|TLS"):
        run(refused, tmp_path, options["password"])
