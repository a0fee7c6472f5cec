"""asyncpg's pool, as its documentation uses one without `async with`; it resets nothing, and waits as others do."""

import asyncio
from time import perf_counter_ns

import asyncpg
from conversation import read_settings, serve_blocks

settings, keys = read_settings()
login = {name: settings[name] for name in ("host", "port", "user", "password", "database")}


async def nothing(_connection):
    pass


async def opened():
    limits = {"min_size": 1, "max_size": 1, "max_inactive_connection_lifetime": 0, "max_queries": 1 << 60}
    return await asyncpg.create_pool(**login, ssl=False, reset=nothing, **limits)


async def reads(operations):
    touch = own_ns = 0
    sql = settings["sql"]
    held = await pool.acquire(timeout=30) if settings["hold"] == "on" else None
    for at in range(operations):
        key = keys[at % len(keys)]
        begin = perf_counter_ns()
        connection = held or await pool.acquire(timeout=30)
        own_ns += perf_counter_ns() - begin
        for name, data in await connection.fetch(sql, key):
            touch += len(name) + len(data)
        begin = perf_counter_ns()
        if not held:
            await pool.release(connection)
        own_ns += perf_counter_ns() - begin
    if held:
        await pool.release(held)
    return touch, own_ns


with asyncio.Runner() as runner:
    pool = runner.run(opened())
    serve_blocks(lambda operations: runner.run(reads(operations)))
    runner.run(pool.close())
