"""SQLAlchemy's engine for a path: its own pool and dialect, the path's driver."""

import sqlalchemy
from sqlalchemy import URL, event

from families.postgresql.connection import libpq_keywords

DIALECTS = {"psycopg": "postgresql+psycopg", "sqlite3": "sqlite+pysqlite"}


def engine_of(options, immediate=False, **how):
    """The engine, connected; `how` goes to `create_engine`. `immediate`: SQLite's transactions begin with its lock."""
    dialect = DIALECTS[options["driver"]]
    if options["engine"] == "sqlite":
        engine = sqlalchemy.create_engine(URL.create(dialect, database=options["path"]), **how)
    else:
        url = URL.create(dialect, database=options["database"])
        engine = sqlalchemy.create_engine(url, connect_args=libpq_keywords(options), **how)
    if immediate and options["engine"] == "sqlite":
        event.listen(engine, "connect", lambda connection, _record: setattr(connection, "isolation_level", None))
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    engine.connect().close()  # the first connection asks what the server is; it stays in the pool
    return engine


def version():
    """What `facts` shows of it."""
    return {"sqlalchemy": sqlalchemy.__version__}
