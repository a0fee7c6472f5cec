/* Memory that is freed all at once. Running out of memory ends the process: there is nothing left to measure. */
#ifndef RP_ARENA_H
#define RP_ARENA_H

#include <stddef.h>

typedef struct rp_arena rp_arena;

rp_arena *rp_arena_new(void);
void rp_arena_free(rp_arena *arena);
void *rp_arena_take(rp_arena *arena, size_t size);                     /* zeroed */
char *rp_arena_copy(rp_arena *arena, const char *text, size_t length); /* closed by NUL */

#endif
