/* Read units that requests have consumed: those that responses state, and an upper bound of those
 * that no response stated. */
#ifndef DDBFS_CORE_SOURCE_SPENT_H
#define DDBFS_CORE_SOURCE_SPENT_H

#include "core/base/buf.h"
#include "core/json/writer.h"

struct spent {
    double units;   /* stated */
    double doubted; /* at most so many more, of requests whose consumption is not known */
};

void spent_add(struct spent *sum, const struct spent *more);

/* Appends "52 capacity units"; "at most 180.5 capacity units" where a part is not known. */
void spent_write(const struct spent *spent, struct buf *out);

/* The same with a writer. */
void spent_write_members(const struct spent *spent, const char *name, struct json_writer *json);

/* Appends the JSON member NAME with the stated units, null where none are known; and where a part
 * is not known, NAME_at_most with the upper bound of all. */
void spent_write_json(const struct spent *spent, const char *name, struct buf *out);

#endif
