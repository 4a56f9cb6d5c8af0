/* The description of an imported table: the JSON object "Table" of DescribeTable, from a file or
 * from the names of the keys. */
#ifndef DDBFS_CORE_IMPORT_KEY_DESCRIPTION_H
#define DDBFS_CORE_IMPORT_KEY_DESCRIPTION_H

#include "core/base/error.h"
#include "core/json/json.h"

/* Each appends an object "Table" to OUT, without blanks. False with ERR filled. */

/* TEXT, of FILE, is the output of DescribeTable, its object "Table", or an array of these. TABLE
 * selects one of an array; NULL: it is not known. */
bool key_description_read(const char *file, struct span text, const char *table, struct buf *out,
                          struct error *err);

/* KEYS is "pk:S" or "pk:S,sk:N". */
bool key_description_of_keys(const char *keys, const char *table, struct buf *out,
                             struct error *err);

/* The same description under another name, and, unless ID is empty, with that TableId. */
bool key_description_rename(struct json description, struct span table, struct span id,
                            struct buf *out, struct error *err);

#endif
