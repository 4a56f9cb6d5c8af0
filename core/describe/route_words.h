/* A path of the map in words, for all values of its parameters: its name, its cost, which items it
 * shows, and in which order. */
#ifndef DDBFS_CORE_DESCRIBE_ROUTE_WORDS_H
#define DDBFS_CORE_DESCRIBE_ROUTE_WORDS_H

#include "core/plan/cost.h"
#include "core/read/place.h"

/* Appends the path of ROUTE within its table, as the map writes it. */
void route_words_path(const struct route *route, struct buf *out);

/* The cost of PATTERN at ROUTE, below DIRECTORY. False when memory ran out. */
bool route_words_cost(const struct place *directory, const struct route *route,
                      const struct map_pattern *pattern, const struct place_options *names,
                      struct cost *out);

/* Writes the part of the ordered items that the listing shows to OUT, which is empty: "the last
 * 100"; nothing where it shows all. */
void route_words_window(const struct route *route, const struct map_pattern *pattern,
                        struct buf *out);

/* Whether the listing's sort key begins with a date, so that its last items are the newest. */
bool route_words_is_dated(const struct map_pattern *pattern);

/* Appends the order of the listing; nothing for the order of keys. */
void route_words_order(const struct map_pattern *pattern, struct buf *out);

#endif
