"""The conversation: requests from stdin, replies to a private copy of stdout."""

import errno
import gc
import importlib
import json
import os
import platform
import sys
import threading
from time import perf_counter_ns, thread_time_ns

from rowpath_runner import VERSION
from rowpath_runner.adapter import Phase, Unsupported
from rowpath_runner.codec import MASK64, Column, read_parameters
from rowpath_runner.loop import Loop

PROTOCOL = [1, 0]
CODEC = 1
KNOWN = {"touch", "digest"}
LIMIT_BYTES = 1 << 20


class Refused(Exception):
    """A request that cannot be served: `kind` is the protocol's."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def clock_read_ns():
    """The cost of one read of the clock: the least of some rounds, in nanoseconds."""
    clock = perf_counter_ns
    rounds = []
    for _ in range(20):
        started = clock()
        for _ in range(100):
            clock()
        rounds.append((clock() - started) / 100)
    return round(min(rounds), 1)


def load_adapter(driver):
    """The class of an adapter by the driver's name."""
    name = driver.replace("-", "_")
    if not name.isidentifier() or not importlib.util.find_spec(f"adapters.{name}"):
        raise Refused("unsupported", f"this runner has no adapter {driver!r}")
    return importlib.import_module(f"adapters.{name}").Adapter


class Session:
    """One controller's conversation with one adapter."""

    def __init__(self, driver):
        self.driver = driver
        self.adapter = None
        self.loops = {}
        self.positions = {}

    def serve(self, requests, replies):
        """Answer requests until `bye` or the end of the stream; returns whether `bye` came."""
        for line in requests:
            try:
                request = json.loads(line)
            except ValueError:
                continue
            if not isinstance(request, dict) or "id" not in request:
                continue
            reply = self._answer(request)
            replies.write(json.dumps({"id": request["id"], **reply}).encode() + b"\n")
            replies.flush()
            if request.get("type") == "bye":
                return True
        return False

    def _answer(self, request):
        kind = request.get("type")
        handler = getattr(self, f"_on_{kind}", None)
        try:
            if handler is None:
                raise Refused("unsupported", f"this runner does not know requests of type {kind!r}")
            return handler(request)
        except Exception as error:
            return {"error": self._described(error, kind)}

    def _described(self, error, request):
        """Kind, code and text of an error, as the protocol has them."""
        kind, code = "internal", type(error).__name__
        if isinstance(error, Refused):
            kind, code = error.kind, ""
        elif isinstance(error, Unsupported):
            kind, code = "unsupported", ""
        elif self.adapter is not None and isinstance(error, self.adapter.errors):
            kind, code = "connect" if request == "open" else "sql", self.adapter.code(error)
        elif isinstance(error, (OSError, EOFError)):
            kind, code = "connect", errno.errorcode.get(getattr(error, "errno", None), code)
        elif request == "verify":
            kind = "verify"
        text = "".join(c if c.isprintable() else " " for c in str(error))
        if kind == "internal":
            text = f"{code}: {text}"
        return {"kind": kind, "code": str(code), "text": text[:2000]}

    def _opened(self):
        if self.adapter is None:
            raise Refused("internal", "nothing is open")
        return self.adapter

    def _loop(self, request):
        self._opened()
        try:
            return self.loops[request["phase"]]
        except KeyError:
            raise Refused("internal", f"phase {request['phase']!r} is not prepared") from None

    def _on_hello(self, request):
        if request["protocol"][0] != PROTOCOL[0]:
            raise Refused("unsupported", f"protocol {request['protocol']} is not {PROTOCOL}, the one spoken here")
        if request["codec"] != CODEC:
            raise Refused("unsupported", f"codec {request['codec']} is not {CODEC}, the one known here")
        unknown = sorted(set(request["requires"]) - KNOWN)
        if unknown:
            raise Refused("unsupported", f"requirement {unknown[0]!r} is not known here")
        if request["adapter"] != self.driver:
            raise Refused("unsupported", f"adapter {request['adapter']!r} is asked for, {self.driver!r} was started")
        return {
            "protocol": PROTOCOL,
            "codec": CODEC,
            "language": "python",
            "runner": f"rowpath-python {VERSION}",
            "adapter": self.driver,
            "pid": os.getpid(),
            "loop_tid": threading.get_native_id(),
            "clock_read_ns": clock_read_ns(),
        }

    def _on_open(self, request):
        if self.adapter is not None:
            self.adapter.close()
        self.loops, self.positions = {}, {}
        self.adapter = load_adapter(self.driver)(request["options"])
        started = perf_counter_ns()
        try:
            delivers = self.adapter.connect()
            connect_ns = perf_counter_ns() - started
            return {"connect_ns": connect_ns, "server_pid": self.adapter.server_pid(), "delivers": delivers or {}}
        except Exception as error:
            described = self._described(error, "open")
            self.adapter = None
            return {"error": described}

    def _on_prepare(self, request):
        phase = Phase(request["phase"], Column)
        wanted = request.get("parameters")
        parameters = None
        if wanted:
            parameters = read_parameters(wanted["file"], wanted["first"], wanted["count"], phase.parameter_columns)
        work = self._opened().prepare(phase, parameters)
        self.loops[phase.name] = Loop(phase.kind, phase.columns, work, phase.stamps, self.adapter.transaction(phase))
        self.positions[phase.name] = 0
        return {"prepare_ns": work.prepare_ns, "parameters": len(parameters or ())}

    def _on_sample(self, request):
        loop = self._loop(request)
        name = request["phase"]
        first = request.get("first", -1)
        position = self.positions[name] if first < 0 else first
        lead_in_ns, limit = request["lead_in_ns"], request.get("operations", 0)
        led = 0
        cpu, started = thread_time_ns(), perf_counter_ns()
        if lead_in_ns:
            lead_in = loop.by_time(position, lead_in_ns, 0)
            led = lead_in[0] + lead_in[1]
        block = (
            loop.by_count(position + led, 0, limit)
            if limit
            else loop.by_time(position + led, request["duration_ns"], 0)
        )
        window_ns, window_cpu_ns = perf_counter_ns() - started, thread_time_ns() - cpu
        operations, failed, failure, rows, total, ns, cpu_ns, low, high, executing, fetching, connecting = block
        self.positions[name] = position + led + operations + failed
        return {
            "ns": ns,
            "operations": operations,
            "failed": failed,
            "failure": self._described(failure, "sample") if failure else None,
            "rows": rows,
            "values": rows * len(loop.columns),
            "touch": f"{total & MASK64:016x}",
            "first": position + led,
            "lead_in_operations": led,
            "window_ns": window_ns,
            "window_cpu_ns": window_cpu_ns,
            "cpu_ns": cpu_ns,
            "min_ns": low,
            "max_ns": high,
            "execute_ns": executing,
            "first_row_ns": fetching,
            "connect_ns": connecting,
        }

    def _on_verify(self, request):
        return self._loop(request).verify(request["first"], request["count"], request.get("max_rows", 100000))

    def _on_run(self, request):
        adapter = self._opened()
        spent = []
        for statement in request["statements"]:
            started = perf_counter_ns()
            try:
                adapter.run(statement)
            except Exception:
                if not request.get("ignore_errors"):
                    raise
            spent.append(perf_counter_ns() - started)
        return {"ns": spent}

    def _on_facts(self, request):
        facts = {"driver_version": "", "engine_version": "", "build": "", "libraries": {}, **self._opened().facts()}
        settings = {
            **facts.get("settings", {}),
            "gc": " ".join(map(str, gc.get_threshold() if gc.isenabled() else ("off",))),
        }
        facts["settings"] = {key: str(value) for key, value in settings.items()}
        facts["runtime"] = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
        return facts

    def _on_close(self, request):
        adapter = self._opened()
        self.loops, self.positions = {}, {}
        started = perf_counter_ns()
        adapter.close()
        self.adapter = None
        return {"close_ns": perf_counter_ns() - started}

    def _on_bye(self, request):
        if self.adapter is not None:
            self.adapter.close()
            self.adapter = None
        return {}
