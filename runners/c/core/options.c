/* The options of `open`, as adapters read them. */
#include <stdlib.h>

#include "session.h"

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
