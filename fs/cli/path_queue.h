/* A command's paths: asked side by side, so that many cost one wait, and printed in the order in
 * which they were named. What waits for its turn is bounded, in number and in bytes. */
#ifndef DDBFS_FS_CLI_PATH_QUEUE_H
#define DDBFS_FS_CLI_PATH_QUEUE_H

#include "fs/cli/app.h"

/* One path, from the time it is asked until all of it is printed. */
struct path_turn {
    struct app *app;
    const char *path;                   /* as it was typed */
    struct log log;                     /* whose lines are about that path */
    struct tree tree;                   /* the app's, with this log: what the path is read by */
    struct tree_resolution *resolution; /* of the path; NULL once it is known what it means */
    struct place *place;                /* owned; NULL until then */
    void *work;          /* of the command: what is under way; NULL when nothing is */
    struct turns *turns; /* whose turn it is one of */
    bool watched;        /* before more is read, somebody may have to agree */
    bool begun;          /* ops->start has been called */
    int64_t size;        /* likewise: of a file, as far as it has come */
    struct buf held;     /* printed before its turn came; owned */
    struct error why;    /* how it ended */
    enum turn_state {
        TURN_ASKED,  /* the command is at work */
        TURN_PAUSED, /* there is more, which is fetched when its turn has come */
        TURN_ENDED,  /* all is said, but perhaps not yet printed */
    } state;
};

struct path_queue_ops {
    /* What a link leads to is meant, rather than the link itself. */
    bool (*goes_through)(const struct options *options);
    /* TURN's place is known, and may be read. Ends in turn_end, at once or later. */
    void (*start)(struct path_turn *turn);
    /* After turn_pause: fetches what comes next. NULL for who never pauses, nor reads anything. */
    void (*go_on)(struct path_turn *turn);
    /* Takes away TURN's work, finished or not. NULL for who works at once. */
    void (*stop)(struct path_turn *turn);
};

/* A whole command that works on paths of the tree, from the map to the exit status: asks for all of
 * PATHS, at most SIDE_BY_SIDE of them at a time, and returns when all is printed, or when nobody
 * reads it any more. */
int path_queue_command(const struct options *options, char **paths, int count, int side_by_side,
                       const struct path_queue_ops *ops);

/* Whether its path is the only one that was named. */
bool turn_is_alone(const struct path_turn *turn);

/* Whether its turn has come: what it reads it prints at once. */
bool turn_is_front(const struct path_turn *turn);

/* To standard output, now or in its turn. */
void turn_print(struct path_turn *turn, struct span text);

/* There is more to print, which ops->go_on fetches: at once for whose turn it is. */
void turn_pause(struct path_turn *turn);

/* Nothing more comes. ERR, NULL for none, is told behind what was printed. */
void turn_end(struct path_turn *turn, const struct error *err);

#endif
