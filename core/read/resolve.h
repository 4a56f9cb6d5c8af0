/* Finds the place of a path. The map is enough for most paths. A table that only the service
 * describes needs a request first, so resolving may have to wait. Such a description has a ttl: a
 * place that was found by a stale one is found anew. No resolution ends at a PLACE_TABLE. */
#ifndef DDBFS_CORE_READ_RESOLVE_H
#define DDBFS_CORE_READ_RESOLVE_H

#include "core/read/tree.h"

/* As the kernel does. */
enum { RESOLVE_MAX_LINKS = 40 };

struct tree_resolution; /* a path that is being resolved */

/* Exactly one of PLACE and ERR is not NULL; PLACE is the receiver's to destroy. */
typedef void tree_resolve_fn(void *arg, struct place *place, const struct error *err);

/* Follows PATH from FROM, or from the root when FROM is NULL; both are copied. A path with a final
 * slash must lead to a directory. DONE is called once, later, never from within; the resolution is
 * freed before that. NULL when memory ran out. Errors: ERROR_NOT_FOUND when the path can't exist,
 * or the failure of a request. */
struct tree_resolution *tree_resolve(const struct tree *tree, const struct place *from,
                                     struct span path, tree_resolve_fn *done, void *arg);
/* The same, and if PATH ends at a link, the place is the link's target. Links on the way are always
 * followed: ERROR_LOOP beyond RESOLVE_MAX_LINKS of them. */
struct tree_resolution *tree_resolve_through(const struct tree *tree, const struct place *from,
                                             struct span path, tree_resolve_fn *done, void *arg);
/* Before DONE was called, which then never is. NULL is fine. */
void tree_resolve_cancel(struct tree_resolution *resolution);

/* The same without waiting: true with *PLACE, or NULL there and ERR filled. False, with nothing
 * filled, when a request is needed: then call tree_resolve. */
bool tree_resolve_now(const struct tree *tree, const struct place *from, struct span path,
                      struct place **place, struct error *err);

/* Whether the description that PLACE was found by is still fresh. */
bool tree_is_current(const struct tree *tree, const struct place *place);

/* The rest of that description's ttl; of a place that was found by the map alone, the ttl of the
 * map's names. */
int64_t tree_structure_ttl_ms(const struct tree *tree, const struct place *place);

/* For how long the items of PATTERN at PLACE may be used again (plan_ttl_ms). */
int64_t tree_items_ttl_ms(const struct tree *tree, const struct place *place,
                          const struct map_pattern *pattern);

/* The time for which the kernel may hold a result of PLACE, whose ttl has LEFT_MS left:
 * source_hold_ms. */
int64_t tree_hold_ms(const struct tree *tree, const struct place *place, int64_t left_ms);
/* Whether the source of PLACE follows streams. */
bool tree_follows(const struct tree *tree, const struct place *place);

#endif
