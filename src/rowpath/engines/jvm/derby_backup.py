"""Derby's backups restored by its own program ij."""

from __future__ import annotations

from pathlib import Path

from rowpath.engines.backup import TIMEOUT_S
from rowpath.engines.jvm.base import jvm_command
from rowpath.errors import RowpathError
from rowpath.machine import processes

PROPERTIES = ("-Dderby.stream.error.file=/dev/null", "-Dderby.storage.pageCacheSize=20000")
WRONG = "ERROR "
SHUT_DOWN = "ERROR 08006"  # what it says of a database that was shut down as asked
# The function itself fails for a table that its indexes do not agree with; it is asked before rows are left out.
CHECK = """
SELECT TABLENAME FROM SYS.SYSTABLES JOIN SYS.SYSSCHEMAS USING (SCHEMAID)
WHERE TABLETYPE = 'T' AND SYSCS_UTIL.SYSCS_CHECK_TABLE(SCHEMANAME, TABLENAME) <> 1;
"""


def restore(jars: tuple[str, ...], kept: Path, database: Path) -> None:
    """Make `database`, which is not there, from a backup, its log applied, every table held against its indexes.

    Errors: RowpathError.
    """
    script = f"connect 'jdbc:derby:{database};restoreFrom={kept}';{CHECK}connect 'jdbc:derby:{database};shutdown=true';"
    command = jvm_command(jars, "-XX:TieredStopAtLevel=1", *PROPERTIES)
    output = processes.run([*command, "org.apache.derby.tools.ij"], text=script, timeout_s=TIMEOUT_S).stdout
    errors = [line[line.index(WRONG) :] for line in output.splitlines() if WRONG in line]
    if not errors or not errors[0].startswith(SHUT_DOWN):
        raise RowpathError(errors[0] if errors else f"ij ended early: {output.strip()[-500:]}")
