#include "fs/mount/waiting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most responses in a row of a look-up: of a query, of an item, and one more. Each of them may
 * take --timeout. */
enum { RESPONSES_IN_A_ROW = 3 };

/* A deadly signal may follow a harmless one, and the kernel reports the first one only. */
enum { SIGNAL_CHECK_MS = 50 };

/* The loop waits while /proc is read, about 10 us for each task. */
enum { MOST_TASKS_READ = 2000 };

int64_t waiting_longest_ms(const struct mount *mount)
{
    return (int64_t)mount->app->options->timeout_ms * RESPONSES_IN_A_ROW;
}

/* OVER may free WAITING, so the request is taken out before. OVER may also look at the tasks that
 * wait in the kernel behind the request, so the reply comes after. */
void waiting_end(struct waiting *waiting, int error)
{
    fuse_req_t req = waiting_take(waiting);
    waiting->over(waiting->arg, error);
    fuse_reply_err(req, error);
}

static void waiting_on_deadline(void *arg)
{
    struct waiting *waiting = arg;
    const struct mount *mount = waiting->mount;
    int64_t moved_ms = waiting->moved_ms ? waiting->moved_ms(waiting->arg) : 0;
    int64_t left_ms = moved_ms + waiting_longest_ms(mount) - mount_now_ms(mount);
    waiting->deadline = NULL;
    if (moved_ms > 0 && left_ms > 0)
        waiting->deadline = loop_add_timer(mount->app->loop, left_ms, waiting_on_deadline, waiting);
    if (!waiting->deadline)
        waiting_end(waiting, ETIMEDOUT);
}

static uint64_t waiting_signal_bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

/* Whether a pending signal of the task should end its wait: Ctrl-C and its like, also when the
 * program catches them; of the others those that the program does not handle and that do more than
 * stop it. An alarm that the caller handles must not: no other file system would let a readdir fail
 * for it. ADR 11. */
static bool waiting_has_final_signal(pid_t pid)
{
    static const struct {
        const char *name;
        size_t set;
    } lines[] = {{"SigPnd:", 0}, {"ShdPnd:", 0}, {"SigBlk:", 1}, {"SigIgn:", 2}, {"SigCgt:", 3}};
    uint64_t sets[4] = {0};
    char path[32], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "re");
    if (!status) /* the task is gone; or this process lacks memory or descriptors for a moment */
        return errno != ENOMEM && errno != EMFILE && errno != ENFILE;
    while (fgets(line, sizeof line, status))
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
            if (strncmp(line, lines[i].name, strlen(lines[i].name)) == 0)
                sets[lines[i].set] |= strtoull(line + strlen(lines[i].name), NULL, 16);
    fclose(status);
    uint64_t pending = sets[0], blocked = sets[1], ignored = sets[2], caught = sets[3];
    uint64_t ending = waiting_signal_bit(SIGINT) | waiting_signal_bit(SIGTERM) |
                      waiting_signal_bit(SIGQUIT) | waiting_signal_bit(SIGHUP);
    uint64_t harmless = waiting_signal_bit(SIGSTOP) | waiting_signal_bit(SIGTSTP) |
                        waiting_signal_bit(SIGTTIN) | waiting_signal_bit(SIGTTOU) |
                        waiting_signal_bit(SIGCONT) | waiting_signal_bit(SIGCHLD) |
                        waiting_signal_bit(SIGURG) | waiting_signal_bit(SIGWINCH);
    pending &= ~ignored & (~blocked | waiting_signal_bit(SIGKILL));
    return pending & (ending | ~(caught | harmless));
}

static void waiting_check_signals(void *arg)
{
    struct waiting *waiting = arg;
    bool is_final = waiting_has_final_signal(fuse_req_ctx(waiting->req)->pid);
    waiting->signal_check = is_final ? NULL
                                     : loop_add_timer(waiting->mount->app->loop, SIGNAL_CHECK_MS,
                                                      waiting_check_signals, waiting);
    if (!waiting->signal_check) /* a caller that could not be killed would be worse than an error */
        waiting_end(waiting, is_final ? EINTR : ENOMEM);
}

/* The kernel reports the first signal only, and from then on nothing but a reply lets the caller
 * go. */
static void waiting_on_interrupt(fuse_req_t req, void *arg)
{
    struct waiting *waiting = arg;
    (void)req;
    if (!waiting->signal_check)
        waiting_check_signals(waiting);
}

bool waiting_start(struct waiting *waiting, struct mount *mount, fuse_req_t req, int64_t since_ms,
                   waiting_over_fn *over, void *arg)
{
    int64_t left_ms = since_ms + waiting_longest_ms(mount) - mount_now_ms(mount);
    *waiting = (struct waiting){
        .mount = mount,
        .req = req,
        .pid = fuse_req_ctx(req)->pid,
        .since_ms = since_ms,
        .deadline = loop_add_timer(mount->app->loop, left_ms, waiting_on_deadline, waiting),
        .over = over,
        .arg = arg,
        .moved_ms = waiting->moved_ms,
    };
    if (!waiting->deadline) {
        waiting_fail(waiting, ENOMEM);
        return false;
    }
    /* For a request that has been interrupted already libfuse would call back with a lock held that
     * is part of the request, which the reply frees. */
    if (fuse_req_interrupted(req))
        waiting_check_signals(waiting);
    else
        fuse_req_interrupt_func(req, waiting_on_interrupt, waiting);
    return true;
}

fuse_req_t waiting_take(struct waiting *waiting)
{
    fuse_req_t req = waiting->req;
    waiting->req = NULL;
    loop_remove_timer(waiting->deadline);
    waiting->deadline = NULL;
    loop_remove_timer(waiting->signal_check);
    waiting->signal_check = NULL;
    return req;
}

void waiting_fail(struct waiting *waiting, int error)
{
    fuse_req_t req = waiting_take(waiting);
    if (req)
        fuse_reply_err(req, error);
}

/* The text of the file PATH below the folder AT. False when it is gone. */
static bool sleepers_read_file(int at, const char *path, char *out, size_t size)
{
    int fd = openat(at, path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, out, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The state of TASK, a name in the folder AT, and how many tasks its process has. The state follows
 * the program's name in brackets, which may hold brackets itself. */
static char sleepers_read_state(int at, const char *task, long *tasks)
{
    char path[64], text[512], state = '?';
    snprintf(path, sizeof path, "%.20s/stat", task);
    const char *end = sleepers_read_file(at, path, text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!end ||
        sscanf(end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
               &state, tasks) != 2)
        return '?';
    return state;
}

/* How often the task has gone to sleep; -1 when it is gone. */
static int64_t sleepers_count_switches(int at, const char *task)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "%.20s/status", task);
    const char *line = sleepers_read_file(at, path, text, sizeof text)
                           ? strstr(text, "\nvoluntary_ctxt_switches:")
                           : NULL;
    return line ? strtoll(strchr(line, ':') + 1, NULL, 10) : -1;
}

static void sleepers_add(struct sleepers *sleepers, int at, const char *task)
{
    int64_t switches = sleepers_count_switches(at, task);
    if (switches >= 0 && sleepers->count < SLEEPERS_MOST)
        sleepers->tasks[sleepers->count++] =
            (struct sleeper){(pid_t)strtol(task, NULL, 10), (uint64_t)switches};
}

static bool sleepers_is_task(const char *name)
{
    return name[0] >= '1' && name[0] <= '9';
}

/* Adds the sleeping tasks of one process; returns how many tasks it has read. */
static unsigned sleepers_add_process(struct sleepers *sleepers, int proc, const char *process)
{
    unsigned read_tasks = 0;
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
        if (!sleepers_is_task(task->d_name))
            continue;
        read_tasks++;
        if (sleepers_read_state(fd, task->d_name, &tasks) == 'D')
            sleepers_add(sleepers, fd, task->d_name);
    }
    closedir(folder);
    return read_tasks;
}

void sleepers_find(struct sleepers *out)
{
    unsigned read_tasks = 0;
    DIR *proc = opendir("/proc");
    out->count = 0;
    if (!proc)
        return;
    for (struct dirent *process; read_tasks < MOST_TASKS_READ && (process = readdir(proc));) {
        long tasks = 0;
        if (!sleepers_is_task(process->d_name))
            continue;
        read_tasks++;
        char state = sleepers_read_state(dirfd(proc), process->d_name, &tasks);
        if (tasks > 1)
            read_tasks += sleepers_add_process(out, dirfd(proc), process->d_name);
        else if (state == 'D')
            sleepers_add(out, dirfd(proc), process->d_name);
    }
    closedir(proc);
}

bool sleepers_take(struct sleepers *sleepers, pid_t pid, uint64_t most)
{
    for (size_t i = 0; pid > 0 && i < sleepers->count; i++) {
        struct sleeper *sleeper = &sleepers->tasks[i];
        if (sleeper->pid != pid)
            continue;
        sleeper->pid = 0;
        char task[32];
        snprintf(task, sizeof task, "/proc/%d", (int)pid);
        int64_t switches = sleepers_count_switches(AT_FDCWD, task);
        return switches >= 0 && (uint64_t)switches - sleeper->switches <= most;
    }
    return false;
}
