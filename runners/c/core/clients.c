/* Connections and who uses them: one client is the loop thread itself; several are a thread each, made when the
   connections are opened, which wait for the next sample outside the clock. */
#include <stdlib.h>

#include "session.h"

#define RP_MOST_CLIENTS 1024 /* as adapters.toml says to planning */

typedef struct crew_member {
    rp_crew *crew;
    const rp_client *client;
    rp_turn *turn;
    pthread_t thread;
} crew_member;

struct rp_crew {
    pthread_mutex_t lock;
    pthread_cond_t called, ended;
    pthread_barrier_t start_barrier;
    uint64_t call; /* number of the sample under way */
    int busy, count;
    bool dismissed;
    crew_member members[];
};

static void *take_turns(void *passed) {
    crew_member *member = passed;
    rp_crew *crew = member->crew;
    for (uint64_t taken = 0;; taken++) {
        pthread_mutex_lock(&crew->lock);
        while (crew->call == taken && !crew->dismissed)
            pthread_cond_wait(&crew->called, &crew->lock);
        bool dismissed = crew->dismissed;
        pthread_mutex_unlock(&crew->lock);
        if (dismissed) return NULL;
        rp_take_turn(member->client, member->turn, &crew->start_barrier);
        pthread_mutex_lock(&crew->lock);
        if (--crew->busy == 0) pthread_cond_signal(&crew->ended);
        pthread_mutex_unlock(&crew->lock);
    }
}

void rp_clients_take_turns(rp_session *session, rp_turn *turns) {
    rp_crew *crew = session->crew;
    pthread_mutex_lock(&crew->lock);
    for (int i = 0; i < crew->count; i++)
        crew->members[i].turn = &turns[i];
    crew->busy = crew->count;
    crew->call++;
    pthread_cond_broadcast(&crew->called);
    while (crew->busy > 0)
        pthread_cond_wait(&crew->ended, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

static void dismiss(rp_crew *crew) {
    pthread_mutex_lock(&crew->lock);
    crew->dismissed = true;
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i < crew->count; i++)
        pthread_join(crew->members[i].thread, NULL);
    pthread_barrier_destroy(&crew->start_barrier);
    pthread_cond_destroy(&crew->ended);
    pthread_cond_destroy(&crew->called);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}

static bool recruit(rp_session *session, int count) {
    rp_crew *crew = calloc(1, sizeof *crew + (size_t)count * sizeof *crew->members);
    if (crew == NULL) abort();
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->called, NULL);
    pthread_cond_init(&crew->ended, NULL);
    pthread_barrier_init(&crew->start_barrier, NULL, (unsigned)count);
    session->crew = crew;
    for (; crew->count < count; crew->count++) {
        crew_member *member = &crew->members[crew->count];
        *member = (crew_member){.crew = crew, .client = &session->clients[crew->count]};
        int error = pthread_create(&member->thread, NULL, take_turns, member);
        if (error != 0) return rp_fail(RP_INTERNAL, "", "no thread for client %d: %s", crew->count, strerror(error));
    }
    return true;
}

static bool connect_all(rp_session *session, int count, int64_t *server_pid, uint64_t *connect_ns) {
    for (; session->client_count < count; session->client_count++) {
        rp_client *client = &session->clients[session->client_count];
        int64_t pid = 0;
        *client = (rp_client){.adapter = session->adapter, .options = &session->options};
        uint64_t start = rp_now_ns();
        client->connection = session->adapter->open(&session->options, &pid);
        if (client->connection == NULL) return false;
        if (session->client_count > 0) continue;
        *connect_ns = rp_now_ns() - start;
        *server_pid = pid;
    }
    return true;
}

bool rp_clients_open(rp_session *session, int64_t *server_pid, uint64_t *connect_ns) {
    int64_t count = rp_option_integer(&session->options, "clients", 1);
    if (count < 1 || count > RP_MOST_CLIENTS)
        return rp_fail(RP_UNSUPPORTED, "", "%lld clients; this runner has 1 to %d", (long long)count, RP_MOST_CLIENTS);
    const char *concurrency = rp_option(&session->options, "concurrency", "threads");
    if (count > 1 && strcmp(concurrency, "threads") != 0)
        return rp_fail(RP_UNSUPPORTED, "", "clients as %s; C has threads", concurrency);
    session->clients = calloc((size_t)count, sizeof *session->clients);
    session->turns = calloc((size_t)count, sizeof *session->turns);
    if (session->clients == NULL || session->turns == NULL) abort();
    if (connect_all(session, (int)count, server_pid, connect_ns) && (count == 1 || recruit(session, (int)count)))
        return true;
    rp_error first = rp_last_error;
    rp_clients_close(session);
    rp_last_error = first;
    return false;
}

void rp_clients_close(rp_session *session) {
    if (session->crew != NULL) dismiss(session->crew);
    for (int i = session->abandoned; i < session->client_count; i++)
        session->adapter->close(session->clients[i].connection);
    free(session->clients);
    free(session->turns);
    session->clients = NULL;
    session->turns = NULL;
    session->crew = NULL;
    session->client_count = 0;
    session->abandoned = false;
}
