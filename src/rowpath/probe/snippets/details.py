"""What programs say differently from driver to driver of one family."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

SSLMODE = {"on": "require", "off": "disable"}
IMPORTED = {
    "mysqlclient": "MySQLdb\nimport MySQLdb.cursors",
    "pymysql": "pymysql\nimport pymysql.cursors",
    "mysql-connector": "mysql.connector",
    "adbc-postgresql": "adbc_driver_postgresql",
    "adbc-sqlite": "adbc_driver_sqlite",
}

Context = dict[str, Any]


def password_of(found: Context) -> str:
    """Where a program takes the password from, in a sentence; empty where there is none."""
    if not found["user"]:
        return ""
    libpq = found["driver"] in ("libpq", "psycopg", "psycopg2", "asyncpg", "adbc-postgresql")
    return f"The password comes from the environment: {'PGPASSWORD' if libpq else 'DB_PASSWORD'}."


def conninfo(found: Context) -> str:
    """libpq's connection string."""
    words = {
        "host": found["socket"] or found["host"],
        "port": found["port"],
        "dbname": found["database"],
        "user": found["user"],
        "sslmode": SSLMODE.get(found["tls"], ""),
    }
    texts = {key: str(value).replace("\\", "\\\\").replace("'", "\\'") for key, value in words.items() if value}
    return " ".join(f"{key}='{text}'" if set(" '") & set(text) else f"{key}={text}" for key, text in texts.items())


def dbapi(found: Context) -> Context:
    """Connecting, cursors and execution in Python."""
    driver, kind = found["driver"], found["result_kind"]
    login = _mysql_login(found)
    imported = IMPORTED.get(driver, driver)
    read_only = f"file:{quote(found['path'])}?mode=ro"
    streamed = kind == "single-row"
    binary = found["format"] == "binary"
    connect = {
        "psycopg": f"psycopg.connect({found['conninfo']!r})",
        "psycopg2": f"psycopg2.connect({found['conninfo']!r})",
        "pymysql": f"pymysql.connect({login})",
        "mysqlclient": f'MySQLdb.connect({login}, charset="utf8mb4")',
        "mariadb": f"mariadb.connect({login})",
        "mysql-connector": f"mysql.connector.connect({login}, use_pure={found['implementation'] == 'pure'})",
        "sqlite3": f"sqlite3.connect({read_only!r}, uri=True)",
        "adbc-postgresql": _adbc_connect(found),
        "adbc-sqlite": f"dbapi.connect({found['path']!r}, autocommit=True)",
    }
    named = '"rows"' if kind == "cursor" else ""
    psycopg = ", ".join(word for word in (f"name={named}" if named else "", "binary=True" if binary else "") if word)
    server_side = ", cursor_type=mariadb.constants.CURSOR.READ_ONLY" if kind == "cursor" else ""
    prepared, buffered = found["statement"] == "prepared", kind == "whole"
    cursor = {
        "psycopg": f"connection.cursor({psycopg})",
        "psycopg2": f"connection.cursor({named})",
        "pymysql": f"connection.cursor(pymysql.cursors.{'SSCursor' if streamed else 'Cursor'})",
        "mysqlclient": f"connection.cursor(MySQLdb.cursors.{'SSCursor' if streamed else 'Cursor'})",
        "mariadb": f"connection.cursor(buffered={buffered}, binary={binary}{server_side})",
        "mysql-connector": f"connection.cursor({'prepared=True' if prepared else f'buffered={buffered}'})",
    }
    by_server = driver == "psycopg" and kind != "cursor" and prepared
    copied = driver == "psycopg" and found["form"] == "copy"
    copy = f"COPY ({found['sql']}) TO STDOUT" + (" (FORMAT binary)" if binary else "")
    return {
        "imported": f"{imported}\nimport mariadb.constants.CURSOR" if server_side and driver == "mariadb" else imported,
        "connect": connect.get(driver, ""),
        "cursor": cursor.get(driver, "connection.cursor()"),
        "execute": ", prepare=True" if by_server else "",
        "copy": copy if copied else "",
        "itersize": driver in ("psycopg", "psycopg2"),
        "keywords": _keywords(found),
        "url": _url(found),
    }


def _mysql_login(found: Context) -> str:
    where = {"unix_socket": found["socket"]} if found["socket"] else {"host": found["host"], "port": found["port"]}
    words = where | {"user": found["user"], "database": found["database"]}
    listed = ", ".join(f"{key}={value!r}" for key, value in words.items())
    return f'{listed}, password=os.environ.get("DB_PASSWORD", "")'


def _adbc_connect(found: Context) -> str:
    host = quote(found["socket"], safe="") if found["socket"] else found["host"]
    where = f"{quote(found['user'], safe='')}@{host}:{found['port']}/{quote(found['database'], safe='')}"
    tls = f"?sslmode={SSLMODE[found['tls']]}" if found["tls"] in SSLMODE else ""
    url = f"postgresql://{where}{tls}"
    return f"dbapi.connect({url!r}, autocommit=True)"


def _keywords(found: Context) -> str:
    """asyncpg's words, or what connectorx is told beside the query."""
    if found["driver"] == "connectorx":
        protocol = (
            found["format"] if found["protocol"] == "mysql" else "cursor" if found["copies"] == "off" else "binary"
        )
        return f', protocol="{protocol}"'
    words = {"host": found["socket"] or found["host"], "port": found["port"], "user": found["user"]}
    return ", ".join(f"{key}={value!r}" for key, value in (words | {"database": found["database"]}).items())


def _url(found: Context) -> str:
    """connectorx's, the password left to be filled in; overwritten by JDBC's."""
    return f"{found['protocol']}://{found['user']}:{{password}}@{found['host']}:{found['port']}/{found['database']}"


def jdbc(found: Context) -> Context:
    """URL, properties and fetch size in Java."""
    driver, kind, size = found["driver"], found["result_kind"], found["result_size"]
    where = f"{found['host']}:{found['port']}/{found['database']}"
    url = {
        "pgjdbc": f"jdbc:postgresql://{where}",
        "connector-j": f"jdbc:mysql://{where}",
        "mariadb-java-client": f"jdbc:mariadb://{where}",
        "sqlite-jdbc": f"jdbc:sqlite:{found['path']}",
        "duckdb_jdbc": f"jdbc:duckdb:{found['path']}",
        "h2": f"jdbc:h2:tcp://{where}" if found["host"] else f"jdbc:h2:file:{found['path']};ACCESS_MODE_DATA=r",
        "derby": f"jdbc:derby://{where}" if found["host"] else f"jdbc:derby:{found['path']}",
    }.get(driver, "")
    if not url:
        return {}
    properties: dict[str, str] = {}
    prepared = found["statement"] == "prepared"
    if driver == "pgjdbc":
        properties["binaryTransfer"] = str(found["format"] == "binary").lower()
        properties |= {} if prepared else {"preferQueryMode": "simple"}
        properties |= {"sslmode": SSLMODE[found["tls"]]} if found["tls"] in SSLMODE else {}
    if driver in ("connector-j", "mariadb-java-client"):
        properties["useServerPrepStmts"] = str(prepared).lower()
        properties |= {"useCursorFetch": "true"} if kind == "cursor" else {}
    if driver == "connector-j":
        properties |= {"allowPublicKeyRetrieval": "true"}
    if driver == "duckdb_jdbc":
        properties |= {"duckdb.read_only": "true", "threads": found["threads"]}
        properties |= {"jdbc_stream_results": "true"} if kind == "chunked" else {}
    streamed = "Integer.MIN_VALUE" if driver == "connector-j" else "1"
    rows = streamed if kind == "single-row" else str(size) if size and driver != "duckdb_jdbc" else ""
    return {
        "url": url,
        "class": "Fastest",
        "properties": tuple(properties.items()),
        "cursor": driver == "pgjdbc" and kind == "cursor",
        "fetch_size_call": rows,
    }


def ado(found: Context) -> Context:
    """Connection strings in C#."""
    driver = found["driver"]
    plain = driver == "mono-data-sqlite"
    if not plain and not driver.startswith("ado-"):
        return {}
    words = f"Data Source={found['path']}" if plain else odbc(found)["words"]
    return {
        "class": "Fastest",
        "namespace": "Mono.Data.Sqlite" if plain else "System.Data.Odbc",
        "connection": "SqliteConnection" if plain else "OdbcConnection",
        "words": words,
    }


def odbc(found: Context) -> Context:
    """Connection strings of ODBC drivers, by the names under which they are installed."""
    driver = found["driver"].removeprefix("ado-")
    server = f"SERVER={found['host']};PORT={found['port']};DATABASE={found['database']};UID={found['user']}"
    whole = found["result_kind"] == "whole"
    words = {
        "psqlodbc": f"DRIVER={{PostgreSQL Unicode}};{server}",
        "odbc-mariadb": f"DRIVER={{MariaDB Unicode}};{server};CHARSET=utf8mb4",
        "libsqliteodbc": f"DRIVER={{SQLite3}};Database=file://{quote(found['path'])};StepAPI={0 if whole else 1}",
    }.get(driver, "")
    if driver == "psqlodbc":
        size = found["result_size"]
        words += f";UseDeclareFetch=1;Fetch={size}" if size else ""
        words += f";SSLmode={SSLMODE[found['tls']]}" if found["tls"] in SSLMODE else ""
    return {"words": words} if words else {}


def duckdb(found: Context) -> Context:
    """A database file, or another file that DuckDB reads as a table."""
    if found["driver"] != "duckdb-files":
        return {"opened": f"{found['path']!r}, read_only=True, "}
    file = "'" + found["path"].replace("'", "''") + "'"
    call = f"read_csv({file}, delim = '{found['delimiter']}', header = false)"
    return {"opened": "", "sql": f"SELECT * FROM {call if found['delimited'] else f'read_parquet({file})'}"}
