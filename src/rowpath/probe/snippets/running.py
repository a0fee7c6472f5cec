"""How the programs of a probe are built and started."""

from __future__ import annotations

from typing import Any

LIBRARIES = {
    "file": "",
    "libpq": "-I$(pg_config --includedir) -lpq",
    "libmariadb": "$(mariadb_config --cflags --libs)",
    "sqlite": "-lsqlite3",
    "psqlodbc": "-lodbc",
    "odbc-mariadb": "-lodbc",
    "libsqliteodbc": "-lodbc",
}
PACKAGES = {
    "psycopg": "'psycopg[binary]'",
    "psycopg2": "psycopg2-binary",
    "mysql-connector": "mysql-connector-python",
    "adbc-postgresql": "adbc-driver-postgresql pyarrow",
    "adbc-sqlite": "adbc-driver-sqlite pyarrow",
    "connectorx": "connectorx pyarrow",
    "duckdb": "duckdb pyarrow",
    "duckdb-files": "duckdb pyarrow",
    "sqlite3": "",
    "file": "",
}
JARS = {
    "pgjdbc": "postgresql.jar",
    "connector-j": "mysql-connector-j.jar",
    "mariadb-java-client": "mariadb-java-client.jar",
    "sqlite-jdbc": "sqlite-jdbc.jar",
    "duckdb_jdbc": "duckdb_jdbc.jar",
    "h2": "h2.jar",
    "derby": "derby.jar:derbyshared.jar:derbytools.jar:derbyclient.jar",
}


def how_to_run(language: str, driver: str, file: str, found: dict[str, Any]) -> str:
    """One line for a shell."""
    if language == "c":
        return " ".join(f"cc -O2 {file} {LIBRARIES[driver]} -o fastest && ./fastest".split())
    if language == "python":
        package = PACKAGES.get(driver, driver)
        return f"pip install {package} && python {file}" if package else f"python {file}"
    if language == "java":
        return f"java -cp {JARS[driver]} {file}" if driver in JARS else f"java {file}"
    references = "-r:System.Data.dll" + (" -r:Mono.Data.Sqlite.dll" if driver == "mono-data-sqlite" else "")
    return f"mcs {references} {file} && mono {file.replace('.cs', '.exe')}"
