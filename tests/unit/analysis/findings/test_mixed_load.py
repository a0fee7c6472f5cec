"""Every rule about groups at work at once: silent on a sound run, provoked by one that has its case."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.answer_model import Finding
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.chapters.published import CLAIMS, PUBLISHED
from rowpath.errors import UsageError
from rowpath.model.claims import Consistency
from rowpath.model.histogram import index_of
from rowpath.planning.experiment_file import load_experiment, read_experiment
from tests.unit import groups_factory as groups
from tests.unit import journal_factory as factory
from tests.unit.groups_factory import S, of

Bend = Callable[[list[factory.Record]], object]
EMBEDDED, SERVER = (path.path_id for path in groups.usual_paths())
TOGETHER = {"stage": "together", "path_id": EMBEDDED, "client_group": "writers"}


def found(tmp_path: Path, bend: Bend | None = None, **options: Any) -> dict[str, list[Finding]]:
    made = groups.records(**options)
    if bend is not None:
        bend(made)
    by_id: dict[str, list[Finding]] = {}
    for finding in analyse(factory.write(tmp_path, made)).findings:
        by_id.setdefault(finding.id, []).append(finding)
    return by_id


def into(record: str, where: dict[str, Any], **fields: Any) -> Bend:
    """The first record of a kind that fits, with other fields."""

    def bend(made: list[factory.Record]) -> None:
        of(made, record, **where)[0] |= fields

    return bend


def test_a_sound_run_tells_of_the_slowed_writers_alone(tmp_path: Path) -> None:
    told = found(tmp_path)
    assert set(told) == {"backup-slows", "missing-path"}
    assert [finding.severity for finding in told["missing-path"]] == ["note"]  # a driver that was not there
    assert [finding.paths for finding in told["backup-slows"]] == [("embedded",), ("server",)]
    assert "0.320× (0.320–0.320)" in told["backup-slows"][0].text
    assert "160/s during the backups of 'with a backup', 500/s in 'together'" in told["backup-slows"][0].evidence


def test_one_set_has_no_interval_and_so_no_effect(tmp_path: Path) -> None:
    assert "backup-slows" not in found(tmp_path, sets=1)


def test_rate_not_reached(tmp_path: Path) -> None:
    loop = {"pacing": "poisson", "requested_per_s": 700.0, "reached": False, "not_begun": 250}
    (finding,) = found(tmp_path, into("client-group", TOGETHER, **loop))["rate-not-reached"]
    assert "500/s of the 700/s requested; 250 operations were due and never started" in finding.evidence
    assert finding.next_command.endswith("-R 'writers=250'")


@pytest.mark.parametrize(
    ("stall_s", "usual_ns", "told"),
    [(1.5, 100_000_000, True), (0.2, 1_000, True), (0.09, 1_000, False), (0.9, 10_000_000, False)],
)
def test_client_stalled(tmp_path: Path, stall_s: float, usual_ns: int, told: bool) -> None:
    fields = {"longest_stall_ns": round(stall_s * S), "service": {str(index_of(usual_ns)): 1_000}}

    def bend(made: list[factory.Record]) -> None:
        for record in of(made, "client-group", **TOGETHER):
            record.update(fields)

    findings = found(tmp_path, bend).get("client-stalled", [])
    assert [finding.paths for finding in findings] == ([("embedded",)] if told else [])


def test_a_path_that_stalls_again_and_again_is_told_once(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        for record in of(made, "client-group", path_id=EMBEDDED):
            record["longest_stall_ns"] = (2 if record["client_group"] == "writers" else 3) * S

    (finding,) = found(tmp_path, bend)["client-stalled"]
    assert finding.text == "no operation of readers completed for 3.00 s in stage 'together' (embedded)"
    assert "also readers 3.00 s in 'with a backup', writers 2.00 s in 'together' and writers 2.00" in finding.evidence


@pytest.mark.parametrize(("share", "alone", "told"), [(0.5, True, True), (0.9, True, False), (0.5, False, False)])
def test_faster_with_others(tmp_path: Path, share: float, alone: bool, told: bool) -> None:
    def bend(made: list[factory.Record]) -> None:
        where = {"stage": "together", "path_id": SERVER}
        for record in of(made, "client-group", **where, client_group="readers"):
            record["operations"] = round(share * record["operations"])
        for record in of(made, "client-group", **where, client_group="writers") if alone else ():
            made.remove(record)
        for record in of(made, "stage", **where) if alone else ():
            record["client_groups"] = [each for each in record["client_groups"] if each["client_group"] != "writers"]
        for record in of(made, "second", **where) if alone else ():
            del record["client_groups"]["writers"]

    findings = found(tmp_path, bend).get("faster-with-others", [])
    assert [each.text for each in findings] == (
        ["readers run faster on server when other client groups are active: 2.00× in 'with a backup'"] if told else []
    )
    if told:
        assert "500/s there, 250/s in 'together'" in findings[0].evidence
        assert "both sides use 0.01 cores in 'together'" in findings[0].evidence


def _killed(made: list[factory.Record]) -> None:
    stage = of(made, "stage", stage="together", path_id=EMBEDDED)[0]
    at = {key: stage[key] for key in ("set", "path_id", "stage", "at_ns")}
    made.insert(made.index(stage) + 1, {"record": "kill", **at, "pids": [7], "recovery_ns": S})


@pytest.mark.parametrize(
    ("finding", "fields"),
    [
        ("client-stalled", {"longest_stall_ns": 3 * S}),
        (
            "operations-refused",
            {"failed": 1, "failures": [{"kind": "connect", "code": "08006", "text": "", "count": 1}]},
        ),
    ],
)
def test_what_a_kill_does_is_no_finding(tmp_path: Path, finding: str, fields: dict[str, Any]) -> None:
    assert finding in found(tmp_path / "a", into("client-group", TOGETHER, **fields))

    def both(made: list[factory.Record]) -> None:
        into("client-group", TOGETHER, **fields)(made)
        _killed(made)

    assert finding not in found(tmp_path / "b", both)


def test_operations_refused_by_kind(tmp_path: Path) -> None:
    failures = [
        {"kind": "sql", "code": "40001", "text": "deadlock", "count": 7},
        {"kind": "sql", "code": "40XL1", "text": "lock not granted", "count": 2},
    ]
    (finding,) = found(tmp_path, into("client-group", TOGETHER, failed=9, failures=failures))["operations-refused"]
    assert finding.text == "9 operations of writers of embedded failed in 'together'"
    assert finding.evidence == "7 × sql 40001 (deadlock); 2 × sql 40XL1 (lock not granted)"


@pytest.mark.parametrize(
    ("when", "durability", "severity"),
    [("end", "full", "error"), ("end", "none", "error"), ("kill", "full", "error"), ("kill", "none", "note")],
)
def test_acknowledged_lost(tmp_path: Path, when: str, durability: str, severity: str) -> None:
    def bend(made: list[factory.Record]) -> None:
        of(made, "acknowledged", path_id=SERVER)[2] |= {"when": when, "lost": 3, "ok": False, "reason": "row 7: 4 of 5"}
        of(made, "path", path_id=SERVER)[0]["coordinates"]["durability"] = durability

    (finding,) = found(tmp_path, bend)["acknowledged-lost"]
    assert finding.severity == severity
    assert ("durability=full" in finding.next_command) is (severity == "note")
    assert finding.evidence == "of 580 acknowledged writes 3 lost; 1 more in doubt, 20,000 rows read; row 7: 4 of 5"


def test_writes_done_twice_are_an_error_even_where_they_may_be_lost(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        of(made, "acknowledged", path_id=SERVER)[2] |= {"when": "kill", "doubled": 1, "ok": False}
        of(made, "path", path_id=SERVER)[0]["coordinates"]["durability"] = "none"

    (finding,) = found(tmp_path, bend)["acknowledged-lost"]
    assert finding.severity == "error"


def test_nobody_is_sent_to_a_durability_that_the_engine_does_not_have(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        of(made, "acknowledged", path_id=SERVER)[2] |= {"when": "kill", "lost": 3, "ok": False, "reason": ""}
        path = of(made, "path", path_id=SERVER)[0]
        path["coordinates"] |= {"durability": "none", "engine": "h2"}
        path["durabilities"] = ["none"]

    (finding,) = found(tmp_path, bend)["acknowledged-lost"]
    assert "durability" not in finding.next_command


@pytest.mark.parametrize(
    "fields",
    [
        {"ok": False, "reason": "no space left"},
        {"restored": False, "reason": "items: digest 5:a instead of 5:b"},
        {"checked": {"tables": 2, "rows": 5, "writes": 9, "lost": 2, "doubled": 0}},
    ],
)
def test_backup_not_restorable(tmp_path: Path, fields: dict[str, Any]) -> None:
    (finding,) = found(tmp_path, into("backup", {"path_id": SERVER}, **fields))["backup-not-restorable"]
    assert (finding.severity, finding.paths) == ("error", ("server",))
    assert finding.evidence == fields.get("reason", "2 writes lost, 0 applied twice")


def test_a_backup_that_ended_with_its_killed_engine_is_none_and_no_failed_one(tmp_path: Path) -> None:
    ended = {"ok": False, "stopped": True, "reason": "connection lost", "restored": None, "checked": None}
    made = groups.records()
    into("backup", {"path_id": SERVER}, **ended)(made)
    analysis = analyse(factory.write(tmp_path, made))
    assert "backup-not-restorable" not in {finding.id for finding in analysis.findings}
    (figures,) = (each for each in report_of(analysis).backups if each.name == "server")
    assert (figures.made, figures.failed, figures.stopped, figures.reasons) == (5, 0, 1, ())


@pytest.mark.parametrize(("late_ns", "told"), [(900_000, True), (20_000, False)])
def test_generator_late(tmp_path: Path, late_ns: int, told: bool) -> None:
    def bend(made: list[factory.Record]) -> None:
        for record in of(made, "client-group", **TOGETHER):
            loop = {"latency": {str(index_of(1_000_000)): 100}, "lateness": {str(index_of(late_ns)): 100}}
            record.update({"pacing": "fixed", "requested_per_s": 500.0} | loop)

    assert ("generator-late" in found(tmp_path, bend)) is told


def test_late_generators_are_told_once_of_each_path(tmp_path: Path) -> None:
    def bend(made: list[factory.Record]) -> None:
        for record in of(made, "client-group", path_id=EMBEDDED):
            late_ns = 200_000 if record["client_group"] == "readers" else 900_000
            loop = {"latency": {str(index_of(1_000_000)): 100}, "lateness": {str(index_of(late_ns)): 100}}
            record.update({"pacing": "fixed", "requested_per_s": 500.0} | loop)

    (finding,) = found(tmp_path, bend)["generator-late"]
    assert finding.text == "the load generator itself was late (client group 'writers', embedded, stage 'together')"
    assert finding.evidence.endswith("over a tenth of them in 3 more cases too")


@pytest.mark.parametrize(
    ("sync_ns", "told"),
    [
        (9_000_000, "1 sync an operation at 9.00 ms is 88.4 % of its 10.2 ms"),
        (30_000_000, "1 sync an operation at 30.0 ms, timed before the first set, is more than its 10.2 ms"),
        (1_000_000, ""),
    ],
)
def test_groups_bound_by_syncs(tmp_path: Path, sync_ns: int, told: str) -> None:
    def bend(made: list[factory.Record]) -> None:
        where = {"path_id": EMBEDDED, "workload": "library", "phase": "write"}
        made.insert(-1, {"record": "counted", **where, "operations": 10, "syncs": 10})
        made.insert(-1, {"record": "sync-cost", "ns": sync_ns, "syncs": 50})
        phases = [{"name": "write", "kind": "execute", "writes": True}]
        made[0]["workloads"] = {"library": {"phases": phases}}

    findings = found(tmp_path, bend).get("sync-bound-writes", [])
    assert [finding.evidence for finding in findings[:1]] == ([told] if told else [])


def test_touch_of_a_group(tmp_path: Path) -> None:
    readers = {"path_id": SERVER, "client_group": "readers"}
    (finding,) = found(tmp_path, into("client-group", readers, touch_ok=False))["values-not-read"]
    assert "in 1 stages, first in 'together'" in finding.evidence


def article() -> dict[str, Any]:
    """The published tables of the experiment and their relation, as a run's journal has them."""
    import msgspec

    known: dict[str, Any] = msgspec.to_builtins(load_experiment("reads-writes-backup").experiment)
    return {key: known[key] for key in ("published", "consistency")}


def test_the_article_contradicts_itself_whatever_is_measured(tmp_path: Path) -> None:
    nothing = factory.records(factory.Run(paths=[], sets=0, experiment=article()))
    findings = analyse(factory.write(tmp_path, nothing)).findings
    (finding,) = [each for each in findings if each.id == "published-contradicts-itself"]
    assert finding.text.startswith("The article's network server: reads exceed the published bandwidth")
    assert finding.evidence == (
        "(42 − 2) KB/s / 27,000 reads/s = 1.5 and (15 − 2) KB/s / 27,000 reads/s = 0.5 bytes or fewer a read; "
        "(42 − 2) KB/s / 70 writes/s = 571 and (15 − 2) KB/s / 23 writes/s = 565 bytes or fewer a write, "
        "the same in each: all traffic is writes; an operation takes 80 bytes or more"
    )


def test_published_figures_that_agree_are_no_finding(tmp_path: Path) -> None:
    experiment = article()
    for column in experiment["published"]:
        for row in column["rows"]:
            if column["unit"] == "KB/s" and row["row"] == "network server":
                row["value"] += 27_000 * 0.3  # 300 bytes for each read
    nothing = factory.records(factory.Run(paths=[], sets=0, experiment=experiment))
    findings = analyse(factory.write(tmp_path, nothing)).findings
    assert "published-contradicts-itself" not in {each.id for each in findings}


def test_a_relation_names_rows_that_exist(tmp_path: Path) -> None:
    text = (Path(__file__).parents[4] / "experiments" / "reads-writes-backup.toml").read_text(encoding="utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(text.replace('{ row = "write, network server", value = 70', '{ row = "writes", value = 70'))
    with pytest.raises(UsageError, match=r"mine.toml:\d+: unknown published row 'write, network server'"):
        read_experiment(file)


def test_a_relation_has_every_figure_in_each_state() -> None:
    with pytest.raises(ValueError, match="needs one figure"):
        Consistency(about="x", rates={"read": ()}, bandwidth=(), baseline=())


EFFECT = {"kind": "figure", "metric": "backup_effect"}
MOST = {"kind": "never-above"}


@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        ({**EFFECT, "numerator": {"client_group": "writers"}, "at_least": 0.3, "at_most": 0.4}, "holds"),
        ({**EFFECT, "numerator": {"client_group": "readers"}, "at_most": 0.9}, "does not hold"),
        ({**EFFECT, "numerator": {"client_group": "nobody"}, "at_most": 0.9}, "uncertain"),
        ({**MOST, "metric": "group_failed", "numerator": {"stage": "with a backup"}, "at_most": 0}, "holds"),
        (
            {**MOST, "metric": "longest_stall", "numerator": {"client_group": "writers"}, "at_most": 1e8},
            "does not hold",
        ),
        ({"kind": "equal", "numerator": {"client_group": "writers"}, "at_least": 0.9, "at_most": 1.1}, "holds"),
        ({"kind": "equal", "numerator": {"client_group": "readers"}, "at_least": 0.9, "at_most": 1.1}, "does not hold"),
        ({"kind": "appears", "first": {"client_group": "writers"}, "second": {"client_group": "readers"}}, "holds"),
        (
            {"kind": "appears", "first": {"client_group": "readers"}, "second": {"client_group": "writers"}},
            "does not hold",
        ),
        ({"kind": "ratio", "numerator": {"client_group": "readers"}, "at_most": 0.6}, "holds"),
    ],
)  # fmt: skip
def test_claims_about_groups(tmp_path: Path, check: dict[str, Any], outcome: str) -> None:
    if check["kind"] in ("equal", "appears", "ratio"):
        group = check.get("numerator", {})
        check = check | {
            "metric": "group_rate",
            "numerator": {"name": "server", "stage": "together", **group},
            "denominator": {"name": "embedded", "stage": "together", **group},
        }
    claims = [{"id": "c", "claim": "said so", "check": check}]
    analysis = analyse(factory.write(tmp_path, groups.records(experiment={"claims": claims})))
    (claim,) = CLAIMS.of(analysis)
    assert claim.outcome == outcome, claim.figure


def test_published_figures_stand_beside_those_of_groups(tmp_path: Path) -> None:
    made = groups.records(experiment={"published": article()["published"]})
    for stage in (each for each in made if each.get("stage") == "together"):
        stage["stage"] = "reads and writes"
    figures = PUBLISHED.of(analyse(factory.write(tmp_path, made)))
    rows = {(row.column, row.row): row for row in figures}
    reads = rows["single-row operations", "read, network server"]
    assert reads.measured_value == pytest.approx(500)
    assert reads.measured_ratio == pytest.approx(0.5)
    assert rows["single-row operations during the backup", "write, embedded"].measured_value == pytest.approx(160)
    assert rows["loopback bandwidth", "network server"].measured_value == pytest.approx(500)  # KB/s
    assert rows["backup time", "embedded"].measured_value == pytest.approx(3)
    assert rows["loopback bandwidth", "embedded"].measured_value is None


@pytest.mark.parametrize(("blocked_ms", "told"), [(0, False), (1.2, False), (99, False), (100, True), (350, True)])
def test_an_event_loop_that_was_blocked(tmp_path: Path, blocked_ms: float, told: bool) -> None:
    findings = found(tmp_path, into("client-group", TOGETHER, blocked_ns=round(blocked_ms * 1e6)))
    assert ("event-loop-blocked" in findings) is told
    for finding in findings.get("event-loop-blocked", ()):
        assert f"was blocked for {blocked_ms} ms in stage 'together'" in finding.text
        assert finding.severity == "warning"
