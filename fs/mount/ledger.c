#include "fs/mount/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whose file it is: a ledger tells who read what. */
enum { FILE_MODE = 0600 };

struct line {
    char *bytes; /* owned; NULL: free */
    size_t size;
};

struct ledger {
    const struct log *log;
    struct line lines[LEDGER_LINES]; /* a ring: COUNT of them before NEXT */
    size_t next, count, bytes;
    char *name;      /* of the file, in FOLDER; owned; NULL: there is none */
    int folder;      /* stays open: a path could lead into this very mount by now */
    int file;        /* -1: there is none */
    struct buf rest; /* of a line of which the file took a part */
    bool is_failing; /* the log has been told */
    uint64_t lost;
};

/* Opens what NAME means now. Never waits, were it a pipe. */
static int open_file(const struct ledger *ledger)
{
    return openat(ledger->folder, ledger->name,
                  O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                  FILE_MODE);
}

static const char *why(int error)
{
    return error == ELOOP ? "it is a link; name the file itself" : strerror(error);
}

static bool open_folder(struct ledger *ledger, const char *file)
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

struct ledger *ledger_new(const char *file, const struct log *log, struct error *err)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger) {
        error_no_memory(err);
        return NULL;
    }
    ledger->log = log;
    ledger->folder = -1;
    ledger->file = -1;
    if (!file)
        return ledger;
    if (open_folder(ledger, file))
        ledger->file = open_file(ledger);
    if (ledger->file >= 0)
        return ledger;
    error_set(err, ERROR_INVALID, "the ledger %s can't be opened: %s", file, why(errno));
    ledger_destroy(ledger);
    return NULL;
}

void ledger_destroy(struct ledger *ledger)
{
    if (!ledger)
        return;
    for (size_t i = 0; i < LEDGER_LINES; i++)
        free(ledger->lines[i].bytes);
    if (ledger->file >= 0)
        close(ledger->file);
    if (ledger->folder >= 0)
        close(ledger->folder);
    buf_clean_up(&ledger->rest);
    free(ledger->name);
    free(ledger);
}

static void drop_oldest(struct ledger *ledger)
{
    struct line *oldest =
        &ledger->lines[(ledger->next + LEDGER_LINES - ledger->count) % LEDGER_LINES];
    ledger->bytes -= oldest->size;
    ledger->count--;
    free(oldest->bytes);
    *oldest = (struct line){0};
}

/* Without memory the line is not kept. */
static void keep(struct ledger *ledger, struct span line)
{
    while (ledger->count == LEDGER_LINES ||
           (ledger->count > 0 && ledger->bytes + line.size > LEDGER_BYTES))
        drop_oldest(ledger);
    char *bytes = malloc(line.size);
    if (!bytes)
        return;
    memcpy(bytes, line.data, line.size);
    ledger->lines[ledger->next] = (struct line){bytes, line.size};
    ledger->next = (ledger->next + 1) % LEDGER_LINES;
    ledger->count++;
    ledger->bytes += line.size;
}

/* What of LINE the file does not take is its REST. False when it takes nothing. */
static bool write_some(struct ledger *ledger, struct span line)
{
    ssize_t took = write(ledger->file, line.data, line.size);
    if (took < 0)
        return false;
    buf_add_span(&ledger->rest, span_from(line, (size_t)took));
    return true;
}

/* A line that was torn is mended before another is written. */
static bool write_rest(struct ledger *ledger)
{
    struct buf rest = ledger->rest;
    ledger->rest = (struct buf){0};
    if (rest.size == 0 || write_some(ledger, buf_span(&rest))) {
        buf_clean_up(&rest);
        return ledger->rest.size == 0;
    }
    ledger->rest = rest;
    return false;
}

static void write_line(struct ledger *ledger, struct span line)
{
    errno = ENOSPC; /* of a file that took a part */
    if (write_rest(ledger) && write_some(ledger, line)) {
        if (ledger->is_failing && ledger->rest.size == 0) {
            ledger->is_failing = false;
            log_line(ledger->log, LOG_LEVEL_WARNING,
                     "the ledger is written again; %llu lines are missing in it",
                     (unsigned long long)ledger->lost);
        }
        return;
    }
    ledger->lost++;
    if (ledger->is_failing)
        return;
    ledger->is_failing = true;
    log_line(ledger->log, LOG_LEVEL_WARNING,
             "the ledger %s can't be written: %s; the mount goes on without it, and tries again",
             ledger->name, strerror(errno));
}

void ledger_add(struct ledger *ledger, struct span line)
{
    keep(ledger, line);
    if (ledger->file >= 0)
        write_line(ledger, line);
}

void ledger_reopen(struct ledger *ledger)
{
    if (ledger->file < 0)
        return;
    int again = open_file(ledger);
    if (again < 0) {
        log_line(ledger->log, LOG_LEVEL_WARNING,
                 "the ledger %s can't be opened again: %s; the old file goes on", ledger->name,
                 why(errno));
        return;
    }
    close(ledger->file);
    ledger->file = again;
    buf_truncate(&ledger->rest, 0); /* of a line in the old file */
}

void ledger_show(const struct ledger *ledger, struct buf *out)
{
    size_t from = (ledger->next + LEDGER_LINES - ledger->count) % LEDGER_LINES;
    for (size_t i = 0; i < ledger->count; i++) {
        const struct line *line = &ledger->lines[(from + i) % LEDGER_LINES];
        buf_add(out, line->bytes, line->size);
    }
}

uint64_t ledger_lost_count(const struct ledger *ledger)
{
    return ledger->lost;
}
