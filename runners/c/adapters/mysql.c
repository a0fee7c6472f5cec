/* MySQL and MariaDB through the MySQL C API; built twice: with libmariadb (a server's client) and, as EMBEDDED_LIBRARY,
   with libmariadbd (the server in this process). Statement modes: prepared once, prepared for each execution (the
   protocol has no other way to bind), or SQL text with literals. Results stored, row by row, or through a server's
   cursor; records by HANDLER. The binary protocol delivers native types, the text protocol text, which is converted. */
#include "mysql_bulk.h"
#include "mysql_handler.h"

static void *my_prepare(void *opened, rp_phase *phase) {
    my_connection *connection = opened;
    attend_thread();
    if (phase->bulk) return bulk_of(connection, phase);
    if (connection->handler && phase->kind == RP_QUERY) return handler_of(connection, phase);
    return operation_of(connection, phase, strdup(phase->sql), 1);
}

static bool my_execute(void *statement, const rp_phase *phase, uint64_t row, rp_sink *sink) {
    my_operation *operation = statement;
    attend_thread();
    if (operation->handler != NULL) return handler_execute(operation, phase, row, sink);
    if (operation->mode == RP_LITERAL) return execute_text(operation, phase, phase->texts[row], sink);
    return execute_bound(operation, phase, row, sink);
}

typedef struct my_canceller {
    const rp_options *options;
    char kill[64];
} my_canceller;

/* The first row of a query without parameters; NULL when there is none. To be freed by the caller. */
static char *first_value(MYSQL *mysql, const char *sql) {
    MYSQL_RES *rows = mysql_real_query(mysql, sql, strlen(sql)) == 0 ? mysql_store_result(mysql) : NULL;
    MYSQL_ROW row = rows != NULL ? mysql_fetch_row(rows) : NULL;
    char *value = row != NULL && row[0] != NULL ? strdup(row[0]) : NULL;
    mysql_free_result(rows);
    return value;
}

/* The server is asked which connection this is: the embedded library itself does not know. */
static void *my_make_canceller(void *opened) {
    my_connection *connection = opened;
    char *id = first_value(connection->mysql, "SELECT CONNECTION_ID()");
    if (id == NULL) {
        fail(connection->mysql, RP_SQL_ERROR);
        return NULL;
    }
    my_canceller *canceller = calloc(1, sizeof *canceller);
    canceller->options = connection->options;
    snprintf(canceller->kill, sizeof canceller->kill, "KILL QUERY %s", id);
    free(id);
    return canceller;
}

/* Over a second connection. */
static bool my_cancel(void *made) {
    my_canceller *canceller = made;
    int64_t server_pid = 0;
    my_connection *second = my_open(canceller->options, &server_pid);
    bool good = second != NULL && my_run(second, canceller->kill);
    if (second != NULL) my_close(second);
    free(canceller);
    return good;
}

static bool is_mariadb(my_connection *connection) {
    return strstr(mysql_get_server_info(connection->mysql), "MariaDB") != NULL;
}

static bool my_set_timeout(void *opened, int64_t ms) {
    char sql[96];
    if (is_mariadb(opened))
        snprintf(sql, sizeof sql, "SET SESSION max_statement_time = %.3f", (double)ms / 1000);
    else
        snprintf(sql, sizeof sql, "SET SESSION max_execution_time = %lld", (long long)ms);
    return my_run(opened, sql);
}

/* Rows of a name and a value, each under the name and in the spelling that it has for other servers. */
static void note_settings(MYSQL *mysql, const char *sql, rp_facts *facts) {
    MYSQL_RES *rows = mysql_real_query(mysql, sql, strlen(sql)) == 0 ? mysql_store_result(mysql) : NULL;
    for (MYSQL_ROW row; rows != NULL && (row = mysql_fetch_row(rows)) != NULL;) {
        bool isolation = strcmp(row[0], "tx_isolation") == 0;
        const char *value = strcmp(row[0], "autocommit") != 0 ? row[1] : strcmp(row[1], "ON") == 0 ? "on" : "off";
        rp_setting(facts, isolation ? "transaction_isolation" : row[0], value);
    }
    mysql_free_result(rows);
}

static void my_facts(void *opened, rp_facts *facts) {
    my_connection *connection = opened;
    MYSQL *mysql = connection->mysql;
    attend_thread();
    rp_driver_version(facts, mysql_get_client_info());
    rp_library(facts, rp_adapter_here.driver, mysql_get_client_info());
    rp_engine_version(facts, mysql_get_server_info(mysql));
    char *build = first_value(
        mysql, "SELECT CONCAT(@@version_comment, ', ', @@version_compile_os, ', ', @@version_compile_machine)");
    rp_build(facts, build);
    free(build);
#ifndef EMBEDDED_LIBRARY
    const char *cipher = mysql_get_ssl_cipher(mysql);
    rp_setting(facts, "tls", cipher != NULL ? "on" : "off");
    if (cipher != NULL) rp_setting(facts, "tls_cipher", cipher);
    if (cipher != NULL) note_settings(mysql, "SHOW SESSION STATUS LIKE 'Ssl_version'", facts);
    rp_setting(facts, "host", mysql_get_host_info(mysql));
#endif
    note_settings(mysql,
                  "SHOW SESSION VARIABLES WHERE Variable_name IN ('autocommit', 'tx_isolation', "
                  "'transaction_isolation', 'character_set_client', 'character_set_results', 'collation_connection', "
                  "'time_zone', 'default_storage_engine', 'sql_mode', 'innodb_flush_log_at_trx_commit', "
                  "'innodb_buffer_pool_size', 'innodb_flush_method', 'sync_binlog', 'log_bin', 'query_cache_type', "
                  "'key_buffer_size', 'max_allowed_packet', 'net_buffer_length', 'max_statement_time', "
                  "'max_execution_time', 'skip_name_resolve', 'performance_schema')",
                  facts);
}

const rp_adapter rp_adapter_here = {
#ifdef EMBEDDED_LIBRARY
    .driver = "libmariadbd",
#else
    .driver = "libmariadb",
#endif
    .binary_literal = {"X'", "'"},
    .open = my_open,
    .close = my_close,
    .prepare = my_prepare,
    .execute = my_execute,
    .release = my_release,
    .run = my_run,
    .facts = my_facts,
    .bulk = my_bulk,
    .canceller = my_make_canceller,
    .cancel = my_cancel,
    .set_timeout = my_set_timeout,
    .end = END_EMBEDDED,
};
