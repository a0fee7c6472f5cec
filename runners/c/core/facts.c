/* Facts that an adapter reads from its live connection. */
#include "session.h"

static const char *kept(rp_facts *facts, const char *text) {
    return text != NULL ? rp_arena_copy(facts->arena, text, strlen(text)) : "";
}

void rp_driver_version(rp_facts *facts, const char *version) {
    facts->driver_version = kept(facts, version);
}

void rp_engine_version(rp_facts *facts, const char *version) {
    facts->engine_version = kept(facts, version);
}

void rp_build(rp_facts *facts, const char *build) {
    facts->build = kept(facts, build);
}

void rp_library(rp_facts *facts, const char *name, const char *version) {
    rp_write_text(&facts->libraries, name, version != NULL ? version : "");
}

__attribute__((weak)) void rp_loaded_library(rp_facts *facts) {
    (void)facts;
}

void rp_setting(rp_facts *facts, const char *name, const char *value) {
    rp_write_text(&facts->settings, name, value != NULL ? value : "");
}

void rp_fact(rp_facts *facts, const char *name, const char *value) {
    if (strcmp(name, "version") == 0)
        rp_engine_version(facts, value);
    else if (strcmp(name, "build") == 0)
        rp_build(facts, value);
    else
        rp_setting(facts, name, value);
}
