/* A connection through the MySQL C API: to a server (libmariadb), or to the server inside this process (libmariadbd,
   where EMBEDDED_LIBRARY is defined). */
#ifndef RP_MYSQL_CONNECTION_H
#define RP_MYSQL_CONNECTION_H

#ifdef EMBEDDED_LIBRARY
#include <mariadb/server/errmsg.h>
#include <mariadb/server/mysql.h>
#include <mariadb/server/mysqld_error.h>

#include "mysql_embedded.h"
#else
#include <mariadb/errmsg.h>
#include <mariadb/mysql.h>
#include <mariadb/mysqld_error.h>
#endif

#include "adapter.h"

#ifndef EMBEDDED_LIBRARY
/* A client library has no server to start, and need not know its threads. */
static inline bool my_start_embedded(const rp_options *options) {
    (void)options;
    return true;
}

static inline void my_attend_thread(void) {
}
#endif

typedef struct my_connection {
    MYSQL *mysql;
    const rp_options *options; /* as old as the session */
    rp_statement_mode mode;
    bool streams;           /* rows are taken as they come */
    unsigned long prefetch; /* rows a round trip of a server's cursor; 0: no cursor */
    bool handler;           /* records by HANDLER instead of SELECT */
    uint64_t block;         /* records that one HANDLER … READ delivers */
    char bulk[16];
} my_connection;

/* The library's last error; always false. */
bool my_fail(MYSQL *mysql, rp_error_kind kind);
bool my_fail_statement(MYSQL_STMT *statement);

void *my_open(const rp_options *options, int64_t *server_pid);
void my_close(void *opened);

/* Executes a statement and drops whatever it delivers. */
bool my_run(void *opened, const char *sql);

/* The first row of a query without parameters; NULL when there is none. To be freed by the caller. */
char *my_first_value(MYSQL *mysql, const char *sql);

/* A fact for each row (name, value) of the query, under the name and in the spelling that it has for other servers. */
void my_facts_from_query(MYSQL *mysql, const char *sql, rp_facts *facts);

/* Whether the server compresses what it sends, where that was requested. */
void my_compression_fact(const my_connection *connection, rp_facts *facts);

#endif
