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

/* The most bytes of lines that wait for the thread, and how long the end waits for them. */
enum { WRITER_MOST_BYTES = 1 << 20, WRITER_FLUSH_MS = 2000 };

/* A ledger shows which programs read which paths: its file is for the owner only. */
enum { FILE_MODE = 0600 };

struct ledger_news {
    uint64_t lost;    /* lines, so far */
    int error;        /* of the last line; 0: it was written, EAGAIN: the file hangs */
    int reopen_error; /* of the last attempt to reopen; reported once */
};

/* The thread that appends lines to the file. */
struct ledger_writer {
    char *name; /* of the file, in FOLDER; owned */
    int folder; /* stays open: by now its path could lead into this very mount */
    pthread_t thread;
    int news_fd; /* becomes readable when there are news */
    /* The thread's: */
    int file;
    struct buf rest; /* of a line that the file accepted in part */
    /* Shared, under LOCK: */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct buf waiting;
    bool is_reopened, is_ending, has_ended;
    struct ledger_news news;
};

struct ledger_line {
    char *bytes; /* owned; NULL: free */
    size_t size;
};

struct ledger {
    const struct log *log;
    struct ledger_line lines[LEDGER_LINES]; /* a ring: COUNT of them before NEXT */
    size_t next, count, bytes;
    struct ledger_writer *writer; /* owned; NULL: there is no file */
    struct loop_io *io;           /* for its news; NULL once the loop may end */
    bool is_failing;              /* the log has the message */
};

/* Never waits, even if the name is a pipe's. */
static int ledger_writer_open_file(const struct ledger_writer *writer)
{
    return openat(writer->folder, writer->name,
                  O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                  FILE_MODE);
}

/* The part of LINE that the file does not accept becomes the rest. False when it accepts nothing.
 */
static bool ledger_writer_write(struct ledger_writer *writer, struct span line)
{
    ssize_t size = write(writer->file, line.data, line.size);
    if (size < 0)
        return false;
    buf_add_span(&writer->rest, span_from(line, (size_t)size));
    return true;
}

/* A torn line is completed before another one is written. */
static bool ledger_writer_write_rest(struct ledger_writer *writer)
{
    struct buf rest = writer->rest;
    writer->rest = (struct buf){0};
    if (rest.size == 0 || ledger_writer_write(writer, buf_span(&rest))) {
        buf_clean_up(&rest);
        return writer->rest.size == 0;
    }
    writer->rest = rest;
    return false;
}

static void ledger_writer_write_lines(struct ledger_writer *writer, struct span lines)
{
    while (lines.size > 0) {
        const char *end = memchr(lines.data, '\n', lines.size);
        size_t size = end ? (size_t)(end - lines.data) + 1 : lines.size;
        errno = ENOSPC; /* of a file that accepts a part */
        bool ok = ledger_writer_write_rest(writer) &&
                  ledger_writer_write(writer, span_of(lines.data, size));
        int error = ok ? writer->rest.size ? ENOSPC : 0 : errno;
        pthread_mutex_lock(&writer->lock);
        writer->news.lost += !ok;
        writer->news.error = error;
        pthread_mutex_unlock(&writer->lock);
        lines = span_from(lines, size);
    }
}

static void ledger_writer_reopen_file(struct ledger_writer *writer)
{
    int file = ledger_writer_open_file(writer), error = errno;
    if (file >= 0) {
        close(writer->file);
        writer->file = file;
        buf_truncate(&writer->rest, 0); /* of a line in the old file */
        return;
    }
    pthread_mutex_lock(&writer->lock);
    writer->news.reopen_error = error;
    pthread_mutex_unlock(&writer->lock);
}

/* If the write fails, the news are readable already. */
static void ledger_writer_signal_news(struct ledger_writer *writer)
{
    static const uint64_t one = 1;
    if (write(writer->news_fd, &one, sizeof one) != sizeof one)
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
        bool is_reopened = writer->is_reopened;
        writer->is_reopened = false;
        pthread_mutex_unlock(&writer->lock);
        ledger_writer_write_lines(writer, buf_span(&lines)); /* they belong to the old file */
        buf_clean_up(&lines);
        if (is_reopened)
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
    if (writer->news_fd >= 0)
        close(writer->news_fd);
    if (writer->folder >= 0)
        close(writer->folder);
    buf_clean_up(&writer->rest);
    buf_clean_up(&writer->waiting);
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->changed);
    free(writer->name);
    free(writer);
}

/* Opens the folder and the file of PATH now: later the name may mean another file. False with errno
 * set. */
static bool ledger_writer_open(struct ledger_writer *writer, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? strdup("/")
                   : slash       ? strndup(path, (size_t)(slash - path))
                                 : strdup(".");
    writer->name = strdup(slash ? slash + 1 : path);
    if (!folder || !writer->name) {
        free(folder);
        errno = ENOMEM;
        return false;
    }
    writer->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (writer->folder >= 0)
        writer->file = ledger_writer_open_file(writer);
    int error = errno;
    free(folder);
    errno = error;
    return writer->file >= 0;
}

/* NULL with errno set. */
static struct ledger_writer *ledger_writer_new(const char *path)
{
    struct ledger_writer *writer = calloc(1, sizeof *writer);
    sigset_t all, before;
    if (!writer)
        return NULL;
    writer->folder = writer->file = -1;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    writer->news_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int error = writer->news_fd >= 0 && ledger_writer_open(writer, path) ? 0 : errno;
    if (!error) {
        sigfillset(&all); /* signals are for the loop */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(&writer->thread, NULL, ledger_writer_work, writer);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (!error)
        return writer;
    ledger_writer_free(writer);
    errno = error;
    return NULL;
}

/* Waits as long as lines are written now and then. A thread that hangs is left behind with its
 * writer. */
static void ledger_writer_destroy(struct ledger_writer *writer)
{
    struct pollfd news = {.fd = writer->news_fd, .events = POLLIN};
    bool has_ended;
    uint64_t count;
    pthread_mutex_lock(&writer->lock);
    writer->is_ending = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    do {
        pthread_mutex_lock(&writer->lock);
        has_ended = writer->has_ended;
        pthread_mutex_unlock(&writer->lock);
    } while (!has_ended && poll(&news, 1, WRITER_FLUSH_MS) == 1 &&
             read(writer->news_fd, &count, sizeof count) == sizeof count);
    if (!has_ended) {
        pthread_detach(writer->thread);
        return;
    }
    pthread_join(writer->thread, NULL);
    ledger_writer_free(writer);
}

/* A line without room is lost. */
static void ledger_writer_add(struct ledger_writer *writer, struct span line)
{
    pthread_mutex_lock(&writer->lock);
    bool fits = writer->waiting.size + line.size <= WRITER_MOST_BYTES;
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

static const char *ledger_describe_error(int error)
{
    return error == ELOOP ? "it is a symbolic link; name the file itself" : strerror(error);
}

/* Logs changes of the file's state. */
static void ledger_log_news(struct ledger *ledger)
{
    struct ledger_writer *writer = ledger->writer;
    pthread_mutex_lock(&writer->lock);
    struct ledger_news news = writer->news;
    writer->news.reopen_error = 0;
    pthread_mutex_unlock(&writer->lock);
    if (news.reopen_error)
        log_line(ledger->log, LOG_LEVEL_WARNING,
                 "the ledger %s can't be opened again: %s; its lines go to the old file",
                 writer->name, ledger_describe_error(news.reopen_error));
    if (ledger->is_failing == (news.error != 0))
        return;
    ledger->is_failing = news.error != 0;
    if (ledger->is_failing)
        log_line(ledger->log, LOG_LEVEL_WARNING,
                 "the ledger %s can't be written: %s; the mount continues without it, and tries "
                 "again",
                 writer->name,
                 news.error == EAGAIN ? "its file system does not respond"
                                      : ledger_describe_error(news.error));
    else
        log_line(ledger->log, LOG_LEVEL_WARNING,
                 "the ledger is written again; %llu lines are missing in it",
                 (unsigned long long)news.lost);
}

static void ledger_on_news(void *arg, uint32_t events)
{
    struct ledger *ledger = arg;
    uint64_t count;
    (void)events;
    if (read(ledger->writer->news_fd, &count, sizeof count) == sizeof count)
        ledger_log_news(ledger);
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
    if (!file)
        return ledger;
    ledger->writer = ledger_writer_new(file);
    if (!ledger->writer)
        error_set(err, ERROR_INVALID, "the ledger %s can't be opened: %s", file,
                  ledger_describe_error(errno));
    else
        ledger->io = loop_add_io(loop, ledger->writer->news_fd, EPOLLIN, ledger_on_news, ledger);
    if (ledger->io)
        return ledger;
    if (ledger->writer)
        error_no_memory(err);
    ledger_destroy(ledger);
    return NULL;
}

void ledger_leave_loop(struct ledger *ledger)
{
    if (!ledger)
        return;
    loop_remove_io(ledger->io);
    ledger->io = NULL;
}

void ledger_destroy(struct ledger *ledger)
{
    if (!ledger)
        return;
    ledger_leave_loop(ledger);
    if (ledger->writer)
        ledger_writer_destroy(ledger->writer);
    for (size_t i = 0; i < LEDGER_LINES; i++)
        free(ledger->lines[i].bytes);
    free(ledger);
}

/* The place of the I-th line, the oldest first. */
static size_t ledger_line_at(const struct ledger *ledger, size_t i)
{
    return (ledger->next + LEDGER_LINES - ledger->count + i) % LEDGER_LINES;
}

/* Without memory the line is left out. */
static void ledger_store_line(struct ledger *ledger, struct span line)
{
    while (ledger->count == LEDGER_LINES ||
           (ledger->count > 0 && ledger->bytes + line.size > LEDGER_BYTES)) {
        struct ledger_line *oldest = &ledger->lines[ledger_line_at(ledger, 0)];
        ledger->bytes -= oldest->size;
        ledger->count--;
        free(oldest->bytes);
        *oldest = (struct ledger_line){0};
    }
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
    ledger_store_line(ledger, line);
    if (!ledger->writer)
        return;
    ledger_writer_add(ledger->writer, line);
    ledger_log_news(ledger);
}

void ledger_reopen(struct ledger *ledger)
{
    struct ledger_writer *writer = ledger->writer;
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->is_reopened = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

void ledger_write(const struct ledger *ledger, struct buf *out)
{
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_line *line = &ledger->lines[ledger_line_at(ledger, i)];
        buf_add(out, line->bytes, line->size);
    }
}

uint64_t ledger_lost_count(const struct ledger *ledger)
{
    struct ledger_writer *writer = ledger->writer;
    if (!writer)
        return 0;
    pthread_mutex_lock(&writer->lock);
    uint64_t lost = writer->news.lost;
    pthread_mutex_unlock(&writer->lock);
    return lost;
}
