/* A path of the map in words, whatever is typed for its parameters: what it is called, what it
 * costs, which of its records it shows, and in what order. */
#ifndef DDBFS_CORE_DESCRIBE_ROUTE_WORDS_H
#define DDBFS_CORE_DESCRIBE_ROUTE_WORDS_H

#include "core/plan/cost.h"
#include "core/read/place.h"

/* Appends the path of ROUTE within its table, as the map writes it. */
void route_words_path(const struct route *route, struct buf *out);

/* What PATTERN costs at ROUTE, below DIRECTORY. False when memory ran out. */
bool route_words_cost(const struct place *directory, const struct route *route,
                      const struct map_pattern *pattern, const struct place_options *names,
                      struct cost *out);

/* Writes to OUT, which is empty, which part of what is in order the listing shows: "the last 100";
 * nothing where it shows all. */
void route_words_window(const struct route *route, const struct map_pattern *pattern,
                        struct buf *out);

/* Whether what orders the listing begins with a date: the last of its records are the newest. */
bool route_words_is_dated(const struct map_pattern *pattern);

/* Appends in what order; nothing where it is that of the keys. */
void route_words_order(const struct map_pattern *pattern, struct buf *out);

#endif
