/* Facts: files beside a table's items that tell what the service says of the table. Here is which
 * there are, and what is read for each. */
#ifndef DDBFS_CORE_READ_FACT_H
#define DDBFS_CORE_READ_FACT_H

#include "core/source/read.h"

enum fact {
    FACT_SCHEMA,  /* its description */
    FACT_EXPIRY,  /* by what its items expire */
    FACT_BACKUPS, /* of both kinds */
};
enum { FACTS = FACT_BACKUPS + 1, FACT_MOST_READS = 2 };

/* The name of the file. */
const char *fact_name(enum fact fact);

/* Whether NAME is such a file. */
bool fact_find(struct span name, enum fact *out);

/* How many requests tell the fact of a table whose description nobody knows. */
size_t fact_read_count(enum fact fact);

/* The Read that request number I of FACT is, of the table TABLE. The caller destroys it; NULL when
 * memory ran out. */
struct read *fact_read(enum fact fact, size_t i, const char *table);

#endif
