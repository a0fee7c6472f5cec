/* Stopping a statement: KILL QUERY over a second connection, and the server's own timeout. */
#include <stdio.h>
#include <stdlib.h>

#include "mysql_operation.h"

typedef struct my_canceller {
    const rp_options *options;
    char kill[64];
} my_canceller;

void *my_make_canceller(void *opened) {
    my_connection *connection = opened;
    char *id = my_first_value(connection->mysql, "SELECT CONNECTION_ID()");
    if (id == NULL) {
        my_fail(connection->mysql, RP_SQL_ERROR);
        return NULL;
    }
    my_canceller *canceller = calloc(1, sizeof *canceller);
    canceller->options = connection->options;
    snprintf(canceller->kill, sizeof canceller->kill, "KILL QUERY %s", id);
    free(id);
    return canceller;
}

bool my_cancel(void *made) {
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

bool my_set_timeout(void *opened, int64_t ms) {
    char sql[96];
    if (is_mariadb(opened))
        snprintf(sql, sizeof sql, "SET SESSION max_statement_time = %.3f", (double)ms / 1000);
    else
        snprintf(sql, sizeof sql, "SET SESSION max_execution_time = %lld", (long long)ms);
    return my_run(opened, sql);
}
