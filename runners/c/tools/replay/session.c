/* One connection's state, recorded or live: where replies can depend on what went before. */
#include <string.h>
#include <strings.h>

#include "replay.h"

void session_begin(struct session *session, struct key startup) {
    *session = (struct session){.startup = startup, .state = IDLE};
    session->statements.value_bytes = session->portals.value_bytes = sizeof(struct statement);
    session->seen_settings.value_bytes = session->occurrences.value_bytes = sizeof(uint64_t);
}

void session_end(struct session *session) {
    map_clear(&session->statements);
    map_clear(&session->portals);
    map_clear(&session->seen_settings);
    map_clear(&session->occurrences);
}

/* Settings count once and in any order: a statement that is repeated for each operation changes nothing more. */
void session_setting(struct session *session, struct key setting) {
    uint64_t *seen = map_put(&session->seen_settings, setting);
    if (*seen) return;
    *seen = 1;
    session->settings.a += setting.a;
    session->settings.b += setting.b;
}

static bool holds(const char *sql, size_t length, const char *word) {
    size_t size = strlen(word);
    for (size_t i = 0; i + size <= length; i++)
        if (strncasecmp(sql + i, word, size) == 0) return true;
    return false;
}

bool sets(const char *sql, size_t length) {
    static const char *const WORDS[] = {"SET ", "RESET ", "DISCARD ", "USE "};
    while (length > 0 && (*sql == ' ' || *sql == '\n' || *sql == '\t' || *sql == '\r')) {
        sql++;
        length--;
    }
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (length >= strlen(WORDS[i]) && strncasecmp(sql, WORDS[i], strlen(WORDS[i])) == 0) return true;
    return holds(sql, length < 200 ? length : 200, "set_config");
}

/* After a request with that key: within a transaction, replies may depend on what it has done. */
void session_move(struct session *session, struct key key, uint8_t state) {
    session->state = state;
    session->chain = state == IDLE ? (struct key){0, 0} : key_join(session->chain, key);
}
