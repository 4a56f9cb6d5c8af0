/* The sources of the environments of maps. Each is opened at its first use; environments with equal
 * settings share one source. Here the layers of a source are stacked, and the parts that reach the
 * service are connected. core/snapshots.h has those of snapshots. */
#ifndef DDBFS_CORE_SOURCES_H
#define DDBFS_CORE_SOURCES_H

#include "core/aws/role_plan.h"
#include "core/aws/session.h"
#include "core/aws/settings.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/import/input.h"
#include "core/read/place.h"
#include "core/snapshots.h"
#include "core/source/source.h"

struct sources;

struct sources_options {
    struct loop *loop;
    const struct log *log;   /* may be NULL */
    int64_t deadline_ms;     /* of each page, retries included; and of pages without progress */
    uint64_t most_items;     /* of one Read that is no Scan */
    struct aws_options over; /* the command line's; they override the map's */
    const char *const *snapshots; /* the command line's files, or folder; instead of DynamoDB */
    size_t snapshot_count;
    const char *snapshots_named_by; /* "--snapshot" */
    bool snapshots_are_past;        /* see struct snapshots_options */
    const char *user_agent;
    bool may_scan;        /* see struct dynamo_options */
    int64_t slow_page_ms; /* queries whose pages take as long are read in ranges; -1: none */
    mfa_prompt_fn
        *ask_code; /* reads a code of an MFA device from the user, when an environment is
                    * opened that needs one; it may block. NULL: codes are not available */
};

/* OPTIONS is copied; all that it points to is borrowed. NULL when memory ran out. */
struct sources *sources_new(const struct sources_options *options);
void sources_destroy(struct sources *sources); /* NULL is fine */

/* Codes of MFA devices are not available any more: from here on no call blocks. */
void sources_go_offline(struct sources *sources);

/* How sources follow the streams of the tables that are read. */
struct sources_following {
    bool all;          /* of all environments; else of those for which the map says so */
    size_t most_bytes; /* of the results that are stored, in each source */
    void (*charge)(void *arg, size_t more, size_t less); /* they take MORE bytes, and LESS */
    void *charge_arg;
    struct payer *payer;   /* of the requests; borrowed, as are the arguments and LOG */
    const struct log *log; /* of what happens to streams; may be NULL */
};
/* For mounts: sources that are opened from now on follow streams. To be called once. */
void sources_follow(struct sources *sources, const struct sources_following *how);

/* Drops all results that are kept up to date by streams. */
void sources_forget_live(struct sources *sources); /* NULL is fine */

/* Sources that are opened from now on send late GetItems twice: for mounts. */
void sources_hedge(struct sources *sources);

/* Records all responses in FILE, which is new or a recording (docs/snapshot.md). To be called
 * before the first source is opened. The texts of RECORDS are borrowed for the time of the call.
 * False with ERR filled. */
struct sources_recording {
    const char *file;
    const char *map;      /* its text; NULL: none */
    const char *map_name; /* its file */
    const char *suffix;
    bool show_secrets;
};
bool sources_record(struct sources *sources, const struct sources_recording *records,
                    struct error *err);
/* Writes all to the recording, and closes it. False if it has stopped before: the log has the
 * reason. True without a recording. */
bool sources_end_recording(struct sources *sources);

/* The recording, for status; FILE is NULL without one. */
struct sources_recorded {
    const char *file; /* borrowed */
    uint64_t responses;
    struct error stopped; /* with a kind: it has stopped */
};
struct sources_recorded sources_recorded(const struct sources *sources);

/* The counts of all sources together, with operations of count 0. */
struct source_stats sources_stats(const struct sources *sources);

/* Initializes parts that must not be initialized while a mount is served. */
void sources_prepare(void);

/* Appends the region of ENVIRONMENT's tables, and the account that its profile names; "*" for each
 * that is not known, or if the settings are wrong. */
void sources_locate(struct sources *sources, const struct map_environment *environment,
                    struct buf *region, struct buf *account);

/* Resolves the settings of ENVIRONMENT (NULL: of none) from options, map, variables and files, each
 * with its origin. SETTINGS are to be cleaned up in either case. False with ERR filled; SETTINGS
 * are then incomplete. */
bool sources_resolve(struct sources *sources, const struct map_environment *environment,
                     struct aws_settings *settings, struct error *err);

/* The snapshots of environments; borrowed. */
struct snapshots *sources_snapshots(struct sources *sources);

/* The session of ENVIRONMENT (NULL: of none); borrowed. NULL with ERR filled, also for a snapshot.
 */
struct aws_session *sources_session(struct sources *sources,
                                    const struct map_environment *environment, struct error *err);

/* The folder URL, "s3://bucket/prefix" (s3_input_open), with the credentials of ENVIRONMENT (NULL:
 * of none). WATCH is copied. The caller closes it before SOURCES are destroyed. NULL with ERR
 * filled. */
struct input_folder *sources_open_bucket(struct sources *sources,
                                         const struct map_environment *environment, const char *url,
                                         const struct input_watch *watch, struct error *err);

/* Reads the settings of all open environments, and the folders of snapshots, again. If they have
 * changed, later requests use a new source; the old one is closed after its last user. Settings
 * that can't be read stay, and the log has the reason. */
void sources_reload(struct sources *sources);

/* Callbacks of core/read/tree.h; ARG is the struct sources. */
struct source *sources_for(void *arg, const struct place *place, struct error *err);
const struct source_ops *sources_describe(void *arg, const struct place *place,
                                          struct buf *options);

#endif
