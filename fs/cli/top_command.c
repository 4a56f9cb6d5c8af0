/* ddbfs top [-n N] [MOUNTPOINT]: who reads what in a mount now, as it tells in /.ddbfs/stats.json.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/cli/app.h"
#include "fs/cli/control_file.h"
#include "fs/cli/control_path.h"
#include "fs/cli/screen.h"
#include "fs/cli/top_frame.h"

/* The kernel keeps what it was told for a tenth of a second. */
enum { EACH_MS = 2000 };

/* Makes the frame of now. 0, or an errno; EBADMSG: that is no stats.json. */
static int top_look(const char *root, unsigned rows, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf file = {0}, stats = {0};
    buf_printf(&file, "%s/" CONTROL_NAME "/stats.json", root);
    if (file.failed)
        return ENOMEM;
    if (!control_file_read(buf_text(&file), &stats))
        return errno;
    return top_frame_write(buf_span(&stats), root, rows, out) ? 0 : out->failed ? ENOMEM : EBADMSG;
}

/* One frame after the other, TIMES of them. 0, or an errno. */
static int top_print(const char *root, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        CLEAN_UP(buf_clean_up) struct buf frame = {0};
        if (i > 0)
            usleep(EACH_MS * 1000);
        int error = top_look(root, 0, &frame);
        if (error)
            return error;
        printf("%s%s", i > 0 ? "\n" : "", buf_text(&frame));
        if (fflush(stdout) != 0)
            return 0; /* main says whether somebody misses it */
    }
    return 0;
}

/* Shows frames, TIMES of them (0: until somebody ends it). 0, or an errno. */
static int top_draw(const struct screen *screen, const char *root, uint32_t times)
{
    enum screen_event event = SCREEN_TIME;
    for (uint32_t i = 0; event != SCREEN_END && (times == 0 || i < times); i++) {
        CLEAN_UP(buf_clean_up) struct buf frame = {0};
        int error = top_look(root, screen_rows(), &frame);
        if (error)
            return error;
        if (!screen_show(buf_span(&frame)))
            return 0;
        event = screen_wait(screen, EACH_MS);
    }
    return 0;
}

/* What ends it is told when the terminal is as it was. */
static int top_watch(const char *root, uint32_t times)
{
    struct screen screen;
    CLEAN_UP(buf_clean_up) struct buf frame = {0};
    int error = top_look(root, 0, &frame);
    if (!error && !screen_open(&screen))
        return errno;
    if (!error) {
        error = top_draw(&screen, root, times);
        screen_close(&screen);
    }
    return error;
}

static int top_report_error(const char *root, int error)
{
    if (error == EBADMSG)
        return control_file_report(root, "its stats.json can't be read: another ddbfs has made it");
    return control_file_refuse(root, "stats.json", error);
}

int top_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf root = {0};
    if (argc > 1)
        return app_usage("top takes one mount", "top");
    if (!control_file_find_mount(argc == 1 ? argv[0] : NULL, "top", &root))
        return EXIT_FAILURE;
    int error = isatty(STDOUT_FILENO)
                    ? top_watch(buf_text(&root), options->times)
                    : top_print(buf_text(&root), options->times ? options->times : 1);
    return error ? top_report_error(buf_text(&root), error) : EXIT_SUCCESS;
}
