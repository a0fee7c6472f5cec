"""A read-only transaction of PostgreSQL through a pooler: its settings and prepared statements end in it."""

from __future__ import annotations

from rowpath.engines import probe_facts as probing

IDLE_TIMEOUT_S = 60  # of a transaction; a probe's never rest
SAVEPOINT = "rowpath"
# Statements outlast the transaction that they are prepared in. A pooler that keeps them itself gives them such names.
_NAMED = "prepare_time >= now() AND left(name, 10) <> 'PGBOUNCER_'"
_CLEAN = f"""DO $rowpath$ DECLARE named text; BEGIN
FOR named IN SELECT name FROM pg_catalog.pg_prepared_statements WHERE {_NAMED} LOOP
EXECUTE 'DEALLOCATE ' || quote_ident(named);
{{then}}END LOOP; END $rowpath$"""
REFUSED = "the driver prepares statements by name, and the pooler does not keep them: others would meet them"


def _begin(timeout_ms: int) -> tuple[str, ...]:
    return (
        "BEGIN READ ONLY",
        f"SET LOCAL statement_timeout = {timeout_ms}",
        f"SET LOCAL lock_timeout = {probing.LOCK_TIMEOUT_S * 1000}",
        f"SET LOCAL idle_in_transaction_session_timeout = {IDLE_TIMEOUT_S * 1000}",
        # What drivers begin a session with: a pooler may refuse it, or ignore it.
        "SET LOCAL TimeZone = 'UTC'",
        "SET LOCAL DateStyle = 'ISO'",
        "SET LOCAL IntervalStyle = 'postgres'",
    )


TRANSACTION = probing.PooledTransaction(
    begin=_begin,
    local="SET LOCAL {key} = {value}",
    made_local=lambda statement: statement.replace("SET", "SET LOCAL", 1),
    savepoint=f"SAVEPOINT {SAVEPOINT}",
    release=f"RELEASE SAVEPOINT {SAVEPOINT}",
    roll_back=f"ROLLBACK TO SAVEPOINT {SAVEPOINT}",
    named=f"SELECT name::text FROM pg_catalog.pg_prepared_statements WHERE {_NAMED}",
    clean=_CLEAN.format(then=""),
    refuse=_CLEAN.format(then=f"RAISE EXCEPTION '{REFUSED}';\n"),
    commit="COMMIT",
    check="SELECT current_setting('transaction_read_only') AS only_reads",
    check_text="on",
)
