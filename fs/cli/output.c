#include "fs/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "core/base/utf8.h"

enum {
    OUTPUT_CHARACTER = 4, /* bytes of the longest one */
    OUTPUT_END_S = 1,     /* for a reader that does not read, after a signal */
    OUTPUT_STACK = 256 << 10,
};

/* A terminal, and the stream that replaces the one to it. */
struct output_terminal {
    int fd;
    FILE *raw;                    /* borrowed: the stream that was replaced; NULL: none was */
    size_t size;                  /* of START */
    char start[OUTPUT_CHARACTER]; /* the first bytes of a character whose others follow */
};

static struct output_terminal output_terminals[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER; /* of the next two */
static output_before_fn *output_before;
static void *output_before_arg;
static int output_pipe[2] = {-1, -1}; /* from the handler of signals to the thread */
static volatile sig_atomic_t output_is_ending;

static const int output_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { OUTPUT_SIGNALS = sizeof output_signals / sizeof output_signals[0] };

/* The size of the end of TEXT that may be the beginning of a character. */
static size_t output_count_start(struct span text)
{
    static const unsigned char lead = 0xC0, longest = 0xF8;
    for (size_t size = 1; size < OUTPUT_CHARACTER && size <= text.size; size++) {
        unsigned char byte = (unsigned char)text.data[text.size - size];
        size_t need = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
        if (byte >= lead)
            return byte < longest && size < need ? size : 0;
        if (byte < 0x80)
            return 0;
    }
    return 0;
}

/* False with errno. */
static bool output_write_all(int fd, struct span text)
{
    while (text.size > 0) {
        ssize_t size = write(fd, text.data, text.size);
        if (size < 0 && errno != EINTR)
            return false;
        text = span_from(text, size > 0 ? (size_t)size : 0);
    }
    return true;
}

/* Behind output_set_before no thread calls the function that it replaces. */
static void output_call_before(void)
{
    pthread_mutex_lock(&output_lock);
    if (output_before)
        output_before(output_before_arg);
    pthread_mutex_unlock(&output_lock);
}

/* Writes the stored bytes and TEXT. An incomplete character at the end is stored, unless IS_END. */
static bool output_show(struct output_terminal *terminal, struct span text, bool is_end)
{
    CLEAN_UP(buf_clean_up_secret) struct buf whole = {0}, safe = {0};
    output_call_before();
    buf_add(&whole, terminal->start, terminal->size);
    buf_add_span(&whole, text);
    size_t left = is_end ? 0 : output_count_start(buf_span(&whole));
    if (whole.failed)
        return errno = ENOMEM, false;
    printable_add_lines(&safe, span_of(whole.data, whole.size - left));
    terminal->size = left;
    for (size_t i = 0; i < left; i++)
        terminal->start[i] = whole.data[whole.size - left + i];
    if (safe.failed)
        return errno = ENOMEM, false;
    return output_write_all(terminal->fd, buf_span(&safe));
}

static ssize_t output_take(void *cookie, const char *text, size_t size)
{
    return output_show(cookie, span_of(text, size), false) ? (ssize_t)size : 0;
}

/* Items, messages and all else that the program prints passes through the stream. */
static void output_replace(struct output_terminal *terminal, FILE **stream)
{
    static const cookie_io_functions_t functions = {.write = output_take};
    FILE *safe = isatty(terminal->fd) ? fopencookie(terminal, "w", functions) : NULL;
    if (!safe || setvbuf(safe, NULL, _IOLBF, BUFSIZ) != 0)
        return;
    terminal->raw = *stream;
    *stream = safe;
}

/* A second signal ends the process at once. */
static void output_take_signal(int number)
{
    int error = errno;
    char byte = (char)number;
    if (output_is_ending || write(output_pipe[1], &byte, 1) != 1) {
        signal(number, SIG_DFL);
        raise(number);
    }
    output_is_ending = number;
    errno = error;
}

/* The signal comes again if the reader of the output does not read. */
static void output_limit_end(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec limit = {.it_value = {.tv_sec = OUTPUT_END_S}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &limit, NULL) != 0)
        kill(getpid(), number);
}

static void output_finish(void)
{
    for (size_t i = 0; i < sizeof output_terminals / sizeof output_terminals[0]; i++) {
        struct output_terminal *terminal = &output_terminals[i];
        if (terminal->raw && terminal->size > 0)
            output_show(terminal, span_text(""), true);
    }
}

/* A handler can't write the output, because the signal may have come in the middle of a print. The
 * thread waits for the end of that print, and no other one begins. */
static void *output_end_at_signal(void *arg)
{
    char byte;
    (void)arg;
    while (read(output_pipe[0], &byte, 1) < 0 && errno == EINTR) {
    }
    signal(byte, SIG_DFL);
    output_limit_end(byte);
    flockfile(stdout);
    fflush(stdout);
    fflush(stderr);
    output_finish();
    output_call_before();
    kill(getpid(), byte);
    return NULL;
}

static bool output_start_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    if (pipe2(output_pipe, O_CLOEXEC) != 0 || pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, OUTPUT_STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&thread, &attributes, output_end_at_signal, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return ok;
}

/* A signal that is ignored, as by nohup, stays ignored. */
static void output_swap_actions(void (*from)(int), void (*to)(int))
{
    struct sigaction action = {.sa_handler = to, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < OUTPUT_SIGNALS; i++)
        if (sigaction(output_signals[i], NULL, &old) == 0 && old.sa_handler == from)
            sigaction(output_signals[i], &action, NULL);
}

void output_begin(void)
{
    output_replace(&output_terminals[0], &stdout);
    output_replace(&output_terminals[1], &stderr);
    if (output_start_thread())
        output_swap_actions(SIG_DFL, output_take_signal);
}

void output_end(void)
{
    fflush(stdout);
    fflush(stderr);
    output_finish();
}

void output_end_by(int number)
{
    output_end();
    signal(number, SIG_DFL);
    raise(number);
}

void output_leave_signals(void)
{
    output_swap_actions(output_take_signal, SIG_DFL);
}

FILE *output_raw(FILE *stream)
{
    const struct output_terminal *terminal = &output_terminals[stream == stderr];
    return terminal->raw ? terminal->raw : stream;
}

void output_set_before(output_before_fn *fn, void *arg)
{
    pthread_mutex_lock(&output_lock);
    output_before = fn;
    output_before_arg = arg;
    pthread_mutex_unlock(&output_lock);
}
