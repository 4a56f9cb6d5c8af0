/* Reads several items at one moment: one request, which returns all of them as they are at that
 * moment, or fails. Nothing comes from the cache. See docs/live.md. */
#ifndef DDBFS_CORE_READ_TOGETHER_H
#define DDBFS_CORE_READ_TOGETHER_H

#include "core/read/tree.h"

/* The service's limit, and that of a READ_TOGETHER. */
enum { TOGETHER_MOST = READ_MAX_KEYS };

/* One of the items. PLACE and PATH are borrowed. */
struct together_item {
    const struct place *place; /* the item, or a file that is made of it alone */
    const char *path;          /* as typed, for messages */
    /* Filled in by together_start; of an item exactly one has a value after a success: */
    struct record *record; /* owned by the caller */
    struct error why;      /* ERROR_NOT_FOUND */
};

/* Whether the items can be read together: each is one item of a table, and one source has all of
 * them; or all come from snapshots of the same moment, so that no request is needed. False with ERR
 * filled, whose part is the number of the item that can not, from 1 on. Sends nothing. */
bool together_check(const struct tree *tree, const struct together_item *items, size_t count,
                    struct error *err);

struct together;

/* ERR is NULL after a success. Else no item was read; its part is the number of the item that is
 * the reason, from 1 on, or 0. */
typedef void together_done_fn(void *arg, const struct error *err);

/* Reads COUNT ITEMS, for which together_check holds, and which must stay until the end. First the
 * keys are found that the paths lack: that is not part of the moment, and an item whose key is not
 * found is not read. DONE is called once, later; all is freed before that. NULL when memory ran
 * out. */
struct together *together_start(const struct tree *tree, struct together_item *items, size_t count,
                                together_done_fn *done, void *arg);

/* Appends the parts of the way to PLACE that do not belong to the moment: "its key was found …".
 * False, with OUT unchanged, if all of it does. */
bool together_note(const struct place *place, struct buf *out);

/* The Read of COUNT items by KEYS; a key of no attributes is not known. PART_OF gets the number of
 * each item's part, from 1 on: equal keys share one. An item whose IS_LEFT_OUT (NULL: of no item)
 * is true has part 0. NULL with ERR filled if memory ran out. */
struct read *together_make_read(const struct together_item *items, const struct key *keys,
                                const bool *is_left_out, size_t count, size_t *part_of,
                                struct error *err);

#endif
