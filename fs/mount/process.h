/* Who asks: processes by the numbers of their tasks, as /proc tells of them. A question names the
 * task that waits for it, which stays while it waits, so it is looked up when the question comes.
 *
 * Nothing is known of a process that has gone meanwhile, that the user may not see (hidepid), or
 * that is of a pid namespace which the mount's does not show (its number is 0). */
#ifndef DDBFS_FS_MOUNT_PROCESS_H
#define DDBFS_FS_MOUNT_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

enum {
    PROCESS_NAME_SIZE = 64, /* of 15 bytes, each of which may be escaped */
    PROCESSES_MOST = 256,   /* so many tasks are remembered */
};

/* The name of a program of which nothing is known. */
#define PROCESS_UNKNOWN "unknown"

/* Numbers are used again; with the time of its start one means one process. */
struct process_id {
    pid_t pid;        /* of the process, not of one of its threads */
    uint64_t started; /* in ticks since the machine was started; 0: nothing is known of it */
};

struct process {
    struct process_id id;
    char program[PROCESS_NAME_SIZE]; /* printable, one word; PROCESS_UNKNOWN */
    /* The process group, by its leader: what a shell's user started as one command, with all that
     * it has started. The leader's start is not known, nor his program, when he has gone already.
     */
    struct process_id group;
    char group_program[PROCESS_NAME_SIZE];
};

struct processes;

/* PROC is where /proc is; borrowed. NULL when memory ran out. */
struct processes *processes_new(const char *proc);
void processes_destroy(struct processes *processes); /* NULL is fine */

/* The process of TASK. Its program is that of now: exec changes it. */
void processes_find(struct processes *processes, pid_t task, struct process *out);

#endif
