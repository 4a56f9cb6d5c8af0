/* The keys and indexes of a table that `ddbfs import` reads: --describe, --keys, or the map. */
#ifndef DDBFS_FS_CLI_IMPORT_KEYS_H
#define DDBFS_FS_CLI_IMPORT_KEYS_H

#include "fs/cli/app.h"

struct import_keys {
    struct app *app; /* borrowed */
    struct buf file; /* owned: the text of --describe FILE */
};

/* Reads the file of --describe. To be called before the app is started, because that closes the way
 * to /dev/fd. False with ERR filled. */
bool import_keys_init(struct import_keys *keys, const struct options *options, struct error *err);
void import_keys_clean_up(struct import_keys *keys);

/* Whether a map is needed. */
bool import_keys_need_map(const struct options *options);

/* Appends the object "Table" of DescribeTable for TABLE (NULL: not known), and, if it is known,
 * TimeToLiveDescription. False with ERR filled. */
bool import_keys_describe(struct import_keys *keys, const char *table, struct buf *description,
                          struct buf *expiry, struct error *err);

#endif
