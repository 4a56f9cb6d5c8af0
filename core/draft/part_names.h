/* What the parts of sampled keys are called, and how sure that is. */
#ifndef DDBFS_CORE_DRAFT_PART_NAMES_H
#define DDBFS_CORE_DRAFT_PART_NAMES_H

#include "core/draft/key_shape.h"

/* The part at one place of keys that are alike. */
struct part_name {
    const char *name;      /* NULL: what stands there is a word */
    struct span attribute; /* whose values the part has; empty where it is named otherwise */
};

/* The names of the parts of some keys of COLUMN, which are alike: of those at ROWS. In ARENA. NAMES
 * stands beside the tokens. A name is an attribute that says just the part wherever it stands in a
 * record; else it comes of the word before it; else of the key attribute. False when memory ran
 * out. */
bool part_names_find(const struct column *column, const size_t *rows, size_t count,
                     struct arena *arena, struct part_name names[KEY_SHAPE_MAX_TOKENS]);

/* Appends a tag, "USER", in lower case; another word as it is. */
void part_names_add_word(struct span word, struct buf *out);

/* The NUMBER-th name, from 2 on, that is tried for the part of SHAPE at AT where WANTED is taken:
 * by another word before it, then "second_WANTED" and so on. NULL when memory ran out. */
const char *part_names_other(struct arena *arena, const struct key_shape *shape, size_t at,
                             const char *wanted, unsigned number);

/* The format of such keys, as a map writes it. */
void part_names_write(const struct column *column, const struct key_shape *shape,
                      const struct part_name *names, struct buf *out);

#endif
