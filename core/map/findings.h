/* What is wrong with a map, each thing in one sentence with its line: a map is read to its end, so
 * that all of it can be told at once. */
#ifndef DDBFS_CORE_MAP_FINDINGS_H
#define DDBFS_CORE_MAP_FINDINGS_H

#include "core/base/arena.h"
#include "core/base/error.h"

/* So many are kept; a map that has more wrong is told so. */
enum { FINDINGS_MAX = 50 };

struct finding {
    unsigned line;
    const char *text;
};

/* {0} is "nothing is wrong". */
struct findings {
    struct arena arena; /* owns the texts */
    struct finding items[FINDINGS_MAX];
    size_t count;
    size_t left_out; /* what came after FINDINGS_MAX */
    bool no_memory;  /* the map could not be read to its end; says nothing of the map */
};

void findings_clean_up(struct findings *findings);

/* Both return false, so that `return findings_add(…)` fails. */
bool findings_add(struct findings *findings, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool findings_no_memory(struct findings *findings);

/* By their lines, as somebody mends them. */
void findings_sort(struct findings *findings);

/* Whether nothing is wrong. */
bool findings_none(const struct findings *findings);

/* Fills ERR with one sentence for all: FILE:LINE: the first, and how many more there are. */
void findings_error(const struct findings *findings, const char *file, struct error *err);

#endif
