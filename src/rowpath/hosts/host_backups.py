"""The backups of one run that are made and kept on this host, whose engines they are of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rowpath.engines.base import Backup
from rowpath.errors import InternalError
from rowpath.execution.instances import EngineInstances
from rowpath.execution.mixed_load.acknowledged_writes import Ledger
from rowpath.execution.mixed_load.backup_site import BackupSite
from rowpath.execution.mixed_load.resource_usage import ProcessUse
from rowpath.execution.mixed_load.restore_check import Restored
from rowpath.execution.run_context import RunContext
from rowpath.planning.plan import key_of

METHODS = frozenset({"start", "ended", "stop", "kept_bytes"})


class HostBackups:
    """Backups by their path's id and a name."""

    def __init__(self, context: RunContext, instances: EngineInstances) -> None:
        self._context = context
        self._instances = instances
        self._sites: dict[tuple[str, str], BackupSite] = {}
        self.use = ProcessUse(self._pids)

    def _pids(self) -> list[int]:
        return [pid for site in self._sites.values() for pid in site.pids()]

    def make(self, path_id: str, name: str) -> Backup:
        """Get ready for one; how it is made, without secrets. Errors: EnvironmentMissing."""
        plan = self._context.plan
        planned = plan.path(path_id)
        folder = self._context.directory.work / f"backups-{plan.paths.index(planned)}" / name
        site = BackupSite(planned, self._instances[key_of(planned.path)], folder)
        self._sites[path_id, name] = site
        return replace(site.backup, environment={})

    def called(self, path_id: str, name: str, method: str, *arguments: Any) -> Any:
        """A method of `BackupSite`."""
        if method == "restored":
            return self._restored(path_id, name, *arguments)
        if method == "remove":
            self._sites.pop((path_id, name)).remove()
            return None
        if method not in METHODS:
            raise InternalError(f"unknown method '{method}' of a backup", "run the same Rowpath on every host")
        return getattr(self._sites[path_id, name], method)(*arguments)

    def _restored(self, path_id: str, name: str, before: Ledger, after: Ledger) -> Restored:
        context = self._context
        planned = context.plan.path(path_id)
        works, log = context.prepared_workloads(planned), context.log_of(planned)
        return self._sites[path_id, name].restored(works, before, after, log, context.timeout_s)
