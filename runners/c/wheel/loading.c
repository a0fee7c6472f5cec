/* The begin of a program of the wheel: loads its client library by the path that `--library` names, then starts the
   runner. Each function of the library is called through a place in `rp_calls`, as one of a linked library is.

   The build writes the file RP_CALLS: a line CALL(place, name) for each. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

#undef main /* of the runner it is another name here */

#define CALL(place, name) #name,
static const char *const names[] = {
#include RP_CALLS
};
#undef CALL

#define CALL(place, name)                                                                                              \
    ".globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ": jmp *rp_calls + 8 * " #place          \
    "(%rip)\n.size " #name ", . - " #name "\n"
__asm__(".text\n"
#include RP_CALLS
);
#undef CALL

enum { CALLS = sizeof names / sizeof *names };

__attribute__((visibility("hidden"))) void *rp_calls[CALLS];

static const char *file; /* NULL until it is loaded */

int rp_main(int count, char **arguments);

static _Noreturn void absent(void) {
    fprintf(stderr, "rowpath runner: %s is too old: it has no", file);
    for (int i = 0; i < CALLS; i++)
        if (rp_calls[i] == (void *)(uintptr_t)absent) fprintf(stderr, " %s", names[i]);
    fputc('\n', stderr);
    _Exit(1);
}

static void load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "rowpath runner: %s\n", dlerror());
        exit(1);
    }
    file = path;
    for (int i = 0; i < CALLS; i++) {
        void *function = dlsym(library, names[i]);
        rp_calls[i] = function != NULL ? function : (void *)(uintptr_t)absent;
    }
}

void rp_loaded_library(rp_facts *facts) {
    const char *slash = strrchr(file, '/');
    rp_library(facts, slash != NULL ? slash + 1 : file, file);
}

int main(int count, char **arguments) {
    if (count < 3 || strcmp(arguments[1], "--library") != 0) {
        fprintf(stderr, "usage: %s --library FILE --adapter NAME\n", arguments[0]);
        return 2;
    }
    load(arguments[2]);
    arguments[2] = arguments[0];
    return rp_main(count - 2, arguments + 2);
}
