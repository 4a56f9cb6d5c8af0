/* What a path means. The map knows nearly all of it at once; a table that only the service can
 * describe takes an answer, so resolving may have to wait. Such a description is good for a while:
 * what a place was found by may be out of date, and is then found anew on the way. No resolution
 * ends at a PLACE_TABLE: what a path names has been looked at. */
#ifndef DDBFS_CORE_READ_RESOLVE_H
#define DDBFS_CORE_READ_RESOLVE_H

#include "core/read/tree.h"

/* As the kernel does. */
enum { RESOLVE_MAX_LINKS = 40 };

struct tree_resolution; /* a path that is being resolved */

/* Exactly one of PLACE and ERR is not NULL; PLACE is the receiver's to destroy. */
typedef void tree_resolve_fn(void *arg, struct place *place, const struct error *err);

/* Follows PATH from FROM, or from the root when FROM is NULL; both are copied. A final slash asks
 * for a directory. DONE is called once, later, never from within; the resolution is gone before
 * that. NULL when memory ran out. Errors: ERROR_NOT_FOUND when the path can't be, and whatever kept
 * a model from coming. */
struct tree_resolution *tree_resolve(const struct tree *tree, const struct place *from,
                                     struct span path, tree_resolve_fn *done, void *arg);
/* The same, and where PATH ends at a link the place is what that leads to. Links on the way are
 * always followed: ERROR_LOOP beyond RESOLVE_MAX_LINKS of them. */
struct tree_resolution *tree_resolve_through(const struct tree *tree, const struct place *from,
                                             struct span path, tree_resolve_fn *done, void *arg);
/* Before DONE was called, which then never is. NULL is fine. */
void tree_resolve_cancel(struct tree_resolution *resolution);

/* The same for what is known without waiting, for who can't wait or need not: true when it is
 * settled, with *PLACE, or NULL there and ERR filled. False when somebody has to be asked: then
 * nothing is filled, and tree_resolve finds out. */
bool tree_resolve_now(const struct tree *tree, const struct place *from, struct span path,
                      struct place **place, struct error *err);

/* Whether all that PLACE was found by is still believed. */
bool tree_is_current(const struct tree *tree, const struct place *place);

/* For how long it will be: what is left of the description of its table; else what the map alone
 * tells. */
int64_t tree_structure_ttl_ms(const struct tree *tree, const struct place *place);

#endif
