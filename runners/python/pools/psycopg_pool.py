"""psycopg_pool: the pool of psycopg's own authors."""

from functools import partial

import psycopg
import psycopg_pool
from psycopg_pool import ConnectionPool, PoolTimeout

from core.pool import TIMEOUT_S, PoolAdapter
from families.postgresql.connection import libpq_keywords

KEPT_S = 1e9  # it would connect again after an hour


class Adapter(PoolAdapter):
    no_connection = (PoolTimeout,)

    def open(self):
        keywords = libpq_keywords(self.options)
        psycopg.connect(**keywords).close()  # what the server refuses the pool tries until its timeout, and drops why
        self.pool = ConnectionPool(
            kwargs=keywords | {"autocommit": self.tuned},
            min_size=self.size,
            max_size=self.size,
            check=ConnectionPool.check_connection if self.validates else None,
            open=True,
            **({"max_lifetime": KEPT_S, "max_idle": KEPT_S} if self.tuned else {}),
        )
        self.pool.wait(TIMEOUT_S)
        self.borrow, self.give_back = partial(self.pool.getconn, TIMEOUT_S), self.pool.putconn

    def counts(self):
        counts = self.pool.get_stats()
        return counts["pool_size"] - counts["pool_available"], counts["pool_size"]

    def version(self):
        return {"psycopg_pool": psycopg_pool.__version__}
