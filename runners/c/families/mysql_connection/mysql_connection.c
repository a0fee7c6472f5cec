#include "mysql_connection.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_lost(unsigned int number) {
    return number == CR_SERVER_GONE_ERROR || number == CR_SERVER_LOST || number == CR_CONNECTION_ERROR ||
           number == CR_CONN_HOST_ERROR || number == ER_SERVER_SHUTDOWN || number == ER_CONNECTION_KILLED;
}

static bool fail_as(rp_error_kind kind, unsigned int number, const char *state, const char *text) {
    char code[32];
    snprintf(code, sizeof code, "%u (%s)", number, state);
    return rp_fail(is_lost(number) ? RP_CONNECT_ERROR : kind, code, "%s", text);
}

bool my_fail(MYSQL *mysql, rp_error_kind kind) {
    return fail_as(kind, mysql_errno(mysql), mysql_sqlstate(mysql), mysql_error(mysql));
}

bool my_fail_statement(MYSQL_STMT *statement) {
    return fail_as(RP_SQL_ERROR, mysql_stmt_errno(statement), mysql_stmt_sqlstate(statement),
                   mysql_stmt_error(statement));
}

bool my_run(void *opened, const char *sql) {
    my_connection *connection = opened;
    my_attend_thread();
    if (mysql_real_query(connection->mysql, sql, strlen(sql)) != 0) return my_fail(connection->mysql, RP_SQL_ERROR);
    mysql_free_result(mysql_use_result(connection->mysql));
    return mysql_errno(connection->mysql) == 0 || my_fail(connection->mysql, RP_SQL_ERROR);
}

/* Text values are UTF-8, instants UTC. Literals double their quotes, and a backslash in them is a backslash. */
static void prepare_session(my_connection *connection) {
    unsigned int local_files = strcmp(connection->bulk, "load-data") == 0;
    mysql_options(connection->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_options(connection->mysql, MYSQL_OPT_LOCAL_INFILE, &local_files);
    mysql_options(connection->mysql, MYSQL_INIT_COMMAND,
                  connection->mode == RP_LITERAL
                      ? "SET time_zone = '+00:00', sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')"
                      : "SET time_zone = '+00:00'");
}

#ifdef EMBEDDED_LIBRARY
static bool connect_mysql(MYSQL *mysql, const rp_options *options) {
    return mysql_real_connect(mysql, NULL, NULL, NULL, rp_option(options, "database", NULL), 0, NULL, 0) != NULL ||
           my_fail(mysql, RP_CONNECT_ERROR);
}
#else
static bool must_encrypt(const rp_options *options) {
    return rp_option_is(options, "tls", "on") || rp_option_is(options, "tls", "verify-ca") ||
           rp_option_is(options, "tls", "verify-full");
}

/* The library's own choice of TLS is not touched. With authorities it checks the chain, or chain and name. */
static void choose_tls(MYSQL *mysql, const rp_options *options) {
    my_bool enforced = must_encrypt(options), named = rp_option_is(options, "tls", "verify-full");
    if (rp_option_is(options, "tls", "default")) return;
    mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &enforced);
    mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &named);
    mysql_options(mysql, MYSQL_OPT_SSL_CA, rp_option(options, "tls_ca", NULL));
    mysql_options(mysql, MYSQL_OPT_SSL_CERT, rp_option(options, "tls_cert", NULL));
    mysql_options(mysql, MYSQL_OPT_SSL_KEY, rp_option(options, "tls_key", NULL));
}

/* The library goes on without TLS when the server has none. */
static bool is_encrypted_as_asked(MYSQL *mysql, const rp_options *options) {
    return !must_encrypt(options) || mysql_get_ssl_cipher(mysql) != NULL ||
           rp_fail(RP_CONNECT_ERROR, "tls", "tls=on, and the server offers no TLS");
}

/* The library has no text form of its options: those against a server that is silent, all of them seconds. */
static bool set_own(MYSQL *mysql, const rp_options *options) {
    static const struct {
        const char *name;
        enum mysql_option option;
    } known[] = {{"MYSQL_OPT_CONNECT_TIMEOUT", MYSQL_OPT_CONNECT_TIMEOUT},
                 {"MYSQL_OPT_READ_TIMEOUT", MYSQL_OPT_READ_TIMEOUT},
                 {"MYSQL_OPT_WRITE_TIMEOUT", MYSQL_OPT_WRITE_TIMEOUT}};
    enum { KNOWN = sizeof known / sizeof *known };
    rp_settings settings;
    if (!rp_driver_settings(options, &settings)) return false;
    for (int i = 0; i < settings.count; i++) {
        unsigned int seconds = (unsigned int)strtoul(settings.values[i], NULL, 10);
        int at = 0;
        while (at < KNOWN && strcmp(settings.names[i], known[at].name) != 0)
            at++;
        if (at == KNOWN) return rp_unknown_setting(settings.names[i]);
        mysql_options(mysql, known[at].option, &seconds);
    }
    return true;
}

static bool connect_mysql(MYSQL *mysql, const rp_options *options) {
    bool local = rp_option_is(options, "transport", "unix");
    unsigned int protocol = local ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
    choose_tls(mysql, options);
    if (rp_option_is(options, "compression", "zlib")) mysql_options(mysql, MYSQL_OPT_COMPRESS, NULL);
    if (!set_own(mysql, options)) return false;
    MYSQL *connected = mysql_real_connect(
        mysql, local ? "localhost" : rp_option(options, "host", "127.0.0.1"), rp_option(options, "user", NULL),
        rp_option(options, "password", NULL), rp_option(options, "database", NULL),
        (unsigned int)rp_option_integer(options, "port", 3306), local ? rp_option(options, "socket", NULL) : NULL, 0);
    return connected != NULL ? is_encrypted_as_asked(mysql, options) : my_fail(mysql, RP_CONNECT_ERROR);
}
#endif

void my_close(void *opened) {
    my_connection *connection = opened;
    my_attend_thread();
    mysql_close(connection->mysql);
    free(connection);
}

static my_connection *connection_of(const rp_options *options) {
    my_connection *connection = calloc(1, sizeof *connection);
    const char *result = rp_option(options, "result", "whole"), *fetch = rp_option(options, "fetch", "row");
    connection->options = options;
    connection->mode = rp_option_statement(options);
    connection->streams = strcmp(result, "whole") != 0;
    connection->prefetch = strncmp(result, "cursor:", 7) == 0 ? strtoul(result + 7, NULL, 10) : 0;
    connection->handler = rp_option_is(options, "access", "handler");
    connection->block = strncmp(fetch, "block:", 6) == 0 ? strtoull(fetch + 6, NULL, 10) : 1;
    snprintf(connection->bulk, sizeof connection->bulk, "%s", rp_option(options, "bulk", "multi-row"));
    return connection;
}

void *my_open(const rp_options *options, int64_t *server_pid) {
    (void)server_pid; /* one process serves all connections */
    if (!my_start_embedded(options)) return NULL;
    my_attend_thread();
    my_connection *connection = connection_of(options);
    connection->mysql = mysql_init(NULL);
    if (connection->mysql == NULL) abort();
    prepare_session(connection);
    if (connect_mysql(connection->mysql, options)) return connection;
    my_close(connection);
    return NULL;
}

static char *my_value(MYSQL *mysql, const char *sql, int column) {
    MYSQL_RES *rows = mysql_real_query(mysql, sql, strlen(sql)) == 0 ? mysql_store_result(mysql) : NULL;
    MYSQL_ROW row = rows != NULL ? mysql_fetch_row(rows) : NULL;
    char *value = row != NULL && row[column] != NULL ? strdup(row[column]) : NULL;
    mysql_free_result(rows);
    return value;
}

char *my_first_value(MYSQL *mysql, const char *sql) {
    return my_value(mysql, sql, 0);
}

void my_facts_from_query(MYSQL *mysql, const char *sql, rp_facts *facts) {
    MYSQL_RES *rows = mysql_real_query(mysql, sql, strlen(sql)) == 0 ? mysql_store_result(mysql) : NULL;
    for (MYSQL_ROW row; rows != NULL && (row = mysql_fetch_row(rows)) != NULL;) {
        bool isolation = strcmp(row[0], "tx_isolation") == 0;
        const char *value = strcmp(row[0], "autocommit") != 0 ? row[1] : strcmp(row[1], "ON") == 0 ? "on" : "off";
        rp_setting(facts, isolation ? "transaction_isolation" : row[0], value);
    }
    mysql_free_result(rows);
}

void my_compression_fact(const my_connection *connection, rp_facts *facts) {
    if (!rp_option_is(connection->options, "compression", "zlib")) return;
    MYSQL *mysql = connection->mysql;
    char *value = my_value(mysql, "SHOW SESSION STATUS LIKE 'Compression'", 1);
    rp_setting(facts, "compression", value != NULL && strcmp(value, "ON") == 0 ? "on" : "off");
    free(value);
}
