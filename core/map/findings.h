/* Findings: the mistakes in a map, one sentence each, with their places. A map is read to its end,
 * so that all of them are reported at once. */
#ifndef DDBFS_CORE_MAP_FINDINGS_H
#define DDBFS_CORE_MAP_FINDINGS_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/json/json.h"

/* The most findings that are stored. */
enum { FINDINGS_MAX = 50 };

/* A place in the map's file; the first line and the first character are 1. Line 0: no place; column
 * 0: the whole line. */
struct finding_at {
    unsigned line, column;
};

struct finding_at finding_at(const struct json_position *position);

/* The place of a struct with a line and a column. */
#define FINDING_AT(thing) ((struct finding_at){(thing)->line, (thing)->column})

struct finding {
    struct finding_at at;
    const char *text;
};

/* {0} is a map without mistakes. */
struct findings {
    struct arena arena; /* owns the texts */
    struct finding items[FINDINGS_MAX];
    size_t count;
    size_t left_out; /* findings after FINDINGS_MAX */
    bool no_memory;  /* memory ran out before the map's end */
};

void findings_clean_up(struct findings *findings);

/* Both return false, so that `return findings_add(…)` fails. */
bool findings_add(struct findings *findings, struct finding_at at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool findings_no_memory(struct findings *findings);

/* Sorts them by their places in the file. */
void findings_sort(struct findings *findings);

bool findings_none(const struct findings *findings);

/* Appends "FILE:LINE:COLUMN", as far as AT has them. */
void finding_at_write(struct finding_at at, const char *file, struct buf *out);

/* Fills ERR with FILE:LINE:COLUMN, the first finding, and the number of the others. */
void findings_error(const struct findings *findings, const char *file, struct error *err);

#endif
