/* The paths of a command: read side by side, so that many take the time of one, and printed in
 * their order. The number and the size of results that wait to be printed are bounded. */
#ifndef DDBFS_FS_CLI_PATH_QUEUE_H
#define DDBFS_FS_CLI_PATH_QUEUE_H

#include "fs/cli/app.h"

struct path_queue;

/* One path, until all its results are printed. */
struct path_turn {
    struct app *app;
    const char *path;                   /* as typed */
    struct log log;                     /* its lines name the path */
    struct tree tree;                   /* the app's, with this log */
    struct tree_resolution *resolution; /* NULL when the place is known */
    struct place *place;                /* owned; NULL before */
    void *work;                         /* the command's; NULL: nothing to stop */
    struct path_queue *queue;
    bool confirms;    /* reading more may require a confirmation */
    bool begun;       /* ops->start was called */
    int64_t size;     /* the command's: of a file, so far */
    struct buf held;  /* owned: printed before the path is at the front */
    struct error why; /* how it ended */
    enum turn_state {
        TURN_WORKING,
        TURN_PAUSED, /* more is read when the path is at the front */
        TURN_ENDED,  /* held bytes may still be printed */
    } state;
};

struct path_queue_ops {
    /* Whether a link means its target. NULL: never. */
    bool (*follows_links)(const struct options *options);
    /* TURN has its place. Must call turn_end, at once or later. */
    void (*start)(struct path_turn *turn);
    /* Continues after turn_pause. NULL for a command that never pauses and reads nothing. */
    void (*go_on)(struct path_turn *turn);
    /* Frees TURN's work, finished or not. NULL for a command without work. */
    void (*stop)(struct path_turn *turn);
};

/* Runs a whole command on PATHS, from the map to the exit status, with at most SIDE_BY_SIDE of them
 * at a time. Returns when all is printed, or standard output is closed. */
int path_queue_command(const struct options *options, char **paths, int count, int side_by_side,
                       const struct path_queue_ops *ops);

/* Whether no other path was named. */
bool turn_is_alone(const struct path_turn *turn);

/* Whether all paths before it are printed. */
bool turn_is_front(const struct path_turn *turn);

/* Prints TEXT on standard output when the path is at the front. */
void turn_print(struct path_turn *turn, struct span text);

/* Calls ops->go_on when the path is at the front. */
void turn_pause(struct path_turn *turn);

/* Ends the path. ERR, which may be NULL, is reported behind its results. */
void turn_end(struct path_turn *turn, const struct error *err);

#endif
