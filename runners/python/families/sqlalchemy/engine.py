"""SQLAlchemy's engine for a path: its own pool and dialect, the path's driver."""

import sqlalchemy
from sqlalchemy import URL

from families.postgresql.connection import libpq_keywords

DIALECTS = {"psycopg": "postgresql+psycopg", "sqlite3": "sqlite+pysqlite"}


def engine_of(options, **how):
    """The engine; `how` goes to `create_engine`."""
    dialect = DIALECTS[options["driver"]]
    if options["engine"] == "sqlite":
        return sqlalchemy.create_engine(URL.create(dialect, database=options["path"]), **how)
    url = URL.create(dialect, database=options["database"])
    return sqlalchemy.create_engine(url, connect_args=libpq_keywords(options), **how)


def version():
    """What `facts` shows of it."""
    return {"sqlalchemy": sqlalchemy.__version__}
