#include "fs/mount/sleepers.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The loop waits while /proc is read: about 10 us for each of so many tasks at the most. */
enum { LOOKED_AT_MOST = 2000 };

/* Reads the file PATH below the folder AT as a text; false when it is gone. */
static bool sleepers_read_text(int at, const char *path, char *out, size_t size)
{
    int fd = openat(at, path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, out, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The state of a task, as its "stat" has it behind the name, which may hold anything; and how many
 * tasks its process has. */
static char sleepers_state_of(int at, const char *stat, long *tasks)
{
    char text[512], state = '?';
    const char *end = sleepers_read_text(at, stat, text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!end ||
        sscanf(end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
               &state, tasks) != 2)
        return '?';
    return state;
}

/* How often the task has gone to sleep; -1 when it is gone. */
static int64_t sleepers_switches_of(int at, const char *status)
{
    char text[4096];
    const char *line = sleepers_read_text(at, status, text, sizeof text)
                           ? strstr(text, "\nvoluntary_ctxt_switches:")
                           : NULL;
    return line ? strtoll(strchr(line, ':') + 1, NULL, 10) : -1;
}

static void sleepers_add(struct sleepers *sleepers, int proc, const char *task)
{
    char path[64];
    snprintf(path, sizeof path, "%.20s/status", task);
    int64_t switches = sleepers_switches_of(proc, path);
    if (switches >= 0 && sleepers->count < SLEEPERS_MOST)
        sleepers->tasks[sleepers->count++] =
            (struct sleeper){(pid_t)strtol(task, NULL, 10), (uint64_t)switches};
}

static bool sleepers_is_number(const char *name)
{
    return name[0] >= '1' && name[0] <= '9';
}

/* How many tasks have been looked at. */
static unsigned sleepers_add_tasks_of(struct sleepers *sleepers, int proc, const char *process)
{
    unsigned seen = 0;
    char path[64];
    long tasks;
    snprintf(path, sizeof path, "%.20s/task", process);
    int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    for (struct dirent *task; (task = readdir(folder));) {
        if (!sleepers_is_number(task->d_name))
            continue;
        seen++;
        snprintf(path, sizeof path, "%.20s/stat", task->d_name);
        if (sleepers_state_of(fd, path, &tasks) == 'D')
            sleepers_add(sleepers, fd, task->d_name);
    }
    closedir(folder);
    return seen;
}

void sleepers_find(struct sleepers *out)
{
    unsigned seen = 0;
    DIR *proc = opendir("/proc");
    out->count = 0;
    if (!proc)
        return;
    for (struct dirent *process; seen < LOOKED_AT_MOST && (process = readdir(proc));) {
        char path[64];
        long tasks = 0;
        if (!sleepers_is_number(process->d_name))
            continue;
        seen++;
        snprintf(path, sizeof path, "%.20s/stat", process->d_name);
        char state = sleepers_state_of(dirfd(proc), path, &tasks);
        if (tasks > 1)
            seen += sleepers_add_tasks_of(out, dirfd(proc), process->d_name);
        else if (state == 'D')
            sleepers_add(out, dirfd(proc), process->d_name);
    }
    closedir(proc);
}

bool sleepers_take(struct sleepers *sleepers, pid_t pid, uint64_t most)
{
    for (size_t i = 0; pid > 0 && i < sleepers->count; i++) {
        struct sleeper *sleeper = &sleepers->tasks[i];
        char path[64];
        if (sleeper->pid != pid)
            continue;
        sleeper->pid = 0;
        snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
        int64_t switches = sleepers_switches_of(AT_FDCWD, path);
        return switches >= 0 && (uint64_t)switches - sleeper->switches <= most;
    }
    return false;
}
