"""A session: requests from stdin, replies to a private copy of stdout."""

import contextlib
import gc
import importlib
import json
import os
import platform
import sys
import threading
from time import perf_counter_ns

from core import VERSION
from core.adapter import Unsupported
from core.client_groups import ClientGroups
from core.client_processes import ClientProcesses
from core.client_tasks import ClientTasks
from core.clients import Clients
from core.decoder import read_parameters
from core.failure import Failure, failure_of
from core.interruption import try_interruption
from core.load import store
from core.phase import Phase

PROTOCOL = [3, 0]
CODEC = 2
KNOWN = {"touch", "digest", "load", "clients", "interrupt", "describe", "client-groups"}


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


def load_adapter(driver, source=None):
    """The class of an adapter by the driver's name, or from the file `source`."""
    name = driver.replace("-", "_")
    if source:
        spec = importlib.util.spec_from_file_location(f"adapters.{name}", source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Adapter
    if not name.isidentifier() or not importlib.util.find_spec(f"adapters.{name}"):
        raise Failure("unsupported", f"this runner has no adapter {driver!r}")
    return importlib.import_module(f"adapters.{name}").Adapter


def requests_of(lines):
    """The requests among the lines; other lines are skipped."""
    for line in lines:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if isinstance(request, dict) and "id" in request:
            yield request


class Session:
    """One controller's session with one adapter."""

    def __init__(self, driver, source=None):
        self.driver = driver
        self.source = source
        self.adapter = None
        self.clients = None
        self.phases = {}
        self.groups = None

    def serve(self, requests, replies):
        """Answer requests until `bye` or the end of the stream; returns whether `bye` came."""

        def answer(request, reply):
            replies.write(json.dumps({"id": request["id"], **reply}).encode() + b"\n")
            replies.flush()

        requests = requests_of(requests)
        for request in requests:
            answer(request, self._answer(request))
            if self.groups and (end := self.groups.work(requests, answer)):
                answer(end, self._answer(end))
            elif request.get("type") == "bye":
                return True
        return False

    def _answer(self, request):
        kind = request.get("type")
        handler = getattr(self, f"_on_{str(kind).replace('-', '_')}", None)
        try:
            if handler is None:
                raise Failure("unsupported", f"this runner does not know requests of type {kind!r}")
            return handler(request)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # also a panic of a driver's, which is no Exception
            return {"error": failure_of(error, self.adapter, kind)}

    def _opened(self):
        if self.adapter is None:
            raise Failure("internal", "nothing is open")
        return self.adapter

    def _prepared(self, request):
        self._opened()
        try:
            return self.phases[request["phase"]]
        except KeyError:
            raise Failure("internal", f"phase {request['phase']!r} is not prepared") from None

    def _on_hello(self, request):
        if request["protocol"][0] != PROTOCOL[0]:
            raise Failure("unsupported", f"protocol {request['protocol']} is not {PROTOCOL}, the one spoken here")
        if request["codec"] != CODEC:
            raise Failure("unsupported", f"codec {request['codec']} is not {CODEC}, the one known here")
        unknown = sorted(set(request["requires"]) - KNOWN)
        if unknown:
            raise Failure("unsupported", f"requirement {unknown[0]!r} is not known here")
        if request["adapter"] != self.driver:
            raise Failure("unsupported", f"adapter {request['adapter']!r} is requested, {self.driver!r} was started")
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
            raise Failure("internal", "a connection is open already")
        options = request["options"]
        adapter = load_adapter(self.driver, self.source).of(options)
        count, concurrency = int(options.get("clients", 1)), options.get("concurrency", adapter.concurrency)
        if count > 1 and concurrency not in (adapter.concurrency, "processes"):
            raise Unsupported(f"this driver's clients run as {adapter.concurrency} or processes, not as {concurrency}")
        self.adapter = adapter
        started = perf_counter_ns()
        try:
            delivers = self.adapter.connect()
            connect_ns = perf_counter_ns() - started
            if count > 1 and concurrency == "processes":
                self.clients = ClientProcesses(adapter, count, self.driver, self.source)
            else:
                self.clients = (ClientTasks if adapter.concurrency == "tasks" else Clients)(adapter, count)
            return {"connect_ns": connect_ns, "server_pid": self.adapter.server_pid(), "delivers": delivers or {}}
        except Exception as error:
            failure = failure_of(error, self.adapter, "open")
            with contextlib.suppress(Exception):  # what failed first is reported
                self._close()
            return {"error": failure}

    def _on_prepare(self, request):
        self._opened()
        phase = Phase(request["phase"])
        wanted = request.get("parameters")
        parameters = None
        if wanted:
            parameters = read_parameters(wanted["file"], wanted["first"], wanted["count"], phase.parameter_columns)
        prepared = self.clients.prepare(phase, parameters)
        self.phases[phase.name] = prepared
        return {"prepare_ns": prepared.samplers[0].prepare_ns, "parameters": len(parameters or ())}

    def _on_sample(self, request):
        prepared = self._prepared(request)
        failure, reply = self.clients.sample(prepared, request)
        return {**reply, "failure": failure_of(failure, self.adapter, "sample") if failure else None}

    def _on_verify(self, request):
        sampler = self._prepared(request).samplers[0]
        return sampler.verify(
            request["first"], request["count"], request.get("max_rows", 200_000), request.get("keep", "")
        )

    def _on_client_groups(self, request):
        self._opened()
        self.groups = ClientGroups(self.clients, self.phases, request)
        return {"clients": self.groups.count}

    def _on_client_groups_end(self, request):
        groups, self.groups = self.groups, None
        if groups is None:
            raise Failure("internal", "no groups are at work")
        return {"client_groups": groups.totals()}

    def _on_load(self, request):
        prepared, first, count = self._prepared(request), request["first"], request["count"]
        rows = prepared.parameters or []
        if not 0 <= first <= first + count <= len(rows):
            raise Failure("internal", f"the phase has {len(rows)} parameters, not [{first}, {first + count})")
        started = perf_counter_ns()
        store(self.adapter, prepared.phase, rows[first : first + count])
        return {"rows": count, "ns": perf_counter_ns() - started}

    def _on_interrupt(self, request):
        return try_interruption(
            self._opened(), request["kind"], request["sql"], request["after_ms"], request["most_ms"]
        )

    def _on_describe(self, request):
        return {"columns": self._opened().describe(request["sql"])}

    def _on_run(self, request):
        self._opened()
        spent, clients = [], 1
        for statement in request["statements"]:
            started = perf_counter_ns()
            clients = self.clients.run(statement, request.get("every_client"), request.get("ignore_errors"))
            spent.append(perf_counter_ns() - started)
        return {"ns": spent, "clients": clients}

    def _on_facts(self, request):
        facts = {"driver_version": "", "engine_version": "", "build": "", "libraries": {}, **self._opened().facts()}
        settings = {
            **facts.get("settings", {}),
            "clients": len(self.clients.adapters),
            "gc": " ".join(map(str, gc.get_threshold() if gc.isenabled() else ("off",))),
        }
        facts["settings"] = {key: str(value) for key, value in settings.items()}
        facts["runtime"] = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
        return facts

    def _on_close(self, request):
        self._opened()
        started = perf_counter_ns()
        self._close()
        return {"close_ns": perf_counter_ns() - started}

    def _on_bye(self, request):
        self._close()
        return {}

    def _close(self):
        self.phases = {}
        clients, self.clients, self.adapter = self.clients, None, None
        if clients is not None:
            clients.close()
