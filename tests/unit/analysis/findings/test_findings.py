"""Every rule: silent on a sound run, says what it should when its case arises, and is documented."""

import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.analysis.analyse import analyse, gather
from rowpath.analysis.answer_model import Finding
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings import RULES
from tests.unit import journal_factory as factory

Bend = Callable[[list[factory.Record]], object]
EXPECTED_OF_THE_USUAL_RUN = {
    "wrong-rows",
    "failed-operations",
    "confounded-version",
    "converted-values",
    "clock-too-coarse",
    "width-not-reached",
    "disturbed-blocks",
    "missing-path",
}


def found(tmp_path: Path, bend: Bend | None = None, **options: Any) -> dict[str, list[Finding]]:
    """Findings by id of a calm run, its records bent first."""
    records = factory.records(factory.Run(**({"disturbed_share": 0.0} | options)))
    if bend is not None:
        bend(records)
    by_id: dict[str, list[Finding]] = {}
    for finding in analyse(factory.write(tmp_path, records)).findings:
        by_id.setdefault(finding.id, []).append(finding)
    return by_id


def of(records: list[factory.Record], record: str, driver: str, **where: Any) -> list[factory.Record]:
    """The records of one kind and driver."""
    return [
        each
        for each in records
        if each["record"] == record
        and f"driver={driver}," in each.get("path_id", "")
        and all(each.get(key) == value for key, value in where.items())
    ]


def settle(records: list[factory.Record]) -> list[factory.Record]:
    """Make the keyed phase one that writes."""
    made = [
        {**each, "record": "settle", "ns": 5_000_000, "bytes_written": 8192}
        for each in records
        if each["record"] == "warm"
    ]
    kept = [
        {key: each[key] for key in ("record", "set", "path_id", "workload", "phase", "ns", "bytes_written")}
        for each in made
    ]
    return [each for each in kept if each["workload"] == "keyed"]


def test_the_usual_run_has_exactly_the_findings_that_were_put_into_it(tmp_path: Path) -> None:
    assert set(found(tmp_path, disturbed_share=0.01)) == EXPECTED_OF_THE_USUAL_RUN


def test_every_finding_has_evidence_and_a_next_command(tmp_path: Path) -> None:
    for findings in found(tmp_path, disturbed_share=0.01).values():
        for finding in findings:
            assert finding.text
            assert finding.evidence
            assert re.match(r"rowpath (run|verify|doctor|list|show)|apt-get ", finding.next_command), finding


def test_errors_come_first(tmp_path: Path) -> None:
    severities = [finding.severity for findings in found(tmp_path).values() for finding in findings]
    order = ["error", "warning", "note"]
    assert severities == sorted(severities, key=order.index)


def test_every_id_is_a_heading_of_the_documentation_and_the_reverse() -> None:
    text = (Path(__file__).parents[4] / "docs" / "findings.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## (.+)$", text, re.MULTILINE)) == sorted(RULES)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return gather(factory.write(tmp_path_factory.mktemp("usual"), factory.records(factory.Run())))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_leaves_its_id_to_the_table_of_rules(rule: str, usual: Evidence) -> None:
    assert {finding.id for finding in RULES[rule](usual)} <= {""}


def test_values_not_read(tmp_path: Path) -> None:
    paths = factory.usual_paths()[:5]
    lazy = factory.path("lazy", "postgresql server python lazy transport=unix", paths[3].cost_ns, fault="untouched")
    finding = found(tmp_path, paths=[*paths, lazy])["values-not-read"][0]
    assert finding.paths == ("lazy",)
    assert "its digest was correct" in finding.evidence
    assert "00000000000000aa" in finding.evidence


def test_failed_operations_have_no_rate(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        sample = of(records, "sample", "sqlite3", workload="keyed", regime="steady")[7]
        sample |= {"failed": 3, "failure": {"kind": "sql", "code": "HY000", "text": "database is locked"}}

    finding = next(f for f in found(tmp_path, bend)["failed-operations"] if f.paths == ("sqlite python",))
    assert finding.text.startswith("3 operations")
    assert finding.evidence == "database is locked"


def test_paths_that_fail_alike_are_one_finding(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        record = next(each for each in records if each["record"] == "failure" and each["phase"])
        other = of(records, "sample", "sqlite3")[0]["path_id"]
        records += [{**record, "path_id": other}, {**record, "path_id": other, "text": "another"}]

    alike, apart = (f for f in found(tmp_path, bend)["failed-operations"] if "sqlite python" in f.paths)
    assert alike.text.startswith("2 paths failed in") and len(alike.paths) == 2 and "sqlite python" in alike.evidence
    assert apart.paths == ("sqlite python",) and apart.text.startswith("sqlite python failed in")


def test_bytes_below_payload(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq", workload="scan")[0]["bytes_received"] = 5_000

    assert [f.paths for f in found(tmp_path, bend)["bytes-below-payload"]] == [("libpq tcp",)]


def test_cpu_exceeds_wall(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "pgjdbc", workload="keyed", regime="steady"):
            sample["client_cpu_ns"] = 2 * sample["window_ns"]

    assert [f.paths for f in found(tmp_path, bend)["cpu-exceeds-wall"]] == [("pgjdbc tcp",)]


@pytest.mark.parametrize("own", [True, False])
def test_periodic_cost_is_the_paths_own(tmp_path: Path, own: bool) -> None:
    def bend(records: list[factory.Record]) -> None:
        samples = of(records, "sample", "pgjdbc", workload="keyed", regime="steady")
        for sample in samples[::20]:
            sample["ns"] += 8_000_000
            sample["window_ns"] += 8_000_000
            if own:
                sample["client_cpu_ns"] += 8_000_000
            else:
                sample["wait_ns"] += 8_000_000

    findings = found(tmp_path, bend)
    assert [f.paths for f in findings.get("periodic-cost", [])] == ([("pgjdbc tcp",)] if own else [])


def test_warm_up_not_reached(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for warm in of(records, "warm", "derby", workload="keyed")[:5]:
            warm["shape"] = "no steady state"
        of(records, "warm", "pgjdbc", workload="keyed")[0]["shape"] = "slowdown"  # one alone is no finding

    def settle(records: list[factory.Record]) -> None:
        bend(records)
        for warm in of(records, "warm", "derby", workload="keyed"):
            warm["settled"] = True  # a shape that noise made of a level

    assert "warm-up-not-reached" not in found(tmp_path / "2", settle)
    (finding,) = found(tmp_path, bend)["warm-up-not-reached"]
    assert finding.paths == ("derby embedded",)
    assert finding.evidence == "derby embedded: 5 of 12 warm-ups"


def test_still_compiling(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for driver, last_set in (("derby", 3), ("pgjdbc", 1)):  # in two sets of six it may have been the cap's fault
            for sample in of(records, "sample", driver, workload="keyed", regime="steady"):
                if sample["set"] < last_set:
                    sample["client_helpers_cpu_ns"] = sample["window_ns"] * 0.6

    (finding,) = found(tmp_path, bend)["still-compiling"]
    assert finding.paths == ("derby embedded",)
    assert "3 of 6 sets" in finding.evidence
    assert "still-compiling" not in found(tmp_path / "2")


def test_placement_flips_ranking(tmp_path: Path) -> None:
    costs = {("pgx", "same"): 10e3, ("pgx", "split"): 80e3, ("asyncpg", "same"): 14e3, ("asyncpg", "split"): 70e3}
    paths = [
        factory.path(
            f"{driver} {placement}", f"postgresql server c {driver} placement={placement}", {"keyed.read": cost}
        )
        for (driver, placement), cost in costs.items()
    ]
    finding = found(tmp_path, paths=paths)["placement-flips-ranking"][0]
    assert "split cores" in finding.evidence
    costs[("asyncpg", "split")] = 90e3
    paths[-1] = factory.path(paths[-1].name, "postgresql server c asyncpg placement=split", {"keyed.read": 90e3})
    assert "placement-flips-ranking" not in found(tmp_path / "2", paths=paths)


def test_neighbour_noise(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for noise in records:
            if noise["record"] == "noise" and noise["set"] == 2 and noise["when"] == "after":
                noise |= {"steal_ticks": stolen_ticks, "spin_gap_max_ns": 12_000_000}

    stolen_ticks = 900
    (finding,) = found(tmp_path, bend)["neighbour-noise"]
    assert finding.evidence.startswith("set 2: gaps of up to 12.0 ms")
    assert finding.text == "the virtual machine's host used the machine's cores during 1 of 6 sets"
    stolen_ticks = 0
    (finding,) = found(tmp_path / "2", bend)["neighbour-noise"]
    assert finding.text == "something else used the machine's cores during 1 of 6 sets"


def test_threads_of_a_path_that_wait_for_each_other_are_no_neighbours(tmp_path: Path) -> None:
    def press(records: list[factory.Record]) -> None:
        for noise in records:
            if noise["record"] == "noise":
                noise["pressure_some_us"] *= 100

    embedded = [factory.path("sqlite c", "sqlite embedded c sqlite", {"keyed.read": 6e3})]
    assert "neighbour-noise" not in found(tmp_path, press, paths=embedded)


def of_a_faster_set(records: list[factory.Record], engines: tuple[str, ...]) -> None:
    """Let all paths of these engines take two thirds of their time in set 2."""
    for sample in records:
        mine = any(f"engine={engine}," in sample.get("path_id", "") for engine in engines)
        if mine and sample["record"] == "sample" and sample["set"] == 2 and sample["regime"] == "steady":
            sample |= {key: round(sample[key] / 1.5) for key in ("ns", "window_ns")}


def test_a_set_in_which_all_paths_are_faster_is_the_machines_doing(tmp_path: Path) -> None:
    by_id = found(tmp_path, lambda records: of_a_faster_set(records, ("sqlite", "postgresql", "derby", "null")))
    (finding,) = by_id["machine-speed-changed"]
    (changed,) = re.findall(r"^the machine's speed changed by ([\d.]+) % from set to set$", finding.text)
    assert float(changed) > 50.0
    assert "set 3 -" in finding.evidence


def test_a_set_in_which_one_engine_is_faster_is_not(tmp_path: Path) -> None:
    assert "machine-speed-changed" not in found(tmp_path, lambda records: of_a_faster_set(records, ("sqlite",)))


def test_missing_paths_are_told_by_reason_and_when_the_run_ended_early(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        del records[next(i for i, each in enumerate(records) if each["record"] == "set") :]

    findings = found(tmp_path, bend)["missing-path"]
    assert findings[0].severity == "warning"
    assert findings[0].next_command == f"rowpath run --resume {tmp_path}"
    assert findings[1].next_command == "apt-get install openjdk-17-jdk-headless"


def test_a_path_that_cannot_do_what_was_asked_is_missing_with_its_reason(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        path_id = of(records, "path", "sqlite")[0]["path_id"]
        records[:] = [each for each in records if each["record"] == "path" or each.get("path_id") != path_id]
        text = "2000 clients; this runner has 1 to 1024"
        lost = {"record": "failure", "set": 0, "path_id": path_id, "kind": "unsupported", "text": text}
        records.insert(-1, lost | {"status": "unsupported"})

    finding = next(each for each in found(tmp_path, bend)["missing-path"] if each.severity == "warning")
    assert finding.text == "sqlite c could not run: 2000 clients; this runner has 1 to 1024"
    assert finding.paths == ("sqlite c",)


def test_no_rule_cries_on_a_calm_run_of_equal_paths(tmp_path: Path) -> None:
    rng = random.Random(1)
    paths = [
        factory.path(
            f"p{n}", f"postgresql server c d{n} transport=tcp", {"keyed.read": 17e3 * math.exp(rng.gauss(0, 0.3))}
        )
        for n in range(6)
    ]
    assert set(found(tmp_path, paths=paths)) <= {"missing-path", "width-not-reached"}


def test_steady_slower_than_cold(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "sqlite", workload="keyed", regime="cold"):
            sample["ns"] //= 3  # cold costs twice the steady cost in the factory

    findings = found(tmp_path, bend)["steady-slower-than-cold"]
    assert [f.paths for f in findings] == [("sqlite c",)]
    assert " cold: 1.4" in findings[0].evidence


def test_one_lucky_cold_pass_contradicts_nothing(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "sqlite", workload="keyed", regime="cold", set=2):
            sample["ns"] //= 3

    assert "steady-slower-than-cold" not in found(tmp_path, bend)


def _half_accounted(records: list[factory.Record], **more: float) -> None:
    for sample in of(records, "sample", "sqlite", workload="keyed", regime="steady"):
        sample["client_cpu_ns"] = sample["window_ns"] * 0.5
        sample |= {name: sample["window_ns"] * share for name, share in more.items()}


def test_time_not_accounted(tmp_path: Path) -> None:
    findings = found(tmp_path, _half_accounted)["time-not-accounted"]
    assert [f.paths for f in findings] == [("sqlite c",)]
    assert "50.0 %" in findings[0].evidence


def test_waiting_of_its_own_accounts_for_time(tmp_path: Path) -> None:
    assert "time-not-accounted" not in found(tmp_path, lambda records: _half_accounted(records, own_wait_ns=0.48))


def test_helper_threads_on_spare_cores_account_for_no_time(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "sqlite", workload="keyed", regime="steady"):
            sample["client_helpers_cpu_ns"] = sample["window_ns"] * 0.5

    assert "time-not-accounted" in found(tmp_path, bend)


def test_rate_not_from_time(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "sqlite", workload="keyed", regime="steady"):
            sample["window_ns"] *= 2

    findings = found(tmp_path, bend)["rate-not-from-time"]
    assert [(f.paths, f.severity) for f in findings] == [(("sqlite c",), "error")]


@pytest.mark.parametrize(("least_ns", "raised"), [(0, True), (25_000_000, False)])
def test_a_language_with_a_longer_lead_in_leaves_nothing_out(tmp_path: Path, least_ns: int, raised: bool) -> None:
    def bend(records: list[factory.Record]) -> None:
        for path in of(records, "path", "sqlite"):
            path["lead_in_least_ns"] = least_ns
        for sample in of(records, "sample", "sqlite", workload="keyed", regime="steady"):
            sample |= {"window_ns": sample["ns"] + 25_000_000, "lead_in_operations": 1}

    assert ("rate-not-from-time" in found(tmp_path, bend)) == raised


@pytest.mark.parametrize(("kind", "share", "severity"), [("ours", 0.5, "error"), ("program", 0.5, "warning")])
def test_disturbed_blocks_name_who_had_the_core(tmp_path: Path, kind: str, share: float, severity: str) -> None:
    def bend(records: list[factory.Record]) -> None:
        for sample in of(records, "sample", "sqlite", regime="steady"):
            user = {"kind": kind, "name": "java: C2 CompilerThre", "ns": int(share * sample["window_ns"])}
            sample |= {"disturbed": "50% of the window went to java", "core_users": [user]}

    (finding,) = found(tmp_path, bend)["disturbed-blocks"]
    assert finding.severity == severity
    assert "java: C2 CompilerThre" in finding.evidence
    assert ("Rowpath's own" in finding.evidence) is (kind == "ours")
