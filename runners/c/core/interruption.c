/* Whether a long statement can be stopped: by another thread, or by a timeout that was set before. Never measured. */
#include <stdlib.h>

#include "session.h"

/* A statement that runs in a thread of its own; freed by whoever sees it end. */
typedef struct long_statement {
    const rp_client *client;
    char *sql;
    bool good;
    uint64_t start_ns, took_ns;
    rp_error error;
    pthread_t thread;
} long_statement;

static void *run_statement(void *passed) {
    long_statement *statement = passed;
    statement->good = statement->client->adapter->run(statement->client->connection, statement->sql);
    statement->took_ns = rp_now_ns() - statement->start_ns;
    if (!statement->good) statement->error = rp_last_error;
    return NULL;
}

static bool ends_within(const long_statement *statement, int64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* the clock of pthread_timedjoin_np */
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_timedjoin_np(statement->thread, NULL, &until) == 0;
}

/* Waits for the end, cancelling after `after_ms` when there is a canceller; false: it still runs. */
static bool see_it_end(const rp_client *client, long_statement *statement, void *canceller, int64_t after_ms,
                       int64_t most_ms, rp_error *refused) {
    if (canceller == NULL) return ends_within(statement, most_ms);
    bool ended = ends_within(statement, after_ms);
    if (!client->adapter->cancel(canceller)) *refused = rp_last_error;
    return ended || ends_within(statement, most_ms > after_ms ? most_ms - after_ms : 0);
}

static void write_outcome(rp_writer *reply, bool honoured, uint64_t took_ns, bool usable, const char *text) {
    rp_write_boolean(reply, "honoured", honoured);
    rp_write_integer(reply, "took_ns", (int64_t)took_ns);
    rp_write_boolean(reply, "usable", usable);
    rp_write_text(reply, "text", text);
}

/* The canceller, or the timeout set; false after rp_fail, also where the driver has no such thing. */
static bool make_stoppable(const rp_client *client, bool cancels, int64_t after_ms, void **canceller) {
    const rp_adapter *adapter = client->adapter;
    if (cancels && adapter->canceller == NULL)
        return rp_fail(RP_UNSUPPORTED, "", "%s cannot stop a statement", adapter->driver);
    if (!cancels && adapter->set_timeout == NULL)
        return rp_fail(RP_UNSUPPORTED, "", "%s",
                       adapter->no_timeout != NULL ? adapter->no_timeout : "the driver has no statement timeout");
    if (!cancels) return adapter->set_timeout(client->connection, after_ms);
    *canceller = adapter->canceller(client->connection);
    return *canceller != NULL;
}

bool rp_interrupt(rp_session *session, const rp_json *request, rp_writer *reply) {
    const rp_client *client = session->clients;
    const rp_adapter *adapter = client->adapter;
    const char *kind = rp_json_text(request, "kind", "");
    int64_t after_ms = rp_json_integer(request, "after_ms", 0), most_ms = rp_json_integer(request, "most_ms", 0);
    bool cancels = strcmp(kind, "cancel") == 0;
    void *canceller = NULL;
    if (!cancels && strcmp(kind, "timeout") != 0)
        return rp_fail(RP_UNSUPPORTED, "", "this runner knows no kind '%s'", kind);
    if (after_ms < 1 || most_ms < after_ms)
        return rp_fail(RP_INTERNAL, "", "%lld and %lld ms to wait", (long long)after_ms, (long long)most_ms);
    if (!make_stoppable(client, cancels, after_ms, &canceller)) return false;

    rp_error refused = {0};
    long_statement *statement = calloc(1, sizeof *statement);
    *statement =
        (long_statement){.client = client, .sql = strdup(rp_json_text(request, "sql", "")), .start_ns = rp_now_ns()};
    if (pthread_create(&statement->thread, NULL, run_statement, statement) != 0) abort();
    if (!see_it_end(client, statement, canceller, after_ms, most_ms, &refused)) {
        pthread_detach(statement->thread); /* it keeps its connection, which no one uses or closes any more */
        session->abandoned = true;
        write_outcome(reply, false, rp_now_ns() - statement->start_ns, false,
                      refused.text[0] != '\0' ? refused.text : "the statement goes on");
        return true;
    }
    bool early = statement->took_ns < (uint64_t)after_ms * 500000; /* before any request to end */
    bool honoured = !statement->good && !early, broken = !statement->good && early;
    rp_error error = statement->error;
    uint64_t took_ns = statement->took_ns;
    free(statement->sql);
    free(statement);
    bool usable =
        (cancels || adapter->set_timeout(client->connection, 0)) && adapter->run(client->connection, "SELECT 1");
    if (broken) return rp_fail(error.kind, error.code, "%s", error.text);
    write_outcome(reply, honoured, took_ns, usable, honoured ? error.text : "the statement ended by itself");
    return true;
}
