"""A made-up analysis of groups at work at once: two paths, backups, a stall, a rate not reached, a kill, a move."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from rowpath.analysis.answer import answer
from rowpath.analysis.chapters.mixed_load import MixedLoadReport
from rowpath.analysis.chapters.mixed_load import sentences as group_sentences
from rowpath.analysis.chapters.mixed_load.backups import AcknowledgedCheck, BackupEffect, BackupFigures
from rowpath.analysis.chapters.mixed_load.deployments import DirectoryCopy, GroupRatio
from rowpath.analysis.chapters.mixed_load.groups import GroupFigures, Latency, StageFigures
from rowpath.analysis.chapters.mixed_load.rate_search import RateSearch, RateTry
from rowpath.analysis.chapters.mixed_load.time_line import Series, TimeLine
from rowpath.analysis.model import Analysis
from rowpath.journal.mixed_load_records import CountedFailure
from rowpath.journal.records import RunRecord
from rowpath.model.experiment import Experiment

PATHS = {"Derby embedded": 1.0, "Derby network": 0.31}
STRETCHES = (
    ("reads", 0.0, 5.0),
    ("writes", 5.0, 10.0),
    ("reads and writes", 10.0, 20.0),
    ("with a backup", 20.0, 62.0),
    ("open loop", 62.0, 72.0),
)
BACKUP = (24.3, 55.1)
STALLED = range(40, 43)  # the seconds in which no write of the network path ended
KILLED_S = 70.5
READS_PER_S, WRITES_PER_S = 27_000.0, 66.0


def analysis() -> Analysis:
    """The fixture; the same at each call."""
    made = Analysis(
        run=RunRecord(
            rowpath="0.1.0",
            started="2025-12-01T10:00:00+00:00",
            command=["./rowpath", "run", "reads-writes-backup"],
            experiment=Experiment(1, "reads-writes-backup", "Reads, writes and an online backup at once", (), ()),
            seed=7,
            environment={"processor": "Intel Xeon Platinum 8488C", "distribution": "Debian GNU/Linux 12 (bookworm)"},
        ),
        names={_id(name): name for name in PATHS},
        results=(),
        rankings=(),
        findings=(),
        verdict=("Behind its network server Derby reads 0.31× (0.30–0.32) as fast as embedded.",),
        chapters={"mixed_load": report()},
    )
    sentences = [sentence for sentence in group_sentences(report()) if sentence.kind == "groups"]
    return msgspec.structs.replace(made, answer=answer(made, (), sentences, {}))


def report() -> MixedLoadReport:
    """What the tables and the time line show."""
    figures = [_figures(name, speed, stage, group) for name, speed in PATHS.items() for stage, group in _at_work()]
    return MixedLoadReport(
        figures=tuple(figures),
        backups=(
            BackupFigures(
                "Derby embedded",
                _id("Derby embedded"),
                "with a backup",
                "procedure",
                2,
                0,
                (),
                2,
                30.8,
                29.1,
                32.7,
                301_000_000,
            ),
            BackupFigures(
                "Derby network",
                _id("Derby network"),
                "with a backup",
                "procedure",
                2,
                1,
                ("restored, but 3 acknowledged writes are missing",),
                1,
                34.4,
                None,
                None,
                301_000_000,
            ),
        ),
        effects=tuple(
            BackupEffect(
                name,
                _id(name),
                group,
                "with a backup",
                "reads and writes",
                inside,
                outside,
                inside / outside,
                0.9 * inside / outside,
                1.08 * inside / outside,
                2,
            )
            for name, speed in PATHS.items()
            for group, inside, outside in (("readers", 9_400 * speed, 25_100 * speed), ("writers", 41.0, 65.2))
        ),
        stages=tuple(
            StageFigures(
                name,
                _id(name),
                stage,
                2,
                end - begin,
                31_000,
                44_000 if speed < 1 else None,
                *(_traffic(stage) if speed < 1 else (None,) * 5),
            )
            for name, speed in PATHS.items()
            for stage, begin, end in STRETCHES
        ),
        ratios=tuple(
            GroupRatio(
                stage,
                group,
                "Derby network",
                "Derby embedded",
                0.31 if group == "readers" else 0.98,
                0.30 if group == "readers" else 0.94,
                0.32 if group == "readers" else 1.02,
                2,
            )
            for stage, group in _at_work()
        ),
        checks=(
            AcknowledgedCheck("Derby embedded", _id("Derby embedded"), "end", "full", 2, 8_412, 20_000, 0, 0, 0),
            AcknowledgedCheck("Derby network", _id("Derby network"), "end", "full", 2, 8_102, 20_000, 0, 0, 1),
            AcknowledgedCheck("Derby network", _id("Derby network"), "kill", "full", 2, 7_980, 20_000, 3, 0, 2, 1.84),
        ),
        moves=(
            DirectoryCopy(
                "Derby 10.16.1.1 embedded",
                "Derby 10.16.1.1 server",
                299_892_736,
                "9f31c2aa01d77e21",
                "9f31c2aa01d77e21",
                True,
                0.412,
            ),
            DirectoryCopy(
                "Derby 10.3.1.4 embedded",
                "Derby 10.8.2.2 embedded",
                301_465_600,
                "",
                "9f31c2aa01d77e21",
                False,
                1.9,
                "ERROR XSLAN: \x1b[31mnot <b>compatible",
            ),
        ),
        rate_searches=(
            RateSearch(
                "Derby network",
                _id("Derby network"),
                "readers",
                5_000_000,
                6_400.0,
                (
                    RateTry(3_200.0, True, 98_000, 1_900_000, 4_100_000),
                    RateTry(12_800.0, False, None, None, None),
                    RateTry(6_400.0, True, 131_000, 4_700_000, 9_000_000),
                ),
            ),
            RateSearch(
                "Derby embedded",
                _id("Derby embedded"),
                "writers",
                1_000_000,
                None,
                (RateTry(100.0, True, 15_000_000, 31_000_000, 33_000_000),),
            ),
        ),
        lines=tuple(_line(name, speed, number) for name, speed in PATHS.items() for number in range(2)),
    )


def _id(name: str) -> str:
    return f"engine=derby,deployment={'server' if 'network' in name else 'embedded'},processes=shared"


def _at_work() -> list[tuple[str, str]]:
    return [
        ("reads", "readers"),
        ("writes", "writers"),
        ("reads and writes", "readers"),
        ("reads and writes", "writers"),
        ("with a backup", "readers"),
        ("with a backup", "writers"),
        ("open loop", "readers"),
    ]


def _latency(p50_ns: int) -> Latency:
    return Latency(10_000, p50_ns * 1.2, p50_ns, p50_ns * 2, p50_ns * 9, p50_ns * 24, p50_ns * 310)


def _figures(name: str, speed: float, stage: str, group: str) -> GroupFigures:
    opened = stage == "open loop"
    reached = not opened or speed == 1
    rate = READS_PER_S * speed if group == "readers" else WRITES_PER_S
    service = _latency(round(1e9 / rate))
    failing = stage == "with a backup" and group == "writers" and speed < 1
    pacing: Literal["closed", "poisson"] = "poisson" if opened else "closed"
    return GroupFigures(
        name=name,
        path_id=_id(name),
        stage=stage,
        client_group=group,
        phase="library.read" if group == "readers" else "library.write",
        clients=1,
        pacing=pacing,
        sets=2,
        rate_per_s=rate,
        low=rate * 0.98,
        high=rate * 1.02,
        service=service,
        latency=_latency(60_000) if opened and reached else None,
        lateness=_latency(2_000) if opened else None,
        requested_per_s=20_000.0 if opened else None,
        reached=reached,
        not_begun=0 if reached else 113_402,
        failed=14 if failing else 0,
        failures=(
            CountedFailure("lock timeout", "40XL1", "A lock could not be obtained <within> the time", 12),
            CountedFailure("deadlock", "40001", "", 2),
        )
        if failing
        else (),
        rows_per_operation=1.0 if group == "readers" else 0.0,
        touch_ok=True,
        longest_stall_s=3.12 if failing else 0.2,
        client_cpu_ns=31_000.0,
    )


def _traffic(stage: str) -> tuple[float | None, float | None, float | None, float | None, float | None]:
    return 2_100_000.0, 2_050_000.0, 2_160_000.0, 251.0, 700_000.0 if stage == "with a backup" else None


def _line(name: str, speed: float, number: int) -> TimeLine:
    at_s = tuple(float(second) for second in range(1, 73))

    def busy(group: str, at: float) -> bool:
        return any(begin < at <= end for stage, begin, end in STRETCHES if (stage, group) in _at_work())

    def rate(group: str, at: float) -> float | None:
        if not busy(group, at):
            return None
        wave = 1 + 0.06 * math.sin(at * 1.7 + number)
        slowed = 0.38 if BACKUP[0] < at <= BACKUP[1] else 1.0
        if group == "readers":
            return READS_PER_S * speed * wave * slowed
        return 0.0 if int(at) in STALLED and speed < 1 else WRITES_PER_S * wave * slowed

    def of_group(group: str) -> list[Series]:
        rates = [rate(group, at) for at in at_s]
        stalls = [
            None if value is None else 0.0 if value else (at - STALLED[0]) * 1e9
            for value, at in zip(rates, at_s, strict=True)
        ]
        failed = [
            None if value is None else 7.0 if speed < 1 and at in {44, 50} and group == "writers" else 0.0
            for value, at in zip(rates, at_s, strict=True)
        ]
        slow = [2.2e9 / value if value else None for value in rates]
        return [
            Series("rate", group, "operations/s", tuple(rates)),
            Series("failed", group, "operations", tuple(failed)),
            Series("p50", group, "ns", tuple(0.4 * value if value else None for value in slow)),
            Series("p99", group, "ns", tuple(slow)),
            Series("longest", group, "ns", tuple(9 * value if value else None for value in slow)),
            Series("stall", group, "ns", tuple(stalls)),
        ]

    series = of_group("readers") + of_group("writers")
    processes = ("client", "controller") if speed == 1 else ("client", "server", "controller")
    for place, process in enumerate(processes):
        share = (0.62, 0.9, 0.01)[place] if speed < 1 else (0.97, 0.01)[place]
        series += [
            Series("cpu", process, "cores", tuple(share * (1 + 0.03 * math.cos(at)) for at in at_s)),
            Series("memory", process, "bytes", tuple((180 + 60 * place + 0.4 * at) * 2**20 for at in at_s)),
            Series("read", process, "bytes/s", tuple(9e6 * (BACKUP[0] < at <= BACKUP[1]) for at in at_s)),
            Series("written", process, "bytes/s", tuple(2e5 + 9.5e6 * (BACKUP[0] < at <= BACKUP[1]) for at in at_s)),
        ]
    if speed < 1:
        series += [
            Series("sent", "connections", "bytes/s", tuple(73.0 * (rate("readers", at) or 90.0) for at in at_s)),
            Series("received", "connections", "bytes/s", tuple(178.0 * (rate("readers", at) or 40.0) for at in at_s)),
        ]
    kills = (KILLED_S,) if speed < 1 and number == 0 else ()
    return TimeLine(name, _id(name), number, at_s, STRETCHES, (BACKUP,), kills, tuple(series))
