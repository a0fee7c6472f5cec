"""What SQLite reports of itself."""

SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


def engine_facts(one, settings):
    """The engine's part of the reply to `facts`; `one(sql)` is a query's value, `settings` are the driver's own."""
    return {
        "engine_version": one("SELECT sqlite_version()"),
        "build": one("SELECT sqlite_source_id()"),
        "settings": settings
        | {name: one(f"PRAGMA {name}") for name in ("journal_mode", "cache_size", "threads")}
        | {"synchronous": SYNCHRONOUS[int(one("PRAGMA synchronous"))]},
    }
