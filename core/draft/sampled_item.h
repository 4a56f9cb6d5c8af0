/* A sampled record, reduced to what something can be learnt from: its attributes by name, and what
 * those say that are texts or numbers. */
#ifndef DDBFS_CORE_DRAFT_SAMPLED_ITEM_H
#define DDBFS_CORE_DRAFT_SAMPLED_ITEM_H

#include "core/base/arena.h"
#include "core/item/typed.h"
#include "core/json/json.h"

/* Keys have at most 2,048 bytes; nothing is learnt from a longer text but what it begins with. */
enum { SAMPLED_ITEM_LONGEST = 2048 };

struct sampled_item_attribute {
    struct span name;
    enum typed_tag tag;
    struct span value; /* of S and N that are not too long; else empty */
    bool secret;       /* the value looks like one */
};

struct sampled_item {
    struct sampled_item_attribute *attributes;
    size_t count;
    struct sampled_item *next;
};

/* ITEM's specimen, in ARENA. NULL when ITEM is no typed item, or when memory ran out (ARENA is
 * failed then). */
struct sampled_item *sampled_item_new(struct json item, struct arena *arena);

/* The attribute of that name, or NULL. */
const struct sampled_item_attribute *sampled_item_find(const struct sampled_item *specimen,
                                                       struct span name);

/* Whether both have attributes of the same names, and none says that their kinds differ. */
bool sampled_item_alike(const struct sampled_item *a, const struct sampled_item *b);

#endif
