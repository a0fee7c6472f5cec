/* psqlodbc, the Unicode driver. Option names: psqlODBC Configuration Options,
 * https://odbc.postgresql.org/docs/config-opt.html */
#include "odbc.h"

enum { LONGEST_WORD = 2 * 4096 + 20 };

/* A file's name as libpq's connection strings have it: in quotes, which a backslash takes away. */
static void put_file(char *words, const char *word, const char *file) {
    if (file == NULL) return;
    char *at = words + strlen(words), *end = words + 3 * LONGEST_WORD - 3;
    at += sprintf(at, " %s='", word);
    for (; *file != 0 && at < end; file++) {
        if (*file == '\'' || *file == '\\') *at++ = '\\';
        *at++ = *file;
    }
    strcpy(at, "'");
}

/* Its own defaults, but: no savepoint around each statement of a transaction, booleans and bytes as such. */
static void login(FILE *to, const rp_options *options) {
    const char *result = rp_option(options, "result", "whole"), *tls = rp_option(options, "tls", "off");
    bool local = rp_option_is(options, "transport", "unix");
    odbc_put_attribute(to, "SERVER",
                       local ? rp_option(options, "socket_dir", "") : rp_option(options, "host", "127.0.0.1"));
    odbc_put_attribute(to, "PORT", rp_option(options, "port", "5432"));
    odbc_put_attribute(to, "DATABASE", rp_option(options, "database", ""));
    odbc_put_attribute(to, "UID", rp_option(options, "user", ""));
    odbc_put_attribute(to, "PWD", rp_option(options, "password", ""));
    const char *mode = strcmp(tls, "on") == 0 ? "require" : strcmp(tls, "off") == 0 ? "disable" : tls;
    if (strcmp(tls, "default") != 0) odbc_put_attribute(to, "SSLmode", mode);
    if (strncmp(result, "cursor:", 7) == 0) {
        odbc_put_attribute(to, "UseDeclareFetch", "1");
        odbc_put_attribute(to, "Fetch", result + 7);
    }
    odbc_put_attribute(to, "Protocol", "7.4-1");
    odbc_put_attribute(to, "BoolsAsChar", "0");
    odbc_put_attribute(to, "ByteaAsLongVarBinary", "1");
    bool plain = rp_option_is(options, "startup", "plain");
    char files[3 * LONGEST_WORD] = "", words[sizeof files + 200];
    put_file(files, "sslrootcert", rp_option(options, "tls_ca", NULL));
    put_file(files, "sslcert", rp_option(options, "tls_cert", NULL));
    put_file(files, "sslkey", rp_option(options, "tls_key", NULL));
    snprintf(words, sizeof words, "application_name=rowpath gssencmode=disable%s%s",
             plain ? "" : " options='-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601'", files);
    odbc_put_attribute(to, "pqopt", words);
}

odbc_driver odbc_driver_here = {
    .library = ODBC_LIBRARY,
    .login = login,
    .wide = true,
    .settings = "SELECT CASE name WHEN 'server_version' THEN 'version' ELSE name END, setting FROM pg_settings"
                " WHERE name IN ('server_version', 'TimeZone', 'DateStyle', 'fsync', 'jit',"
                " 'synchronous_commit', 'full_page_writes', 'transaction_isolation', 'shared_buffers',"
                " 'max_parallel_workers_per_gather', 'client_encoding', 'application_name', 'statement_timeout')"
                " UNION ALL SELECT 'tls', CASE WHEN ssl THEN 'on' ELSE 'off' END FROM pg_stat_ssl"
                " WHERE pid = pg_backend_pid()",
    .farewells = "/tmp/psqlodbc_*%d.log",
};

const rp_adapter rp_adapter_here = ODBC_ADAPTER("psqlodbc", "'\\x", "'::bytea", false);
