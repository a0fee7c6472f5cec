"""Groups of clients on Java's runner, whose process is kept from one case to the next: a JVM's start costs more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rowpath.runners import manifest
from rowpath.runners.process import RunnerFailure
from tests.runners.java.talk import keep, process_of, short_lived
from tests.runners.protocol import group_talk
from tests.runners.protocol.group_talk import GroupTalk


class Subject(group_talk.Subject):
    """An adapter of Java's."""

    @contextlib.contextmanager
    def talk(self, clients: int = 1, **options: Any) -> Iterator[GroupTalk]:
        talk = KeptTalk(self, {"clients": str(clients)} | options)
        try:
            yield talk
        except BaseException:
            talk.runner.stop()
            raise
        talk.end()


class KeptTalk(GroupTalk):
    """A runner on the subject's path, connected; its process may have served other cases."""

    def __init__(self, subject: Subject, options: dict[str, Any]) -> None:
        self.subject = subject
        path = subject.path
        self._command = short_lived(manifest.command(subject.adapter, path.get("version"), path))
        self.runner, self.log = process_of(self._command)
        try:
            self.runner.hello(subject.adapter.driver, requires=("clients", "client-groups"))
            self.open(path.as_dict() | subject.instance.options(path) | options)
        except BaseException:
            self.runner.stop()
            raise

    def end(self) -> None:
        """Close the connection and keep the process; end one in which nothing is left to close."""
        try:
            self.close_connection()
        except RunnerFailure:
            self.runner.stop()
        else:
            keep(self._command, self.runner, self.log)


@contextlib.contextmanager
def subject(driver: str, folder: Path, deployment: str = "", **coordinates: str) -> Iterator[Subject]:
    """The adapter built, its engine started (empty); the engine is stopped at the end."""
    with group_talk.subject("java", driver, folder, deployment, **coordinates) as found:
        yield Subject(found.adapter, found.instance, found.path, found.folder)
