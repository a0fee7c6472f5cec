/* What adapters tell the core: errors and facts; and the options they read. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

_Thread_local rp_error rp_last_error;

bool rp_fail(rp_error_kind kind, const char *code, const char *format, ...) {
    va_list arguments;
    rp_last_error.kind = kind;
    snprintf(rp_last_error.code, sizeof rp_last_error.code, "%s", code != NULL ? code : "");
    va_start(arguments, format);
    vsnprintf(rp_last_error.text, sizeof rp_last_error.text, format, arguments);
    va_end(arguments);
    return false;
}

bool rp_fail_errno(rp_error_kind kind, const char *what) {
    int number = errno;
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 32)
    const char *code = strerrorname_np(number);
#else
    char code[16];
    snprintf(code, sizeof code, "%d", number);
#endif
    return rp_fail(kind, code, "%s: %s", what, strerror(number));
}

const char *rp_error_kind_name(rp_error_kind kind) {
    static const char *const names[] = {[RP_SQL_ERROR] = "sql",
                                        [RP_CONNECT_ERROR] = "connect",
                                        [RP_UNSUPPORTED] = "unsupported",
                                        [RP_VERIFY] = "verify",
                                        [RP_INTERNAL] = "internal"};
    return names[kind];
}

void rp_write_error(rp_writer *reply, const rp_error *error) {
    rp_write_text(reply, "kind", rp_error_kind_name(error->kind));
    rp_write_text(reply, "code", error->code);
    rp_write_text(reply, "text", error->text);
}

const char *rp_option(const rp_options *options, const char *name, const char *fallback) {
    const rp_json *member = rp_json_member(options->object, name);
    if (member == NULL) return fallback;
    if (member->type == RP_JSON_TRUE) return "true";
    if (member->type == RP_JSON_FALSE) return "false";
    return member->text != NULL ? member->text : fallback;
}

int64_t rp_option_integer(const rp_options *options, const char *name, int64_t fallback) {
    const char *text = rp_option(options, name, NULL);
    char *end;
    if (text == NULL) return fallback;
    long long value = strtoll(text, &end, 10);
    return end != text && *end == '\0' ? value : fallback;
}

bool rp_option_is(const rp_options *options, const char *name, const char *value) {
    return strcmp(rp_option(options, name, ""), value) == 0;
}

rp_statement_mode rp_option_statement(const rp_options *options) {
    if (rp_option_is(options, "statement", "prepared")) return RP_PREPARED;
    if (rp_option_is(options, "statement", "bound")) return RP_BOUND;
    return rp_option_is(options, "statement", "text") ? RP_LITERAL : RP_NO_STATEMENT;
}

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

void rp_setting(rp_facts *facts, const char *name, const char *value) {
    rp_write_text(&facts->settings, name, value != NULL ? value : "");
}
