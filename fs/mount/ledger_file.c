#include "fs/mount/ledger_file.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* So long the end waits for lines that wait. */
enum { FLUSH_MS = 2000 };

struct ledger_file {
    ledger_file_open_fn *open_file;
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
    struct ledger_file_news news;
};

/* What of LINE the file does not take is the rest. False when it takes nothing. */
static bool ledger_file_write_some(struct ledger_file *scribe, struct span line)
{
    ssize_t took = write(scribe->file, line.data, line.size);
    if (took < 0)
        return false;
    buf_add_span(&scribe->rest, span_from(line, (size_t)took));
    return true;
}

/* A line that was torn is mended before another is written. */
static bool ledger_file_write_rest(struct ledger_file *scribe)
{
    struct buf rest = scribe->rest;
    scribe->rest = (struct buf){0};
    if (rest.size == 0 || ledger_file_write_some(scribe, buf_span(&rest))) {
        buf_clean_up(&rest);
        return scribe->rest.size == 0;
    }
    scribe->rest = rest;
    return false;
}

static void ledger_file_write_line(struct ledger_file *scribe, struct span line)
{
    errno = ENOSPC; /* of a file that took a part */
    bool ok = ledger_file_write_rest(scribe) && ledger_file_write_some(scribe, line);
    int error = ok ? scribe->rest.size ? ENOSPC : 0 : errno;
    pthread_mutex_lock(&scribe->lock);
    scribe->news.lost += !ok;
    scribe->news.error = error;
    pthread_mutex_unlock(&scribe->lock);
}

static void ledger_file_write_lines(struct ledger_file *scribe, struct span lines)
{
    while (lines.size > 0) {
        const char *end = memchr(lines.data, '\n', lines.size);
        size_t size = end ? (size_t)(end - lines.data) + 1 : lines.size;
        ledger_file_write_line(scribe, span_of(lines.data, size));
        lines = span_from(lines, size);
    }
}

static void ledger_file_reopen_file(struct ledger_file *scribe)
{
    int again = scribe->open_file(scribe->arg), error = errno;
    if (again >= 0) {
        close(scribe->file);
        scribe->file = again;
        buf_truncate(&scribe->rest, 0); /* of a line in the old file */
        return;
    }
    pthread_mutex_lock(&scribe->lock);
    scribe->news.reopen_error = error;
    pthread_mutex_unlock(&scribe->lock);
}

/* Where it fails the news are readable already. */
static void ledger_file_signal_news(struct ledger_file *scribe)
{
    static const uint64_t one = 1;
    if (write(scribe->fd, &one, sizeof one) != sizeof one)
        errno = 0;
}

static void *ledger_file_work(void *arg)
{
    struct ledger_file *scribe = arg;
    pthread_mutex_lock(&scribe->lock);
    while (!scribe->is_ending || scribe->waiting.size > 0) {
        if (scribe->waiting.size == 0 && !scribe->is_reopened) {
            pthread_cond_wait(&scribe->changed, &scribe->lock);
            continue;
        }
        struct buf lines = {0};
        buf_move(&lines, &scribe->waiting);
        bool again = scribe->is_reopened;
        scribe->is_reopened = false;
        pthread_mutex_unlock(&scribe->lock);
        ledger_file_write_lines(scribe,
                                buf_span(&lines)); /* those that came before are the old file's */
        buf_clean_up(&lines);
        if (again)
            ledger_file_reopen_file(scribe);
        ledger_file_signal_news(scribe);
        pthread_mutex_lock(&scribe->lock);
    }
    scribe->has_ended = true;
    ledger_file_signal_news(scribe);
    pthread_mutex_unlock(&scribe->lock);
    return NULL;
}

static void ledger_file_free(struct ledger_file *scribe)
{
    if (scribe->file >= 0)
        close(scribe->file);
    if (scribe->fd >= 0)
        close(scribe->fd);
    buf_clean_up(&scribe->rest);
    buf_clean_up(&scribe->waiting);
    pthread_mutex_destroy(&scribe->lock);
    pthread_cond_destroy(&scribe->changed);
    free(scribe);
}

/* Signals are for the loop. */
static int ledger_file_start_thread(struct ledger_file *scribe)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&scribe->thread, NULL, ledger_file_work, scribe);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

struct ledger_file *ledger_file_new(ledger_file_open_fn *open_file, void *arg)
{
    struct ledger_file *scribe = calloc(1, sizeof *scribe);
    if (!scribe)
        return NULL;
    scribe->open_file = open_file;
    scribe->arg = arg;
    pthread_mutex_init(&scribe->lock, NULL);
    pthread_cond_init(&scribe->changed, NULL);
    scribe->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    scribe->file = scribe->fd >= 0 ? open_file(arg) : -1;
    int error = scribe->file >= 0 ? ledger_file_start_thread(scribe) : errno;
    if (error == 0)
        return scribe;
    ledger_file_free(scribe);
    errno = error;
    return NULL;
}

/* Waits as long as lines are written now and then. */
static bool ledger_file_wait_for_end(struct ledger_file *scribe)
{
    struct pollfd news = {.fd = scribe->fd, .events = POLLIN};
    bool has_ended = false;
    uint64_t count;
    do {
        pthread_mutex_lock(&scribe->lock);
        has_ended = scribe->has_ended;
        pthread_mutex_unlock(&scribe->lock);
    } while (!has_ended && poll(&news, 1, FLUSH_MS) == 1 &&
             read(scribe->fd, &count, sizeof count) == sizeof count);
    return has_ended;
}

bool ledger_file_destroy(struct ledger_file *scribe)
{
    if (!scribe)
        return true;
    pthread_mutex_lock(&scribe->lock);
    scribe->is_ending = true;
    pthread_cond_broadcast(&scribe->changed);
    pthread_mutex_unlock(&scribe->lock);
    if (!ledger_file_wait_for_end(scribe)) {
        pthread_detach(scribe->thread);
        return false;
    }
    pthread_join(scribe->thread, NULL);
    ledger_file_free(scribe);
    return true;
}

void ledger_file_add(struct ledger_file *scribe, struct span line)
{
    pthread_mutex_lock(&scribe->lock);
    bool fits = scribe->waiting.size + line.size <= LEDGER_FILE_MOST_BYTES;
    if (fits)
        buf_add_span(&scribe->waiting, line);
    if (!fits || scribe->waiting.failed) {
        scribe->news.lost++;
        scribe->news.error = fits ? ENOMEM : scribe->news.error ? scribe->news.error : EAGAIN;
    }
    scribe->waiting.failed = false; /* the lines before are whole */
    pthread_cond_broadcast(&scribe->changed);
    pthread_mutex_unlock(&scribe->lock);
}

void ledger_file_reopen(struct ledger_file *scribe)
{
    pthread_mutex_lock(&scribe->lock);
    scribe->is_reopened = true;
    pthread_cond_broadcast(&scribe->changed);
    pthread_mutex_unlock(&scribe->lock);
}

struct ledger_file_news ledger_file_news(struct ledger_file *scribe)
{
    pthread_mutex_lock(&scribe->lock);
    struct ledger_file_news news = scribe->news;
    scribe->news.reopen_error = 0;
    pthread_mutex_unlock(&scribe->lock);
    return news;
}

uint64_t ledger_file_lost(struct ledger_file *scribe)
{
    pthread_mutex_lock(&scribe->lock);
    uint64_t lost = scribe->news.lost;
    pthread_mutex_unlock(&scribe->lock);
    return lost;
}

int ledger_file_fd(const struct ledger_file *scribe)
{
    return scribe->fd;
}
