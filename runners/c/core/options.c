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

bool rp_driver_settings(const rp_options *options, rp_settings *settings) {
    const char *text = rp_option(options, "driver_settings", "");
    char *rest = NULL;
    settings->count = 0;
    if (strlen(text) >= sizeof settings->text) return rp_fail(RP_UNSUPPORTED, "", "the settings are too long");
    strcpy(settings->text, text);
    for (char *line = strtok_r(settings->text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *sign = strchr(line, '=');
        if (sign == NULL) return rp_fail(RP_UNSUPPORTED, "", "a setting is name=value, and not '%s'", line);
        if (settings->count == RP_MOST_SETTINGS) return rp_fail(RP_UNSUPPORTED, "", "there are too many settings");
        *sign = '\0';
        settings->names[settings->count] = line;
        settings->values[settings->count++] = sign + 1;
    }
    return true;
}

bool rp_unknown_setting(const char *name) {
    return rp_fail(RP_UNSUPPORTED, "", "unknown setting '%s'", name);
}
