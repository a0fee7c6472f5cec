"""A runner that reads a real SQLite database through the protocol and fails in the way its driver name tells.

`python runner.py --adapter fake-HOW`; HOW: honest, crash, hang, noise, out-of-order, other-version, wrong-digest,
too-few-rows, never-reads, unknown-requirement, silent-start.
It needs the controller's package on PYTHONPATH, for the codec.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from datetime import datetime

from rowpath.model.workload import Column
from rowpath.runners.protocol import PROTOCOL
from rowpath.workloads.codec import Digest, encode_row, touch_row

CALM_SAMPLES = 2  # crashes and hangs come after so many steady samples: in the middle of a run, however slow it is


class Fake:
    """One runner process."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.known = {"digest"} if how == "unknown-requirement" else {"digest", "touch"}
        self.database: sqlite3.Connection | None = None
        self.phase: dict = {}
        self.columns: list[Column] = []
        self.steady_samples = 0
        self.position = 0

    def rows(self) -> list[tuple]:
        assert self.database is not None
        rows = self.database.execute(self.phase["sql"]).fetchall()
        if self.how == "too-few-rows":
            rows = rows[:-1]
        return [tuple(self.value(v, c) for v, c in zip(row, self.columns, strict=True)) for row in rows]

    def value(self, value: object, column: Column) -> object:
        if column.type == "timestamp" and isinstance(value, str):
            return datetime.fromisoformat(value)
        return value

    def hello(self, message: dict) -> dict:
        if self.how == "silent-start":
            sys.exit(7)
        version = [99, 0] if self.how == "other-version" else list(PROTOCOL)
        pid = os.getpid()
        here = {"language": "python", "runner": "fake", "adapter": message["adapter"], "pid": pid, "loop_tid": pid}
        return {"protocol": version, "codec": 2, "clock_read_ns": 100.0, **here}

    def open(self, message: dict) -> dict:
        self.database = sqlite3.connect(message["options"]["path"], isolation_level=None)
        return {"connect_ns": 1000, "server_pid": None}

    def prepare(self, message: dict) -> dict:
        self.phase = message["phase"]
        self.columns = [Column(**column) for column in self.phase["columns"]]
        return {"prepare_ns": 0, "parameters": 0}

    def verify(self, _message: dict) -> dict:
        digest = Digest()
        for row in self.rows():
            digest.add(encode_row(row, self.columns))
        text = digest.text()
        if self.how == "wrong-digest":
            text = text[:-1] + ("0" if text[-1] != "0" else "1")
        return {"digest": text, "rows": int(text.partition(":")[0]), "touch": "0" * 16, "operations": 1}

    def sample(self, message: dict) -> dict:
        self.steady_samples += message["regime"] == "steady"
        if self.steady_samples > CALM_SAMPLES:
            if self.how == "crash":
                os.abort()
            if self.how == "hang":
                time.sleep(3600)
        begun = time.perf_counter_ns()
        cpu = time.thread_time_ns()
        operations = rows = touch = 0
        while not operations or (
            time.perf_counter_ns() - begun < message["duration_ns"] or operations < message["operations"]
        ):
            delivered = self.rows()
            rows += len(delivered)
            if self.how != "never-reads":
                touch += sum(touch_row(row, self.columns) for row in delivered)
            operations += 1
        took = time.perf_counter_ns() - begun
        first, self.position = self.position, self.position + operations
        cpu = time.thread_time_ns() - cpu
        return {
            "ns": took,
            "operations": operations,
            "failed": 0,
            "failure": None,
            "rows": rows,
            "values": rows * len(self.columns),
            "touch": f"{touch % 2**64:016x}",
            "first": first,
            "lead_in_operations": 0,
            "window_ns": took,
            "window_cpu_ns": cpu,
            "cpu_ns": cpu,
            "min_ns": took // operations,
            "max_ns": took // operations,
        }

    def facts(self, _message: dict) -> dict:
        return {"driver_version": self.how, "engine_version": sqlite3.sqlite_version}

    def close(self, _message: dict) -> dict:
        return {"close_ns": 0}

    def bye(self, _message: dict) -> dict:
        return {}


def main() -> None:
    fake = Fake(sys.argv[2].removeprefix("fake-"))
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        message = json.loads(line)
        if fake.how == "noise":
            out.write("WARNING: a chatty library says hello\n")
        identity = message["id"]
        if fake.how == "out-of-order" and message["type"] == "sample":
            identity += 1
        unknown = sorted(set(message.get("requires", ())) - fake.known)
        if unknown:
            error = {"kind": "unsupported", "code": "", "text": f"the requirement {unknown[0]!r} is not known"}
            out.write(json.dumps({"id": identity, "error": error}) + "\n")
            continue
        reply = getattr(fake, message["type"])(message)
        out.write(json.dumps({"id": identity, **reply}) + "\n")
        if message["type"] == "bye":
            return


if __name__ == "__main__":
    main()
