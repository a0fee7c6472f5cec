"""SQLAlchemy's QueuePool, the pool of an engine, by itself."""

import psycopg
import sqlalchemy
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.exc import SQLAlchemyError, TimeoutError
from sqlalchemy.pool import QueuePool

from core.pool import TIMEOUT_S, PoolAdapter


def give_back(lent):
    """An engine would look at the error; the pool by itself lends a dead connection again and again."""
    if lent.dbapi_connection.closed:
        lent.invalidate()
    else:
        lent.close()


class Adapter(PoolAdapter):
    errors = (SQLAlchemyError,)
    no_connection = (TimeoutError,)
    connection = "lent.dbapi_connection"

    def open(self):
        self.driver.shipped = not self.tuned
        self.pool = QueuePool(
            self.driver.log_in,
            pool_size=self.size,
            max_overflow=0,
            timeout=TIMEOUT_S,
            dialect=PGDialect_psycopg(dbapi=psycopg),
            pre_ping=self.validates,
            **({"reset_on_return": None} if self.tuned else {}),
        )
        self.borrow, self.give_back = self.pool.connect, give_back

    def beneath(self, lent):
        return lent.dbapi_connection

    def counts(self):
        in_use = self.pool.checkedout()
        return in_use, in_use + self.pool.checkedin()

    def shut(self):
        self.pool.dispose()

    def version(self):
        return {"sqlalchemy": sqlalchemy.__version__}
