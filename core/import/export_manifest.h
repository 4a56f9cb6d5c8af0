/* The manifests of an export to S3: manifest-summary.json and manifest-files.json. */
#ifndef DDBFS_CORE_IMPORT_EXPORT_MANIFEST_H
#define DDBFS_CORE_IMPORT_EXPORT_MANIFEST_H

#include "core/base/arena.h"
#include "core/import/input.h"

/* A data file. */
struct export_file {
    const char *name; /* in the folder of the export: "data/x.json.gz" */
    struct span md5;  /* in base64 */
    int64_t item_count;
};

struct export_manifest {
    const char *folder; /* the name of the export's folder, for messages */
    struct span arn;    /* of the export */
    struct span table;  /* the table's name */
    struct span table_arn;
    struct span table_id; /* empty: not stated */
    bool is_incremental;
    bool has_old_images; /* of an incremental export: each line has the item before the window, too
                          */
    int64_t from_ms;     /* of an incremental export: the beginning of its window, included */
    int64_t at_ms;       /* the moment of the state; of a window its end, excluded */
    int64_t item_count;  /* -1: not stated */
    struct export_file *files;
    size_t file_count;
};

/* Reads the manifests in FOLDER, and compares them with their checksums, if there are any. OUT
 * points into ARENA. False with ERR filled: FOLDER is no export, or one that cannot be imported. */
bool export_manifest_read(struct input_folder *folder, struct arena *arena,
                          struct export_manifest *out, struct error *err);

#endif
