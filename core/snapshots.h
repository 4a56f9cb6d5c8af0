/* The snapshot files of environments. The files of an environment are opened at its first use;
 * environments with the same files share them. Each moment that is read has a source of its own. */
#ifndef DDBFS_CORE_SNAPSHOTS_H
#define DDBFS_CORE_SNAPSHOTS_H

#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/read/moments.h"
#include "core/read/place.h"
#include "core/source/source.h"

struct snapshots;

struct snapshots_options {
    struct loop *loop;
    const struct log *log; /* may be NULL */
    /* The command line's, instead of the map's; files, or one folder. */
    const char *const *files;
    size_t file_count;
    const char *named_by;      /* "--snapshot" */
    bool are_past;             /* these are the past of each environment, and not its present */
    struct source_stats *gone; /* gets the counts of closed sources; borrowed */
};

/* OPTIONS is copied; all that it points to is borrowed. NULL when memory ran out. */
struct snapshots *snapshots_new(const struct snapshots_options *options);
void snapshots_destroy(struct snapshots *snapshots); /* NULL is fine */

/* Opens the files of the command line, if there are any. False with ERR filled. */
bool snapshots_open_given(struct snapshots *snapshots, struct error *err);

/* Whether the items of PLACE come from a snapshot. */
bool snapshots_have(const struct snapshots *snapshots, const struct place *place);

/* Whether the present of ENVIRONMENT (NULL: of none) is a snapshot: no setting of AWS is read for
 * it. */
bool snapshots_are_present(const struct snapshots *snapshots,
                           const struct map_environment *environment);

/* Appends the names of the files, or of the folder, of ENVIRONMENT to NAMES, and what names them to
 * ORIGIN (which may be NULL). False, with both unchanged, if ENVIRONMENT has no
 * snapshots. */
bool snapshots_write_names(const struct snapshots *snapshots,
                           const struct map_environment *environment, struct buf *names,
                           struct buf *origin);

/* The source of PLACE, for which snapshots_have holds; borrowed. NULL with ERR filled:
 * ERROR_NOT_FOUND if no snapshot is as old. */
struct source *snapshots_source(struct snapshots *snapshots, const struct place *place,
                                struct error *err);

/* The operations of that source, and OPTIONS for its commands: the files. Opens nothing. */
const struct source_ops *snapshots_describe(struct snapshots *snapshots, const struct place *place,
                                            struct buf *options);

/* The interface to the moments of all environments; it lives as long as SNAPSHOTS. */
const struct moments *snapshots_moments(struct snapshots *snapshots);

/* The suffix of names of files in the recording FILE, which the caller frees. NULL if FILE is no
 * recording, or can't be read. */
char *snapshots_read_suffix(const char *file);

/* Appends the name of PLACE's environment, as recordings have it: nothing without one. */
void snapshots_write_environment(const struct place *place, struct buf *out);

/* Looks for new, changed and removed files at once. The log has the failures. */
void snapshots_reload(struct snapshots *snapshots);

/* Adds the counts of all open sources. */
void snapshots_add_stats(const struct snapshots *snapshots, struct source_stats *sum);

#endif
