"""How many connections a PostgreSQL server has left for a login, and which other sessions are active."""

from __future__ import annotations

from rowpath.engines.probe_facts import ConnectionLimits

# Of sessions that a login may not look at, PostgreSQL shows neither type nor state: they count as active clients.
_OTHERS = (
    "FROM pg_catalog.pg_stat_activity WHERE pid <> pg_catalog.pg_backend_pid()"
    " AND (backend_type = 'client backend' OR (backend_type IS NULL AND datid IS NOT NULL))"
)
_RESERVE = (
    "(pg_catalog.current_setting('superuser_reserved_connections')::integer"
    " + coalesce(pg_catalog.current_setting('reserved_connections', true), '0')::integer)"
)
LIMITS = ConnectionLimits(
    limits="SELECT 'max_connections|' || pg_catalog.current_setting('max_connections') || '|'"
    f" || (SELECT count(*) {_OTHERS}) || '|' || {_RESERVE}"
    " UNION ALL SELECT 'CONNECTION LIMIT of role ' || rolname || '|' || rolconnlimit || '|'"
    f" || (SELECT count(*) {_OTHERS} AND usesysid = r.oid) || '|0'"
    " FROM pg_catalog.pg_roles AS r WHERE rolname = session_user AND rolconnlimit >= 0"
    " UNION ALL SELECT 'CONNECTION LIMIT of database ' || datname || '|' || datconnlimit || '|'"
    f" || (SELECT count(*) {_OTHERS} AND datid = d.oid) || '|0'"
    " FROM pg_catalog.pg_database AS d WHERE datname = pg_catalog.current_database() AND datconnlimit >= 0",
    others=f"SELECT count(*)::text {_OTHERS} AND (state IS NULL OR state <> 'idle'"
    " OR state_change > pg_catalog.clock_timestamp() - interval '60 seconds')",
)
