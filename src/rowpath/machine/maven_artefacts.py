"""Maven artefacts that come on request only, as `rowpath engine fetch NAME` takes them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from rowpath.machine import maven
from rowpath.machine.directories import downloads_dir
from rowpath.model.availability import Availability


@dataclass(frozen=True)
class Artefacts:
    """Maven artefacts that come only on request (`engines.base.Fetchable`)."""

    name: str  # as `rowpath engine fetch` takes it
    title: str
    licence: str
    size_text: str
    coordinates: tuple[str, ...]

    def fetched(self) -> bool:
        """Whether they are there."""
        return not maven.missing(self.coordinates)

    def fetch(self) -> str:
        """Fetch them, pinned by checksum; what was fetched and where it is. Errors: EnvironmentMissing."""
        maven.fetch(self.coordinates)
        return f"{self.title}, {self.licence}, in {downloads_dir() / 'java'}"

    def availability(self) -> Availability:
        """Whether they are there; fetches nothing."""
        if self.fetched():
            return Availability(True, self.title)
        if shutil.which("mvn") is None:
            return Availability(False, self.title, "Maven, which fetches it, is missing", maven.INSTALL)
        reason = f"not fetched: {self.title}, {self.licence}, {self.size_text}"
        return Availability(False, self.title, reason, f"rowpath engine fetch {self.name}")


# Drivers on request only, by the name that `build.on_request` of an adapter has.
JCC = Artefacts(
    name="jcc",
    title="IBM Data Server Driver for JDBC and SQLJ (jcc) 12.1.2.0",
    licence="IBM's International Program License Agreement, which you accept by using it",
    size_text="7 MB",
    coordinates=("com.ibm.db2:jcc:12.1.2.0",),
)
ESPROC_VERSION = "20230228"
ESPROC = Artefacts(
    name="esproc",
    title=f"esProc SPL {ESPROC_VERSION}",
    licence="Apache-2.0",
    size_text="7 MB",
    coordinates=(f"com.scudata.esproc:esproc:{ESPROC_VERSION}", "net.jpountz.lz4:lz4:1.3.0"),
)
DRIVERS: Mapping[str, Artefacts] = {driver.name: driver for driver in (JCC, ESPROC)}
