#include "fs/mount/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "fs/mount/ledger_file.h"

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
    char *name;                 /* of the file, in FOLDER; owned; NULL: there is none */
    int folder;                 /* stays open: a path could lead into this very mount by now */
    struct ledger_file *scribe; /* owned; NULL: there is no file */
    struct loop_io *io;         /* of its news; NULL once the loop may go */
    bool is_failing;            /* the log has been told */
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
    struct ledger_file_news news = ledger_file_news(ledger->scribe);
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
    if (read(ledger_file_fd(ledger->scribe), &count, sizeof count) == sizeof count)
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
        ledger->scribe = ledger_file_new(ledger_open_file, ledger);
    int error = errno;
    if (ledger->scribe)
        ledger->io =
            loop_add_io(loop, ledger_file_fd(ledger->scribe), EPOLLIN, ledger_take_news, ledger);
    if (ledger->io)
        return ledger;
    if (ledger->scribe)
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
    if (!ledger_file_destroy(ledger->scribe))
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
    if (!ledger->scribe)
        return;
    ledger_file_add(ledger->scribe, line);
    ledger_report_news(ledger);
}

void ledger_reopen(struct ledger *ledger)
{
    if (ledger->scribe)
        ledger_file_reopen(ledger->scribe);
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
    return ledger->scribe ? ledger_file_lost(ledger->scribe) : 0;
}
