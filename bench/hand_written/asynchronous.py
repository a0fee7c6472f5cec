"""PostgreSQL through asyncpg, read by key or as a whole; the conversation is that of common.h."""

import asyncio
import sys
from pathlib import Path
from time import perf_counter_ns

import asyncpg


async def keyed(query, keys, operations):
    touch = 0
    count = len(keys)
    for i in range(operations):
        for key, data in await query.fetch(keys[i % count]):
            touch += len(key) + len(data)
    return touch


async def scan(query, operations):
    touch = 0
    for _ in range(operations):
        for kind, file, browser, at, size, user, place in await query.fetch():
            touch += len(kind) + len(file) + len(browser) + at.second + size
            touch += (1 if user is None else user) + place
    return touch


async def main():
    settings = {}
    while line := sys.stdin.readline().rstrip("\n"):
        name, _, value = line.partition("=")
        settings[name] = value
    login = {name: settings[name] for name in ("host", "port", "user", "password", "database")}
    connection = await asyncpg.connect(**login, ssl=False)
    query = await connection.prepare(settings["sql"])
    keys = Path(settings["keys"]).read_text().splitlines() if "keys" in settings else None
    print("ready", flush=True)
    for line in sys.stdin:
        operations = int(line)
        begin = perf_counter_ns()
        touch = await (scan(query, operations) if keys is None else keyed(query, keys, operations))
        print(perf_counter_ns() - begin, touch, flush=True)
    await connection.close()


asyncio.run(main())
