/* Lines of a listing that are printed in another order than they come in. */
#ifndef DDBFS_FS_CLI_SORTED_LINES_H
#define DDBFS_FS_CLI_SORTED_LINES_H

#include "core/base/arena.h"
#include "core/base/instant.h"
#include "core/base/span.h"

struct sorted_line {
    struct span text; /* in the arena */
    struct instant date;
    size_t number; /* in which order it came */
};

/* {0} has none. */
struct sorted_lines {
    struct sorted_line *lines; /* owned */
    size_t count, capacity;
    struct arena arena; /* owns their texts */
    bool failed;        /* memory ran out */
};

/* Copies TEXT. */
void sorted_lines_add(struct sorted_lines *sorted, struct span text, struct instant date);

/* The youngest first if BY_DATE, undated ones last; else as they came. REVERSED turns that round.
 * False when memory ran out, now or before. */
bool sorted_lines_sort(struct sorted_lines *sorted, bool by_date, bool reversed);

void sorted_lines_clean_up(struct sorted_lines *sorted);

#endif
