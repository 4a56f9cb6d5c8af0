#include "fs/mount/interrupt.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

/* A deadly signal may follow a harmless one, and the kernel does not tell of it. */
enum { AGAIN_MS = 50 };

/* The signals of a task, as sets of bits. */
struct signals {
    uint64_t pending, blocked, ignored, caught;
};

static uint64_t interrupt_bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

static void interrupt_read_line(const char *line, struct signals *out)
{
    uint64_t set;
    if (sscanf(line, "SigPnd: %" SCNx64, &set) == 1 || sscanf(line, "ShdPnd: %" SCNx64, &set) == 1)
        out->pending |= set;
    else if (sscanf(line, "SigBlk: %" SCNx64, &set) == 1)
        out->blocked = set;
    else if (sscanf(line, "SigIgn: %" SCNx64, &set) == 1)
        out->ignored = set;
    else if (sscanf(line, "SigCgt: %" SCNx64, &set) == 1)
        out->caught = set;
}

/* False when there is no such task (any more). */
static bool interrupt_read_signals(pid_t pid, struct signals *out)
{
    char path[32], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "re");
    *out = (struct signals){0};
    if (!status)
        return false;
    while (fgets(line, sizeof line, status))
        interrupt_read_line(line, out);
    fclose(status);
    return true;
}

/* What people send to end a program counts also when it is caught; of all others, what the program
 * has no say in and what does not merely stop it. */
static bool interrupt_is_final(pid_t pid)
{
    struct signals signals;
    uint64_t wishes = interrupt_bit(SIGINT) | interrupt_bit(SIGTERM) | interrupt_bit(SIGQUIT) |
                      interrupt_bit(SIGHUP);
    uint64_t harmless = interrupt_bit(SIGSTOP) | interrupt_bit(SIGTSTP) | interrupt_bit(SIGTTIN) |
                        interrupt_bit(SIGTTOU) | interrupt_bit(SIGCONT) | interrupt_bit(SIGCHLD) |
                        interrupt_bit(SIGURG) | interrupt_bit(SIGWINCH);
    if (!interrupt_read_signals(pid, &signals))
        return true;
    uint64_t pending =
        signals.pending & ~signals.ignored & (~signals.blocked | interrupt_bit(SIGKILL));
    return pending & (wishes | ~(signals.caught | harmless));
}

static void interrupt_look(void *arg)
{
    struct interrupt *interrupt = arg;
    interrupt->again = NULL;
    if (!interrupt_is_final(fuse_req_ctx(interrupt->req)->pid))
        interrupt->again = loop_add_timer(interrupt->loop, AGAIN_MS, interrupt_look, interrupt);
    if (!interrupt->again)
        interrupt->end(interrupt->arg);
}

static void interrupt_on(fuse_req_t req, void *arg)
{
    struct interrupt *interrupt = arg;
    (void)req;
    if (!interrupt->again)
        interrupt_look(interrupt);
}

/* For a request that has been interrupted libfuse would call back with a lock held that is part of
 * the request, which END frees. */
void interrupt_watch(struct interrupt *interrupt, struct loop *loop, fuse_req_t req,
                     void (*end)(void *arg), void *arg)
{
    *interrupt = (struct interrupt){loop, req, end, arg, NULL};
    if (fuse_req_interrupted(req))
        interrupt_look(interrupt);
    else
        fuse_req_interrupt_func(req, interrupt_on, interrupt);
}

void interrupt_clean_up(struct interrupt *interrupt)
{
    loop_remove_timer(interrupt->again);
    interrupt->again = NULL;
}
