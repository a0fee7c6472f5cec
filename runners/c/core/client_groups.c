/* The requests `client-groups` and `client-groups-end`: clients of several groups at once, each a thread that ends with
   its work. */
#include "client_groups.h"

#include <stdlib.h>

struct rp_groups {
    rp_shared_counters counters;
    rp_group *groups;
    rp_member *members; /* of all groups */
    int group_count, member_count;
    bool stop; /* the process is to end: every client's next operation does not begin */
    sem_t waiting;
    rp_arena *arena;
};

static const char *const pacings[] = {[RP_CLOSED] = "closed", [RP_FIXED] = "fixed", [RP_POISSON] = "poisson"};

static bool read_pacing(rp_group *group, const rp_json *asked) {
    const char *pacing = rp_json_text(asked, "pacing", "");
    int64_t pause_ns = rp_json_integer(asked, "pause_ns", 0), spin_ns = rp_json_integer(asked, "spin_ns", 0);
    int64_t operations = rp_json_integer(asked, "operations", 0);
    int known = 0;
    while (known <= RP_POISSON && strcmp(pacings[known], pacing) != 0)
        known++;
    if (known > RP_POISSON) return rp_fail(RP_UNSUPPORTED, "", "this runner knows no pacing '%s'", pacing);
    if (pause_ns < 0 || spin_ns < 0 || operations < 0)
        return rp_fail(RP_INTERNAL, "", "group %s: times and operations cannot be negative", group->name);
    group->pacing = (rp_pacing)known;
    group->pause_ns = (uint64_t)pause_ns;
    group->spin_ns = (uint64_t)spin_ns;
    group->operations = (uint64_t)operations;
    group->seed = (uint64_t)rp_json_integer(asked, "seed", 0);
    group->rate_per_s = rp_json_number(asked, "rate_per_s", 0);
    return known == RP_CLOSED || group->rate_per_s > 0 ||
           rp_fail(RP_INTERNAL, "", "group %s: an open loop needs a rate", group->name);
}

/* Which connections are the group's; none is taken twice. */
static bool read_clients(rp_group *group, const rp_json *asked, const rp_session *session, bool *taken) {
    int64_t first = rp_json_integer(asked, "first_client", 0), count = rp_json_integer(asked, "clients", 0);
    if (first < 0 || count < 1 || first > session->client_count || count > session->client_count - first)
        return rp_fail(RP_INTERNAL, "", "group %s: clients %lld to %lld of %d", group->name, (long long)first,
                       (long long)(first + count - 1), session->client_count);
    for (int64_t i = first; i < first + count; i++) {
        if (taken[i])
            return rp_fail(RP_INTERNAL, "", "group %s: client %lld is in two groups", group->name, (long long)i);
        taken[i] = true;
    }
    group->first_client = (uint64_t)first;
    group->clients = (uint64_t)count;
    return true;
}

/* The queue from which all clients of the group take, where it has one. */
static bool read_dispatch(rp_groups *all, rp_group *group, const rp_json *asked) {
    const char *dispatch = rp_json_text(asked, "dispatch", "own");
    int64_t population = rp_json_integer(asked, "population", 0);
    if (strcmp(dispatch, "own") == 0) return true;
    if (strcmp(dispatch, "shared") != 0)
        return rp_fail(RP_UNSUPPORTED, "", "this runner knows no dispatch '%s'", dispatch);
    rp_queue *queue = group->queue = rp_arena_take(all->arena, sizeof *queue);
    *queue = (rp_queue){.most = group->operations * group->clients};
    pthread_mutex_init(&queue->lock, NULL);
    if (group->pacing != RP_CLOSED) {
        queue->schedule =
            (rp_schedule){.pacing = group->pacing, .distance_ns = 1e9 / group->rate_per_s, .state = group->seed};
        return true;
    }
    if (population < (int64_t)group->clients || population > UINT32_MAX)
        return rp_fail(RP_INTERNAL, "", "group %s: %lld callers of %llu clients", group->name, (long long)population,
                       (unsigned long long)group->clients);
    queue->population = (uint64_t)population;
    queue->callers = rp_arena_take(all->arena, (size_t)population * sizeof *queue->callers);
    return true;
}

static bool read_group(rp_groups *all, rp_group *group, const rp_json *asked, const rp_session *session, bool *taken) {
    const char *name = rp_json_text(asked, "name", "");
    group->name = rp_arena_copy(all->arena, name, strlen(name));
    group->phase = rp_find_phase(session, rp_json_text(asked, "phase", ""));
    if (group->phase == NULL) return false;
    if (group->phase->kind > RP_NOTHING)
        return rp_fail(RP_UNSUPPORTED, "", "a group does queries and single writes, not phase %s", group->phase->name);
    if (group->phase->pipeline > 0) return rp_fail(RP_UNSUPPORTED, "", "a group's clients send no pipelines");
    const rp_control *control =
        rp_shared_counters_at(&all->counters, rp_json_integer(asked, "control", -1), sizeof *control);
    group->end = (rp_end){control, &all->stop};
    group->begun = rp_arena_take(all->arena, sizeof *group->begun);
    sem_init(group->begun, 0, 0);
    return control != NULL && read_pacing(group, asked) && read_clients(group, asked, session, taken) &&
           read_dispatch(all, group, asked);
}

/* Client `number` of the group: its rows and its slot. */
static bool read_member(rp_groups *all, rp_member *member, const rp_group *group, uint64_t number, const rp_json *asked,
                        const rp_session *session) {
    uint64_t rows = group->phase->wrap, count = group->clients, client = group->first_client + number;
    int64_t slots = rp_json_integer(asked, "slots", -1), slot_bytes = rp_json_integer(asked, "slot_bytes", 0);
    int64_t acknowledged = rp_json_integer(asked, "acknowledged", 0);
    int64_t least = acknowledged > 0 ? acknowledged + 8 * (int64_t)rows : RP_SLOT_BYTES;
    if (slot_bytes < least || acknowledged < 0 || (acknowledged > 0 && acknowledged < RP_SLOT_BYTES))
        return rp_fail(RP_INTERNAL, "", "group %s: a slot of %lld bytes with counts at %lld", group->name,
                       (long long)slot_bytes, (long long)acknowledged);
    uint64_t first = 0, next = rows; /* of shared dispatch */
    if (group->queue == NULL) {
        first = rows < count ? number % rows : number * rows / count;
        next = rows < count ? first + 1 : (number + 1) * rows / count;
    }
    *member = (rp_member){
        .group = group,
        .client = &session->clients[client],
        .phase = group->phase->clients[client],
        .slot = rp_shared_counters_at(&all->counters, slots + (int64_t)number * slot_bytes, slot_bytes),
        .number = number,
        .first = first,
        .own_rows = next - first,
        .waits = &all->waiting,
    };
    if (member->slot == NULL) return false;
    if (acknowledged > 0) member->acknowledged = (uint32_t *)((uint8_t *)member->slot + acknowledged);
    return true;
}

static bool read_groups(rp_groups *all, const rp_json *list, const rp_session *session) {
    for (const rp_json *each = list; each != NULL; each = each->next)
        all->group_count++;
    if (all->group_count == 0) return rp_fail(RP_INTERNAL, "", "a request for no groups");
    all->groups = rp_arena_take(all->arena, (size_t)all->group_count * sizeof *all->groups);
    all->members = rp_arena_take(all->arena, (size_t)session->client_count * sizeof *all->members);
    bool *taken = rp_arena_take(all->arena, (size_t)session->client_count * sizeof *taken);
    rp_group *group = all->groups;
    for (const rp_json *each = list; each != NULL; each = each->next, group++) {
        if (!read_group(all, group, each, session, taken)) return false;
        group->members = &all->members[all->member_count];
        for (uint64_t number = 0; number < group->clients; number++)
            if (!read_member(all, &all->members[all->member_count++], group, number, each, session)) return false;
    }
    return true;
}

static void join(rp_groups *all, int count) {
    for (int i = 0; i < count; i++)
        pthread_join(all->members[i].thread, NULL);
    sem_destroy(&all->waiting);
}

/* Ends what works and is not asked to end by the controller. */
static void stop(rp_groups *all, int count) {
    __atomic_store_n(&all->stop, true, __ATOMIC_RELAXED);
    join(all, count);
}

/* Starts every client's thread and returns once all wait for their begin. */
static bool start(rp_groups *all) {
    sem_init(&all->waiting, 0, 0);
    for (int i = 0; i < all->member_count; i++) {
        int error = pthread_create(&all->members[i].thread, NULL, rp_member_work, &all->members[i]);
        if (error == 0) continue;
        stop(all, i);
        return rp_fail(RP_INTERNAL, "", "no thread for client %d: %s", i, strerror(error));
    }
    for (int i = 0; i < all->member_count; i++)
        while (sem_wait(&all->waiting) != 0)
            continue;
    return true;
}

static void forget(rp_session *session) {
    rp_groups *all = session->groups;
    for (int i = 0; i < all->member_count; i++)
        free(all->members[i].failures);
    rp_shared_counters_unmap(&all->counters);
    rp_arena_free(all->arena);
    session->groups = NULL;
}

bool rp_groups_begin(rp_session *session, const rp_json *request, rp_writer *reply) {
    const rp_json *list = rp_json_member(request, "client_groups");
    rp_arena *arena = rp_arena_new();
    rp_groups *all = session->groups = rp_arena_take(arena, sizeof *all);
    all->arena = arena;
    bool good = rp_shared_counters_map(&all->counters, rp_json_text(request, "shared_counters", "")) &&
                read_groups(all, list != NULL && list->type == RP_JSON_LIST ? list->first : NULL, session) &&
                start(all);
    if (good)
        rp_write_integer(reply, "clients", all->member_count);
    else
        forget(session);
    return good;
}

static int most_frequent_first(const void *left, const void *right) {
    const rp_failure_kind *a = left, *b = right;
    return (a->count < b->count) - (a->count > b->count);
}

static void write_failures(rp_writer *reply, const rp_group *group) {
    enum { most = 16 };
    rp_failure_kind *failures = NULL;
    int kinds = 0;
    for (uint64_t i = 0; i < group->clients; i++)
        for (int kind = 0; kind < group->members[i].failure_kinds; kind++) {
            const rp_failure_kind *each = &group->members[i].failures[kind];
            rp_note_failures(&failures, &kinds, &each->error, each->count);
        }
    if (kinds > 1) qsort(failures, (size_t)kinds, sizeof *failures, most_frequent_first);
    rp_write_open(reply, "failures", '[');
    for (int i = 0; i < kinds && i < most; i++) {
        rp_write_open(reply, NULL, '{');
        rp_write_error(reply, &failures[i].error);
        rp_write_integer(reply, "count", (int64_t)failures[i].count);
        rp_write_close(reply, '}');
    }
    rp_write_close(reply, ']');
    free(failures);
}

static void write_clients(rp_writer *reply, const rp_group *group) {
    rp_write_open(reply, "clients", '[');
    for (const rp_member *each = group->members; each < group->members + group->clients; each++) {
        rp_write_open(reply, NULL, '{');
        rp_write_integer(reply, "first", (int64_t)each->first);
        rp_write_integer(reply, "rows_of_its_own", (int64_t)each->own_rows);
        rp_write_integer(reply, "operations", (int64_t)each->slot->operations);
        rp_write_integer(reply, "failed", (int64_t)each->slot->failed);
        rp_write_close(reply, '}');
    }
    rp_write_close(reply, ']');
}

static void write_group(rp_writer *reply, const rp_group *group) {
    uint64_t operations = 0, failed = 0, rows = 0, touch = 0, cpu_ns = 0, begun_ns = 0, ended_ns = 0;
    for (const rp_member *each = group->members; each < group->members + group->clients; each++) {
        operations += each->slot->operations;
        failed += each->slot->failed;
        rows += each->slot->rows;
        touch += each->touch;
        cpu_ns += each->cpu_ns;
        if (each->begun_ns != 0 && (begun_ns == 0 || each->begun_ns < begun_ns)) begun_ns = each->begun_ns;
        if (each->slot->ended_ns > ended_ns) ended_ns = each->slot->ended_ns;
    }
    rp_write_open(reply, NULL, '{');
    rp_write_text(reply, "name", group->name);
    rp_write_integer(reply, "operations", (int64_t)operations);
    rp_write_integer(reply, "failed", (int64_t)failed);
    write_failures(reply, group);
    rp_write_integer(reply, "rows", (int64_t)rows);
    rp_write_integer(reply, "values", (int64_t)rows * group->phase->column_count);
    rp_write_hexadecimal(reply, "touch", touch);
    rp_write_integer(reply, "begun_ns", (int64_t)begun_ns);
    rp_write_integer(reply, "ended_ns", (int64_t)ended_ns);
    rp_write_integer(reply, "cpu_ns", (int64_t)cpu_ns);
    write_clients(reply, group);
    rp_write_close(reply, '}');
}

bool rp_groups_end(rp_session *session, const rp_json *request, rp_writer *reply) {
    (void)request;
    rp_groups *all = session->groups;
    if (all == NULL) return rp_fail(RP_INTERNAL, "", "there are no groups to end");
    join(all, all->member_count);
    rp_write_open(reply, "client_groups", '[');
    for (int i = 0; i < all->group_count; i++)
        write_group(reply, &all->groups[i]);
    rp_write_close(reply, ']');
    forget(session);
    return true;
}

void rp_groups_stop(rp_session *session) {
    if (session->groups == NULL) return;
    stop(session->groups, session->groups->member_count);
    forget(session);
}
