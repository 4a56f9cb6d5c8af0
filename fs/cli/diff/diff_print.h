/* What is said of two things that are not the same: for eyes as `diff` says it, for programs a line
 * of JSON for each difference. */
#ifndef DDBFS_FS_CLI_DIFF_DIFF_PRINT_H
#define DDBFS_FS_CLI_DIFF_DIFF_PRINT_H

#include "fs/cli/app.h"

struct diff_print {
    struct app *app;
    size_t said; /* differences so far */
};

/* One of two records. */
struct diff_print_record {
    const char *path;
    const struct model *table;
    struct span item; /* typed JSON */
    bool typed;       /* it is shown as such */
};

/* One of two other files. */
struct diff_print_file {
    const char *path;
    struct span text;
    bool secret; /* the text is to be shown to nobody */
};

/* Each says nothing of two that are the same. LISTED: they were found in two directories, and so a
 * line says first which they are. */
void diff_print_records(struct diff_print *contrast, const struct diff_print_record *before,
                        const struct diff_print_record *now, bool listed);
void diff_print_files(struct diff_print *contrast, const struct diff_print_file *before,
                      const struct diff_print_file *now, bool listed);

/* How two tables are made; the texts are what the service says of them. */
void diff_print_descriptions(struct diff_print *contrast, const struct diff_print_file *before,
                             const struct diff_print_file *now, bool listed);

/* Complains that PATH has a secret that can't be compared since it is masked. */
void diff_print_report_mask(struct diff_print *contrast, const char *path);

/* NAME is in one of the directories alone: in FOLDER, which was named first or second. */
void diff_print_only(struct diff_print *contrast, const char *folder, struct span name,
                     bool directory, bool first);

/* PATH and a name below it. */
void diff_print_add_path(struct buf *out, const char *folder, struct span name);

#endif
