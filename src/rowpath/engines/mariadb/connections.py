"""How many connections a MariaDB or MySQL server has left for a login, and which other sessions are active."""

from __future__ import annotations

from rowpath.engines.probe_facts import ConnectionLimits

_CLIENTS = "FROM information_schema.PROCESSLIST WHERE USER NOT IN ('system user', 'event_scheduler')"
_ACTIVE = "ID <> CONNECTION_ID() AND COMMAND NOT IN ('Daemon', 'Binlog Dump') AND (COMMAND <> 'Sleep' OR TIME < 60)"


def limits(status: str) -> ConnectionLimits:
    """Its queries; `status`: the table of the server's counters.

    Without the privilege PROCESS a login sees only its own sessions: the others count as active.
    """
    connected = f"(SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM {status} WHERE VARIABLE_NAME = 'Threads_connected')"
    own = "USER = SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"
    return ConnectionLimits(
        limits=f"SELECT CONCAT('max_connections|', @@GLOBAL.max_connections, '|', {connected} - 1, '|0') AS text"
        " UNION ALL SELECT CONCAT('max_user_connections of ', CURRENT_USER(), '|', @@SESSION.max_user_connections,"
        f" '|', (SELECT COUNT(*) - 1 {_CLIENTS} AND {own}), '|0') FROM DUAL"
        " WHERE @@SESSION.max_user_connections > 0",
        others=f"SELECT CAST((SELECT COUNT(*) {_CLIENTS} AND {_ACTIVE})"
        f" + GREATEST(0, {connected} - (SELECT COUNT(*) {_CLIENTS})) AS CHAR) AS text",
    )
