/* Actors: each action of the plan is a process with fibers of its own. */
#ifndef DDBFS_TESTS_SIM_SIM_ACTORS_H
#define DDBFS_TESTS_SIM_SIM_ACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/sim/sim_dice.h"
#include "tests/sim/sim_kernel.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_paths.h"

struct stat;

/* A process of the machine. A program uses it on one fiber. */
struct sim_actor {
    struct sim_dice dice;
    struct sim_process process;
    char name[32]; /* in the story */
    unsigned children;
    enum sim_path_kind drawn; /* what it has drawn last */
    int64_t opened_ms;        /* when it opened the directory that it reads */
    bool has_finished;        /* its program has returned */
};

typedef void sim_program_fn(struct sim_actor *actor, const char *path);

/* Starts PROGRAM on PATH, as a process of the group of PARENT. Several children share a program of
 * the shell: a pipeline. The child lives as long as the life. */
struct sim_actor *sim_actor_spawn(struct sim_actor *parent, sim_program_fn *program,
                                  const char *path);
/* A process that the calling fiber is, until sim_actor_end. */
struct sim_actor *sim_actor_new(const char *program);
void sim_actor_end(struct sim_actor *actor);

/* Waits until CHILD has finished. */
void sim_actor_wait(struct sim_actor *child);

/* A deadly signal was sent: the program closes its descriptors and returns. */
bool sim_actor_is_killed(const struct sim_actor *actor);
void sim_actor_kill(struct sim_actor *actor);

/* Whether this action has the mount for itself: no other one runs until it ends. */
bool sim_actor_is_alone(void);

/* A path of KIND: often one of a few that the actors of this life share. OUT has 4,096 bytes. */
enum sim_path_kind sim_actor_draw_path(struct sim_actor *actor, enum sim_path_kind kind, char *out);

enum { SIM_PATH_ROOM = 4096 };

/* sim_programs.c: each calls the oracles with what it reads. */

struct sim_names {
    struct sim_entry *entries; /* owned */
    size_t count, room;
    int64_t from_ms, until_ms;
    bool is_whole; /* the directory was read to its end */
};

void sim_names_free(struct sim_names *names);

bool sim_program_stat(struct sim_actor *actor, const char *path, struct stat *out);
/* False after a failure, which was judged. */
bool sim_program_list(struct sim_actor *actor, const char *path, struct sim_names *out,
                      size_t at_most);
void sim_program_cat(struct sim_actor *actor, const char *path);
/* Reads a whole file; NULL after a failure. The caller frees it (sim_free). */
char *sim_program_read(struct sim_actor *actor, const char *path, size_t *size);
/* Whatever PATH is: a directory is listed, a link followed, a file read. */
void sim_program_look(struct sim_actor *actor, const char *path);
/* What the action KIND does, whose path it draws itself. */
void sim_program_run(struct sim_actor *actor, enum sim_action_kind kind);

/* sim_sharing.c: the laws of shared results, as an action that is alone. */
void sim_sharing_check(struct sim_actor *actor);
/* The service has got a request: while an action is alone, none is sent twice. */
void sim_sharing_note_request(const char *operation, const char *body);

/* Has the mount's owner drop PATH and all below. False if it could not. */
bool sim_program_refresh(struct sim_actor *actor, const char *path);

#endif
