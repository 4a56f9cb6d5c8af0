/* What is said of two things that are not the same: for eyes as `diff` says it, for programs a line
 * of JSON for each difference. */
#ifndef DDBFS_FS_CLI_CONTRAST_H
#define DDBFS_FS_CLI_CONTRAST_H

#include "fs/cli/app.h"

struct contrast {
    struct app *app;
    size_t said; /* differences so far */
};

/* One of two records. */
struct contrast_record {
    const char *path;
    const struct model *table;
    struct span item; /* typed JSON */
    bool typed;       /* it is shown as such */
};

/* One of two other files. */
struct contrast_file {
    const char *path;
    struct span text;
    bool secret; /* the text is to be shown to nobody */
};

/* Each says nothing of two that are the same. LISTED: they were found in two directories, and so a
 * line says first which they are. */
void contrast_records(struct contrast *contrast, const struct contrast_record *before,
                      const struct contrast_record *now, bool listed);
void contrast_files(struct contrast *contrast, const struct contrast_file *before,
                    const struct contrast_file *now, bool listed);

/* How two tables are made; the texts are what the service says of them. */
void contrast_descriptions(struct contrast *contrast, const struct contrast_file *before,
                           const struct contrast_file *now, bool listed);

/* Complains that PATH has a secret that can't be compared since it is masked. */
void contrast_complain_of_mask(struct contrast *contrast, const char *path);

/* NAME is in one of the directories alone: in FOLDER, which was named first or second. */
void contrast_only(struct contrast *contrast, const char *folder, struct span name, bool directory,
                   bool first);

/* PATH and a name below it. */
void contrast_add_path(struct buf *out, const char *folder, struct span name);

#endif
