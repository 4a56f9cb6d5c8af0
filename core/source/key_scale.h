/* Sort keys as places on a scale from 0 to 1, so that the part of a query between two keys can be
 * estimated, and a key be found that divides it. A wrong estimate costs time, and nothing else. */
#ifndef DDBFS_CORE_SOURCE_KEY_SCALE_H
#define DDBFS_CORE_SOURCE_KEY_SCALE_H

#include "core/base/arena.h"
#include "core/item/value.h"

enum { KEY_SCALE_BYTES = 96 };

/* {0} is empty. */
struct key_scale {
    enum value_type type;
    uint64_t seen[KEY_SCALE_BYTES][4]; /* the bytes of sampled keys, by their offset: sets */
    size_t from, to;                   /* the offsets that the scale uses */
    char prefix[KEY_SCALE_BYTES];      /* of all keys on the scale: FROM bytes */
    double least, most;                /* of numbers */
};

/* Adds a sample. */
void key_scale_add(struct key_scale *scale, struct value key);

/* Sets the scale for the keys between FIRST and LAST, in either order. The samples lie between
 * FIRST and AT. False if the keys cannot be divided. */
bool key_scale_set(struct key_scale *scale, struct value first, struct value at, struct value last);

/* The place of KEY. It grows with the key, not strictly. */
double key_scale_place(const struct key_scale *scale, struct value key);

/* A key near PLACE, in ARENA. False when memory ran out. */
bool key_scale_cut(const struct key_scale *scale, double place, struct arena *arena,
                   struct value *out);

#endif
