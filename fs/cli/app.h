/* What every command needs: the map, a loop, a cache, sources, and the tree over them. */
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
    struct progress *progress; /* owned; NULL: none is shown */
    int status;                /* the exit status so far */
    bool is_drafting;          /* a map: one that happens to be there is left alone */
};

/* Of several, the worst counts: what could not be answered is worse than what is not there. */
enum {
    EXIT_USAGE = 2,
    EXIT_MISSING = 3,              /* proven: nothing is there; and nothing worse has happened */
    SNAPSHOT_SHARES = 4,           /* of --cache-size: one file made of a listing has at most one */
    TRANSCRIPT_SHARES = 2,         /* of the cache: a listing that is kept has at most one */
    COMMAND_CACHE_BYTES = 4 << 20, /* a command is short-lived and asks little twice */
};

/* False after a message to standard error; app_clean_up is to be called in either case. */
bool app_init(struct app *app, const struct options *options, const char *map_file,
              size_t cache_bytes);
/* The same on a map that has been read already, whose reference is taken; false in silence when it
 * is NULL. */
bool app_start(struct app *app, const struct options *options, const struct map *map,
               size_t cache_bytes);
/* The same on the map that app_look_for_map finds, or on none. */
bool app_init_any(struct app *app, const struct options *options, size_t cache_bytes);
/* The same without any map, for who needs sources alone; the tree is not to be used. */
bool app_open(struct app *app, const struct options *options, size_t cache_bytes);
void app_clean_up(struct app *app);

/* Shows on a terminal how far long work has come, until app_clean_up. */
void app_show_progress(struct app *app);

/* Says what is wrong with the map FILE: a line each, MOST of them; or WHY, where it could not be
 * read at all. */
enum { FINDINGS_SHOWN = 10 };
void app_report_map(struct app *app, const char *file, const struct findings *findings,
                    const struct error *why, size_t most);

/* The map to use: --map, or the first that is there of $DDBFS_MAP, the user's and the system's.
 * OUT gets its name; false after a message. */
bool app_find_map(const struct options *options, struct buf *out);
/* The same without a message; OUT is empty where there is none. */
bool app_look_for_map(const struct options *options, struct buf *out);

/* Says on standard error why there is no answer for PATH, and what the service said: "ddbfs: PATH:
 * reason", or with --json an object on one line. The exit status follows. */
void app_report_error(struct app *app, const char *path, const struct error *err);

/* Says on standard error what is no failure, of PATH where that is not NULL: "ddbfs: warning: PATH:
 * TEXT", or with --json an object on one line. */
void app_note(const struct app *app, enum log_level level, const char *path, const char *text);

/* Appends ERR, for PATH (which may be NULL), as the JSON object that --json shows. */
void app_write_error(struct buf *out, const char *path, const struct error *err);

/* To standard error. A terminal must not obey what somebody put into a path, or into a key. */
void app_print_safely(const char *text);

/* ERR, why there is no such path, says instead that the map of PATH may have been forgotten: then
 * the path is not proven to be missing. */
void app_hint(const struct app *app, const char *path, struct error *err);

/* The place that PATH names, for who has nothing else to do meanwhile: it runs the loop. NULL with
 * ERR filled. */
struct place *app_resolve(struct app *app, const char *path, struct error *err);
/* The same, and where PATH ends at a link the place is what that leads to. */
struct place *app_resolve_through(struct app *app, const char *path, struct error *err);

/* "ddbfs: what is wrong; see ddbfs COMMAND --help". COMMAND may be NULL. */
int app_usage(const char *what, const char *command);

/* The commands; each returns the exit status. ARGV are the words after the command and its
 * options. */
typedef int command_fn(const struct options *options, int argc, char **argv);
/* Whether this ddbfs has the mount, and what goes with it; else mount_command says that it has not.
 */
extern const bool mount_is_built;

/* What `ddbfs map` does, for COMMAND, whose help wrong usage refers to. */
int map_draft(const struct options *options, int argc, char **argv, const char *command);

command_fn cat_command, ls_command, diff_command, explain_command, check_command, mount_command,
    refresh_command, umount_command, log_command, top_command, policy_command, config_command,
    map_command, init_command, completion_command, skill_command, status_command;

#endif
