/* Errors: the last one of each thread, and its fields in a reply. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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
