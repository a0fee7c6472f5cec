/* MariaDB Connector/ODBC. Option names: https://mariadb.com/kb/en/about-mariadb-connector-odbc/ */
#define ODBC_NAME "odbc-mariadb"
#define ODBC_BINARY_LITERAL {"X'", "'"}

static const odbc_driver here = {
    .wide = true,
    .text_since = "03.02",
    .settings = "SHOW VARIABLES WHERE Variable_name IN ('version', 'tx_isolation', 'transaction_isolation', "
                "'time_zone', 'character_set_client', 'sql_mode',"
                " 'innodb_flush_log_at_trx_commit', 'sync_binlog', 'query_cache_type', 'max_statement_time')",
};

static inline void odbc_login(FILE *to, const rp_options *options) {
    bool local = rp_option_is(options, "transport", "unix");
    if (local) say(to, "SOCKET", rp_option(options, "socket", ""));
    say(to, "SERVER", local ? "localhost" : rp_option(options, "host", "127.0.0.1"));
    if (!local) say(to, "PORT", rp_option(options, "port", "3306"));
    say(to, "DATABASE", rp_option(options, "database", ""));
    say(to, "UID", rp_option(options, "user", ""));
    say(to, "PWD", rp_option(options, "password", ""));
    say(to, "CHARSET", "utf8mb4");
    say(to, "NO_PROMPT", "1");
}
