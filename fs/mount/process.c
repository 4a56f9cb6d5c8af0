/* Only files of /proc are read that never wait for the memory of a process, as its command line
 * could: the process may be waiting for this mount. */
#include "fs/mount/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
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
    int name_fd;      /* its "comm"; owned; -1: closed. It fails when the task has ended */
    struct process process;
};

struct processes {
    const char *proc;
    bool has_groups;
    uint64_t finds;
    struct process_seen seen[PROCESSES_MOST];
};

struct processes *processes_new(const char *proc, bool groups)
{
    struct processes *processes = calloc(1, sizeof *processes);
    if (!processes)
        return NULL;
    processes->proc = proc;
    processes->has_groups = groups;
    for (size_t i = 0; i < PROCESSES_MOST; i++)
        processes->seen[i].name_fd = -1;
    return processes;
}

static void process_close_name(struct process_seen *seen)
{
    if (seen->name_fd >= 0)
        close(seen->name_fd);
    seen->name_fd = -1;
}

void processes_destroy(struct processes *processes)
{
    for (size_t i = 0; processes && i < PROCESSES_MOST; i++)
        process_close_name(&processes->seen[i]);
    free(processes);
}

static int process_open_file(const struct processes *processes, pid_t task, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%d/%s", processes->proc, (int)task, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* False when the file is gone, or hidden. */
static bool process_read_file(const struct processes *processes, pid_t task, const char *name,
                              char *out, size_t size)
{
    int fd = process_open_file(processes, task, name);
    ssize_t got = fd >= 0 ? read(fd, out, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static void process_set_program(char program[PROCESS_NAME_SIZE], struct span name)
{
    printable_copy(program, PROCESS_NAME_SIZE, name, PRINTABLE_WORD);
    if (!program[0])
        snprintf(program, PROCESS_NAME_SIZE, "%s", PROCESS_UNKNOWN);
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
    process_set_program(out->program, span_of(name + 1, (size_t)(end - name - 1)));
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

/* The number of the process that has the thread TASK; 0: unknown. No signal is sent. */
static pid_t process_find_leader(const struct processes *processes, pid_t task)
{
    char text[4096];
    int pid = 0;
    if (!processes->has_groups && (tgkill(task, task, 0) == 0 || errno == EPERM))
        return task;
    const char *line = process_read_file(processes, task, "status", text, sizeof text)
                           ? strstr(text, "\nTgid:")
                           : NULL;
    return line && sscanf(line, "\nTgid: %d", &pid) == 1 ? pid : 0;
}

/* The process of TASK, whose stat is FIRST. */
static void process_read(const struct processes *processes, pid_t task,
                         const struct process_stat *first, struct process *out)
{
    struct process_stat leader = *first;
    pid_t pid = process_find_leader(processes, task);
    if (pid == 0 || (pid != task && !process_read_stat(processes, pid, &leader))) {
        process_set_unknown(task, out);
        return;
    }
    *out = (struct process){.id = {pid, leader.started}};
    memcpy(out->program, leader.program, sizeof out->program);
    if (processes->has_groups)
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

/* Leaves the file open that shows the name of the task, and whether the task still exists. */
static void process_open_name(struct processes *processes, struct process_seen *seen)
{
    size_t count = 0;
    struct process_seen *oldest = NULL;
    for (size_t i = 0; i < PROCESSES_MOST; i++) {
        struct process_seen *each = &processes->seen[i];
        if (each->name_fd < 0)
            continue;
        count++;
        if (!oldest || each->used < oldest->used)
            oldest = each;
    }
    if (count >= PROCESSES_OPEN)
        process_close_name(oldest);
    seen->name_fd = process_open_file(processes, seen->task, "comm");
}

/* The current name of a task that was seen before. False if it has ended. */
static bool process_refresh_name(struct process_seen *seen)
{
    char name[PROCESS_NAME_SIZE];
    ssize_t size = seen->name_fd >= 0 ? pread(seen->name_fd, name, sizeof name, 0) : -1;
    if (size > 0 && seen->process.id.pid == seen->task)
        process_set_program(seen->process.program, span_of(name, (size_t)size - 1));
    return size > 0;
}

void processes_find(struct processes *processes, pid_t task, struct process *out)
{
    struct process_stat now;
    struct process_seen *seen = process_find_slot(processes, task);
    if (task > 0 && seen->task == task && process_refresh_name(seen)) {
        seen->used = ++processes->finds;
        *out = seen->process;
        return;
    }
    if (task <= 0 || !process_read_stat(processes, task, &now)) {
        process_set_unknown(task, out);
        return;
    }
    bool is_new = seen->task != task || seen->started != now.started;
    process_close_name(seen);
    seen->used = ++processes->finds;
    if (is_new) {
        seen->task = task;
        seen->started = now.started;
        process_read(processes, task, &now, &seen->process);
    } else if (seen->process.id.pid == task) {
        memcpy(seen->process.program, now.program, sizeof now.program);
    }
    bool is_known = seen->process.id.started;
    if (processes->has_groups && is_known && seen->process.group.pid != now.group)
        process_read_group(processes, &now, &seen->process);
    if (!processes->has_groups && is_known && !is_new)
        process_open_name(processes, seen);
    *out = seen->process;
}
