/* psqlodbc, the Unicode driver. Option names: psqlODBC Configuration Options,
 * https://odbc.postgresql.org/docs/config-opt.html */
#include <stdlib.h>

#include "odbc.h"

/* A value as libpq's connection strings have it: in quotes, which a backslash takes away. */
static void put_word(FILE *words, const char *word, const char *value) {
    if (value == NULL) return;
    fprintf(words, " %s='", word);
    for (; *value != '\0'; value++) {
        if (*value == '\'' || *value == '\\') fputc('\\', words);
        fputc(*value, words);
    }
    fputc('\'', words);
}

/* Its own defaults, but: no savepoint around each statement of a transaction, booleans and bytes as such. */
static bool login(FILE *to, const rp_options *options) {
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
    rp_settings settings; /* libpq's, which refuses a name that it does not know: the driver ignores one */
    if (!rp_driver_settings(options, &settings)) return false;
    char *text;
    size_t size;
    FILE *words = open_memstream(&text, &size);
    fprintf(words, "application_name=rowpath gssencmode=disable%s",
            plain ? "" : " options='-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601'");
    put_word(words, "sslrootcert", rp_option(options, "tls_ca", NULL));
    put_word(words, "sslcert", rp_option(options, "tls_cert", NULL));
    put_word(words, "sslkey", rp_option(options, "tls_key", NULL));
    for (int i = 0; i < settings.count; i++)
        put_word(words, settings.names[i], settings.values[i]);
    fclose(words);
    odbc_put_attribute(to, "pqopt", text);
    free(text);
    return true;
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
};

const rp_adapter rp_adapter_here = ODBC_ADAPTER("psqlodbc", "'\\x", "'::bytea", false);
