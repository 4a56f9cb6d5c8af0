/* Each child has a thread, which starts the program, waits for it and reaps it; each of these may
 * block. The thread shares RUN with the loop's side, which reads the pipes. vfork copies no memory
 * and suspends the thread alone. The child is killed with its thread, which ends before it only
 * with the whole process. */
#include "core/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_ROOM = 16 * 1024, STACK_SIZE = 256 * 1024 };

/* Shared by the thread and the loop's side; the last holder frees it. */
struct child_run {
    pthread_mutex_t lock; /* of HOLDERS and INFO; and no kill happens during the reaping */
    unsigned holders;
    atomic_int target;        /* the process to kill, negative for its group; 0: none */
    atomic_bool cancelled;    /* the loop's side has ended */
    int start_errno;          /* of a failed start; set by the child, read at the end */
    siginfo_t info;           /* its end */
    char **argv;              /* owned; into WORDS */
    struct buf words;         /* owned; may hold a secret */
    int output, errors, over; /* the ends that the thread closes */
};

struct stream {
    struct child *child;
    int fd; /* -1 once it has ended */
    struct loop_io *io;
    struct buf text; /* owned; a secret */
    size_t most;
};

struct child {
    struct loop *loop;
    struct child_run *run;
    struct stream output, errors;
    struct stream over; /* no data; it ends when the child has ended */
    struct loop_timer *deadline;
    enum child_outcome cut; /* the reason for a kill; CHILD_EXITED: none */
    child_whole_fn *whole;
    child_fn *fn;
    void *arg;
};

/* The thread's side. */

static void child_drop(struct child_run *run)
{
    pthread_mutex_lock(&run->lock);
    bool last = --run->holders == 0;
    pthread_mutex_unlock(&run->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&run->lock);
    buf_clean_up_secret(&run->words);
    free(run->argv);
    free(run);
}

/* Runs in the child, in the parent's memory: only system calls. With a terminal the child stays in
 * the terminal's process group, so that it can prompt there and gets Ctrl-C. It sets the target
 * itself, because execvp may hang: in a mount of this very process, for example. */
static _Noreturn void child_become(struct child_run *run)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &plain, NULL);
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool is_leader = terminal < 0 && setpgid(0, 0) == 0;
    atomic_store(&run->target, is_leader ? -getpid() : getpid());
    if (atomic_load(&run->cancelled))
        _exit(127);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(run->output, STDOUT_FILENO) >= 0 &&
        dup2(run->errors, STDERR_FILENO) >= 0) {
        closefrom(STDERR_FILENO + 1);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvp(run->argv[0], run->argv);
    }
    run->start_errno = errno;
    _exit(127);
}

static pid_t child_launch(struct child_run *run)
{
    /* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork):
     * posix_spawn has neither a parent-death signal nor a cancelled start (ADR 22). */
    pid_t pid = vfork();
    if (pid == 0)
        child_become(run);
    return pid;
    /* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
}

static void child_close_ends(const struct child_run *run)
{
    close(run->output);
    close(run->errors);
}

/* Until the reaping no other process can have the child's number, so that a kill is safe. */
static void child_wait_for(struct child_run *run, pid_t pid)
{
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    pthread_mutex_lock(&run->lock);
    run->info = info;
    atomic_store(&run->target, 0);
    pthread_mutex_unlock(&run->lock);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void *child_follow(void *arg)
{
    struct child_run *run = arg;
    pid_t pid = child_launch(run);
    if (pid < 0)
        run->start_errno = errno;
    child_close_ends(run);
    if (pid > 0)
        child_wait_for(run, pid);
    close(run->over);
    child_drop(run);
    return NULL;
}

/* The thread gets no signals: they are the loop's. */
static bool child_start_thread(struct child_run *run)
{
    sigset_t all, before;
    pthread_attr_t how;
    pthread_t thread;
    if (pthread_attr_init(&how) != 0)
        return false;
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&how, STACK_SIZE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&thread, &how, child_follow, run) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&how);
    return ok;
}

/* The loop's side. */

static void child_end_stream(struct stream *stream)
{
    loop_remove_io(stream->io);
    stream->io = NULL;
    if (stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
}

static void child_free(struct child *child)
{
    loop_remove_timer(child->deadline);
    child_end_stream(&child->output);
    child_end_stream(&child->errors);
    child_end_stream(&child->over);
    buf_clean_up_secret(&child->output.text);
    buf_clean_up_secret(&child->errors.text);
    free(child);
}

static void child_stop(struct child_run *run)
{
    pthread_mutex_lock(&run->lock);
    atomic_store(&run->cancelled, true);
    int target = atomic_load(&run->target);
    if (target)
        kill(target, SIGKILL);
    pthread_mutex_unlock(&run->lock);
}

void child_cancel(struct child *child)
{
    if (!child)
        return;
    child_stop(child->run);
    child_drop(child->run);
    child_free(child);
}

static struct child_end child_end_of(const struct child *child)
{
    struct child_end end = {.outcome = child->cut,
                            .output = buf_span(&child->output.text),
                            .errors = buf_span(&child->errors.text)};
    struct child_run *run = child->run;
    pthread_mutex_lock(&run->lock);
    if (child->cut != CHILD_EXITED) {
        end.number = 0;
    } else if (run->start_errno) {
        end.outcome = CHILD_NOT_STARTED;
        end.number = run->start_errno;
    } else {
        if (run->info.si_code == CLD_KILLED || run->info.si_code == CLD_DUMPED)
            end.outcome = CHILD_KILLED;
        end.number = run->info.si_status;
    }
    pthread_mutex_unlock(&run->lock);
    if (child->output.text.failed) {
        end.outcome = CHILD_NOT_STARTED;
        end.number = ENOMEM;
    }
    return end;
}

static void child_report(struct child *child)
{
    struct child_end end = child_end_of(child);
    struct child held = *child; /* its texts are wiped after FN */
    child->output.text = child->errors.text = (struct buf){0};
    child_drop(child->run);
    child_free(child);
    held.fn(held.arg, &end);
    buf_clean_up_secret(&held.output.text);
    buf_clean_up_secret(&held.errors.text);
}

/* Kills the child. Processes that still hold its pipes are not awaited. */
static void child_cut_short(struct child *child, enum child_outcome outcome)
{
    child_stop(child->run);
    child->cut = outcome;
    child_report(child);
}

static void child_on_deadline(void *arg)
{
    struct child *child = arg;
    child->deadline = NULL;
    child_cut_short(child, CHILD_TOO_LONG);
}

enum got { GOT_SOME, GOT_NOTHING, GOT_END, GOT_TOO_MUCH };

static enum got child_read_stream(struct stream *stream)
{
    char data[READ_ROOM];
    ssize_t got = read(stream->fd, data, sizeof data);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return GOT_NOTHING;
    if (got <= 0) {
        child_end_stream(stream);
        return GOT_END;
    }
    size_t room = stream->most - stream->text.size;
    bool fits = (size_t)got <= room;
    buf_add(&stream->text, data, fits ? (size_t)got : room);
    explicit_bzero(data, sizeof data);
    return fits || stream != &stream->child->output ? GOT_SOME : GOT_TOO_MUCH;
}

/* Once the program has exited, all of its output is in the pipes. Another process may write on
 * without end, so no more is read than the stream takes. */
static enum got child_read_rest(struct stream *stream)
{
    enum got got = stream->fd < 0 ? GOT_END : GOT_SOME;
    while (got == GOT_SOME && stream->text.size < stream->most)
        got = child_read_stream(stream);
    return got;
}

/* Whether the output of a program that has exited is complete. */
static bool child_is_complete(const struct child *child)
{
    struct child_end end = child_end_of(child);
    return child->output.fd < 0 || end.outcome != CHILD_EXITED || end.number != 0 ||
           child->whole(end.output);
}

static void child_on_readable(void *arg, uint32_t events)
{
    struct stream *stream = arg;
    struct child *child = stream->child;
    (void)events;
    enum got got = child_read_stream(stream);
    if (got == GOT_END && stream == &child->over) {
        got = child_read_rest(&child->output);
        child_read_rest(&child->errors);
    }
    if (got == GOT_TOO_MUCH)
        child_cut_short(child, CHILD_TOO_MUCH);
    else if (child->over.fd < 0 && child_is_complete(child))
        child_report(child);
}

/* The read end never blocks; the child's end does, as programs expect. */
static bool child_open_stream(struct child *child, struct stream *stream, size_t most, int *end)
{
    int ends[2];
    stream->child = child;
    stream->most = most;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    stream->fd = ends[0];
    *end = ends[1];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    stream->io = loop_add_io(child->loop, ends[0], EPOLLIN, child_on_readable, stream);
    return stream->io != NULL;
}

static bool child_copy_words(struct child_run *run, const char *const *argv)
{
    size_t count = 0;
    while (argv[count]) {
        buf_add(&run->words, argv[count], strlen(argv[count]) + 1);
        count++;
    }
    run->argv = calloc(count + 1, sizeof *run->argv);
    if (!run->argv || run->words.failed)
        return false;
    char *word = run->words.data;
    for (size_t i = 0; i < count; i++) {
        run->argv[i] = word;
        word += strlen(word) + 1;
    }
    return true;
}

static bool child_open_all(struct child *child, const char *const *argv, int64_t timeout_ms)
{
    struct child_run *run = child->run;
    if (!child_copy_words(run, argv) ||
        !child_open_stream(child, &child->output, CHILD_MAX_OUTPUT, &run->output) ||
        !child_open_stream(child, &child->errors, CHILD_MAX_ERRORS, &run->errors) ||
        !child_open_stream(child, &child->over, 0, &run->over))
        return false;
    child->deadline = loop_add_timer(child->loop, timeout_ms, child_on_deadline, child);
    return child->deadline != NULL;
}

struct child *child_start(struct loop *loop, const char *const *argv, int64_t timeout_ms,
                          child_whole_fn *whole, child_fn *fn, void *arg)
{
    struct child *child = calloc(1, sizeof *child);
    struct child_run *run = calloc(1, sizeof *run);
    if (!child || !run || pthread_mutex_init(&run->lock, NULL) != 0) {
        free(child);
        free(run);
        return NULL;
    }
    run->holders = 2;
    run->output = run->errors = run->over = -1;
    *child = (struct child){.loop = loop, .run = run, .whole = whole, .fn = fn, .arg = arg};
    child->output.fd = child->errors.fd = child->over.fd = -1;
    if (child_open_all(child, argv, timeout_ms) && child_start_thread(run))
        return child;
    child_close_ends(run);
    close(run->over);
    child_drop(run); /* for the thread, which was not started */
    child_drop(run);
    child_free(child);
    return NULL;
}
