/* What is known of the items of one table while they are sampled: between sample.c, which fills it,
 * and sample_result.c, which reports it. */
#ifndef DDBFS_CORE_CHECK_SAMPLE_STATE_H
#define DDBFS_CORE_CHECK_SAMPLE_STATE_H

#include "core/base/dict.h"
#include "core/check/mistakes.h"

/* One path of the table: how many records it could show, and what of them it needs. */
struct shown {
    const struct map_pattern *pattern;
    unsigned of_kinds; /* records of its kinds */
    unsigned records;  /* of these what its filter lets through, if that is known */
    unsigned with_attribute;
    unsigned with_date;
};

struct kind_seen {
    const struct map_kind *kind;
    bool any_key; /* its keys may be any, so that no item proves them */
    bool wanted;
    size_t items;
};

/* A filter's attribute: how many records of the path's kinds have it, filtered or not. */
struct looked_at {
    const struct map_pattern *pattern;
    const char *attribute;
    unsigned records;
    unsigned with_attribute;
};

enum { MOST_LOOKED_AT = 64 };

struct sample {
    const struct model *table;
    unsigned records;    /* that differ */
    struct dict seen;    /* their keys */
    struct arena keys;   /* owned: the nodes of SEEN */
    struct shown *shown; /* owned; beside the table's patterns */
    size_t shown_count;
    struct looked_at looked_at[MOST_LOOKED_AT];
    size_t looked_at_count;
    struct kind_seen *kinds; /* owned; beside the table's kinds */
    size_t kind_count;
    unsigned *in_index;    /* owned; beside the table's indexes: items with its keys */
    unsigned *with_secret; /* owned; beside the table's secrets */
    struct mistakes mistakes, warnings;
};

#endif
