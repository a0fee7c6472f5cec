"""What is tried behind a pooler, in the words of the engine: whether a SET stays, whether a cancel is heard."""

from __future__ import annotations

from dataclasses import dataclass

SLEEP_S = 5


@dataclass(frozen=True)
class Attempts:
    """Statements of one engine. `marked` fails in a session in which `mark` was not executed."""

    mark: str
    marked: str
    begin: str = "BEGIN"
    end: str = "ROLLBACK"
    sleep: str = f"SELECT pg_sleep({SLEEP_S})"  # it ends by itself, should no one hear the cancel


ATTEMPTS = {
    "postgresql": Attempts(
        "SET rowpath.mark = '7'", "SELECT 1 / coalesce((current_setting('rowpath.mark', true) = '7')::int, 0)"
    ),
    "mariadb": Attempts(
        "SET @rowpath_mark = 7",
        "SELECT IF(coalesce(@rowpath_mark, 0) = 7, 1, (SELECT 1 UNION SELECT 2))",
        sleep=f"SELECT SLEEP({SLEEP_S})",
    ),
}
