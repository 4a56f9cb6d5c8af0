#include "fs/cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/quantity.h"
#include "core/sources.h"
#include "fs/cli/output.h"

enum { PROGRESS_QUIET_MS = 1000, PROGRESS_PERIOD_MS = 250, PROGRESS_WIDTH = 80 };

static const char PROGRESS_ERASE[] = "\r\033[K"; /* the line, from its beginning */

struct progress {
    struct loop *loop;             /* borrowed */
    const struct sources *sources; /* borrowed; NULL: others WRITE the line */
    struct source_stats before;    /* of SOURCES, at the beginning of the work */
    progress_write_fn *write;
    void *write_arg;
    int64_t start_ms, quiet_ms; /* of the work, and of the last output */
    int64_t drawn_ms;
};

/* The line may be visible. */
static bool progress_is_shown;

static bool progress_write(int fd, const char *text, size_t size)
{
    ssize_t written = 1;
    for (size_t at = 0; at < size && written > 0; at += written > 0 ? (size_t)written : 0)
        written = write(fd, text + at, size - at);
    return written > 0;
}

static void progress_erase(void)
{
    if (progress_is_shown)
        progress_write(STDERR_FILENO, PROGRESS_ERASE, sizeof PROGRESS_ERASE - 1);
    progress_is_shown = false;
}

static void progress_make_room(void *arg)
{
    struct progress *progress = arg;
    progress_erase();
    progress->quiet_ms = loop_now_ms(progress->loop);
}

static size_t progress_width(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : PROGRESS_WIDTH;
}

static void progress_write_stats(void *arg, double seconds, struct buf *out)
{
    const struct progress *progress = arg;
    struct source_stats stats = sources_stats(progress->sources);
    const struct source_stats *before = &progress->before;
    double doubted = stats.spent.doubted - before->spent.doubted;
    double units = stats.spent.units - before->spent.units + doubted;
    buf_printf(out, "ddbfs: page %llu, %llu items, %s",
               (unsigned long long)(stats.pages - before->pages) + 1,
               (unsigned long long)(stats.items - before->items), doubted > 0 ? "at most " : "");
    decimal_write(units, out);
    buf_printf(out, " RCU, %.1f RCU/s", units / seconds);
}

/* The last cell of the line remains empty: some terminals would begin another line. */
static void progress_draw(struct progress *progress, int64_t now_ms)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    progress->drawn_ms = now_ms;
    progress->write(progress->write_arg, (double)(now_ms - progress->start_ms) / 1000, &line);
    if (line.size >= progress_width())
        buf_truncate(&line, progress_width() - 1);
    fflush(stdout);
    progress_erase();
    progress_is_shown = true;
    progress_write(STDERR_FILENO, line.data, line.size);
}

static void progress_tick(void *arg)
{
    struct progress *progress = arg;
    int64_t now_ms = loop_now_ms(progress->loop);
    if (now_ms - progress->quiet_ms >= PROGRESS_QUIET_MS)
        progress_draw(progress, now_ms);
}

void progress_update(struct progress *progress)
{
    if (progress && loop_now_ms(progress->loop) - progress->drawn_ms >= PROGRESS_PERIOD_MS)
        progress_tick(progress);
}

struct progress *progress_start_with(struct loop *loop, progress_write_fn *write, void *arg)
{
    const char *terminal = getenv("TERM");
    if (!isatty(STDERR_FILENO) || (terminal && strcmp(terminal, "dumb") == 0))
        return NULL;
    struct progress *progress = calloc(1, sizeof *progress);
    if (!progress)
        return NULL;
    *progress = (struct progress){.loop = loop, .write = write, .write_arg = arg};
    progress->start_ms = progress->quiet_ms = loop_now_ms(loop);
    fflush(stdout);
    output_set_before(progress_make_room, progress);
    loop_set_tick(loop, PROGRESS_PERIOD_MS, progress_tick, progress);
    return progress;
}

struct progress *progress_start(struct loop *loop, const struct sources *sources)
{
    struct progress *progress = progress_start_with(loop, progress_write_stats, NULL);
    if (progress) {
        progress->sources = sources;
        progress->before = sources_stats(sources);
        progress->write_arg = progress;
    }
    return progress;
}

void progress_end(struct progress *progress)
{
    if (!progress)
        return;
    loop_set_tick(progress->loop, 0, NULL, NULL);
    fflush(stdout);
    fflush(stderr);
    progress_erase();
    output_set_before(NULL, NULL);
    free(progress);
}
