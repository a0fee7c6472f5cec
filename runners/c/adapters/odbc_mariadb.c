/* MariaDB Connector/ODBC. Option names: https://mariadb.com/kb/en/about-mariadb-connector-odbc/ */
#include "odbc.h"

#define COMPRESSED "2048" /* the bit of OPTION for the protocol with compression */

static bool login(FILE *to, const rp_options *options) {
    bool local = rp_option_is(options, "transport", "unix");
    if (local) odbc_put_attribute(to, "SOCKET", rp_option(options, "socket", ""));
    odbc_put_attribute(to, "SERVER", local ? "localhost" : rp_option(options, "host", "127.0.0.1"));
    if (!local) odbc_put_attribute(to, "PORT", rp_option(options, "port", "3306"));
    odbc_put_attribute(to, "DATABASE", rp_option(options, "database", ""));
    odbc_put_attribute(to, "UID", rp_option(options, "user", ""));
    odbc_put_attribute(to, "PWD", rp_option(options, "password", ""));
    odbc_put_attribute(to, "CHARSET", "utf8mb4");
    const char *tls = rp_option(options, "tls", "off"), *ca = rp_option(options, "tls_ca", NULL);
    const char *certificate = rp_option(options, "tls_cert", NULL);
    odbc_put_attribute(to, "FORCETLS", strcmp(tls, "off") != 0 ? "1" : "0");
    odbc_put_attribute(to, "SSLVERIFY", strcmp(tls, "verify-full") == 0 ? "1" : "0");
    if (ca != NULL) odbc_put_attribute(to, "SSLCA", ca);
    if (certificate != NULL) {
        odbc_put_attribute(to, "SSLCERT", certificate);
        odbc_put_attribute(to, "SSLKEY", rp_option(options, "tls_key", ""));
    }
    if (rp_option_is(options, "compression", "zlib")) odbc_put_attribute(to, "OPTION", COMPRESSED);
    odbc_put_attribute(to, "NO_PROMPT", "1");
    return odbc_put_settings(to, options, " CONN_TIMEOUT READ_TIMEOUT WRITE_TIMEOUT ");
}

odbc_driver odbc_driver_here = {
    .library = ODBC_LIBRARY,
    .login = login,
    .wide = true,
    .text_since = "03.02",
    .settings = "SHOW VARIABLES WHERE Variable_name IN ('version', 'tx_isolation', 'transaction_isolation', "
                "'time_zone', 'character_set_client', 'sql_mode',"
                " 'innodb_flush_log_at_trx_commit', 'sync_binlog', 'query_cache_type', 'max_statement_time')",
    .encryption = "SHOW SESSION STATUS LIKE 'Ssl_version'",
    .compression = "SHOW SESSION STATUS LIKE 'Compression'",
};

const rp_adapter rp_adapter_here = ODBC_ADAPTER("odbc-mariadb", "X'", "'", false);
