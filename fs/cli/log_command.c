/* ddbfs log [-f] [-n N] [--errors] [PATH]: what a mount says of itself, as it keeps it in /.ddbfs,
 * and what it says next. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "fs/cli/app.h"
#include "fs/cli/control_file.h"
#include "fs/cli/control_path.h"

/* A mount is looked at so often while its log is followed. It asks nobody for that. */
enum { LOOK_AGAIN_MS = 500 };

/* The line that TEXT, which is not empty, begins with, its end included. */
static struct span log_command_first_line(struct span text)
{
    const char *end = memchr(text.data, '\n', text.size);
    return span_of(text.data, end ? (size_t)(end - text.data) + 1 : text.size);
}

static struct span log_command_behind_first_line(struct span text)
{
    return span_from(text, log_command_first_line(text).size);
}

/* Lines come in behind and go in front: what is new follows the longest end of SEEN that NOW begins
 * with. Each line begins with its millisecond, so that hardly one passes for another. GAP gets
 * whether nothing of SEEN is left: there may have been lines in between. */
static struct span log_command_unseen(struct span seen, struct span now, bool *gap)
{
    *gap = false;
    for (struct span left = seen; left.size > 0; left = log_command_behind_first_line(left))
        if (span_starts(now, left))
            return span_from(now, left.size);
    *gap = seen.size > 0;
    return now;
}

/* The last COUNT lines of TEXT. */
static struct span log_command_last_lines(struct span text, uint32_t count)
{
    size_t from = text.size;
    for (uint32_t lines = 0; from > 0; from--)
        if (text.data[from - 1] == '\n' && lines++ == count)
            break;
    return span_from(text, from);
}

/* False when nobody takes them, or with a message. */
static bool log_command_print_lines(struct span lines, int *status)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add_lines(&safe, lines);
    if (safe.failed)
        *status = control_file_report("the log", strerror(ENOMEM));
    fwrite(buf_text(&safe), 1, safe.size, stdout);
    return !safe.failed && fflush(stdout) == 0;
}

/* False once nobody reads standard output any more. */
static bool log_command_wait_a_little(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO}; /* waits for no event: an error is told always */
    return poll(&out, 1, LOOK_AGAIN_MS) <= 0 || !(out.revents & (POLLERR | POLLNVAL));
}

/* What following a log has shown so far. */
struct followed {
    const char *root;
    const char *file;
    struct buf seen; /* owned: all that the file held when it was read last */
    bool ended;      /* the mount has, and that has been said */
};

/* Shows what has come since. False when nobody reads on, or when the log can't be read. */
static bool log_command_look_again(struct followed *log, int *status)
{
    CLEAN_UP(buf_clean_up) struct buf now = {0};
    bool gap;
    if (!control_file_read(log->file, &now)) {
        int error = errno;
        if (error == ETIMEDOUT) /* the daemon hangs, and may go on */
            return true;
        if (!control_file_mount_has_ended(error, log->root)) {
            *status = control_file_report(log->file, strerror(error));
            return false;
        }
        if (!log->ended)
            control_file_report(log->root,
                                "the mount has ended; this goes on once there is one again");
        log->ended = true;
        return true;
    }
    if (log->ended) /* a mount begins with a log of its own */
        buf_truncate(&log->seen, 0);
    log->ended = false;
    struct span lines = log_command_unseen(buf_span(&log->seen), buf_span(&now), &gap);
    if (gap)
        control_file_report(log->root,
                            "lines may be missing here: so many came at once that the mount has "
                            "not kept them, or it has begun anew");
    bool shown = log_command_print_lines(lines, status);
    buf_clean_up(&log->seen);
    buf_move(&log->seen, &now);
    return shown;
}

static int log_command_follow(struct followed *log)
{
    int status = EXIT_SUCCESS;
    while (log_command_wait_a_little() && log_command_look_again(log, &status)) {
    }
    return status;
}

static int log_command_show(const struct options *options, const char *root)
{
    CLEAN_UP(buf_clean_up) struct buf file = {0}, now = {0};
    int status = EXIT_SUCCESS;
    buf_printf(&file, "%s/" CONTROL_NAME "/%s", root, options->errors ? "errors" : "log");
    if (file.failed || !control_file_read(buf_text(&file), &now))
        return control_file_refuse(root, "log", file.failed ? ENOMEM : errno);
    struct span all = buf_span(&now);
    if (!log_command_print_lines(options->lines ? log_command_last_lines(all, options->lines) : all,
                                 &status) ||
        !options->follow)
        return status; /* main says it where not all could be written */
    struct followed log = {.root = root, .file = buf_text(&file)};
    buf_move(&log.seen, &now);
    status = log_command_follow(&log);
    buf_clean_up(&log.seen);
    return status;
}

int log_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf root = {0};
    if (argc > 1)
        return app_usage("log takes one mount", "log");
    if (!control_file_find_mount(argc == 1 ? argv[0] : NULL, "log", &root))
        return EXIT_FAILURE;
    return log_command_show(options, buf_text(&root));
}
