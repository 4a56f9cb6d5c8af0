/* ddbfs log [-f] [-n N] [--errors] [PATH]: the log of a mount, from /.ddbfs, and its next lines. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "fs/cli/live_mount.h"

enum { LOG_COMMAND_PERIOD_MS = 500 };

/* A log that is followed. */
struct log_follower {
    const char *root;
    const char *name; /* of the control file */
    struct buf seen;  /* owned: the whole file, as last read */
    bool ended;       /* the mount has ended, which was reported */
};

/* Returns the lines of NOW that are not in SEEN. The file drops lines at its beginning and gets
 * lines at its end: the new ones follow the longest end of SEEN that NOW begins with. Each line
 * begins with its millisecond, so different lines are hardly ever equal. GAP is set if NOW has no
 * line of SEEN: lines in between may be lost. */
static struct span log_command_new_lines(struct span seen, struct span now, bool *gap)
{
    *gap = false;
    for (struct span left = seen; left.size > 0;) {
        if (span_starts(now, left))
            return span_from(now, left.size);
        const char *end = memchr(left.data, '\n', left.size);
        left = span_from(left, end ? (size_t)(end - left.data) + 1 : left.size);
    }
    *gap = seen.size > 0;
    return now;
}

/* False if standard output failed, or after a message. */
static bool log_command_print(struct span lines, int *status)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add_lines(&safe, lines);
    if (safe.failed)
        *status = app_fail("the log", strerror(ENOMEM));
    fwrite(buf_text(&safe), 1, safe.size, stdout);
    return !safe.failed && fflush(stdout) == 0;
}

/* Prints the lines since the last call. False if standard output failed, or after a message. */
static bool log_command_print_new(struct log_follower *log, int *status)
{
    CLEAN_UP(buf_clean_up) struct buf now = {0};
    bool gap;
    if (!live_mount_read(log->root, log->name, &now)) {
        int error = errno;
        if (error == ETIMEDOUT) /* the daemon may continue */
            return true;
        if (!live_mount_has_ended(error, log->root)) {
            *status = live_mount_fail(log->root, log->name, error);
            return false;
        }
        if (!log->ended)
            app_fail(log->root, "the mount has ended; the log of the next mount follows here");
        log->ended = true;
        return true;
    }
    if (log->ended) /* the log of a new mount is a new file */
        buf_truncate(&log->seen, 0);
    log->ended = false;
    struct span lines = log_command_new_lines(buf_span(&log->seen), buf_span(&now), &gap);
    if (gap)
        app_fail(log->root, "lines may be missing here: more lines were written at once than the "
                            "mount stores, or it was mounted again");
    bool printed = log_command_print(lines, status);
    buf_clean_up(&log->seen);
    buf_move(&log->seen, &now);
    return printed;
}

int log_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf root = {0}, now = {0};
    const char *name = options->errors ? "errors" : "log";
    int status = EXIT_SUCCESS;
    if (argc > 1)
        return app_usage("log takes one mount", "log");
    if (!live_mount_find(argc == 1 ? argv[0] : NULL, "log", &root))
        return EXIT_FAILURE;
    if (!live_mount_read(buf_text(&root), name, &now))
        return live_mount_fail(buf_text(&root), "log", errno);
    size_t from = options->lines ? now.size : 0;
    for (uint32_t lines = 0; from > 0; from--)
        if (now.data[from - 1] == '\n' && lines++ == options->lines)
            break;
    if (!log_command_print(span_from(buf_span(&now), from), &status) || !options->follow)
        return status;
    struct log_follower log = {.root = buf_text(&root), .name = name};
    buf_move(&log.seen, &now);
    struct pollfd out = {.fd = STDOUT_FILENO}; /* poll() reports its closing without an event */
    while ((poll(&out, 1, LOG_COMMAND_PERIOD_MS) <= 0 || !(out.revents & (POLLERR | POLLNVAL))) &&
           log_command_print_new(&log, &status)) {
    }
    buf_clean_up(&log.seen);
    return status;
}
