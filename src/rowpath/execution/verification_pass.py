"""The untimed pass over a path: the digest of what it delivers, and its exact round trips, bytes, commits and syncs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rowpath.engines.base import Instance
from rowpath.execution.counting import STATEMENTS_MEANS, Counting, counting_proxy, distinctive, statement_counts
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.worker import Worker
from rowpath.machine import disk_space
from rowpath.machine.counters import counting_proxy as proxy
from rowpath.machine.counters import syncs, system_calls
from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import VERIFIED_ROWS, SampleReply

SETTLING_OPERATIONS = 12  # drivers change their ways after some executions (pgjdbc prepares at the fifth)
SETTLING_RETRIEVALS = 6  # of whole large tables, by each connection: as many as the above need
SINGLE_OPERATIONS = 3  # of those, asked for one by one
COUNTED_OPERATIONS = 20
LARGE_ROWS = 50_000  # of a scan that takes so long that few operations must do
WRITTEN_OPERATIONS = 100
VERIFIED_OPERATIONS = 1000
LEAST_ROUND_TRIPS = 0.95  # per operation, of a path over a connection

Record = Callable[..., None]


class VerificationPass:
    """Runs the pass over one path after another and journals what it finds."""

    def __init__(self, record: Record, directory: Path, timeout_s: float, count_commits: bool) -> None:
        self._record = record
        self._directory = directory
        self._timeout_s = timeout_s
        self._count_commits = count_commits

    def prove(
        self,
        planned: PlannedPath,
        instance: Instance,
        engine_works: dict[str, PreparedWorkload],
        log: Callable[[str], None],
        server_syncs: Path | None = None,
        way_to: Callable[[AccessPath], Mapping[str, Any]] = lambda _path: {},
    ) -> dict[str, str]:
        """The phases this path must not be measured in, with the status why: `wrong`, `failed`, `unsupported`.

        A failure of the path as a whole stands under the empty name. `way_to`: where a path's emulated link listens.
        """
        bad: dict[str, str] = {}
        environment, sync_file = self._sync_counting(planned, engine_works)
        counted = sync_file if planned.path.get("deployment") == "embedded" else server_syncs
        with contextlib.ExitStack() as cleanup:
            try:
                way = way_to(planned.path)
                counting = cleanup.enter_context(counting_proxy(planned.path, instance, self._directory, way))
                worker = Worker(planned, instance, log=log, timeout_s=self._timeout_s, environment=environment)
                cleanup.callback(worker.close)
                worker.open(**(counting.overrides if counting else {}))
                if counting:
                    settings = worker.facts().get("settings", {})
                    counting.encrypted = str(settings.get("tls", "")).startswith("on")
            except RunnerFailure as failure:
                return {"": self._failed(planned, "", failure)}
            for name in planned.phases:
                prepared_workload = engine_works[name.partition(".")[0]]
                try:
                    self._phase(worker, prepared_workload, prepared_workload.phases[name], counting, counted, bad)
                except RunnerFailure as failure:
                    bad[name] = self._failed(planned, name, failure)
                    if failure.fatal:
                        return bad | {"": bad[name]}
        return bad

    def _phase(
        self,
        worker: Worker,
        prepared_workload: PreparedWorkload,
        work: PreparedPhase,
        counting: Counting | None,
        sync_file: Path | None,
        bad: dict[str, str],
    ) -> None:
        planned = worker.planned
        if work.phase.writes:
            worker.reset(work)
        worker.prepare(work)
        settling, operations = self._how_many(work, worker.clients)
        known = work.phase.kind != "null" and work.phase.truth != "none"
        if known and not work.phase.writes and not planned.adapter.floor:
            count = min(work.parameter_count or 1, VERIFIED_OPERATIONS)
            if not self._verified(worker, prepared_workload, work, work, count):
                bad[work.name] = "wrong"
                return
        alone = self._settle(worker, work, settling)
        commits_before = self._commits(worker)
        if counting:
            counting.proxy.watch(distinctive(work.sql) if work.phase.kind != "load" else "")
            counting.proxy.reset()
        asked_before = statement_counts(worker.instance)
        syncs_before = syncs.read(sync_file) if sync_file and work.phase.writes else None
        with system_calls.counting(worker.runner.pid) as together:
            measured = worker.sample(work, "warm", operations=operations, first=settling if work.phase.writes else 0)
        found: dict[str, Any] = {}
        means: dict[str, str] = {}
        asked_after = statement_counts(worker.instance)
        if asked_before and asked_after:
            found["prepares"] = asked_after["prepare"] - asked_before["prepare"]
            found["executes"] = asked_after["execute"] - asked_before["execute"]
            means["statements"] = STATEMENTS_MEANS
        if counting:
            counts = counting.proxy.read()
            found |= {
                "round_trips": counts.round_trips,
                "connections": counts.connections,
                "greetings": counts.greetings,
                "bytes_sent": counts.bytes_sent,
                "bytes_received": counts.bytes_received,
            }
            means["bytes"] = proxy.MEANS
            if counting.encrypted:
                means["texts_sent"] = "unavailable: the connection is encrypted"
            elif work.phase.kind != "load" and distinctive(work.sql):
                found["texts_sent"] = counts.texts_sent
        if operations > 1 and together.calls is not None and alone is not None and together.calls >= alone:
            # What a request costs the runner itself is in both: the difference is made of operations alone.
            found["system_calls"] = (together.calls - alone) / (operations - 1) * operations
        means["system_calls"] = system_calls.probe()
        if syncs_before is not None and sync_file is not None:
            found["syncs"] = syncs.read(sync_file)["total"] - syncs_before["total"]
            means["syncs"] = syncs.MEANS
        commits_after = self._commits(worker) if commits_before is not None else None
        if commits_before is not None and commits_after is not None:
            flushes = len(worker.instance.flush_statements)
            found["commits"] = commits_after - commits_before - flushes
            means["commits"] = "the server's own counter of committed transactions"
        payload = prepared_workload.truth.payload_bytes(work.phase, 0, operations)
        self._record(
            "proof",
            path_id=planned.path.id,
            workload=prepared_workload.workload.name,
            phase=work.phase.name,
            operations=measured.reply.operations,
            payload_bytes=payload,
            means=means,
            **found,
        )
        if measured.reply.failed:
            failure = measured.reply.failure
            text = failure.text if failure else ""
            raise RunnerFailure(
                failure.kind if failure else "internal",
                f"{measured.reply.failed} of {operations} operations failed: {text}",
                failure.code if failure else "",
            )
        if (
            counting
            and found["round_trips"] < LEAST_ROUND_TRIPS * measured.reply.operations
            and work.phase.kind != "null"
        ):
            text = f"{found['round_trips']} round trips in {measured.reply.operations} operations"
            self._record(
                "failure",
                set=-1,
                path_id=planned.path.id,
                workload=prepared_workload.workload.name,
                phase=work.phase.name,
                status="wrong",
                kind="verify",
                code="not-asked",
                text=f"results may come from a client-side cache: {text}",
            )
            bad[work.name] = "wrong"
            return
        received = found.get("bytes_received") if work.phase.transaction == "autocommit" else None
        if planned.adapter.floor and (text := drain_problem(planned.path, measured.reply, payload, received)):
            where = {"path_id": planned.path.id, "workload": prepared_workload.workload.name, "phase": work.phase.name}
            self._record("failure", set=-1, **where, status="wrong", kind="verify", code="not-all", text=text)
            bad[work.name] = "wrong"
            return
        if work.after is not None:
            worker.prepare(work.after)
            expected = prepared_workload.truth.after_digest(work.phase, settling + operations)
            if not self._verified(worker, prepared_workload, work, work.after, 1, expected):
                bad[work.name] = "wrong"

    def _settle(self, worker: Worker, work: PreparedPhase, settling: int) -> int | None:
        """Let the driver settle; the least system calls of a request for one operation (a runtime adds its own)."""
        if work.phase.union:
            for _ in range(SETTLING_RETRIEVALS):
                worker.sample(work, "warm")
            return None
        singles = min(settling, SINGLE_OPERATIONS)
        if settling > singles:
            worker.sample(work, "warm", operations=settling - singles, first=0)
        least: list[int] = []
        for position in range(settling - singles, settling):
            with system_calls.counting(worker.runner.pid) as counted:
                worker.sample(work, "warm", operations=1, first=position)
            least += [counted.calls] if counted.calls is not None else []
        return min(least, default=None)

    def _how_many(self, work: PreparedPhase, clients: int) -> tuple[int, int]:
        """Operations that let the driver settle on every connection, and operations that are counted."""
        settling = SETTLING_OPERATIONS * clients
        if work.phase.writes:
            settling = settling if work.phase.operations > 2 * settling else 0
            return settling, min(work.phase.operations - settling, WRITTEN_OPERATIONS)
        if work.phase.kind == "connect":
            return 1, 3
        if work.phase.union:
            return SETTLING_RETRIEVALS, 1
        if work.phase.scan and work.phase.rows_per_operation >= LARGE_ROWS:
            return SETTLING_RETRIEVALS * clients, 2
        return settling, 3 if work.phase.scan else COUNTED_OPERATIONS

    def _commits(self, worker: Worker) -> int | None:
        """The server's counter of commits, with everything that this connection did."""
        flush = worker.instance.flush_statements
        if not self._count_commits or not flush or worker.clients > 1:  # only one connection would be flushed
            return None
        try:
            worker.run(list(flush))
        except RunnerFailure as failure:
            if failure.kind != "unsupported":
                raise
            return None  # a driver of queries alone
        return worker.commits()

    def _verified(
        self,
        worker: Worker,
        prepared_workload: PreparedWorkload,
        work: PreparedPhase,
        select: PreparedPhase,
        count: int,
        expected: str | None = None,
    ) -> bool:
        reply = worker.verify(select, 0, count)
        union = work.phase.union
        if expected is None:  # the parts of one retrieval are together the whole table
            times = 1 if union else count
            expected = prepared_workload.truth.verify_digest(work.phase, 0, times, VERIFIED_ROWS)
            total = prepared_workload.truth.rows(work.phase, 0, times) or 0
            if reply.digest != expected and reply.rows == total > VERIFIED_ROWS:  # another order is no other result
                reply = worker.verify(select, 0, count, max_rows=total)
                expected = prepared_workload.truth.verify_digest(work.phase, 0, times, total)
        # Beyond the rows of the digest too: parts that leave some out may begin with the right ones.
        whole = prepared_workload.truth.rows(work.phase, 0, 1) if union else None
        ok = reply.digest == expected and whole in (None, reply.rows)
        planned = worker.planned
        where = {
            "set": -1,
            "path_id": planned.path.id,
            "workload": prepared_workload.workload.name,
            "phase": work.phase.name,
        }
        self._record(
            "verify",
            **where,
            digest=reply.digest,
            expected=expected,
            ok=ok,
            rows=reply.rows,
            expected_rows=whole,
            delivered=reply.delivered,
            converted=reply.converted,
        )
        if not ok:
            rows, wanted = reply.digest.partition(":")[0], expected.partition(":")[0]
            what = (
                f"{rows} rows, not {wanted}" if rows != wanted else f"the {rows} rows are not the ones that were loaded"
            )
            if whole not in (None, reply.rows):
                what = f"the {count} parts together delivered {reply.rows:,} of the table's {whole:,} rows"
            self._record(
                "failure", **where, status="wrong", kind="verify", code="", text=f"{what} (digest {reply.digest})"
            )
        return ok

    def _failed(self, planned: PlannedPath, name: str, failure: RunnerFailure) -> str:
        if disk_space.is_full(failure.text):  # no path is to blame for that
            raise disk_space.error(self._directory.parent, failure.text) from failure
        workload, _, phase = name.partition(".")
        status = "unsupported" if failure.kind == "unsupported" else "wrong" if failure.kind == "verify" else "failed"
        self._record(
            "failure",
            set=-1,
            path_id=planned.path.id,
            workload=workload,
            phase=phase,
            status=status,
            kind=failure.kind,
            code=failure.code,
            text=failure.text,
        )
        return status

    def _sync_counting(
        self, planned: PlannedPath, engine_works: dict[str, PreparedWorkload]
    ) -> tuple[dict[str, str], Path | None]:
        writes = any(engine_works[name.partition(".")[0]].phases[name].phase.writes for name in planned.phases)
        if not writes or planned.path.get("deployment") != "embedded" or syncs.probe() != syncs.MEANS:
            return {}, None
        file = syncs.make_file(self._directory / "client-syncs")
        return syncs.environment(file), file


def drain_problem(path: AccessPath, reply: SampleReply, payload_bytes: int, received: int | None = None) -> str:
    """Why what a floor took cannot be the whole; empty when it can. The formats of some files are less than values.

    `received`: the bytes that the counting proxy saw come from the server, where they are the operations' alone.
    """
    least = payload_bytes if path.get("deployment") == "server" or path.get("engine") == "file" else reply.operations
    if reply.bytes % max(1, reply.operations):
        return f"operations returned different byte counts ({reply.bytes:,} bytes over {reply.operations} operations)"
    if received is not None and reply.bytes != received:
        return f"{reply.bytes:,} bytes in {reply.operations} operations, for which the server sent {received:,}"
    if reply.bytes < least:
        return f"{reply.bytes:,} bytes in {reply.operations} operations, whose values alone have {least:,}"
    return ""
