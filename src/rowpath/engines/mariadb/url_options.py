"""What the options of connection strings of MySQL and MariaDB mean, in URLs, JDBC and ODBC.

Sources: MySQL's connection options, the documentation of Connector/J, Connector/ODBC, MariaDB's connectors, PyMySQL and
mysqlclient. None of them is given to a session: every path has one character set and UTC, what agrees with that is
taken, and what would change rows beside it is refused.
"""

from __future__ import annotations

from rowpath.engines.probe_facts import KeyValues, UrlOptions

UTF8 = ("utf8mb4", "utf8", "utf-8", "utf8mb3")
UTC = ("utc", "'utc'", "+00:00", "'+00:00'", "+0:00", "gmt", "z", "etc/utc")
IN_THE_QUERY = "remove it, and write into the query what it would change"
SCHEMA = "the schema is the database: write it behind the host"
HARMLESS = (
    "connect_timeout connecttimeout read_timeout readtimeout write_timeout writetimeout timeout sockettimeout"
    " connectiontimeout net_read_timeout net_write_timeout pool pool_size pool_timeout pool_recycle max_overflow"
    " connection_limit poolsize maxpoolsize minpoolsize application_name program_name compress usecompression"
    " compression compression_algorithms autocommit autoreconnect maxreconnects initialtimeout reconnect tcpkeepalive"
    " keepalive max_allowed_packet maxallowedpacket interpolateparams allownativepasswords allowpublickeyretrieval"
    " get_server_public_key default_auth defaultauthenticationplugin serverrsapublickeyfile"
    " cacheprepstmts prepstmtcachesize prepstmtcachesqllimit useserverprepstmts usecursorfetch"
    " defaultfetchsize rewritebatchedstatements allowmultiqueries allowlocalinfile allow_local_infile local_infile"
    " cacheserverconfiguration uselocalsessionstate elidesetautocommits maintaintimestats useinformationschema"
    " profilesql logger logslowqueries usebulkstmts nullcatalogmeanscurrent"
    # what one driver hands over for the same value
    " parsetime zerodatetimebehavior tinyint1isbit transformedbitisboolean yearisdatetype"
    " nodatetimestringsync usefractionalseconds sendfractionalseconds datestrings supportbignumbers bignumberstrings"
    " decimalnumbers rowsasarray use_unicode useunicode use_pure raw buffered converter namedplaceholders"
    # of ODBC
    " driver description option options3 no_prompt tcpip forward_only no_cache"
)
OPTIONS = UrlOptions(
    same={
        "unixsocket": "unix_socket", "socketpath": "unix_socket", "localsocket": "unix_socket", "db": "dbname",
        "database": "dbname", "username": "user", "passwd": "password", "character_set": "charset",
        "characterencoding": "charset", "default_charset": "charset", "default-character-set": "charset",
        "default_character_set": "charset", "servertimezone": "time_zone", "connectiontimezone": "time_zone",
        "timezone": "time_zone", "loc": "time_zone",
    },
    alike={
        "charset": UTF8,
        "time_zone": UTC,
        "forceconnectiontimezonetosession": ("true", "false"),
        "preserveinstants": ("true",),
        "trustservercertificate": ("true",),
        "requiressl": ("false",),
        "sql_safe_updates": ("0", "off", "false"),
        "connectioncollation": tuple(f"utf8mb4_{kind}" for kind in ("bin", "general_ci", "unicode_ci", "0900_ai_ci")),
    },
    harmless=frozenset(HARMLESS.split()),
    refused={
        "time_zone": "remove it: every path is read in UTC; CONVERT_TZ in the query makes other times",
        "charset": "charset=utf8mb4: every path is read in it",
        "requiressl": "sslMode=REQUIRED",
        "trustservercertificate": "sslMode=REQUIRED or VERIFY_CA",
        "connectioncollation": "write COLLATE into the query",
        "collation": "write COLLATE into the query",
        **dict.fromkeys(("sql_mode", "sessionvariables", "init_command", "initsql", "initstmt", "init_connect"),
                        IN_THE_QUERY),
        **dict.fromkeys(("schema", "currentschema", "search_path"), SCHEMA),
        "dsn": "write the data source's Driver, Server, Port, Database and Uid: odbc.ini is not read",
    },
)  # fmt: skip


def key_values(name: str, odbc_drivers: tuple[str, ...]) -> KeyValues:
    """How connection strings name an engine of the family."""
    return KeyValues(
        odbc_drivers=odbc_drivers,
        odbc_keys={
            "server": "host", "servername": "host", "host": "host", "port": "port", "database": "dbname",
            "db": "dbname", "uid": "user", "user": "user", "pwd": "password", "password": "password",
            "socket": "socket", "charset": "charset", "sslmode": "sslmode",
        },
        jdbc=(name,),
    )  # fmt: skip
