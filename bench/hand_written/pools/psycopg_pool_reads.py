"""psycopg_pool, as its documentation begins: a pool, and a connection of it for each read, in autocommit."""

from time import perf_counter_ns

from conversation import loans, read_settings, serve_blocks
from psycopg_pool import ConnectionPool

settings, keys = read_settings()
login = {name: settings[name] for name in ("host", "port", "user", "password")}
login |= {"dbname": settings["database"], "sslmode": "disable", "autocommit": True, "prepare_threshold": 0}
pool = ConnectionPool(kwargs=login, min_size=1, max_size=1, open=True)
pool.wait()
borrow, give_back = loans(settings, pool.getconn, pool.putconn)


def reads(operations):
    touch = own_ns = 0
    sql = settings["sql"]
    for at in range(operations):
        parameters = (keys[at % len(keys)],)
        begin = perf_counter_ns()
        connection = borrow()
        own_ns += perf_counter_ns() - begin
        for key, data in connection.execute(sql, parameters):
            touch += len(key) + len(data)
        begin = perf_counter_ns()
        give_back(connection)
        own_ns += perf_counter_ns() - begin
    return touch, own_ns


serve_blocks(reads)
pool.close(timeout=0)
