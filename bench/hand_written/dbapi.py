"""A database through a driver of Python's DB-API, read by key or as a whole; the conversation is that of common.h."""

import sys
from datetime import datetime
from pathlib import Path
from time import perf_counter_ns


def connect(driver, settings):
    """A cursor in autocommit, as the driver's own documentation opens one."""
    if driver == "sqlite3":
        import sqlite3

        return sqlite3.connect(settings["path"], isolation_level=None).cursor()
    if driver == "duckdb":
        import duckdb

        return duckdb.connect(settings["path"], config={"threads": 1})
    server = {name: settings[name] for name in ("host", "port", "user", "password")}
    server |= {"dbname": settings["database"], "sslmode": "disable"}
    if driver == "psycopg":
        import psycopg

        return psycopg.connect(**server, autocommit=True, prepare_threshold=0).cursor()
    import psycopg2

    connection = psycopg2.connect(**server)
    connection.autocommit = True
    return connection.cursor()


def keyed(cursor, rows, sql, keys, operations):
    touch = 0
    count = len(keys)
    execute = cursor.execute
    for i in range(operations):
        execute(sql, keys[i % count])
        for key, data in rows():
            touch += len(key) + len(data)
    return touch


def scan(cursor, rows, sql, operations):
    touch = 0
    for _ in range(operations):
        cursor.execute(sql)
        for kind, file, browser, at, size, user, place in rows():
            touch += len(kind) + len(file) + len(browser) + at.second + size
            touch += (1 if user is None else user) + place
    return touch


def scan_of_text(cursor, rows, sql, operations):
    """The same where a timestamp is kept as text."""
    touch = 0
    parsed = datetime.fromisoformat
    for _ in range(operations):
        cursor.execute(sql)
        for kind, file, browser, at, size, user, place in rows():
            touch += len(kind) + len(file) + len(browser) + parsed(at).second + size
            touch += (1 if user is None else user) + place
    return touch


def main():
    driver = sys.argv[1]
    settings = {}
    while line := sys.stdin.readline().rstrip("\n"):
        name, _, value = line.partition("=")
        settings[name] = value
    cursor = connect(driver, settings)
    rows = cursor.fetchall if driver == "duckdb" else cursor.__iter__
    sql = settings["sql"]
    read = scan_of_text if driver == "sqlite3" else scan
    keys = [(key,) for key in Path(settings["keys"]).read_text().splitlines()] if "keys" in settings else None
    print("ready", flush=True)
    for line in sys.stdin:
        operations = int(line)
        begin = perf_counter_ns()
        touch = read(cursor, rows, sql, operations) if keys is None else keyed(cursor, rows, sql, keys, operations)
        print(perf_counter_ns() - begin, touch, flush=True)


main()
