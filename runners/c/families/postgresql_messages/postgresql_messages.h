/* Messages of PostgreSQL's protocol, as far as a query is sent and the end of its answer is found without a library.
   Source: PostgreSQL's manual, "Frontend/Backend Protocol", Message Formats. */
#ifndef RP_POSTGRESQL_MESSAGES_H
#define RP_POSTGRESQL_MESSAGES_H

#include "adapter.h"

/* A query as text, or (binary) as an extended query without parameters; to be freed by the caller. */
char *pg_query_messages(const char *sql, bool binary, size_t *length);

/* ReadyForQuery behind the NUL that closes a message: the last bytes of any answer. */
bool pg_looks_ready(const char *end);

/* Behind the command tag of a query. No value of a text can look like it: a NUL stands in lengths only. */
bool pg_is_complete(const char *end);

/* What looked like the end of a query's answer was another: an error's, or that of another command. Always false. */
bool pg_refused(const char *first, const char *end);

#endif
