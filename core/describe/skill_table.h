/* The section of one table in a skill: its kinds of items, paths with their costs, parameters and
 * links; and example paths: real paths of the map, with parameters in braces. */
#ifndef DDBFS_CORE_DESCRIBE_SKILL_TABLE_H
#define DDBFS_CORE_DESCRIBE_SKILL_TABLE_H

#include "core/describe/window_sets.h"
#include "core/read/place.h"

/* How many lines a section has at most, by their sort. */
struct skill_measure {
    size_t kinds, paths, params, links;
    size_t values; /* of a parameter */
};

/* All borrowed. */
struct skill_of {
    const struct map *map;
    const struct map_environment *environment; /* of the examples */
    const struct place_options *names;
    struct window_sets *windows;
    const char *list_cost, *item_cost; /* usual ones, written once for the document; or NULL */
};

/* The first of MAP's environments with a literal name; else the first. NULL in a map without
 * environments. */
const struct map_environment *skill_table_environment(const struct map *map);
/* The next one behind FIRST with a literal name; or NULL. */
const struct map_environment *skill_table_other_environment(const struct map_environment *first);

/* Appends the path of ROUTE, an item or a listing of MODEL's table: "/prod/jobs/by-id/{job_id}". A
 * parameter with declared values is replaced by the first. */
void skill_table_path(const struct map_environment *environment, const struct model *model,
                      const struct route *route, const struct place_options *names,
                      struct buf *out);

/* Whether TEXT is short, and needs no escape in a name, a shell or Markdown. */
bool skill_table_is_plain(struct span text);

/* Appends PATH as one word of a shell's line. */
void skill_table_add_word(struct span path, struct buf *out);

/* Appends the cost of the first plain listing of TABLE, or of the first item by its key, which most
 * paths share; nothing without such a path. False when memory ran out. */
bool skill_table_usual_cost(const struct skill_of *of, const struct model *table, bool list,
                            struct buf *out);

/* Appends the section. It ends with the number of lines that MEASURE leaves out. False when memory
 * ran out. */
bool skill_table_write(const struct skill_of *of, const struct model *table,
                       const struct skill_measure *measure, struct buf *out);

#endif
