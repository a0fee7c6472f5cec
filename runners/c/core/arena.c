#include "arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    alignas(max_align_t) char data[];
} chunk;

struct rp_arena {
    chunk *first;
};

rp_arena *rp_arena_new(void) {
    rp_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) abort();
    return arena;
}

void rp_arena_free(rp_arena *arena) {
    if (arena == NULL) return;
    for (chunk *next, *each = arena->first; each != NULL; each = next) {
        next = each->next;
        free(each);
    }
    free(arena);
}

void *rp_arena_take(rp_arena *arena, size_t size) {
    size = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    chunk *here = arena->first;
    if (here == NULL || here->size - here->used < size) {
        size_t room = size > 1 << 16 ? size : 1 << 16;
        here = calloc(1, sizeof *here + room);
        if (here == NULL) abort();
        here->size = room;
        here->next = arena->first;
        arena->first = here;
    }
    void *taken = here->data + here->used;
    here->used += size;
    return taken;
}

char *rp_arena_copy(rp_arena *arena, const char *text, size_t length) {
    char *copy = rp_arena_take(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}
