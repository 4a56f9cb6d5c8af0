/* Only files of /proc are read that never wait for the memory of a process, as its command line
 * could: the process may be waiting for this mount. */
#include "fs/mount/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/printable.h"

/* The file "stat" of a task. */
struct process_stat {
    uint64_t started;
    pid_t group;
    char program[PROCESS_NAME_SIZE];
};

struct process_seen {
    pid_t task;       /* 0: free */
    uint64_t started; /* the task: distinguishes it from a later one of that number */
    uint64_t used;    /* the number of the last find */
    struct process process;
};

struct processes {
    const char *proc;
    uint64_t finds;
    struct process_seen seen[PROCESSES_MOST];
};

struct processes *processes_new(const char *proc)
{
    struct processes *processes = calloc(1, sizeof *processes);
    if (processes)
        processes->proc = proc;
    return processes;
}

void processes_destroy(struct processes *processes)
{
    free(processes);
}

/* False when the file is gone, or hidden. */
static bool process_read_file(const struct processes *processes, pid_t task, const char *name,
                              char *out, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%d/%s", processes->proc, (int)task, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, out, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The name is in brackets, and may contain brackets, spaces and newlines. */
static bool process_read_stat(const struct processes *processes, pid_t task,
                              struct process_stat *out)
{
    char text[1024];
    int group;
    if (!process_read_file(processes, task, "stat", text, sizeof text))
        return false;
    const char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (!name || !end || end < name ||
        sscanf(end,
               ") %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
               "%" SCNu64,
               &group, &out->started) != 2)
        return false;
    struct span program = span_of(name + 1, (size_t)(end - name - 1));
    printable_copy(out->program, sizeof out->program, program, PRINTABLE_WORD);
    if (!out->program[0])
        snprintf(out->program, sizeof out->program, "%s", PROCESS_UNKNOWN);
    out->group = group;
    return true;
}

static void process_set_unknown(pid_t task, struct process *out)
{
    *out = (struct process){.id = {.pid = task},
                            .program = PROCESS_UNKNOWN,
                            .group = {.pid = task},
                            .group_program = PROCESS_UNKNOWN};
}

static void process_read_group(const struct processes *processes, const struct process_stat *task,
                               struct process *out)
{
    struct process_stat leader;
    bool is_known = process_read_stat(processes, task->group, &leader);
    out->group = (struct process_id){task->group, is_known ? leader.started : 0};
    memcpy(out->group_program, is_known ? leader.program : task->program,
           sizeof out->group_program);
}

/* The process of TASK, whose stat is FIRST. */
static void process_read(const struct processes *processes, pid_t task,
                         const struct process_stat *first, struct process *out)
{
    struct process_stat leader = *first;
    char text[4096];
    int pid = 0;
    const char *line = process_read_file(processes, task, "status", text, sizeof text)
                           ? strstr(text, "\nTgid:")
                           : NULL;
    if (!line || sscanf(line, "\nTgid: %d", &pid) != 1 || pid == 0 ||
        (pid != task && !process_read_stat(processes, pid, &leader))) {
        process_set_unknown(task, out);
        return;
    }
    *out = (struct process){.id = {pid, leader.started}};
    memcpy(out->program, leader.program, sizeof out->program);
    process_read_group(processes, &leader, out);
}

/* The slot of the task, or the least recently used one. */
static struct process_seen *process_find_slot(struct processes *processes, pid_t task)
{
    struct process_seen *oldest = &processes->seen[0];
    for (size_t i = 0; i < PROCESSES_MOST; i++) {
        struct process_seen *each = &processes->seen[i];
        if (each->task == task)
            return each;
        if (each->used < oldest->used)
            oldest = each;
    }
    return oldest;
}

void processes_find(struct processes *processes, pid_t task, struct process *out)
{
    struct process_stat now;
    if (task <= 0 || !process_read_stat(processes, task, &now)) {
        process_set_unknown(task, out);
        return;
    }
    struct process_seen *seen = process_find_slot(processes, task);
    seen->used = ++processes->finds;
    if (seen->task != task || seen->started != now.started) {
        seen->task = task;
        seen->started = now.started;
        process_read(processes, task, &now, &seen->process);
    } else if (seen->process.id.pid == task) {
        memcpy(seen->process.program, now.program, sizeof now.program);
    }
    if (seen->process.id.started && seen->process.group.pid != now.group)
        process_read_group(processes, &now, &seen->process);
    *out = seen->process;
}
