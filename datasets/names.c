#include "datasets/names.h"

#include <string.h>

#include "common/memory.h"
#include "ggnn.h"

enum { FIRST_SLOTS = 1024, FIRST_BYTES = 1 << 14, NUMBER_BITS = 48 };
static const uint64_t number_mask = ((uint64_t)1 << NUMBER_BITS) - 1;

/* A block of old bytes gets new ones, where that leaves memory enough. */
static void* grow(names* n, void* block, int64_t old, int64_t bytes, error* why)
{
    if (bytes > n->memory - n->taken) {
        n->full = true;
        return NULL;
    }
    void* grown = memory_resize(block, (size_t)old, (size_t)bytes, "names", why);
    if (grown) n->taken += bytes - old;
    return grown;
}

static int64_t doubled(int64_t first, int64_t least)
{
    while (first < least) first *= 2;
    return first;
}

int64_t names_memory(int64_t count, int64_t bytes)
{
    const int64_t slots = 8 * doubled(FIRST_SLOTS, (3 * count + 1) / 2), at = 8 * doubled(FIRST_SLOTS, count + 1), room = doubled(FIRST_BYTES, bytes);
    const int64_t largest = slots > at ? slots : at;
    return slots + at + room + (largest > room ? largest : room) / 2; /* one of them may be there twice when it grows */
}

bool names_open(names* n, int64_t memory, error* why)
{
    const int64_t slots = FIRST_SLOTS * (int64_t)sizeof *n->slot, at = FIRST_SLOTS * (int64_t)sizeof *n->at;
    *n = (names){.memory = memory, .room = FIRST_BYTES, .at_room = FIRST_SLOTS, .num_slots = FIRST_SLOTS};
    return (n->slot = grow(n, NULL, 0, slots, why)) && (n->at = grow(n, NULL, 0, at, why)) && (n->bytes = grow(n, NULL, 0, n->room, why));
}

void names_close(names* n)
{
    memory_free(n->bytes);
    memory_free(n->at);
    memory_free(n->slot);
    n->bytes = NULL;
    n->at = NULL;
    n->slot = NULL;
}

static uint64_t hash(const char* name, int64_t length)
{
    uint64_t h = 0xCBF29CE484222325u; /* FNV-1a */
    for (int64_t i = 0; i < length; i++) h = (h ^ (unsigned char)name[i]) * 0x100000001B3u;
    return ggnn_mix(h);
}

/* The slot that has the name, or the empty one where it would be. */
static int64_t find(const names* n, const char* name, int64_t length, uint64_t h)
{
    const int64_t mask = n->num_slots - 1;
    for (int64_t s = (int64_t)(h & (uint64_t)mask);; s = (s + 1) & mask) {
        if (!n->slot[s]) return s;
        if ((n->slot[s] ^ h) & ~number_mask) continue;
        const int64_t number = (int64_t)(n->slot[s] & number_mask) - 1, at = n->at[number];
        if (n->at[number + 1] - at == length && memcmp(n->bytes + at, name, (size_t)length) == 0) return s;
    }
}

static void put(names* n, int64_t slot, uint64_t h, int64_t number) { n->slot[slot] = (h & ~number_mask) | (uint64_t)(number + 1); }

/* Twice as many slots; two thirds are taken at most. */
static bool grow_slots(names* n, error* why)
{
    const int64_t old = n->num_slots * (int64_t)sizeof *n->slot;
    uint64_t* slot = grow(n, n->slot, old, 2 * old, why);
    if (!slot) return false;
    memset(slot, 0, (size_t)(2 * old));
    n->slot = slot;
    n->num_slots *= 2;
    for (int64_t i = 0; i < n->count; i++) {
        const char* name = n->bytes + n->at[i];
        const int64_t length = n->at[i + 1] - n->at[i];
        const uint64_t h = hash(name, length);
        put(n, find(n, name, length, h), h, i);
    }
    return true;
}

static bool make_room(names* n, int64_t length, error* why)
{
    if (3 * (n->count + 1) > 2 * n->num_slots && !grow_slots(n, why)) return false;
    if (n->count + 2 > n->at_room) {
        const int64_t old = n->at_room * (int64_t)sizeof *n->at;
        int64_t* at = grow(n, n->at, old, 2 * old, why);
        if (!at) return false;
        n->at = at;
        n->at_room *= 2;
    }
    while (n->at[n->count] + length > n->room) {
        char* bytes = grow(n, n->bytes, n->room, 2 * n->room, why);
        if (!bytes) return false;
        n->bytes = bytes;
        n->room *= 2;
    }
    return true;
}

int64_t names_number(names* n, const char* name, int64_t length, error* why)
{
    const uint64_t h = hash(name, length);
    const int64_t at = n->at[n->count];
    int64_t slot = find(n, name, length, h);
    if (n->slot[slot]) return (int64_t)(n->slot[slot] & number_mask) - 1;
    if (!make_room(n, length, why)) return -1;
    slot = find(n, name, length, h); /* there may be more of them now */
    put(n, slot, h, n->count);
    memcpy(n->bytes + at, name, (size_t)length);
    n->at[n->count + 1] = at + length;
    return n->count++;
}
