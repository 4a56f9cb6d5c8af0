/* Sampled items, reduced to what an inference uses: the names of attributes, and the values that
 * are texts or numbers. */
#ifndef DDBFS_CORE_DRAFT_SAMPLED_ITEM_H
#define DDBFS_CORE_DRAFT_SAMPLED_ITEM_H

#include "core/base/buf.h"
#include "core/item/typed.h"
#include "core/json/json.h"
#include "core/map/declaration.h"

/* The limit of a key's bytes: a longer text is not stored. */
enum { SAMPLED_ITEM_LONGEST = 2048 };

struct sampled_attribute {
    struct span name;
    enum typed_tag tag;
    struct span value; /* of S and N that are not too long; else empty */
    bool secret;       /* the value looks like a secret */
};

struct sampled_item {
    struct sampled_attribute *attributes;
    size_t count;
    struct sampled_item *next;
};

/* A copy of ITEM in ARENA. NULL when ITEM is no typed item, or when memory ran out (then ARENA is
 * failed). */
struct sampled_item *sampled_item_new(struct json item, struct arena *arena);

/* The attribute of that name, or NULL. */
const struct sampled_attribute *sampled_item_find(const struct sampled_item *item,
                                                  struct span name);

/* Whether the attributes of both have the same names, and none states different kinds. */
bool sampled_item_alike(const struct sampled_item *a, const struct sampled_item *b);

/* Sets TABLE's "mtime" and "secret", in ARENA, and appends to NOTE a sentence with the evidence of
 * each. */
void sampled_items_declare_traits(const struct sampled_item *const *items, size_t count,
                                  struct arena *arena, struct declared_table *table,
                                  struct buf *note);

#endif
