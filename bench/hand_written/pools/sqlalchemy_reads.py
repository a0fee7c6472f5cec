"""SQLAlchemy's QueuePool by itself, as its documentation constructs one: connections of psycopg, in autocommit."""

from time import perf_counter_ns

import psycopg
from conversation import loans, read_settings, serve_blocks
from sqlalchemy.pool import QueuePool

settings, keys = read_settings()
login = {name: settings[name] for name in ("host", "port", "user", "password")}
login |= {"dbname": settings["database"], "sslmode": "disable", "autocommit": True, "prepare_threshold": 0}
pool = QueuePool(lambda: psycopg.connect(**login), pool_size=1, max_overflow=0, reset_on_return=None)
borrow, give_back = loans(settings, pool.connect, lambda lent: lent.close())


def reads(operations):
    touch = own_ns = 0
    sql = settings["sql"]
    for at in range(operations):
        parameters = (keys[at % len(keys)],)
        begin = perf_counter_ns()
        connection = borrow()
        own_ns += perf_counter_ns() - begin
        cursor = connection.cursor()
        cursor.execute(sql, parameters)
        for key, data in cursor:
            touch += len(key) + len(data)
        cursor.close()
        begin = perf_counter_ns()
        give_back(connection)
        own_ns += perf_counter_ns() - begin
    return touch, own_ns


serve_blocks(reads)
pool.dispose()
