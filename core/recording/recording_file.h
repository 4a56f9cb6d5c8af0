/* The file of a recording: a snapshot file with further tables (docs/snapshot.md). Used by one
 * thread at a time. */
#ifndef DDBFS_CORE_RECORDING_RECORDING_FILE_H
#define DDBFS_CORE_RECORDING_RECORDING_FILE_H

#include "core/base/database.h"
#include "core/recording/recorded.h"

/* Facts of the program that records, for its replay. The texts are borrowed. */
struct recording_about {
    const char *map;      /* the text of the map; NULL: none */
    const char *map_name; /* its file */
    const char *suffix;   /* of the names of files */
    bool show_secrets;
};

struct recording_file;

/* Opens FILE, which is a recording, empty or missing, and adds a run to it. NULL with ERR filled:
 * also if FILE is a snapshot or another database. */
struct recording_file *recording_file_open(const char *file, const struct recording_about *about,
                                           int64_t now_ms, struct error *err);

/* Adds all of LIST (of struct recorded) in one transaction. False with ERR filled: the file is as
 * before, and stays so. */
bool recording_file_add(struct recording_file *recording, const struct list *list,
                        struct error *err);

/* The run has ended. */
bool recording_file_end(struct recording_file *recording, int64_t now_ms, struct error *err);
void recording_file_close(struct recording_file *recording); /* NULL is fine */

/* Whether DATABASE, a snapshot that schema_check accepts, is a recording; false with ERR filled if
 * it can't be read, or it is no complete recording. */
bool recording_file_check(struct database *database, bool *is_recording, struct error *err);

#endif
