/* The parts that commands share: the map, a loop, a cache, sources, the tree, and messages. */
#ifndef DDBFS_FS_CLI_APP_H
#define DDBFS_FS_CLI_APP_H

#include "core/read/catalog.h"
#include "core/read/tree.h"
#include "fs/cli/options.h"

struct progress;

struct app {
    const struct options *options;
    struct log log;
    const struct map *map;   /* holds a reference */
    struct loop *loop;       /* owned */
    struct cache *cache;     /* owned */
    struct walks *walks;     /* owned */
    struct sources *sources; /* owned */
    struct catalog *catalog; /* owned */
    struct tree tree;
    char *suffix;              /* of names of files, from a recording; owned; NULL: none */
    const char *snapshot;      /* the value of DDBFS_SNAPSHOT, if it is used */
    struct progress *progress; /* owned; NULL: not shown */
    int status;                /* the exit status so far */
    bool is_drafting;          /* a new map: only --map is read */
};

enum {
    EXIT_USAGE = 2,
    EXIT_NOT_FOUND = 3,            /* and no other failure: EXIT_FAILURE takes precedence */
    SNAPSHOT_SHARES = 4,           /* of --cache-size: the limit of a file made of a listing */
    TRANSCRIPT_SHARES = 2,         /* of the cache: the limit of a stored listing */
    COMMAND_CACHE_BYTES = 4 << 20, /* a command repeats few requests */
    FINDINGS_SHOWN = 10,           /* of a map, except by `ddbfs check` */
};

/* Each of the following returns false after a message on standard error; app_clean_up is to be
 * called in either case. */
bool app_init(struct app *app, const struct options *options, const char *map_file,
              size_t cache_bytes);
/* Opens the snapshots of the options. False after a report: without one that can't be read, its map
 * would be missing, too. */
bool app_open_snapshots(struct app *app);
/* With the map of app_look_for_map, or none. */
bool app_init_any(struct app *app, const struct options *options, size_t cache_bytes);
/* With MAP, whose reference is taken. False without a message if it is NULL. */
bool app_start(struct app *app, const struct options *options, const struct map *map,
               size_t cache_bytes);
/* Without a map; the tree must not be used. */
bool app_open(struct app *app, const struct options *options, size_t cache_bytes);
void app_clean_up(struct app *app);

/* Shows the progress of long work on a terminal, until app_clean_up. */
void app_show_progress(struct app *app);

/* Sets OUT to the file name of the map: --map, or the first one that exists of $DDBFS_MAP, the
 * user's and the system's. False after a message. */
bool app_find_map(const struct options *options, struct buf *out);
/* The same without a message; OUT is empty if no map is found. */
bool app_look_for_map(const struct options *options, struct buf *out);
/* Whether app_look_for_map has found the map FILE in a snapshot of OPTIONS. */
bool app_map_is_of_snapshot(const struct options *options, const char *file);

/* All messages are lines on standard error, after everything that was printed before. With --json
 * each is an object. */

/* "ddbfs: PATH: reason", for PATH or NULL. Sets the exit status. */
void app_report_error(struct app *app, const char *path, const struct error *err);

/* Reports at most MOST findings of the map FILE, a line each; or WHY, without findings. */
void app_report_map(struct app *app, const char *file, const struct findings *findings,
                    const struct error *why, size_t most);

/* "ddbfs: warning: PATH: TEXT", for PATH or NULL. */
void app_note(const struct app *app, enum log_level level, const char *path, const char *text);

/* Appends ERR, for PATH or NULL, as the object that --json prints. */
void app_write_error(struct buf *out, const char *path, const struct error *err);

/* For commands without an app: "ddbfs: PATH: TEXT". Returns EXIT_FAILURE. */
int app_fail(const char *path, const char *text);

/* "ddbfs: TEXT; see ddbfs COMMAND --help". COMMAND may be NULL. Returns EXIT_USAGE. */
int app_usage(const char *text, const char *command);

/* Prints TEXT without control characters, which a terminal would obey. */
void app_print_safely(const char *text);

/* Completes ERR, by which PATH has no place, with a hint. If the map of PATH may be missing, ERR
 * becomes another kind: the path is not proven to be not found. */
void app_hint(const struct app *app, const char *path, struct error *err);

/* Runs the loop until PATH has a place; NULL with ERR. */
struct place *app_resolve(struct app *app, const char *path, struct error *err);
/* If PATH ends at a link, the place is that of its target. */
struct place *app_resolve_through(struct app *app, const char *path, struct error *err);

/* Parses --where into OUT, which points into ARENA. False after a report. */
bool app_parse_filter(struct app *app, struct arena *arena, struct cond *out);

/* A command returns the exit status. ARGV has its operands. */
typedef int command_fn(const struct options *options, int argc, char **argv);

/* False in a build without the mount, whose mount_command prints a message. */
extern const bool mount_is_built;

/* Runs `ddbfs map`. Messages on wrong usage refer to the help of COMMAND. */
int map_draft(const struct options *options, int argc, char **argv, const char *command);

command_fn cat_command, ls_command, diff_command, explain_command, check_command, mount_command,
    refresh_command, umount_command, log_command, top_command, policy_command, config_command,
    map_command, init_command, import_command, completion_command, skill_command, status_command,
    sql_command, tail_command;

#endif
