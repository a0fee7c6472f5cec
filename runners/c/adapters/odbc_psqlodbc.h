/* psqlodbc, the Unicode driver. Option names: psqlODBC Configuration Options,
 * https://odbc.postgresql.org/docs/config-opt.html */
#define ODBC_NAME "psqlodbc"
#define ODBC_BINARY_LITERAL {"'\\x", "'::bytea"}

static const odbc_driver here = {
    .wide = true,
    .settings = "SELECT CASE name WHEN 'server_version' THEN 'version' ELSE name END, setting FROM pg_settings"
                " WHERE name IN ('server_version', 'TimeZone', 'DateStyle', 'fsync', 'jit',"
                " 'synchronous_commit', 'full_page_writes', 'transaction_isolation', 'shared_buffers',"
                " 'max_parallel_workers_per_gather', 'client_encoding', 'application_name', 'statement_timeout')"
                " UNION ALL SELECT 'tls', CASE WHEN ssl THEN 'on' ELSE 'off' END FROM pg_stat_ssl"
                " WHERE pid = pg_backend_pid()",
    .farewells = "/tmp/psqlodbc_*%d.log",
};

/* Its own defaults, but: no savepoint around each statement of a transaction, booleans and bytes as such. */
static inline void odbc_login(FILE *to, const rp_options *options) {
    const char *result = rp_option(options, "result", "whole"), *tls = rp_option(options, "tls", "off");
    bool local = rp_option_is(options, "transport", "unix");
    say(to, "SERVER", local ? rp_option(options, "socket_dir", "") : rp_option(options, "host", "127.0.0.1"));
    say(to, "PORT", rp_option(options, "port", "5432"));
    say(to, "DATABASE", rp_option(options, "database", ""));
    say(to, "UID", rp_option(options, "user", ""));
    say(to, "PWD", rp_option(options, "password", ""));
    if (strcmp(tls, "default") != 0) say(to, "SSLmode", strcmp(tls, "on") == 0 ? "require" : "disable");
    if (strncmp(result, "cursor:", 7) == 0) {
        say(to, "UseDeclareFetch", "1");
        say(to, "Fetch", result + 7);
    }
    say(to, "Protocol", "7.4-1");
    say(to, "BoolsAsChar", "0");
    say(to, "ByteaAsLongVarBinary", "1");
    say(to, "pqopt",
        "application_name=rowpath gssencmode=disable options='-c TimeZone=UTC -c DateStyle=ISO -c "
        "IntervalStyle=iso_8601'");
}
