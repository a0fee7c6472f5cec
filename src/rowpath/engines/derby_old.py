"""Derby 10.8.2.2 and IBM's driver jcc, on request only: newer Derby refuses jcc, and its licence is IBM's."""

from __future__ import annotations

from collections.abc import Mapping

from rowpath.engines.artefacts import Artefacts

VERSION = "10.8.2.2"
JARS = tuple(f"{name}:{VERSION}" for name in ("derbynet", "derby", "derbytools"))  # of the server

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
