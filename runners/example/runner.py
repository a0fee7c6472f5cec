#!/usr/bin/env python3
"""A complete runner in one file: queries of SQLite through Python's own module sqlite3. Besides Python it needs xxhash.

Test it: rowpath adapter test example --adapters runners/example/adapters.toml
"""

import json
import os
import select
import sqlite3
import struct
import sys
import threading
from pathlib import Path
from time import perf_counter_ns, thread_time_ns

import xxhash

TYPES = ("integer", "char", "varchar")


def touch(value):  # what it adds to the touch sum, by its own kind: SQLite's columns hold any
    return value if isinstance(value, int) else 1 if value is None else 5 if isinstance(value, float) else len(value)


def encoded(kind, value):  # the codec's bytes (docs/codec.md), of a value of another kind than declared too
    text = value if isinstance(value, bytes) else str(value).encode()
    tag, digits = b"S", text.removesuffix(b".0")
    if kind == "integer":
        tag, text = (b"N", b"%d" % int(digits)) if digits[digits[:1] == b"-" :].isdigit() else (b"?", text[:100])
    text = text.rstrip(b" ") if kind == "char" else text
    return b"\0" if value is None else tag + struct.pack("<I", len(text)) + text


def read_parameters(file, first, count):
    """Rows [first, first + count) of a parameter file (docs/codec.md)."""
    data = Path(file).read_bytes()
    for row in range(first, first + count):
        (at, end), values = struct.unpack_from("<2Q", data, 16 + 8 * row), []
        while at < end:
            tag, length = data[at : at + 1], int.from_bytes(data[at + 1 : at + 5], "little")
            text = data[at + 5 : at + 5 + length]
            values.append(None if tag == b"\0" else int(text) if tag == b"N" else text.decode())
            at += 1 if tag == b"\0" else 5 + length
        yield tuple(values)


class Phase:
    def __init__(self, cursor, sql, columns, parameters):
        self.cursor, self.sql, self.parameters, self.position = cursor, sql, parameters, 0
        self.types = [column["type"] for column in columns]

    def rows(self, position):
        return self.cursor.execute(self.sql, self.parameters[position % len(self.parameters)])

    def block(self, duration_ns, limit):
        """Operations one by one until the time has passed, or exactly `limit`: the reply's fields."""
        failed = rows = total = high = 0
        low, failure, first, cpu = 1 << 62, None, self.position, thread_time_ns()
        now = started = perf_counter_ns()
        while failed < 100 and (self.position < first + limit if limit else now <= started + duration_ns):
            try:
                for row in self.rows(self.position):
                    total += sum(map(touch, row))
                    rows += 1
            except sqlite3.Error as error:
                failed, failure = failed + 1, failure or failure_of(error, "sample")
            self.position += 1
            before, now = now, perf_counter_ns()
            low, high = min(low, now - before), max(high, now - before)
        times = {"ns": now - started, "cpu_ns": thread_time_ns() - cpu, "min_ns": low, "max_ns": high, "first": first}
        done = {"operations": self.position - first - failed, "failed": failed, "failure": failure, "rows": rows}
        return times | done | {"values": rows * len(self.types), "touch": f"{total % 2**64:016x}"}


class Runner:
    """A method per request; it returns the reply's fields."""

    def __getattr__(self, request):
        raise NotImplementedError(f"no {request} here")

    def hello(self, protocol, codec, requires, adapter, **_):
        if (protocol[0], codec, adapter) != (3, 2, sys.argv[-1]) or set(requires) - {"touch", "digest"}:
            raise NotImplementedError(f"protocol {protocol}, codec {codec}, {requires} or adapter {adapter} is unknown")
        reads = [perf_counter_ns() for _ in range(1001)]
        ids = {"pid": os.getpid(), "loop_tid": threading.get_native_id(), "clock_read_ns": (reads[-1] - reads[0]) / 1e3}
        return ids | {"protocol": [3, 0], "codec": 2, "language": "python", "runner": "example 1", "adapter": adapter}

    def open(self, options, **_):
        assert not vars(self).get("connection"), "a connection is open already"
        started = perf_counter_ns()
        self.phases, self.connection = {}, sqlite3.connect(options["path"], isolation_level=None)
        self.connection.execute(f"PRAGMA synchronous = {'OFF' if options.get('durability') == 'none' else 'FULL'}")
        return {"connect_ns": perf_counter_ns() - started}

    def prepare(self, phase, parameters=None, **_):
        unknown = {column["type"] for column in phase["columns"] + phase["parameter_columns"]} - set(TYPES)
        if phase["kind"] != "query" or phase["transaction"] != "autocommit" or unknown:
            raise NotImplementedError(f"only queries in autocommit, of {', '.join(TYPES)}")
        rows = list(read_parameters(**parameters)) if parameters else [()]
        self.phases[phase["name"]] = Phase(self.connection.cursor(), phase["sql"], phase["columns"], rows)
        return {"prepare_ns": 0, "parameters": len(rows) if parameters else 0}

    def sample(self, phase, lead_in_ns, duration_ns, operations, first, **_):
        phase, started, cpu = self.phases[phase], perf_counter_ns(), thread_time_ns()
        phase.position = first if first >= 0 else phase.position
        led = phase.block(lead_in_ns, 0) if lead_in_ns else {"operations": 0, "failed": 0}
        reply = phase.block(duration_ns, operations) | {"lead_in_operations": led["operations"] + led["failed"]}
        return reply | {"window_ns": perf_counter_ns() - started, "window_cpu_ns": thread_time_ns() - cpu}

    def verify(self, phase, first, count, max_rows=200_000, **_):
        phase = self.phases[phase]
        rows = [row for position in range(first, first + count) for row in phase.rows(position)]
        hashes = [xxhash.xxh64_intdigest(b"".join(map(encoded, phase.types, row))) for row in rows[:max_rows]]
        total = sum(touch(value) for row in rows for value in row) % 2**64
        sums = {"digest": f"{len(hashes)}:{sum(hashes) % 2**64:016x}", "touch": f"{total:016x}", "rows": len(rows)}
        return sums | {"operations": count, "delivered": ["int" if one == "integer" else "str" for one in phase.types]}

    def facts(self, **_):
        [synchronous], version = self.connection.execute("PRAGMA synchronous").fetchone(), sqlite3.sqlite_version
        settings = {"autocommit": "off" if self.connection.in_transaction else "on", "synchronous": str(synchronous)}
        return {"driver_version": version, "engine_version": version, "runtime": sys.version, "settings": settings}

    def close(self, **_):
        self.phases, self.connection = {}, self.connection.close()
        return {"close_ns": 0}


def failure_of(error, request):
    kinds = {NotImplementedError: "unsupported", sqlite3.Error: "connect" if request == "open" else "sql"}
    kind = next((kind for error_class, kind in kinds.items() if isinstance(error, error_class)), "internal")
    return {"kind": kind, "code": getattr(error, "sqlite_errorname", ""), "text": " ".join(str(error).split())}


replies, runner, hang_up = os.fdopen(os.dup(1), "w"), Runner(), select.poll()
os.dup2(2, 1)  # what a driver prints must not come between the replies
hang_up.register(0, 0)
threading.Thread(target=lambda: hang_up.poll() and os._exit(0), daemon=True).start()  # also in the middle of a sample
for line in sys.stdin.buffer:
    number = kind = None
    try:
        request = json.loads(line)
        number, kind = request.pop("id"), request.pop("type")
        reply = {} if kind == "bye" else getattr(runner, kind)(**request)
    except Exception as error:
        reply = {"error": failure_of(error, kind)}
    print(json.dumps({"id": number} | reply), file=sys.stderr if number is None else replies, flush=True)
    if kind == "bye":
        break
