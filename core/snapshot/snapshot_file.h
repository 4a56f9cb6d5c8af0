/* One snapshot file: its tables and their moments, without the items. It is constant, so that the
 * thread that reads items may use it, too; references are counted by the loop alone. */
#ifndef DDBFS_CORE_SNAPSHOT_SNAPSHOT_FILE_H
#define DDBFS_CORE_SNAPSHOT_SNAPSHOT_FILE_H

#include <sys/stat.h>

#include "core/snapshot/schema.h"

struct snapshot_moment {
    int64_t at_ms;
    struct span origin; /* the ARN of the export, or the file that was imported */
    int64_t item_count, size_bytes;
};

struct snapshot_table {
    const char *name;
    int64_t number;
    struct span description; /* the JSON object "Table" of DescribeTable */
    struct span expiry;      /* the JSON object TimeToLiveDescription; empty: not known */
    const struct table_info *info;
    struct schema_columns columns;
    struct snapshot_moment *moments; /* the oldest first; at least one */
    size_t moment_count;
};

/* Differs when a file was replaced, or written to. */
struct snapshot_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct snapshot_file {
    unsigned references;
    struct arena arena; /* of all below */
    const char *path;
    struct snapshot_stamp stamp;
    struct snapshot_table *tables;
    size_t table_count;
};

/* MODE: DATABASE_READ or DATABASE_READ_NOW. NULL with ERR filled: the file is missing, or no valid
 * snapshot, or (ERROR_TIMED_OUT) another program is writing to it. */
struct snapshot_file *snapshot_file_read(const char *path, enum database_mode mode,
                                         struct error *err);
struct snapshot_file *snapshot_file_ref(struct snapshot_file *file);
void snapshot_file_unref(struct snapshot_file *file); /* NULL is fine */

/* False if there is no such file. */
bool snapshot_stamp_read(const char *path, struct snapshot_stamp *out);
bool snapshot_stamp_equal(const struct snapshot_stamp *a, const struct snapshot_stamp *b);

/* False with ERR filled: the path names another file by now, or none. A file that was written to is
 * the same one. */
bool snapshot_file_check(const struct snapshot_file *file, struct error *err);
/* The same, with the stamp that the file has now. */
bool snapshot_file_look(const struct snapshot_file *file, struct snapshot_stamp *now,
                        struct error *err);
/* Whether DATABASE, opened from FILE, still has TABLE and its moment AT_MS. False with ERR filled:
 * it was overwritten by another file. */
bool snapshot_file_prove(const struct snapshot_file *file, const struct snapshot_table *table,
                         int64_t at_ms, struct database *database, struct error *err);

/* The newest moment of TABLE that is not later than AT_MS; NULL: all are. */
const struct snapshot_moment *snapshot_table_moment(const struct snapshot_table *table,
                                                    int64_t at_ms);

#endif
