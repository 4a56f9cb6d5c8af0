/* A sampled record, reduced to what something can be learnt from: its attributes by name, and what
 * those say that are texts or numbers. */
#ifndef DDBFS_CORE_AUTHOR_SPECIMEN_H
#define DDBFS_CORE_AUTHOR_SPECIMEN_H

#include "core/base/arena.h"
#include "core/item/typed.h"
#include "core/json/json.h"

/* Keys have at most 2,048 bytes; nothing is learnt from a longer text but what it begins with. */
enum { SPECIMEN_LONGEST = 2048 };

struct specimen_attribute {
    struct span name;
    enum typed_tag tag;
    struct span value; /* of S and N that are not too long; else empty */
    bool secret;       /* the value looks like one */
};

struct specimen {
    struct specimen_attribute *attributes;
    size_t count;
    struct specimen *next;
};

/* ITEM's specimen, in ARENA. NULL when ITEM is no typed item, or when memory ran out (ARENA is
 * failed then). */
struct specimen *specimen_new(struct json item, struct arena *arena);

/* The attribute of that name, or NULL. */
const struct specimen_attribute *specimen_find(const struct specimen *specimen, struct span name);

/* Whether both have attributes of the same names, and none says that their kinds differ. */
bool specimen_alike(const struct specimen *a, const struct specimen *b);

#endif
