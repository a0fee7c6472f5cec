"""Derby 10.8.2.2 and IBM's driver jcc, on request only: newer Derby refuses jcc, and its licence is IBM's."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from rowpath.engines.base import Availability
from rowpath.errors import EnvironmentMissing
from rowpath.languages import maven
from rowpath.places import downloads_dir

VERSION = "10.8.2.2"
JARS = tuple(f"{name}:{VERSION}" for name in ("derbynet", "derby", "derbytools"))  # of the server


@dataclass(frozen=True)
class Artefacts:
    """Maven artefacts that come on request alone (`engines.base.Fetchable`)."""

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

    def require(self) -> None:
        """EnvironmentMissing when they are not there."""
        here = self.availability()
        if not here.ok:
            raise EnvironmentMissing(here.reason, here.remedy)


DERBY = Artefacts(
    name="derby-10.8",
    title=f"Derby {VERSION}",
    licence="Apache-2.0",
    size_text="4 MB",
    coordinates=tuple(f"org.apache.derby:{jar}" for jar in (*JARS, f"derbyclient:{VERSION}")),
)
JCC = Artefacts(
    name="jcc",
    title="IBM Data Server Driver for JDBC and SQLJ (jcc) 12.1.2.0",
    licence="IBM's International Program License Agreement, which you accept by using it",
    size_text="7 MB",
    coordinates=("com.ibm.db2:jcc:12.1.2.0",),
)
FETCHABLE: Mapping[str, Artefacts] = {found.name: found for found in (DERBY, JCC)}
