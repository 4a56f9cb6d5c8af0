/* Prints differences: as diff(1) does, or with --json an object for each. */
#ifndef DDBFS_FS_CLI_DIFF_DIFF_PRINT_H
#define DDBFS_FS_CLI_DIFF_DIFF_PRINT_H

#include "fs/cli/app.h"

struct diff_print {
    struct app *app;
    size_t count;           /* of differences so far */
    size_t masked;          /* secrets of recordings, which could not be compared */
    struct buf masked_path; /* owned: of the first one */
};

struct diff_print_item {
    const char *path;
    const struct model *table;
    struct span item; /* typed JSON */
    bool typed;       /* is printed as typed JSON */
};

/* A file that is no item. */
struct diff_print_file {
    const char *path;
    struct span text;
    bool secret; /* the text is printed with --show-secrets only */
};

/* Each prints nothing if the two are equal. LISTED: they were found in directories, so a line with
 * their paths comes first. */
void diff_print_items(struct diff_print *print, const struct diff_print_item *before,
                      const struct diff_print_item *now, bool listed);
void diff_print_files(struct diff_print *print, const struct diff_print_file *before,
                      const struct diff_print_file *now, bool listed);

/* Compares two responses of DescribeTable: keys, indexes, projections, billing and other settings,
 * without names, dates, numbers and states of the one table. */
void diff_print_descriptions(struct diff_print *print, const struct diff_print_file *before,
                             const struct diff_print_file *now, bool listed);

/* Reports that PATH cannot be compared, because it is masked. */
void diff_print_report_mask(struct diff_print *print, const char *path);

/* At the end: a note about the secrets that a recording has masked, if there were any. Cleans up.
 */
void diff_print_end(struct diff_print *print);

/* NAME exists only in FOLDER, which is the FIRST or the second of two directories. */
void diff_print_only(struct diff_print *print, const char *folder, struct span name, bool directory,
                     bool first);

/* Appends FOLDER/NAME. */
void diff_print_add_path(struct buf *out, const char *folder, struct span name);

#endif
