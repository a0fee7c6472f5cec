"""A runner spoken to line by line, whatever its language: the protocol as it stands on the pipe."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from rowpath.runners.manifest import Adapter, load_manifest
from tests.waiting import PATIENCE_S

NOTHING = {"name": "null.nothing", "kind": "null"}
K = {"name": "k", "type": "integer"}
V = {"name": "v", "type": "text", "nullable": True}
KNOWN = ("touch", "digest", "load", "clients", "interrupt")
LACKS = {"c": ("load",)}  # of what a runner may know, by language
Start = Callable[..., "Talk"]
Ask = Callable[[str], str]


def adapter(language: str, driver: str) -> Adapter:
    return next(adapter for adapter in load_manifest(language).adapter if adapter.driver == driver)


def sqlite_file(folder: Path) -> Path:
    """A database of ten rows, its name one that a careless driver takes apart."""
    file = folder / "a b é%20.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT, d TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, '2000-01-02')", [(k, "é" * k) for k in range(1, 11)])
    connection.close()
    return file


def on_sqlite(file: Path, **changed: str) -> dict[str, Any]:
    """What opens the database."""
    return {"path": str(file), "statement": "prepared", "durability": "none"} | changed


class Talk:
    """A runner spoken to line by line, in an environment that would mislead a careless one."""

    def __init__(self, found: Adapter, **coordinates: str) -> None:
        self.driver = found.driver
        self.known = [word for word in KNOWN if word not in LACKS.get(found.language, ())]
        self.id = 0
        version = found.versions[0]
        manifest.build([(found, version)])
        command = manifest.command(found, version, AccessPath.of({"deployment": found.deployments[0], **coordinates}))
        environment = {**os.environ, **command.environment, "JAVA_TOOL_OPTIONS": "-Dnoise=1", "LC_NUMERIC": "de_DE"}
        self.process = subprocess.Popen(
            command.arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )

    def send(self, kind: str, /, **fields: Any) -> None:
        assert self.process.stdin is not None
        self.id += 1
        line = json.dumps({"id": self.id, "type": kind, "deadline_ms": 10_000, "unknown": None, **fields})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, kind: str, /, **fields: Any) -> Any:
        assert self.process.stdout is not None
        self.send(kind, **fields)
        reply = json.loads(self.process.stdout.readline())
        assert reply["id"] == self.id
        return reply

    def hello(self, **changed: Any) -> Any:
        asked = {
            "protocol": [2, 1],
            "codec": 1,
            "requires": self.known,
            "adapter": self.driver,
        }
        return self.ask("hello", **(asked | changed))

    def sample(self, phase: str, **changed: Any) -> Any:
        asked = {"regime": "steady", "lead_in_ns": 0, "duration_ns": 0, "operations": 0, "first": -1}
        return self.ask("sample", phase=phase, **(asked | changed))


def talks(language: str) -> Iterator[Start]:
    """What starts runners of the language; all are killed at the end."""
    started: list[Talk] = []

    def start(driver: str, options: dict[str, Any] | None = None, **coordinates: str) -> Talk:
        talk = Talk(adapter(language, driver), **coordinates)
        started.append(talk)
        if options is not None:
            assert "error" not in talk.hello()
            assert "error" not in talk.ask("open", options=options)
        return talk

    yield start
    for talk in started:
        talk.process.kill()
        talk.process.wait()
        for stream in (talk.process.stdin, talk.process.stdout, talk.process.stderr):
            assert stream is not None
            stream.close()


def answers(command: list[str]) -> Iterator[Ask]:
    """What gives a program a line and returns the line it answers; the program must end well."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, replies = process.stdin, process.stdout

        def ask(request: str) -> str:
            requests.write(request + "\n")
            requests.flush()
            return replies.readline().strip()

        yield ask
        requests.close()
        assert process.wait(timeout=PATIENCE_S) == 0
