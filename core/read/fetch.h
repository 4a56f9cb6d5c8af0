/* The one record that a place names, wherever its key has to be found first. */
#ifndef DDBFS_CORE_READ_FETCH_H
#define DDBFS_CORE_READ_FETCH_H

#include "core/read/tree.h"

struct fetch;

/* RECORD is borrowed. FOUND_UNITS is what the query took that found its key; less than 0 when the
 * service did not tell. Misses are ERROR_NOT_FOUND, with a text that says what was looked for. With
 * both RECORD and ERR, the record may be too old, and ERR says why no younger one is to be had. */
typedef void fetch_done_fn(void *arg, struct record *record, double found_units,
                           int64_t ttl_left_ms, const struct error *err);

/* PLACE is a record, its companion or its attribute, and must stay until the end. For a bare
 * attribute the record may hold no other one. DONE is called once, later; the fetch is gone
 * before that. NULL when memory ran out. */
struct fetch *fetch_start(const struct tree *tree, const struct place *place, fetch_done_fn *done,
                          void *arg);
void fetch_cancel(struct fetch *fetch); /* before DONE; NULL is fine */

#endif
