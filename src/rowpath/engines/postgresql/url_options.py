"""What the options of PostgreSQL's connection strings mean: of libpq, JDBC, ODBC and drivers that take settings there.

Sources: libpq's connection parameters, pgjdbc's and psqlODBC's documentation, the server's list of settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rowpath.engines.probe_facts import KeyValues, UrlOptions, shown
from rowpath.errors import UsageError

SETTING = re.compile(r"[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)*")
ONE_HOST = "remove it: a probe measures one host, the first that fits"
# Settings of the planner and executor: they change how long a query takes, and are the user's to choose.
EXECUTION = (
    "work_mem hash_mem_multiplier temp_buffers effective_cache_size effective_io_concurrency jit jit_above_cost"
    " jit_inline_above_cost jit_optimize_above_cost random_page_cost seq_page_cost cpu_tuple_cost cpu_index_tuple_cost"
    " cpu_operator_cost parallel_setup_cost parallel_tuple_cost max_parallel_workers max_parallel_workers_per_gather"
    " min_parallel_table_scan_size min_parallel_index_scan_size parallel_leader_participation"
    " default_statistics_target constraint_exclusion cursor_tuple_fraction from_collapse_limit join_collapse_limit geqo"
    " geqo_threshold geqo_effort debug_parallel_query force_parallel_mode compute_query_id enable_async_append"
    " enable_bitmapscan enable_gathermerge enable_hashagg enable_hashjoin enable_incremental_sort enable_indexscan"
    " enable_indexonlyscan enable_material enable_memoize enable_mergejoin enable_nestloop enable_parallel_append"
    " enable_parallel_hash enable_partition_pruning enable_partitionwise_aggregate enable_partitionwise_join"
    " enable_presorted_aggregate enable_seqscan enable_sort enable_tidscan"
)
ROWS = "search_path role row_security timezone datestyle"  # they change which rows are read
LIBPQ = (
    "host hostaddr port dbname user password passfile service options sslmode sslrootcert sslcert sslkey sslcrl"
    " sslcrldir sslpassword"
    " target_session_attrs load_balance_hosts client_encoding connect_timeout application_name"
    " fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout"
    " gssencmode krbsrvname channel_binding require_auth requiressl sslcompression sslsni sslnegotiation replication"
    " min_protocol_version max_protocol_version ssl_min_protocol_version ssl_max_protocol_version"
)
HARMLESS = (
    "connect_timeout application_name fallback_application_name keepalives keepalives_idle keepalives_interval"
    " keepalives_count tcp_user_timeout gssencmode krbsrvname channel_binding require_auth sslcompression sslsni"
    " sslnegotiation min_protocol_version max_protocol_version ssl_min_protocol_version ssl_max_protocol_version"
    # of pools, ORMs and languages
    " pool pool_size pool_timeout pool_recycle pool_max_conns pool_min_conns max_overflow connection_limit pgbouncer"
    " statement_cache_size prepared_statement_cache_size statement_cache_capacity default_query_exec_mode"
    " socket_timeout command_timeout timeout connection_timeout uselibpqcompat"
    # of pgjdbc: how it works, and what it hands over for the same value
    " allowencodingchanges applicationname connecttimeout logintimeout sockettimeout tcpkeepalive preparethreshold"
    " preferquerymode"
    " preparedstatementcachequeries preparedstatementcachesizemib defaultrowfetchsize binarytransfer"
    " binarytransferenable binarytransferdisable rewritebatchedinserts stringtype readonly readonlymode autosave"
    " loglevel loggerlevel loggerfile adaptivefetch adaptivefetchminimum adaptivefetchmaximum maxresultbuffer"
    " tcpnodelay sendbuffersize receivebuffersize hostrecheckseconds disablecolumnsanitiser reescapesyntaxcallmode"
    " escapesyntaxcallmode assumeminserverversion unknownlength loghandler cleanupsavepoints quotereturningidentifiers"
    # of psqlODBC
    " driver description usedeclarefetch fetch boolsaschar byteaaslongvarbinary readonlyodbc textaslongvarchar"
    " unknownsaslongvarchar maxvarcharsize maxlongvarcharsize unknownsizes cachesize cx ab a0 a1 b0 b1 debug commlog"
    " lfconversion updatablecursors useserversideprepare rowversioning showsystemtables showoidcolumn fakeoidindex"
    " truelsminus1 protocol ksqo optimizer parse trueisminus1 keepalivetime keepaliveinterval"
    # ours
    " statement_timeout lock_timeout idle_in_transaction_session_timeout default_transaction_isolation"
    " default_transaction_read_only default_transaction_deferrable log_statement log_min_duration_statement"
    " client_min_messages synchronous_commit"
)
UTC = ("utc", "etc/utc", "gmt", "+00:00", "z", "universal", "zulu")
NAMES_ORDER = "write the dates of the query as 2026-03-04, then the setting changes nothing"


def statement(name: str, value: str) -> str:
    """What gives a session a setting, as the option of a start-up message would. Errors: UsageError."""
    if name.lower() != "search_path":
        return f"SET {name} = {_text(value)}"
    return "SET search_path = " + (", ".join('"' + one.replace('"', '""') + '"' for one in _names(value)) or "''")


def _text(value: str) -> str:
    quoted = value.replace("'", "''")
    return f"E'{quoted}'".replace("\\", "\\\\") if "\\" in value else f"'{quoted}'"


def _names(value: str) -> list[str]:
    """The names of a list: between commas, in lower case unless quoted."""
    names, rest = [], value.strip()
    while rest:
        match = re.match(r'\s*(?:"((?:[^"]|"")+)"|([^\s",]+))\s*(,|$)', rest)
        if match is None or (match[3] and not rest[match.end() :].strip()):
            raise UsageError(f"invalid search_path {shown(value)}", 'names between commas: tenant1,public or "Tenant"')
        names.append(match[1].replace('""', '"') if match[1] else match[2].lower())
        rest = rest[match.end() :]
    return names


def switches(text: str) -> dict[str, str]:
    """The settings in the option `options`: `-c name=value`, `-cname=value` or `--name=value`. Errors: UsageError."""
    words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|[^\s\\])+", text)]
    settings: dict[str, str] = {}
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            pair = words.pop(0)
        elif word.startswith("--") or word.startswith("-c"):
            pair = word[2:]
        else:
            raise UsageError(
                f"unknown word {shown(word)} in options", "options=-csearch_path=tenant1, or -c name=value"
            )
        name, equals, value = pair.partition("=")
        name = name.replace("-", "_")
        if not equals or not SETTING.fullmatch(name):
            raise UsageError(
                f"invalid setting {shown(pair)} in options", "options=-csearch_path=tenant1, or -c name=value"
            )
        settings[name] = value
    return settings


def startup(session: Mapping[str, str]) -> str:
    """The settings as `switches` reads them."""
    return " ".join("-c " + re.sub(r"([\\\s])", r"\\\1", f"{name}={value}") for name, value in session.items())


OPTIONS = UrlOptions(
    same={
        "currentschema": "search_path", "database": "dbname", "databasename": "dbname", "username": "user",
        "targetservertype": "target_session_attrs",
        "loadbalancehosts": "load_balance_hosts", "servername": "host", "charset": "client_encoding",
    },
    settings=frozenset((ROWS + " " + EXECUTION).split()),
    alike={
        "client_encoding": ("utf8", "utf-8", "unicode", "auto"),
        "load_balance_hosts": ("disable", "false"),
        "ssl": ("false",),
        "replication": ("false", "off", "no", "0"),
        "requiressl": ("0",),
    },
    settings_alike={
        "client_encoding": ("utf8", "utf-8", "unicode"),
        "timezone": UTC,
        "datestyle": ("iso", "iso, mdy", "iso,mdy"),
        "intervalstyle": ("iso_8601",),
        "bytea_output": ("hex",),
        "extra_float_digits": ("1", "2", "3"),
        "standard_conforming_strings": ("on", "true", "1", "yes"),
        "plan_cache_mode": ("auto",),
        "transform_null_equals": ("off",),
        "array_nulls": ("on",),
        "quote_all_identifiers": ("off",),
    },
    harmless=frozenset(HARMLESS.split()),
    refused={
        "ssl": "sslmode=disable, sslmode=require or sslmode=verify-full",
        "load_balance_hosts": ONE_HOST,
        "timezone": "write AT TIME ZONE into the query: every path is read in UTC",
        "datestyle": NAMES_ORDER,
        "connsettings": "write the schema into the query, or use options=-csearch_path=…",
        "dsn": "write the data source's Driver, Server, Port, Database and Uid: odbc.ini is not read",
    },
    one_name="schema",
    switches=switches,
    statement=statement,
    startup=startup,
    attributes={
        "any": "",
        "read-write": "SELECT 'fits' WHERE NOT pg_catalog.pg_is_in_recovery()"
        " AND pg_catalog.current_setting('default_transaction_read_only') = 'off'",
        "read-only": "SELECT 'fits' WHERE pg_catalog.pg_is_in_recovery()"
        " OR pg_catalog.current_setting('default_transaction_read_only') = 'on'",
        "primary": "SELECT 'fits' WHERE NOT pg_catalog.pg_is_in_recovery()",
        "standby": "SELECT 'fits' WHERE pg_catalog.pg_is_in_recovery()",
        "prefer-standby": "SELECT 'fits' WHERE pg_catalog.pg_is_in_recovery()",
    },
    attribute_option="target_session_attrs",
    attribute_words={
        "master": "primary", "slave": "standby", "secondary": "standby", "preferslave": "prefer-standby",
        "prefersecondary": "prefer-standby",
    },
    several_hosts=True,
)  # fmt: skip
KEY_VALUES = KeyValues(
    keys=frozenset(LIBPQ.split()),
    odbc_drivers=("postgresql", "psqlodbc"),
    odbc_keys={
        "server": "host", "servername": "host", "port": "port", "database": "dbname", "uid": "user", "username": "user",
        "user": "user", "pwd": "password", "password": "password", "sslmode": "sslmode",
    },
    jdbc=("postgresql",),
)  # fmt: skip
