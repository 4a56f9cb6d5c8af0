/* In what two typed items differ: attribute by attribute, down into maps and lists. */
#ifndef DDBFS_CORE_ITEM_DIFFERENCE_H
#define DDBFS_CORE_ITEM_DIFFERENCE_H

#include "core/base/span.h"
#include "core/json/json.h"

enum difference_kind { DIFFERENCE_ADDED, DIFFERENCE_REMOVED, DIFFERENCE_CHANGED };

/* "added", "removed", "changed". */
const char *difference_word(enum difference_kind kind);

/* One of them; borrowed for the time of the call. */
struct difference {
    enum difference_kind kind;
    struct span path;        /* a JSON array: names, and numbers of elements: ["a",0,"b"] */
    struct span name;        /* the same for people: a[0].b */
    struct span attribute;   /* the top-level one that it is in */
    struct json before, now; /* typed values; absent where there is none */
};

/* False ends the search. */
typedef bool difference_fn(void *arg, const struct difference *difference);

/* Tells FN what is to be changed in the item BEFORE to make NOW of it, in the order of names. Types
 * are never mixed, numbers are compared digit by digit as they are shown, sets whatever their
 * order, elements of lists by their place. False when one of the two is no typed item, when FN has
 * ended the search, or when memory ran out. */
bool difference_find(struct json before, struct json now, difference_fn *fn, void *arg);

#endif
