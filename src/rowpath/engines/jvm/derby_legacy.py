"""Derby 10.8.2.2 and 10.3.1.4 and IBM's driver jcc, on request only: newer Derby refuses jcc, whose licence is IBM's.

10.3.1.4 only makes databases that newer versions open (execution/mixed_load/directory_copies.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from rowpath.machine.maven import JCC, Artefacts

VERSION = "10.8.2.2"
OLDEST = "10.3.1.4"
JARS = tuple(f"{name}:{VERSION}" for name in ("derbynet", "derby", "derbytools"))  # of the server

DERBY = Artefacts(
    name="derby-10.8",
    title=f"Derby {VERSION}",
    licence="Apache-2.0",
    size_text="4 MB",
    coordinates=tuple(f"org.apache.derby:{jar}" for jar in (*JARS, f"derbyclient:{VERSION}")),
)
DERBY_OLDEST = Artefacts(
    name="derby-10.3",
    title=f"Derby {OLDEST}",
    licence="Apache-2.0",
    size_text="2 MB",
    coordinates=(f"org.apache.derby:derby:{OLDEST}",),
)
DOWNLOADS: Mapping[str, Artefacts] = {found.name: found for found in (DERBY, DERBY_OLDEST, JCC)}
BY_VERSION: Mapping[str, Artefacts] = {VERSION: DERBY, OLDEST: DERBY_OLDEST}
