"""Texts as people type them, and what becomes of them: URLs with a secret, queries, parameters."""

from __future__ import annotations

import base64
import urllib.parse
from hashlib import sha256

from hypothesis import strategies as st

from rowpath.engines import ENGINES


def words(text: str) -> list[str]:
    """What stands between single blanks."""
    return text.split(" ")


# Nothing that shrinks to what other texts shrink to.
SECRET = st.integers(0, 1 << 64).map(
    lambda number: base64.b32encode(sha256(str(number).encode()).digest())[:14].decode()
)
ANY = st.text(max_size=12)
WORD = st.sampled_from(["a", "t", "User", "id", "main", "ünï", "x y", "", "7", "select", "%41", "%", "postgres"])
SCHEMES = words(
    "postgresql postgres postgresql+psycopg2 mysql mysql+pymysql mariadb sqlite duckdb h2 derby jdbc:postgresql "
    "jdbc:mysql jdbc odbc file POSTGRESQL http postgresql+"
)
HOSTS = [
    "localhost", "127.0.0.1", "[::1]", "::1", "a:1,b:2", "db.example:5432", "h:", ":5432", "h:99999", "h:x", "", "[",
    "[::1]:5432", "%2Ftmp", "a,b", "h:0", "@h", "[fe80::1%25eth0]:1", "a:1,b:2,[::1]:3", "a,b:2", ",", "a:1,", "h:1:2",
    "%2Ftmp,%2Fvar", "h:\u00b2",
]  # fmt: skip
KEYS = words(
    "sslmode ssl-mode sslrootcert sslcert options search_path currentSchema schema service passfile host port user "
    "dbname socket target_session_attrs connect_timeout charset tls x delimiter quote header null application_name "
    "targetServerType load_balance_hosts hostaddr sslkey role TimeZone DateStyle app.tenant plan_cache_mode sql_mode "
    "sessionVariables init_command unix_socket protocol pool_size Options"
)
VALUES = words(
    "require verify-full disable -csearch_path=a -c%20x=y a,b /tmp /nowhere/f 1 off yes any read-write tab %3B ' \" \\ "
    "s standby preferPrimary random UTC utf8mb4 1,2 -c%20app.x%3D1 -c -cx -ca=\\\\ --a-b=1"
)
VARIABLES = words(
    "PGHOST PGHOSTADDR PGPORT PGDATABASE PGUSER PGSERVICE PGOPTIONS PGTARGETSESSIONATTRS PGTZ PGSSLMODE PGSSLROOTCERT "
    "MYSQL_HOST MYSQL_TCP_PORT MYSQL_UNIX_PORT"
)
OPTION = st.tuples(st.sampled_from(KEYS), st.one_of(st.sampled_from(VALUES), WORD, ANY)).map("=".join)


@st.composite
def urls(draw: st.DrawFn) -> tuple[str, str]:
    """A URL or a key-value string with a password in its place, and that password."""
    secret, scheme, host = draw(SECRET), draw(st.sampled_from(SCHEMES)), draw(st.sampled_from(HOSTS))
    options = draw(st.lists(OPTION, max_size=3))
    user, path = draw(WORD), draw(st.one_of(WORD, st.sampled_from(["/", "//x", "/a/b.db", "/x.sqlite", "a?b#c"])))
    form = draw(st.integers(0, 3))
    if form == 0:
        return f"{scheme}://{user}:{secret}@{host}/{path}?{'&'.join(options)}", secret
    if form == 1:
        return f"{scheme}://{host}/{path}?{'&'.join([*options, f'password={secret}'])}", secret
    if form == 2:
        keys = " ".join([f"host={host}", *options, f"password='{secret}'", f"dbname={path}"])
        return keys, secret
    return f"{scheme}:Driver={{{user}}};Server={host};{';'.join(options)};PWD={secret};Database={path}", secret


# What a line of a service file, a password file or an option file may be, but for the password.
LINES = st.one_of(
    OPTION,
    st.sampled_from(
        words(
            "[s] [client] [client-mariadb] [ ] # ; !include = == :::: *:*:*:*: h:5432:*:u: \\: a\\:b:1 user=u host=h "
            "port=1"
        )
    ),
    ANY,
)


@st.composite
def logins(draw: st.DrawFn) -> tuple[str, dict[str, str], dict[str, str], str]:
    """A URL without a password; files of the home folder, by name; variables; the password that these hold."""
    secret, scheme, host = draw(SECRET), draw(st.sampled_from(SCHEMES)), draw(st.sampled_from(HOSTS))
    options = draw(st.lists(st.one_of(OPTION, st.sampled_from(words("service=s passfile=~/f user=u"))), max_size=3))
    before, after = draw(st.lists(LINES, max_size=3)), draw(st.lists(LINES, max_size=3))
    quoted = draw(st.sampled_from(["{}", "'{}'", '"{}"', "{} # x", "{}\\", "{}\r"])).format(secret)
    files = {
        ".pgpass": [*before, f"*:*:*:*:{quoted}", *after],
        ".pg_service.conf": ["[s]", *before, f"password={quoted}", *after],
        ".my.cnf": ["[client]", *before, f"password = {quoted}", *after],
    }
    variables = draw(st.dictionaries(st.sampled_from(VARIABLES), st.one_of(st.sampled_from(VALUES), WORD), max_size=3))
    if draw(st.booleans()):
        variables[draw(st.sampled_from(["PGPASSWORD", "MYSQL_PWD", "ROWPATH_PROBE_PASSWORD"]))] = secret
    url = f"{scheme}://{host}/{draw(WORD)}?{'&'.join(options)}"
    return url, {name: "\n".join(lines) for name, lines in files.items()}, variables, secret


@st.composite
def broken(draw: st.DrawFn, whole: st.SearchStrategy[str]) -> str:
    """A text with some of its characters lost, doubled or replaced."""
    text = draw(whole)
    for _change in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        put = draw(st.one_of(st.sampled_from(list("@:/?&=%'\"\\;,[]{}#- \n\0é")), ANY))
        text = text[:at] + put + text[at + draw(st.integers(0, 3)) :]
    return text


def forms_of(secret: str) -> set[str]:
    """How a secret may be written; any eight of its characters in a row are too many."""
    whole = {secret, urllib.parse.quote(secret), urllib.parse.quote_plus(secret)}
    return {text[at : at + 8] for text in whole for at in range(len(text) - 7)}


QUERYABLE = [name for name, engine in ENGINES.items() if engine.probe.syntax is not None]
PIECES = words(
    "SELECT FROM WHERE t a b * , ( ) ; ? ?1 $1 $2 %s %(name)s :name : :: ' '' \" \"\" ` `` [ ] -- --x /* */ /*! # \n "
    "E' $$ $x$ \\ \\' 1 1.5e3 'x' 'it''s' \"a\" AS ORDER BY LIMIT 1 WITH x UNION ALL VALUES TABLE INSERT UPDATE DELETE "
    "INTO FOR SHARE insert user CASE WHEN THEN END IN NULL = <> {'a':b} MAP [1,2] \ufeff \x00 é % %% @ @@ ~ | || :: "
    "int current_date now() count(*) setval nextval('s') EXPLAIN SHOW CALL SET COPY "
    "/*+ --? #' '? ?' \"? :a :'a ::int $1::int a:b ?| ?& ?1 %%s %(a)s %(a /*'*/ /*\"?*/ q'[ N' U&' "
    '$a$?$a$ "User" --\'\n #?\n'
)
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=15).map("".join),
    st.text(max_size=60),
)
QUERIES = st.one_of(
    TEXTS,
    TEXTS.map(lambda text: f"SELECT a FROM t WHERE {text}"),
    TEXTS.map(lambda text: f"SELECT a, b FROM t WHERE a = ? {text}"),
)
TYPES = words(
    "smallint integer int bigint numeric decimal real double boolean char varchar text json binary uuid date time"
)
PARAMETERS = st.tuples(
    st.sampled_from([*TYPES, "timestamp", "timestamptz", "x", ""]),
    st.one_of(
        st.sampled_from(
            words(
                "7 -1 1e400 NaN inf 99999999999999999999 1.10 t true \\N 00ff 0xff 2026-02-30 2026-03-04 24:00:00 "
                "12:30 2026-03-04T05:06:07+02:00 0000-00-00 infinity 123e4567-e89b-12d3-a456-426614174000 ' \\ ١"
            )
        ),
        st.text(max_size=20),
    ),
).map(":".join)
WRITES = [
    "INSERT INTO t VALUES (9, 'x')", "UPDATE t SET a = a + 1", "DELETE FROM t", "DROP TABLE t", "TRUNCATE TABLE t",
    "CREATE TABLE u AS SELECT * FROM t", "SELECT * INTO u FROM t", "ALTER TABLE t ADD c INTEGER",
    "DELETE FROM t RETURNING a", "INSERT INTO t VALUES (9, 'x') RETURNING a", "UPDATE t SET a = 0 RETURNING a",
    "CREATE VIEW v AS SELECT 1 AS a", "REPLACE INTO t VALUES (1, 'y')", "COPY t FROM PROGRAM 'echo 9'",
    "MERGE INTO t USING t AS s ON false WHEN NOT MATCHED THEN INSERT VALUES (9, 'x')", "CREATE INDEX i ON t (a)",
    "SELECT nextval('s')", "SELECT setval('s', 50)", "DO $$ BEGIN DELETE FROM t; END $$", "PRAGMA user_version = 7",
    "CALL p()", "SET GLOBAL max_connections = 77", "ALTER SEQUENCE s RESTART", "COMMENT ON TABLE t IS 'x'",
    "PREPARE p AS DELETE FROM t", "EXPLAIN ANALYZE DELETE FROM t", "ATTACH ':memory:' AS m", "VACUUM", "ANALYZE t",
    "BEGIN; DELETE FROM t; COMMIT", "RENAME TABLE t TO u", "WITH d AS (DELETE FROM t RETURNING a) SELECT a FROM d",
]  # fmt: skip
FRAMES = [
    "{}", "{};", ";{}", "/* x */ {}", "-- x\n{}", "--x\n{}", "/*! {} */", "/*!50000 {} */", "/*M! {} */", "# x\n{}",
    "SELECT 1; {}", "SELECT 1;{};", "SELECT '; {}", "SELECT ''; {}", "SELECT '\\'; {} -- '", "SELECT E'\\'; {} --'",
    "SELECT \"x\"; {}", "SELECT $$ $$; {}", "SELECT $a$ '; $a$; {}", "WITH x AS ({}) SELECT * FROM x", "({})",
    "WITH x AS (SELECT 1) {}", "WITH x AS MATERIALIZED ({}) SELECT 1", "SELECT * FROM ({}) AS q", "SELECT ({})",
    "SELECT 1 /* /* */ ; {} -- */", "SELECT 1 --\n; {}", "SELECT 1 --x'\n; {}", "SELECT `'`; {} -- `", "SELECT ['; {}]",
    "SELECT 1 UNION {}", "TABLE t; {}", "VALUES (1); {}", "FROM t; {}", "SELECT 1 \x00; {}", "SELECT 1 #\n; {}",
    "SELECT 1 /*!; {} */", "SELECT 1 FROM t WHERE EXISTS ({})", "EXPLAIN {}", "\ufeff{}", "SELECT 1 WHERE '\\\\'; {}",
    "SELECT 1 --x\r; {}", "SELECT 1 --\u00a0\n; {}", "SELECT 1 --\x01'\n; {} --'", "SELECT 1 --\u2028; {}",
    "SELECT N''; {}", "SELECT U&'\\'; {} --'", "SELECT $1$; {} --$1$", "SELECT 1;\u00a0{}", "SELECT X''; {}",
]  # fmt: skip

BLANKS = ["/**/", "\t", "\n", "\f", "/*;*/", "--\n", "\u00a0", "\v", "\ufeff", "\u200b", "\x85", "\r", "\x1c"]


@st.composite
def writing(draw: st.DrawFn) -> str:
    """A statement that would change data, in one frame or two, some of it in other letters."""
    text = draw(st.sampled_from(WRITES))
    for _frame in range(draw(st.integers(1, 2))):
        text = draw(st.sampled_from(FRAMES)).replace("{}", text)
    change = draw(st.integers(0, 4))
    if change == 1:
        text = text.replace(" ", draw(st.sampled_from(BLANKS)))
    elif change == 2:
        text = "".join(sign.upper() if at % 2 else sign.lower() for at, sign in enumerate(text))
    elif change == 3:
        text = draw(broken(st.just(text)))
    return text
