/* The text of a fact, in the service's own words: one line of JSON. */
#ifndef DDBFS_CORE_READ_FACT_TEXT_H
#define DDBFS_CORE_READ_FACT_TEXT_H

#include "core/read/tree.h"

struct fact_text {
    size_t references;
    size_t size;
    char bytes[];
};

/* Asks for the fact at PLACE, a PLACE_FACT, through the cache. FN is called once, later, with a
 * struct fact_text as DATA, unless cache_leave ends it. NULL with ERR filled. */
struct cache_wait *fact_text_start(const struct tree *tree, const struct place *place,
                                   cache_done_fn *fn, void *arg, struct error *err);

#endif
