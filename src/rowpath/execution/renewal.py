"""What a run does to its own engines between sets: servers restarted or revived, embedded databases copied again."""

from __future__ import annotations

from collections.abc import Sequence

from rowpath.engines import ENGINES
from rowpath.errors import RowpathError
from rowpath.execution.instances import EngineInstances
from rowpath.execution.run_context import RunContext
from rowpath.journal.records import NoteRecord
from rowpath.planning.plan import Key, PlannedPath, key_of
from rowpath.runners.process import RunnerFailure


class Renewal:
    """Restarts and copies what the run itself has brought up."""

    def __init__(self, context: RunContext, engine_instances: EngineInstances) -> None:
        self._context = context
        self._instances = engine_instances

    def renew(self, members: Sequence[PlannedPath], first: bool) -> None:
        """New server processes and new copies of embedded databases, so that what chance gave them varies over sets.

        A server that must be warmed up for seconds stays, except in a rigorous run.
        """
        for key in dict.fromkeys(key_of(planned.path) for planned in members):
            restart = ENGINES[key[0]].server_warm_s == 0 or self._context.restart_servers
            if not self.revive(key) and key[1] == "server" and not first and restart:
                self.restart(key)
        for planned in members:
            # In the first set too: the verification pass has written into what was loaded.
            if planned.path.embedded and key_of(planned.path) in self._instances:
                self._instances[key_of(planned.path)].own_copy(planned.path)

    def revive(self, key: Key) -> bool:
        """Start a server again that is gone; whether it was."""
        if key not in self._instances or key[1] != "server" or self._instances[key].check():
            return False
        text = f"{key[0]} exited unexpectedly and was restarted"
        self._context.journal.write(NoteRecord(text))
        self._context.progress.note(text)
        self.restart(key)
        return True

    def restart(self, key: Key, *, count_syncs: bool = False) -> None:
        """Stop and start a server again; one that does not come back is a failure of its paths, not of the run."""
        if key not in self._instances:
            return
        try:
            self._instances.restart(key, count_syncs=count_syncs)
        except RowpathError as error:
            self.give_up(key, error)

    def give_up(self, key: Key, error: Exception) -> None:
        """Stop an instance that could not be brought up; each of its paths has failed."""
        self._instances.forget(key)
        for planned in self._context.plan.paths:
            if key_of(planned.path) == key:
                self._context.fail(-1, planned, "", RunnerFailure("connect", str(error)))
