"""What a PostgreSQL server reports of itself."""

SHOWN = ("server_version", "TimeZone", "fsync", "synchronous_commit", "default_transaction_isolation")
# A role that the session has set may not see its own row there.
TLS = (
    "SELECT coalesce(max(CASE WHEN ssl THEN 'on' ELSE 'off' END), 'unknown')"
    " FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
)


def server_facts(one, settings):
    """The server's part of the reply to `facts`; `one(sql)` is a query's value, `settings` are the driver's own."""
    shown = {name: one(f"SELECT current_setting('{name}')") for name in SHOWN}
    return {"engine_version": shown["server_version"], "build": one("SELECT version()"), "settings": shown | settings}
