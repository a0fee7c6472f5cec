"""Rules about waiting and about drivers' defaults: told in their case, silent beside it."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit import journal_factory as factory
from tests.unit.analysis.findings.test_findings import found, of, settle

AUTOCOMMIT = {"keyed": {"phases": [{"name": "read", "kind": "query", "transaction": "autocommit"}]}}
TCP = "postgresql server c libpq transport=tcp"


def one(words: str = TCP, cost_ns: float = 9_000, **more: Any) -> list[factory.MadePath]:
    return [factory.path("p", words, {"keyed.read": cost_ns}, **more)]


def facts(records: list[factory.Record], driver: str, **settings: str) -> None:
    """Let the driver's connections tell these settings."""
    for worker in of(records, "worker", driver):
        worker["facts"] = {"settings": settings}


@pytest.mark.parametrize(("autocommit", "told"), [("off", True), ("False", True), ("on", False)])
def test_implicit_transaction(tmp_path: Path, autocommit: str, told: bool) -> None:
    def bend(records: list[factory.Record]) -> None:
        records[0]["workloads"] = AUTOCOMMIT
        facts(records, "libpq", autocommit=autocommit)
        of(records, "counted", "libpq")[0] |= {"round_trips": 300, "commits": 100, "operations": 100}

    findings = found(tmp_path, bend, paths=one()).get("implicit-transaction", [])
    assert [f.paths for f in findings] == ([("p",)] if told else [])
    assert not told or "3 round trips and 1 commits" in findings[0].evidence


def test_a_scan_in_a_transaction_opens_none_by_itself(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        records[0]["workloads"] = {
            "keyed": {"phases": [AUTOCOMMIT["keyed"]["phases"][0] | {"transaction": "transaction"}]}
        }
        facts(records, "libpq", autocommit="off")

    assert "implicit-transaction" not in found(tmp_path, bend, paths=one())


@pytest.mark.parametrize(("sent", "told"), [(100, True), (3, False), (None, False)])
def test_prepared_each_time_although_prepared(tmp_path: Path, sent: int | None, told: bool) -> None:
    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"texts_sent": sent, "operations": 100}

    findings = found(tmp_path, bend, paths=one()).get("prepared-each-time", [])
    assert [f.severity for f in findings] == (["warning"] if told else [])


@pytest.mark.parametrize("sent", [0, 100])
def test_what_bound_costs_against_its_twin(tmp_path: Path, sent: int) -> None:
    paths = [
        *one(),
        factory.path("b", f"{TCP} statement=bound", {"keyed.read": 18_000}),
        factory.path("other", f"{TCP} statement=bound result=single-row", {"keyed.read": 18_000}),
    ]

    def bend(records: list[factory.Record]) -> None:
        for proof in of(records, "counted", "libpq"):
            if "statement=bound" in proof["path_id"]:
                proof |= {"texts_sent": sent, "operations": 100}

    findings = found(tmp_path, bend, paths=paths).get("prepared-each-time", [])
    assert [(f.severity, f.paths) for f in findings] == ([("note", ("b",))] if sent else [])
    assert not sent or "2.0" in findings[0].text or "1.9" in findings[0].text, findings[0].text


@pytest.mark.parametrize(
    ("words", "tls", "severity"),
    [
        ("tls=off", "on (TLSv1.3)", "error"),
        ("tls=default", "on", "warning"),
        ("tls=off profile=shipped", "on", "warning"),
        ("tls=on", "on", ""),
        ("tls=default", "off", ""),
    ],
)
def test_unrequested_tls(tmp_path: Path, words: str, tls: str, severity: str) -> None:
    findings = found(tmp_path, lambda records: facts(records, "libpq", tls=tls), paths=one(f"{TCP} {words}"))
    assert [f.severity for f in findings.get("unrequested-tls", [])] == ([severity] if severity else [])


@pytest.mark.parametrize("compression", ["zlib", "none"])
def test_what_is_unknown_of_a_compressed_connection_is_said_and_nothing_rests_on_its_bytes(
    tmp_path: Path, compression: str
) -> None:
    def bend(records: list[factory.Record]) -> None:
        counts = {"bytes_received": 1_000, "payload_bytes": 90_000, "texts_sent": None, "operations": 10}
        of(records, "counted", "libmariadb")[0] |= counts

    words = f"mariadb server c libmariadb transport=tcp compression={compression}"
    findings = found(tmp_path, bend, paths=one(words))
    assert ("compressed-messages" in findings, "bytes-below-payload" in findings) == (
        (True, False) if compression == "zlib" else (False, True)
    )
    for finding in findings.get("compressed-messages", []):
        assert finding.severity == "note" and "is unknown" in finding.text
        assert finding.evidence.startswith("100 bytes received per operation") and "9,000" in finding.evidence


@pytest.mark.parametrize(
    ("longest_ms", "busy", "transport", "told"),
    [
        (44, 0.01, "tcp", True),
        (88, 0.01, "tcp", True),
        (30, 0.01, "tcp", False),
        (44, 0.5, "tcp", False),
        (44, 0.01, "unix", False),
    ],
)
def test_delayed_acknowledgement(tmp_path: Path, longest_ms: int, busy: float, transport: str, told: bool) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "libpq", regime="steady"):
            sample |= {
                "max_ns": longest_ms * 1_000_000,
                "client_cpu_ns": busy * sample["window_ns"],
                "server_cpu_ns": 0,
            }

    paths = one(TCP.replace("tcp", transport), longest_ms * 1e6)
    assert ("delayed-acknowledgement" in found(tmp_path, bend, paths=paths)) is told


@pytest.mark.parametrize(
    ("no_delay", "cause"),
    [(False, "lacks TCP_NODELAY"), (True, "the server's answer"), (None, "a request sent in several small writes")],
)
def test_who_sends_in_small_writes(tmp_path: Path, no_delay: bool | None, cause: str) -> None:
    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0]["no_delay"] = no_delay
        for sample in of(records, "sample", "libpq", regime="steady"):
            sample |= {"max_ns": 44_000_000, "client_cpu_ns": 0.01 * sample["window_ns"], "server_cpu_ns": 0}

    (finding,) = found(tmp_path, bend, paths=one(TCP, 44e6))["delayed-acknowledgement"]
    assert cause in finding.cause


@pytest.mark.parametrize(
    ("durability", "syncs", "busy", "sync_ns", "told"),
    [
        ("full", 1.0, 0.1, 8e5, True),
        ("none", 1.0, 0.1, 8e5, False),
        ("full", 0.2, 0.1, 8e6, False),
        ("full", 1.0, 0.8, 8e5, False),
        ("full", 1.0, 0.1, 1e5, False),
    ],
)
def test_sync_bound_writes(
    tmp_path: Path, durability: str, syncs: float, busy: float, sync_ns: float, told: bool
) -> None:
    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"syncs": int(100 * syncs), "operations": 100}
        records.insert(1, {"record": "sync-cost", "ns": sync_ns, "syncs": 40, "method": "made up"})
        for sample in of(records, "sample", "libpq"):
            sample |= {"client_cpu_ns": busy * sample["window_ns"], "server_cpu_ns": 0}
        records += settle(records)

    findings = found(tmp_path, bend, paths=one(f"{TCP} durability={durability}", 1e6))
    assert ("sync-bound-writes" in findings) is told


@pytest.mark.parametrize(
    ("where", "host", "told"),
    [
        ("client_host=app1 server_host=db", "db", True),
        ("client_host=app1 server_host=db", "app1", False),
        ("client_host=app1 server_host=db", "", False),
        ("client_host=app1", "app1", True),
        ("", "", True),
        ("", "db", False),
    ],
)
def test_syncs_cost_what_they_cost_on_the_disk_of_the_engines_host(
    tmp_path: Path, where: str, host: str, told: bool
) -> None:
    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"syncs": 100, "operations": 100}
        costs = [{"record": "sync-cost", "ns": ns, "host": name} for name, ns in (("other", 1.0), (host, 8e5))]
        records[1:1] = costs
        for sample in of(records, "sample", "libpq"):
            sample |= {"client_cpu_ns": 0.1 * sample["window_ns"], "server_cpu_ns": 0}
        records += settle(records)

    findings = found(tmp_path, bend, paths=one(f"{TCP} durability=full {where}", 1e6))
    assert ("sync-bound-writes" in findings) is told


@pytest.mark.parametrize(("share", "told"), [(0.05, True), (0.01, False)])
def test_collector_pauses(tmp_path: Path, share: float, told: bool) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "libpq", regime="steady"):
            sample |= {"collector_ns": int(share * sample["window_ns"]), "collections": 2}

    assert ("collector-pauses" in found(tmp_path, bend, paths=one())) is told


@pytest.mark.parametrize(
    ("every_set", "longest_ms", "waits", "told"),
    [(True, 20, False, True), (False, 20, False, False), (True, 4, False, False), (True, 20, True, False)],
)
def test_closed_loop_hides_stall(tmp_path: Path, every_set: bool, longest_ms: int, waits: bool, told: bool) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "libpq", regime="steady", round=3):
            if every_set or sample["set"] == 0:
                longest_ns = longest_ms * 1_000_000
                sample |= {"max_ns": longest_ns, "window_ns": sample["window_ns"] + longest_ns}
                sample["wait_ns"] = longest_ns if waits else 0

    findings = found(tmp_path, bend, paths=one()).get("closed-loop-hides-stall", [])
    assert [f.paths for f in findings] == ([("p",)] if told else [])


def test_a_machine_that_stalls_by_itself_is_no_stall_of_a_servers(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "libpq", regime="steady", round=3):
            sample |= {"max_ns": 20_000_000, "window_ns": sample["window_ns"] + 20_000_000}
        for noise in records:
            if noise["record"] == "noise" and noise["when"] == "after":
                noise["spin_gap_max_ns"] = 9_000_000

    assert "closed-loop-hides-stall" not in found(tmp_path, bend, paths=one())


def test_a_slow_scan_is_no_stall(tmp_path: Path) -> None:
    paths = [factory.path("p", TCP, {"scan.read": 8e6})]
    assert "closed-loop-hides-stall" not in found(tmp_path, paths=paths)


@pytest.mark.parametrize("result", ["cursor:100", "fetch-size:100"])
def test_a_fetch_size_in_either_word(tmp_path: Path, result: str) -> None:
    paths = [factory.path("p", f"{TCP} result={result}", {"scan.read": 5e6})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0]["round_trips"] = 10

    assert [f.paths for f in found(tmp_path, bend, paths=paths)["fetch-size-ignored"]] == [("p",)]


@pytest.mark.parametrize(
    ("words", "access", "told"),
    [("access=sql", "", True), ("access=handler", "", False), ("access=sql", "create", False)],
)
def test_what_commits_by_nature(tmp_path: Path, words: str, access: str, told: bool) -> None:
    def bend(records: list[factory.Record]) -> None:
        phase = AUTOCOMMIT["keyed"]["phases"][0] | {"access": access}
        records[0]["workloads"] = {"keyed": {"phases": [phase]}}
        of(records, "counted", "libpq")[0] |= {"commits": 700, "operations": 100}

    assert ("commits-not-as-declared" in found(tmp_path, bend, paths=one(f"{TCP} {words}"))) is told


EMBEDDED = "mariadb embedded c libmariadbd"


@pytest.mark.parametrize(
    ("words", "worker_ns", "main_calls", "told"),
    [
        ("thread=main", 6_000, 19, True),
        ("thread=main", 61_000, 19, False),  # as slow on a thread of its own
        ("thread=main", 6_000, 6, False),
        ("thread=main", 6_000, None, False),
        ("thread=main result=single-row", 6_000, 19, False),  # no twin
    ],
)
def test_main_thread_stack(tmp_path: Path, words: str, worker_ns: float, main_calls: int | None, told: bool) -> None:
    paths = [
        factory.path("worker", f"{EMBEDDED} thread=worker", {"keyed.read": worker_ns}),
        factory.path("main", f"{EMBEDDED} {words}", {"keyed.read": 60_000}),
    ]

    def bend(records: list[factory.Record]) -> None:
        for made, calls in zip(paths, (3, main_calls), strict=True):
            counted = {"operations": 100, "system_calls": calls and 100 * calls}
            where = {"path_id": made.path_id, "workload": "keyed", "phase": "read"}
            records.append({"record": "counted", **where, **counted})

    findings = found(tmp_path, bend, paths=paths).get("main-thread-stack", [])
    assert [(f.severity, f.paths) for f in findings] == ([("warning", ("main", "worker"))] if told else [])
    assert not told or ("19 system calls" in findings[0].evidence and "thread=worker" in findings[0].next_command)
