/* Processes behind the task numbers of requests, from /proc. A task waits for its request, so its
 * process exists when it is looked up.
 *
 * A process is unknown if it has ended meanwhile, if it is hidden from the user (hidepid), or if it
 * is of a pid namespace that the mount's does not show (its number is 0). */
#ifndef DDBFS_FS_MOUNT_PROCESS_H
#define DDBFS_FS_MOUNT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PROCESS_NAME_SIZE = 64, /* of 15 bytes, all of them escaped */
    PROCESSES_MOST = 256,   /* tasks that are remembered */
    PROCESSES_OPEN = 16,    /* the most files of /proc that stay open */
};

/* The program of an unknown process. */
#define PROCESS_UNKNOWN "unknown"

/* Numbers are reused; a number and the time of the start identify a process. */
struct process_id {
    pid_t pid;        /* of the process, not of one of its threads */
    uint64_t started; /* in ticks since the machine was started; 0: unknown */
};

struct process {
    struct process_id id;
    char program[PROCESS_NAME_SIZE]; /* printable, one word; PROCESS_UNKNOWN */
    /* The process group, by its leader: one command of a shell, with all its child processes. The
     * leader's start and program are unknown when the leader has ended. Empty if groups are not
     * wanted. */
    struct process_id group;
    char group_program[PROCESS_NAME_SIZE];
};

struct processes;

/* PROC is the path of /proc; borrowed. With GROUPS, process groups are found, too, which needs more
 * system calls. NULL when memory ran out. */
struct processes *processes_new(const char *proc, bool groups);
void processes_destroy(struct processes *processes); /* NULL is fine */

/* The process of TASK. Its program is the current one: exec changes it. */
void processes_find(struct processes *processes, pid_t task, struct process *out);

#endif
