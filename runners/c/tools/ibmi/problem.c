/* Why a request failed. What the stand-in does not know is named to the driver and on stderr. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ibmi.h"

static void describe(struct problem *problem, int code, const char *state, const char *format, va_list values) {
    problem->code = code;
    snprintf(problem->state, sizeof problem->state, "%s", state);
    snprintf(problem->id, sizeof problem->id, "SQL%04u", (unsigned)abs(code) % 10000);
    vsnprintf(problem->text, sizeof problem->text, format, values);
}

bool fail(struct problem *problem, int code, const char *state, const char *format, ...) {
    va_list values;
    va_start(values, format);
    describe(problem, code, state, format, values);
    va_end(values);
    return false;
}

bool refuse(struct problem *problem, const char *format, ...) {
    static const char begin[] = "The stand-in for IBM i knows no ";
    char text[TEXT_BYTES - sizeof begin];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(stderr, "%s%s\n", begin, text);
    return fail(problem, -84, "0A000", "%s%s", begin, text);
}

bool syntax(struct problem *problem, const char *at) {
    return fail(problem, -104, "42601", "Token %.80s was not valid.", *at ? at : "<END-OF-STATEMENT>");
}
