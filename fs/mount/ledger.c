#include "fs/mount/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Whose file it is: a ledger tells who read what. */
enum { FILE_MODE = 0600 };

struct ledger_line {
    char *bytes; /* owned; NULL: free */
    size_t size;
};

struct ledger {
    const struct log *log;
    struct ledger_line lines[LEDGER_LINES]; /* a ring: COUNT of them before NEXT */
    size_t next, count, bytes;
    char *name;                   /* of the file, in FOLDER; owned; NULL: there is none */
    int folder;                   /* stays open: a path could lead into this very mount by now */
    struct ledger_writer *writer; /* owned; NULL: there is no file */
    struct loop_io *io;           /* of its news; NULL once the loop may go */
    bool is_failing;              /* the log has been told */
};

/* Opens what NAME means now. Never waits, were it a pipe. */
static int ledger_open_file(void *arg)
{
    const struct ledger *ledger = arg;
    return openat(ledger->folder, ledger->name,
                  O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                  FILE_MODE);
}

static const char *ledger_why(int error)
{
    return error == ELOOP ? "it is a link; name the file itself" : strerror(error);
}

static bool ledger_open_folder(struct ledger *ledger, const char *file)
{
    const char *slash = strrchr(file, '/');
    char *folder = slash == file ? strdup("/")
                   : slash       ? strndup(file, (size_t)(slash - file))
                                 : strdup(".");
    ledger->name = strdup(slash ? slash + 1 : file);
    if (folder && ledger->name)
        ledger->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    else
        errno = ENOMEM;
    int error = errno;
    free(folder);
    errno = error;
    return ledger->folder >= 0;
}

/* The log is told what became of lines. */
static void ledger_report_news(struct ledger *ledger)
{
    struct ledger_writer_news news = ledger_writer_news(ledger->writer);
    if (news.reopen_error)
        log_line(ledger->log, LOG_LEVEL_WARNING,
                 "the ledger %s can't be opened again: %s; the old file goes on", ledger->name,
                 ledger_why(news.reopen_error));
    if (ledger->is_failing == (news.error != 0))
        return;
    ledger->is_failing = news.error != 0;
    if (ledger->is_failing)
        log_line(
            ledger->log, LOG_LEVEL_WARNING,
            "the ledger %s can't be written: %s; the mount goes on without it, and tries again",
            ledger->name,
            news.error == EAGAIN ? "its file system does not answer" : strerror(news.error));
    else
        log_line(ledger->log, LOG_LEVEL_WARNING,
                 "the ledger is written again; %llu lines are missing in it",
                 (unsigned long long)news.lost);
}

static void ledger_take_news(void *arg, uint32_t events)
{
    struct ledger *ledger = arg;
    uint64_t count;
    (void)events;
    if (read(ledger_writer_fd(ledger->writer), &count, sizeof count) == sizeof count)
        ledger_report_news(ledger);
}

struct ledger *ledger_new(struct loop *loop, const char *file, const struct log *log,
                          struct error *err)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger) {
        error_no_memory(err);
        return NULL;
    }
    ledger->log = log;
    ledger->folder = -1;
    if (!file)
        return ledger;
    if (ledger_open_folder(ledger, file))
        ledger->writer = ledger_writer_new(ledger_open_file, ledger);
    int error = errno;
    if (ledger->writer)
        ledger->io =
            loop_add_io(loop, ledger_writer_fd(ledger->writer), EPOLLIN, ledger_take_news, ledger);
    if (ledger->io)
        return ledger;
    if (ledger->writer)
        error_no_memory(err);
    else
        error_set(err, ERROR_INVALID, "the ledger %s can't be opened: %s", file, ledger_why(error));
    ledger_destroy(ledger);
    return NULL;
}

void ledger_leave_loop(struct ledger *ledger)
{
    if (ledger)
        loop_remove_io(ledger->io);
    if (ledger)
        ledger->io = NULL;
}

void ledger_destroy(struct ledger *ledger)
{
    if (!ledger)
        return;
    ledger_leave_loop(ledger);
    if (!ledger_writer_destroy(ledger->writer))
        return; /* its thread may still look at the name */
    for (size_t i = 0; i < LEDGER_LINES; i++)
        free(ledger->lines[i].bytes);
    if (ledger->folder >= 0)
        close(ledger->folder);
    free(ledger->name);
    free(ledger);
}

static void ledger_drop_oldest(struct ledger *ledger)
{
    struct ledger_line *oldest =
        &ledger->lines[(ledger->next + LEDGER_LINES - ledger->count) % LEDGER_LINES];
    ledger->bytes -= oldest->size;
    ledger->count--;
    free(oldest->bytes);
    *oldest = (struct ledger_line){0};
}

/* Without memory the line is not kept. */
static void ledger_store(struct ledger *ledger, struct span line)
{
    while (ledger->count == LEDGER_LINES ||
           (ledger->count > 0 && ledger->bytes + line.size > LEDGER_BYTES))
        ledger_drop_oldest(ledger);
    char *bytes = malloc(line.size);
    if (!bytes)
        return;
    memcpy(bytes, line.data, line.size);
    ledger->lines[ledger->next] = (struct ledger_line){bytes, line.size};
    ledger->next = (ledger->next + 1) % LEDGER_LINES;
    ledger->count++;
    ledger->bytes += line.size;
}

void ledger_add(struct ledger *ledger, struct span line)
{
    ledger_store(ledger, line);
    if (!ledger->writer)
        return;
    ledger_writer_add(ledger->writer, line);
    ledger_report_news(ledger);
}

void ledger_reopen(struct ledger *ledger)
{
    if (ledger->writer)
        ledger_writer_reopen(ledger->writer);
}

void ledger_show(const struct ledger *ledger, struct buf *out)
{
    size_t from = (ledger->next + LEDGER_LINES - ledger->count) % LEDGER_LINES;
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_line *line = &ledger->lines[(from + i) % LEDGER_LINES];
        buf_add(out, line->bytes, line->size);
    }
}

uint64_t ledger_lost_count(const struct ledger *ledger)
{
    return ledger->writer ? ledger_writer_lost(ledger->writer) : 0;
}

/* So long the end waits for lines that wait. */
enum { FLUSH_MS = 2000 };

struct ledger_writer {
    ledger_writer_open_fn *open_file;
    void *arg;
    pthread_t thread;
    int fd; /* for news */
    /* The thread's: */
    int file;
    struct buf rest; /* of a line of which the file took a part */
    /* Shared, under LOCK: */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct buf waiting;
    bool is_reopened, is_ending, has_ended;
    struct ledger_writer_news news;
};

/* What of LINE the file does not take is the rest. False when it takes nothing. */
static bool ledger_writer_write_some(struct ledger_writer *writer, struct span line)
{
    ssize_t took = write(writer->file, line.data, line.size);
    if (took < 0)
        return false;
    buf_add_span(&writer->rest, span_from(line, (size_t)took));
    return true;
}

/* A line that was torn is mended before another is written. */
static bool ledger_writer_write_rest(struct ledger_writer *writer)
{
    struct buf rest = writer->rest;
    writer->rest = (struct buf){0};
    if (rest.size == 0 || ledger_writer_write_some(writer, buf_span(&rest))) {
        buf_clean_up(&rest);
        return writer->rest.size == 0;
    }
    writer->rest = rest;
    return false;
}

static void ledger_writer_write_line(struct ledger_writer *writer, struct span line)
{
    errno = ENOSPC; /* of a file that took a part */
    bool ok = ledger_writer_write_rest(writer) && ledger_writer_write_some(writer, line);
    int error = ok ? writer->rest.size ? ENOSPC : 0 : errno;
    pthread_mutex_lock(&writer->lock);
    writer->news.lost += !ok;
    writer->news.error = error;
    pthread_mutex_unlock(&writer->lock);
}

static void ledger_writer_write_lines(struct ledger_writer *writer, struct span lines)
{
    while (lines.size > 0) {
        const char *end = memchr(lines.data, '\n', lines.size);
        size_t size = end ? (size_t)(end - lines.data) + 1 : lines.size;
        ledger_writer_write_line(writer, span_of(lines.data, size));
        lines = span_from(lines, size);
    }
}

static void ledger_writer_reopen_file(struct ledger_writer *writer)
{
    int again = writer->open_file(writer->arg), error = errno;
    if (again >= 0) {
        close(writer->file);
        writer->file = again;
        buf_truncate(&writer->rest, 0); /* of a line in the old file */
        return;
    }
    pthread_mutex_lock(&writer->lock);
    writer->news.reopen_error = error;
    pthread_mutex_unlock(&writer->lock);
}

/* Where it fails the news are readable already. */
static void ledger_writer_signal_news(struct ledger_writer *writer)
{
    static const uint64_t one = 1;
    if (write(writer->fd, &one, sizeof one) != sizeof one)
        errno = 0;
}

static void *ledger_writer_work(void *arg)
{
    struct ledger_writer *writer = arg;
    pthread_mutex_lock(&writer->lock);
    while (!writer->is_ending || writer->waiting.size > 0) {
        if (writer->waiting.size == 0 && !writer->is_reopened) {
            pthread_cond_wait(&writer->changed, &writer->lock);
            continue;
        }
        struct buf lines = {0};
        buf_move(&lines, &writer->waiting);
        bool again = writer->is_reopened;
        writer->is_reopened = false;
        pthread_mutex_unlock(&writer->lock);
        ledger_writer_write_lines(writer,
                                  buf_span(&lines)); /* those that came before are the old file's */
        buf_clean_up(&lines);
        if (again)
            ledger_writer_reopen_file(writer);
        ledger_writer_signal_news(writer);
        pthread_mutex_lock(&writer->lock);
    }
    writer->has_ended = true;
    ledger_writer_signal_news(writer);
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

static void ledger_writer_free(struct ledger_writer *writer)
{
    if (writer->file >= 0)
        close(writer->file);
    if (writer->fd >= 0)
        close(writer->fd);
    buf_clean_up(&writer->rest);
    buf_clean_up(&writer->waiting);
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->changed);
    free(writer);
}

/* Signals are for the loop. */
static int ledger_writer_start_thread(struct ledger_writer *writer)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&writer->thread, NULL, ledger_writer_work, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

struct ledger_writer *ledger_writer_new(ledger_writer_open_fn *open_file, void *arg)
{
    struct ledger_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->open_file = open_file;
    writer->arg = arg;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    writer->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    writer->file = writer->fd >= 0 ? open_file(arg) : -1;
    int error = writer->file >= 0 ? ledger_writer_start_thread(writer) : errno;
    if (error == 0)
        return writer;
    ledger_writer_free(writer);
    errno = error;
    return NULL;
}

/* Waits as long as lines are written now and then. */
static bool ledger_writer_wait_for_end(struct ledger_writer *writer)
{
    struct pollfd news = {.fd = writer->fd, .events = POLLIN};
    bool has_ended = false;
    uint64_t count;
    do {
        pthread_mutex_lock(&writer->lock);
        has_ended = writer->has_ended;
        pthread_mutex_unlock(&writer->lock);
    } while (!has_ended && poll(&news, 1, FLUSH_MS) == 1 &&
             read(writer->fd, &count, sizeof count) == sizeof count);
    return has_ended;
}

bool ledger_writer_destroy(struct ledger_writer *writer)
{
    if (!writer)
        return true;
    pthread_mutex_lock(&writer->lock);
    writer->is_ending = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    if (!ledger_writer_wait_for_end(writer)) {
        pthread_detach(writer->thread);
        return false;
    }
    pthread_join(writer->thread, NULL);
    ledger_writer_free(writer);
    return true;
}

void ledger_writer_add(struct ledger_writer *writer, struct span line)
{
    pthread_mutex_lock(&writer->lock);
    bool fits = writer->waiting.size + line.size <= LEDGER_WRITER_MOST_BYTES;
    if (fits)
        buf_add_span(&writer->waiting, line);
    if (!fits || writer->waiting.failed) {
        writer->news.lost++;
        writer->news.error = fits ? ENOMEM : writer->news.error ? writer->news.error : EAGAIN;
    }
    writer->waiting.failed = false; /* the lines before are whole */
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

void ledger_writer_reopen(struct ledger_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->is_reopened = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

struct ledger_writer_news ledger_writer_news(struct ledger_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    struct ledger_writer_news news = writer->news;
    writer->news.reopen_error = 0;
    pthread_mutex_unlock(&writer->lock);
    return news;
}

uint64_t ledger_writer_lost(struct ledger_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    uint64_t lost = writer->news.lost;
    pthread_mutex_unlock(&writer->lock);
    return lost;
}

int ledger_writer_fd(const struct ledger_writer *writer)
{
    return writer->fd;
}
