/* What readers of an item may have seen in a span of time. */
#ifndef DDBFS_TESTS_SIM_SIM_SIGHT_H
#define DDBFS_TESTS_SIM_SIM_SIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim_model.h"

/* A version that a read of the table, or of the path's index, may have returned. */
struct sim_view {
    const struct sim_version *version;
    bool in_table, in_index;
    bool admits;      /* it counts for the path, with the name of the entry */
    bool base_admits; /* it counts for the directory, perhaps under another name */
    bool is_doubtful; /* SIM_FIT_MAYBE: it may count */
    bool is_outside;  /* SIM_FIT_OUTSIDE: the index does not have it */
    int kind;
    struct sim_bindings parts; /* of the directory and of its keys, if BASE_ADMITS */
};

enum { SIM_SIGHT_VIEWS = 48 };

struct sim_sight {
    struct sim_view views[SIM_SIGHT_VIEWS];
    unsigned count;
    bool has_more;                       /* views that are not here: nothing is certain */
    bool table_may_lack, index_may_lack; /* a read may have found no item */
};

/* A span of time in which reads may have been processed, by the service's clock. */
struct sim_span {
    int64_t from_ms, until_ms;
};

/* Looks at ITEM as readers of NODE may have seen it in SPAN. */
void sim_sight_look(struct sim_sight *out, const struct sim_node *node, const struct sim_item *item,
                    struct sim_span span);

/* A read of a single item, by a name or a path. */
bool sim_sight_may_be(const struct sim_sight *sight, const struct sim_node *node);
bool sim_sight_may_lack(const struct sim_sight *sight, const struct sim_node *node);
/* Whether an item that was read does not fit the path. */
bool sim_sight_may_refuse(const struct sim_sight *sight);
/* Whether the index may have it for the path, wherever the table's item is. */
bool sim_sight_may_be_picked(const struct sim_sight *sight);
/* A listing. */
bool sim_sight_may_be_listed(const struct sim_sight *sight, const struct sim_node *node);
bool sim_sight_must_be_listed(const struct sim_sight *sight, const struct sim_node *node);

/* Whether a file of the path may show the view, which is of a version that the path may have. */
bool sim_view_is_shown(const struct sim_view *view, const struct sim_node *node);
/* Whether a listing may have its entry from the view. */
bool sim_view_is_listed(const struct sim_view *view, const struct sim_node *node);

/* The order of two versions in the path's listing: by sort key. */
int sim_node_compare(const struct sim_node *node, const struct sim_version *a,
                     const struct sim_version *b);

/* The items that may be meant by the path: of its partition, or one by its key. */
struct sim_items {
    struct sim_item **items; /* owned */
    size_t count;
};
struct sim_items sim_node_items(const struct sim_node *node);

#endif
