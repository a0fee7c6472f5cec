/* A hash table with open addressing; its keys are hashes already. */
#include <stdlib.h>
#include <string.h>

#include "replay.h"

enum { EMPTY, USED, REMOVED };
#define HEAD_BYTES (sizeof(struct key) + 8) /* the values stay aligned */

static unsigned char *slot_at(const struct map *map, size_t slot) {
    return map->memory + slot * (HEAD_BYTES + map->value_bytes);
}

static unsigned char *mark_of(unsigned char *slot) {
    return slot + sizeof(struct key);
}

/* The key's slot, else the one where it would go; NULL in an empty map. */
static unsigned char *look(const struct map *map, struct key key) {
    unsigned char *free_slot = NULL;
    if (map->slots == 0) return NULL;
    for (size_t i = key.a & (map->slots - 1);; i = (i + 1) & (map->slots - 1)) {
        unsigned char *slot = slot_at(map, i);
        struct key there;
        if (*mark_of(slot) == EMPTY) return free_slot != NULL ? free_slot : slot;
        memcpy(&there, slot, sizeof there);
        if (*mark_of(slot) == USED && key_equal(there, key)) return slot;
        if (*mark_of(slot) == REMOVED && free_slot == NULL) free_slot = slot;
    }
}

static void grow(struct map *map) {
    struct map old = *map;
    map->slots = map->used * 4 < 16 ? 16 : map->slots * (map->used * 4 >= map->slots ? 2 : 1);
    map->used = map->filled = 0;
    map->memory = calloc(map->slots, HEAD_BYTES + map->value_bytes);
    if (map->memory == NULL) abort();
    for (size_t i = 0; i < old.slots; i++) {
        unsigned char *slot = slot_at(&old, i);
        struct key key;
        if (*mark_of(slot) != USED) continue;
        memcpy(&key, slot, sizeof key);
        memcpy(map_put(map, key), slot + HEAD_BYTES, map->value_bytes);
    }
    free(old.memory);
}

void *map_get(const struct map *map, struct key key) {
    unsigned char *slot = look(map, key);
    return slot != NULL && *mark_of(slot) == USED ? slot + HEAD_BYTES : NULL;
}

void *map_put(struct map *map, struct key key) {
    unsigned char *slot;
    if ((map->filled + 1) * 2 > map->slots) grow(map);
    slot = look(map, key);
    if (*mark_of(slot) != USED) {
        map->filled += *mark_of(slot) == EMPTY;
        map->used++;
        memcpy(slot, &key, sizeof key);
        *mark_of(slot) = USED;
        memset(slot + HEAD_BYTES, 0, map->value_bytes);
    }
    return slot + HEAD_BYTES;
}

void map_remove(struct map *map, struct key key) {
    unsigned char *slot = look(map, key);
    if (slot == NULL || *mark_of(slot) != USED) return;
    *mark_of(slot) = REMOVED;
    map->used--;
}

void map_clear(struct map *map) {
    free(map->memory);
    map->memory = NULL;
    map->slots = map->used = map->filled = 0;
}
