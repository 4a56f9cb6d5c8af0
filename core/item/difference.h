/* The differences of two typed items, attribute by attribute, down into maps and lists; and copies
 * of items without some attributes. */
#ifndef DDBFS_CORE_ITEM_DIFFERENCE_H
#define DDBFS_CORE_ITEM_DIFFERENCE_H

#include "core/base/buf.h"
#include "core/base/span.h"
#include "core/json/json.h"

enum difference_kind { DIFFERENCE_ADDED, DIFFERENCE_REMOVED, DIFFERENCE_CHANGED };

/* "added", "removed", "changed". */
const char *difference_word(enum difference_kind kind);

/* One difference; borrowed for the time of the call. */
struct difference {
    enum difference_kind kind;
    struct span path;        /* a JSON array: names, and numbers of elements: ["a",0,"b"] */
    struct span name;        /* the same as text: a[0].b */
    struct span attribute;   /* the top-level attribute */
    struct json before, now; /* typed values; either may be absent */
};

/* False ends the search. */
typedef bool difference_fn(void *arg, const struct difference *difference);

/* Calls FN for each change that makes NOW of BEFORE, in the order of names. Values of different
 * types differ. Numbers are compared digit by digit, sets without order, elements of lists by their
 * place. False if one of the two is not a typed item, FN ended the search, or memory ran out. */
bool difference_find(struct json before, struct json now, difference_fn *fn, void *arg);

/* Appends the typed item ITEM without the attributes NAMES. A name with dots is that of a member of
 * a map; elements of a list need no step ("steps.at" is a member of each). An attribute whose own
 * name has a dot matches, too. All other values are copied unchanged. OUT->failed when memory ran
 * out. */
void item_write_without(struct json item, const char *const *names, size_t count, struct buf *out);

#endif
