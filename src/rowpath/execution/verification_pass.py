"""The untimed pass over a path: the digest of what it delivers, and its exact round trips, bytes, commits and syncs."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import ENGINES
from rowpath.engines.base import CountsStatements, Instance, Wire
from rowpath.execution.measured import verify_record
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.run_context import RunContext
from rowpath.execution.worker import Worker
from rowpath.journal.records import CountedRecord, FailureRecord, OperationShape
from rowpath.machine import private_directories
from rowpath.machine.counters import connections, syncs, system_calls
from rowpath.machine.counters import counting_proxy as proxy
from rowpath.machine.counters.syncs import SyncCount
from rowpath.model.path import AccessPath
from rowpath.model.workload import PhaseName
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import VERIFIED_ROWS, SampleReply
from rowpath.tape.format import TapeRecords
from rowpath.tape.proxy import KINDS, RecordingProxy

BY_SOCKET = Wire("", socket_name="socket")  # an engine that says nothing of its socket
SENT = "an untimed pass through Rowpath's recording proxy"
STATEMENTS_MEANS = "the server's own counters of prepared statements"
LEAST_DISTINCTIVE = 8  # characters; a shorter run between placeholders may stand elsewhere too
SETTLING_OPERATIONS = 12  # drivers change their ways after some executions (pgjdbc prepares at the fifth)
SETTLING_RETRIEVALS = 6  # of whole large tables, by each connection: as many as the above need
SINGLE_OPERATIONS = 3  # of those, each requested by itself
COUNTED_OPERATIONS = 20
LARGE_ROWS = 50_000  # of a scan that takes so long that few operations must do
WRITTEN_OPERATIONS = 100
VERIFIED_OPERATIONS = 1000
LEAST_ROUND_TRIPS = 0.95  # per operation, or per pipeline of operations, of a path over a connection
COUNTED_PIPELINES = 5
PATIENCE_S = 0.05  # the pieces of a pipeline come closer upon each other, unless the client lost its core


def statement_counts(instance: Instance) -> dict[str, int]:
    """The statements that the server has executed so far, by its own counters; empty where it has none."""
    return instance.statement_counts() if isinstance(instance, CountsStatements) else {}


def distinctive(sql: str) -> str:
    """The longest part of an SQL text without a placeholder: it travels when the text travels. Empty when short."""
    longest = max((part.strip() for part in sql.split("?")), key=len)
    return longest if len(longest) >= LEAST_DISTINCTIVE else ""


class StatementsSent(TapeRecords):
    """The texts of the statements that connections executed, in order; nothing else is kept."""

    def __init__(self, protocol: str) -> None:
        super().__init__(protocol)
        self.texts: list[str] = []

    @override
    def ask(self, connection: int, request: bytes, reply: bytes, state: str, failed: bool, extra: int = 0) -> None:
        return

    @override
    def executed(self, sql: bytes) -> None:
        self.texts.append(sql.decode(errors="replace"))


@dataclass
class Counting:
    """A proxy in front of an engine, and what `open` gets so that the runner goes through it."""

    proxy: proxy.Proxy
    overrides: dict[str, Any]
    sent: StatementsSent | None = None  # of a path whose layer chooses its statements
    unreadable: str = ""  # why no text can be found in what passes


@contextlib.contextmanager
def counting_proxy(
    path: AccessPath, instance: Instance, directory: Path, way: Mapping[str, Any] = {}
) -> Iterator[Counting | None]:
    """A counting proxy in front of the instance for this path; None where nothing goes over a connection.

    `way`: where an emulated link listens; the proxy stands on its client's side, so that it counts the same.
    """
    transport = path.transport
    if not path.served or transport not in ("tcp", "unix"):
        yield None
        return
    options = {**instance.options(path), **way}
    # A server that is not ours, or whose place only the user's own driver knows: the proxy stands in front of ours.
    host = options.get("host", "127.0.0.1")
    is_ours = host == "127.0.0.1" or path.server_host != "none"
    if transport == "tcp" and not (is_ours and "port" in options):
        yield None
        return
    with contextlib.ExitStack() as cleanup:
        sent, wire, port = None, ENGINES[path.engine].wire or BY_SOCKET, int(options.get("port", 0))
        to: tuple[str, int] | Path = (host, port)
        if transport == "unix":
            to = wire.named_socket(options["socket_dir" if wire.socket_folder else "socket"], port)
        if wire.protocol in KINDS and "layer" in path.as_dict() and path.tls == "off":
            sent = StatementsSent(wire.protocol)
            reading = RecordingProxy(wire.protocol, to, records=sent)
            reading.start()
            cleanup.callback(reading.stop)
            to = "127.0.0.1", reading.port
        if transport == "tcp":
            counting = proxy.Proxy(to)
            overrides: dict[str, Any] = {"host": "127.0.0.1", "port": counting.port}
        else:
            folder = private_directories.socket_home(directory / "proxy", None)
            cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
            front = wire.socket(folder, port)
            overrides = wire.socket_options(front)
            counting = proxy.Proxy(to, front or 0)
        cleanup.callback(counting.stop)
        yield Counting(counting, overrides, sent)


@dataclass(frozen=True)
class Observation:
    """Some operations of a phase, and what they cost by counters that do not disturb: `sources` names them."""

    reply: SampleReply
    counts: dict[str, Any]
    sources: dict[str, str]


@dataclass
class VerificationPass:
    """The pass over one path; it journals what it finds."""

    _context: RunContext
    _planned: PlannedPath
    _count_commits: bool
    _server_syncs: Callable[[], SyncCount]  # what the path's server counted so far
    _sync_file: Path | None = None  # of a runner that writes itself

    def __post_init__(self) -> None:
        self._workloads = self._context.prepared_workloads(self._planned)

    def verify(self) -> dict[str, str]:
        """The phases this path must not be measured in, with the status why: `wrong`, `failed`, `unsupported`.

        A failure of the path as a whole stands under the empty name.
        """
        bad: dict[str, str] = {}
        with contextlib.ExitStack() as cleanup:
            try:
                self._open(cleanup)
            except RunnerFailure as failure:
                return {"": self._failed("", failure)}
            for name in self._planned.phases:
                try:
                    if not self._phase(self._workloads[PhaseName.of(name).workload], name):
                        bad[name] = "wrong"
                except RunnerFailure as failure:
                    bad[name] = self._failed(name, failure)
                    if failure.fatal:
                        return bad | {"": bad[name]}
        return bad

    def _open(self, cleanup: contextlib.ExitStack) -> None:
        context, path = self._context, self._planned.path
        instance, way = context.engine_instances[key_of(path)], context.engine_instances.way_to(path)
        counting = cleanup.enter_context(counting_proxy(path, instance, context.directory.work, way))
        log, environment = context.log_of(self._planned), {}
        writes = any(context.plan.phase(name).writes for name in self._planned.phases)
        if writes and path.embedded and syncs.method() == syncs.METHOD:  # the runner writes itself
            self._sync_file = syncs.make_file(context.directory.work / "client-syncs")
            environment = syncs.environment(self._sync_file)
        worker = Worker(self._planned, instance, log=log, timeout_s=context.timeout_s, environment=environment)
        cleanup.callback(worker.close)
        worker.open(**(counting.overrides if counting else {}))
        if counting:
            settings = worker.facts().get("settings", {})
            ways = {"tls": "encrypted", "compression": "compressed"}
            how = [way for setting, way in ways.items() if str(settings.get(setting, "")).startswith("on")]
            counting.unreadable = f"the connection is {' and '.join(how)}" if how else ""
        self._worker, self._counting = worker, counting

    def _syncs(self) -> SyncCount:
        """The syncs of the process that writes."""
        if not self._planned.path.embedded:
            return self._server_syncs()
        if self._sync_file is None:
            return SyncCount(method=syncs.method())
        if not syncs.counts(self._sync_file, self._worker.runner.pid):
            return SyncCount()
        return SyncCount(syncs.read(self._sync_file)["total"], syncs.METHOD)

    def _phase(self, prepared_workload: PreparedWorkload, name: str) -> bool:
        """Whether the phase delivers and writes the right rows; a `counted` record of what it costs."""
        worker, work = self._worker, prepared_workload.phases[name]
        if work.phase.writes:
            worker.reset(work)
        worker.prepare(work)
        settling, operations = self._how_many(work)
        known = work.phase.kind != "null" and work.phase.expected != "none"
        if known and not work.phase.writes and not self._planned.adapter.floor:
            count = min(work.parameter_count or 1, VERIFIED_OPERATIONS)
            if not self._verified(prepared_workload, work, work, count):
                return False
        single_calls = self._settle(work, settling)
        observed = self._observe(work, settling, operations, single_calls)
        payload = prepared_workload.expected.payload_bytes(work.phase, 0, operations)
        counted = CountedRecord(
            operations=observed.reply.operations,
            payload_bytes=payload,
            shape=OperationShape(*prepared_workload.expected.shape(work.phase)) if work.phase.kind == "query" else None,
            method=observed.sources,
            **observed.counts,
        )
        self._context.write(counted, -1, self._planned, name)
        if observed.reply.failed:
            reply, failure = observed.reply, observed.reply.failure
            text = f"{reply.failed} of {operations} operations failed: {failure.text if failure else ''}"
            raise RunnerFailure((failure and failure.kind) or "internal", text, failure.code if failure else "")
        code, text = _problem(self._planned, work, observed, payload)
        if text:
            self._wrong(name, text, code)
        return not text and all(
            self._proven(prepared_workload, work, one, settling + operations) for one in work.proofs
        )

    def _proven(
        self, prepared_workload: PreparedWorkload, work: PreparedPhase, proof: PreparedPhase, operations: int
    ) -> bool:
        """Whether a table holds what this many operations wrote."""
        self._worker.prepare(proof)
        expected = prepared_workload.expected.after_digest(work.phase, operations, proof.phase.table)
        return self._verified(prepared_workload, work, proof, 1, expected)

    def _observe(self, work: PreparedPhase, settling: int, operations: int, single_calls: int | None) -> Observation:
        """`settling`: operations done before; `single_calls`: system calls of a request for one."""
        worker, counting = self._worker, self._counting
        commits_before = self._commits()
        if counting:
            counting.proxy.patience(PATIENCE_S if self._planned.path.pipelined else 0)
            counting.proxy.watch(distinctive(work.sql) if work.phase.kind != "load" else "")
            counting.proxy.reset()
            if counting.sent:
                counting.sent.texts.clear()
        statements_before = statement_counts(worker.instance)
        syncs_before = self._syncs() if work.phase.writes else SyncCount()
        with system_calls.counting(worker.runner.pid) as together:
            first = settling if work.phase.writes else 0
            reply = worker.sample(work, "warm", operations=operations, first=first).reply
        counts: dict[str, Any] = {"no_delay": connections.no_delay(worker.runner.pid)}
        sources = {"no_delay": connections.NO_DELAY_METHOD} if counts["no_delay"] is not None else {}
        statements = statement_counts(worker.instance)
        if statements_before and statements:
            counts["prepares"] = statements["prepare"] - statements_before["prepare"]
            counts["executes"] = statements["execute"] - statements_before["execute"]
            sources["statements"] = STATEMENTS_MEANS
        if counting:
            passed = asdict(counting.proxy.read())
            if counting.unreadable or work.phase.kind == "load" or not distinctive(work.sql):
                del passed["texts_sent"]
            counts |= passed
            counting.proxy.patience(0)
            if counting.sent and operations:
                texts = counting.sent.texts
                counts |= {"statements": len(texts), "sql": tuple(texts[: round(len(texts) / operations)])}
                sources["sql"] = SENT
            sources["bytes"] = proxy.METHOD
            if counting.unreadable:
                sources["texts_sent"] = f"unavailable: {counting.unreadable}"
        step = self._planned.path.pipeline
        if operations > step and together.calls is not None and single_calls is not None:
            # What a request costs the runner itself is in both: the difference is made of operations only.
            more = together.calls - single_calls
            counts |= {"system_calls": more / (operations - step) * operations} if more >= 0 else {}
        sources["system_calls"] = system_calls.probe()
        sources |= {"syncs": syncs_before.method} if syncs_before.method else {}
        if syncs_before.total is not None and (syncs_after := self._syncs().total) is not None:
            counts["syncs"] = syncs_after - syncs_before.total
        commits_after = self._commits() if commits_before is not None else None
        if commits_before is not None and commits_after is not None:
            counts["commits"] = commits_after - commits_before - len(worker.instance.flush_statements)
            sources["commits"] = "the server's own counter of committed transactions"
        return Observation(reply, counts, sources)

    def _settle(self, work: PreparedPhase, settling: int) -> int | None:
        """Let the driver settle; the least system calls of a request for one operation (a runtime adds its own).

        Of a pipelined path for one pipeline.
        """
        worker = self._worker
        if work.phase.union:
            for _ in range(SETTLING_RETRIEVALS):
                worker.sample(work, "warm")
            return None
        step = self._planned.path.pipeline
        singles = min(settling, SINGLE_OPERATIONS * step)
        if settling > singles:
            worker.sample(work, "warm", operations=settling - singles, first=0)
        least: list[int] = []
        for position in range(settling - singles, settling, step):
            with system_calls.counting(worker.runner.pid) as counted:
                worker.sample(work, "warm", operations=step, first=position)
            least += [counted.calls] if counted.calls is not None else []
        return min(least, default=None)

    def _how_many(self, work: PreparedPhase) -> tuple[int, int]:
        """Operations that let the driver settle on every connection, and operations that are counted."""
        clients, pipeline = self._worker.clients, self._planned.path.pipeline
        settling = _whole_pipelines(SETTLING_OPERATIONS, pipeline) * clients
        if work.phase.writes:
            settling = settling if work.phase.operations > 2 * settling else 0
            return settling, min(work.phase.operations - settling, _whole_pipelines(WRITTEN_OPERATIONS, pipeline))
        if work.phase.kind == "connect":
            return 1, 3
        if work.phase.union:
            return SETTLING_RETRIEVALS, 1
        if work.phase.scan and work.phase.rows_per_operation >= LARGE_ROWS:
            return SETTLING_RETRIEVALS * clients, 2
        if self._planned.path.pipelined:
            return settling, max(_whole_pipelines(COUNTED_OPERATIONS, pipeline), COUNTED_PIPELINES * pipeline) * clients
        return settling, 3 if work.phase.scan else COUNTED_OPERATIONS

    def _commits(self) -> int | None:
        """The server's counter of commits, with everything that this connection did."""
        worker = self._worker
        flush = worker.instance.flush_statements
        own = "layer" in self._planned.path.as_dict()  # a layer's connections are its own
        if not self._count_commits or not flush or worker.clients > 1 or own:  # only one connection would be flushed
            return None
        try:
            worker.run(list(flush))
        except RunnerFailure as failure:
            if failure.kind != "unsupported":
                raise
            return None  # a driver of queries only
        return worker.commits()

    def _verified(
        self,
        prepared_workload: PreparedWorkload,
        work: PreparedPhase,
        select: PreparedPhase,
        count: int,
        expected: str | None = None,
    ) -> bool:
        reply = self._worker.verify(select, 0, count)
        union = work.phase.union
        if expected is None:  # the parts of one retrieval are together the whole table
            times = 1 if union else count
            expected = prepared_workload.expected.verify_digest(work.phase, 0, times, VERIFIED_ROWS)
            total = prepared_workload.expected.rows(work.phase, 0, times) or 0
            if reply.digest != expected and reply.rows == total > VERIFIED_ROWS:  # another order is no other result
                reply = self._worker.verify(select, 0, count, max_rows=total)
                expected = prepared_workload.expected.verify_digest(work.phase, 0, times, total)
        # Beyond the rows of the digest too: parts that leave some out may begin with the right ones.
        whole = prepared_workload.expected.rows(work.phase, 0, 1) if union else None
        verified = verify_record(reply, expected)
        verified.ok, verified.expected_rows = reply.digest == expected and whole in (None, reply.rows), whole
        self._context.write(verified, -1, self._planned, work.name)
        if not verified.ok:
            rows, wanted = reply.digest.partition(":")[0], expected.partition(":")[0]
            what = f"{rows} rows, expected {wanted}"
            if rows == wanted:
                what = f"the {rows} rows differ from the loaded ones"
            if whole not in (None, reply.rows):
                what = f"the {count} parts together delivered {reply.rows:,} of the table's {whole:,} rows"
            self._wrong(work.name, f"{what} (digest {reply.digest})")
        return verified.ok

    def _wrong(self, name: str, text: str, code: str = "") -> None:
        path_id = self._planned.path.id
        self._context.journal.write(FailureRecord.of(-1, path_id, name, "verify", text, code=code, status="wrong"))

    def _failed(self, name: str, failure: RunnerFailure) -> str:
        return self._context.keep(-1, self._planned, name, failure, "wrong" if failure.kind == "verify" else "")


def _whole_pipelines(operations: int, pipeline: int) -> int:
    return -(-operations // pipeline) * pipeline


def _problem(planned: PlannedPath, work: PreparedPhase, observed: Observation, payload: int) -> tuple[str, str]:
    """Code and text of what shows that not every answer was fetched; two empty ones when nothing does."""
    reply, counts = observed.reply, observed.counts
    round_trips, pipeline = counts.get("round_trips"), planned.path.pipeline
    least = LEAST_ROUND_TRIPS * reply.operations / pipeline
    if round_trips is not None and work.phase.kind != "null" and round_trips < least:
        text = f"only {round_trips} round trips for {reply.operations} operations"
        text += f" in pipelines of {pipeline}" if planned.path.pipelined else ""
        return "client-cache", f"results may come from a client-side cache: {text}"
    if planned.adapter.floor:
        received = counts.get("bytes_received") if work.phase.transaction == "autocommit" else None
        return "not-all", drain_problem(planned.path, reply, payload, received)
    return "", ""


def drain_problem(path: AccessPath, reply: SampleReply, payload_bytes: int, received: int | None = None) -> str:
    """Why what a floor took cannot be the whole; empty when it can. The formats of some files are less than values.

    `received`: the bytes that the counting proxy saw come from the server, where they are only the operations'.
    """
    plain = path.compression == "none" if path.served else ENGINES[path.engine].counts_payload
    least = payload_bytes if plain else reply.operations
    if reply.bytes % max(1, reply.operations):
        return f"operations returned different byte counts ({reply.bytes:,} bytes over {reply.operations} operations)"
    if received is not None and reply.bytes != received:
        return f"{reply.bytes:,} bytes in {reply.operations} operations, but the server sent only {received:,}"
    if reply.bytes < least:
        return f"{reply.bytes:,} bytes in {reply.operations} operations, but their values have {least:,}"
    return ""
