/* ddbfs init [--yes] TABLE…: the map that ddbfs map prints, shown and written to where commands
 * look for one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "fs/cli/app.h"
#include "fs/cli/consent.h"

/* Where the user's own map is. False when nobody says where the user is at home. */
static bool init_find_file(struct buf *out)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && config[0])
        buf_printf(out, "%s/ddbfs/map.json", config);
    else if (home && home[0])
        buf_printf(out, "%s/.config/ddbfs/map.json", home);
    return out->size > 0 && !out->failed;
}

static void init_report_error(const char *file, const char *what, const char *why)
{
    fflush(stdout);
    fputs("ddbfs: ", stderr);
    app_print_safely(file);
    fprintf(stderr, ": %s%s%s\n", what, why ? ": " : "", why ? why : "");
}

static bool init_read_all(int fd, struct buf *out)
{
    char chunk[8192];
    ssize_t size;
    if (lseek(fd, 0, SEEK_SET) != 0)
        return false;
    while ((size = read(fd, chunk, sizeof chunk)) > 0)
        buf_add(out, chunk, (size_t)size);
    return size == 0 && !out->failed;
}

static void init_print(const struct buf *text)
{
    fputs(buf_text(text), stdout); /* JSON has no NUL */
    fflush(stdout);
}

/* What `ddbfs map` prints, byte for byte, and its exit status. False when there is no room. */
static bool init_draft(const struct options *options, int argc, char **argv, struct buf *out,
                       int *status)
{
    int taken = memfd_create("map", MFD_CLOEXEC), own = dup(STDOUT_FILENO);
    bool ok = taken >= 0 && own >= 0 && fflush(stdout) == 0 && dup2(taken, STDOUT_FILENO) >= 0;
    if (ok) {
        *status = map_draft(options, argc, argv, "init");
        ok = fflush(stdout) == 0 && init_read_all(taken, out);
        ok = dup2(own, STDOUT_FILENO) >= 0 && ok;
    }
    if (taken >= 0)
        close(taken);
    if (own >= 0)
        close(own);
    return ok;
}

/* The folders above FILE, as XDG wants those that are not there yet. */
static void init_make_folders(const char *file)
{
    CLEAN_UP(buf_clean_up) struct buf folder = {0};
    for (const char *at = strchr(file + 1, '/'); at; at = strchr(at + 1, '/')) {
        buf_truncate(&folder, 0);
        buf_add(&folder, file, (size_t)(at - file));
        mkdir(buf_text(&folder), 0700);
    }
}

static bool init_write_all(int fd, struct span text)
{
    while (text.size > 0) {
        ssize_t size = write(fd, text.data, text.size);
        if (size < 0 && errno != EINTR)
            return false;
        if (size > 0)
            text = span_from(text, (size_t)size);
    }
    return fsync(fd) == 0;
}

/* All of it or nothing, and never over a file that is there: a link fails where one is. */
static bool init_write_file(const char *file, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    buf_printf(&name, "%s.XXXXXX", file);
    if (name.failed)
        return errno = ENOMEM, false;
    init_make_folders(file);
    int fd = mkostemp(name.data, O_CLOEXEC);
    bool ok = fd >= 0 && init_write_all(fd, text);
    ok = (fd < 0 || close(fd) == 0) && ok && link(buf_text(&name), file) == 0;
    int why = errno;
    if (fd >= 0)
        unlink(buf_text(&name));
    errno = why;
    return ok;
}

/* Whether --yes, or the person at the terminal, says so. */
static bool init_is_wanted(const struct options *options, const char *file)
{
    if (options->yes)
        return true;
    fputs("ddbfs: this map would be written to ", stderr);
    app_print_safely(file);
    fputc('\n', stderr);
    enum consent consent = consent_request("Write it");
    if (consent != CONSENT_GIVEN)
        init_report_error(file,
                          consent == CONSENT_NOBODY
                              ? "is not written: nobody can be asked; say --yes, which writes it"
                              : "is not written",
                          NULL);
    return consent == CONSENT_GIVEN;
}

/* That commands would take another map than the one that was written. */
static void init_report_written(const char *file)
{
    CLEAN_UP(buf_clean_up) struct buf what = {0};
    const char *first = getenv("DDBFS_MAP");
    buf_add_text(&what, "written; \"ddbfs check\" proves it against the tables");
    if (first && first[0]) {
        buf_add_text(&what, "; but DDBFS_MAP names ");
        printable_add(&what, span_text(first), "");
        buf_add_text(&what, ", which goes first");
    }
    init_report_error(file, buf_text(&what), NULL);
}

static void init_report_not_written(const struct options *options, const char *file, bool drafted)
{
    CLEAN_UP(buf_clean_up) struct buf what = {0};
    buf_add_text(&what, "is not written: ");
    if (options->from && drafted) {
        buf_add_text(&what, "the map is not all that the model says, as is told above; \"ddbfs map "
                            "--from ");
        printable_add(&what, span_text(options->from), "");
        buf_add_text(&what, " … > FILE\" writes it all the same");
    } else {
        buf_add_text(&what, "there is no whole map, as is told above");
    }
    init_report_error(file, buf_text(&what), NULL);
}

static int init_show_and_write(const struct options *options, const char *file,
                               const struct buf *text)
{
    init_print(text);
    if (!init_is_wanted(options, file))
        return EXIT_FAILURE;
    if (!init_write_file(file, buf_span(text))) {
        init_report_error(file, "can't be written", strerror(errno));
        return EXIT_FAILURE;
    }
    init_report_written(file);
    return EXIT_SUCCESS;
}

/* --map is easily taken for the file to be written. */
static void init_report_no_map(const char *map, const char *file)
{
    CLEAN_UP(buf_clean_up) struct buf what = {0};
    buf_add_text(&what, "is not there, and --map names a map to read; init writes to ");
    printable_add(&what, span_text(file), "");
    buf_add_text(&what, ", and \"ddbfs map TABLE… > FILE\" to wherever you say");
    init_report_error(map, buf_text(&what), NULL);
}

int init_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf file = {0}, text = {0};
    struct stat told;
    int status = EXIT_FAILURE;
    if (!init_find_file(&file))
        return app_usage("neither XDG_CONFIG_HOME nor HOME says where a map would be", "init");
    if (options->map && stat(options->map, &told) != 0 && errno == ENOENT) {
        init_report_no_map(options->map, buf_text(&file));
        return EXIT_FAILURE;
    }
    if (lstat(buf_text(&file), &told) == 0) {
        init_report_error(buf_text(&file),
                          "there is one already, which stays; ddbfs map prints another", NULL);
        return EXIT_FAILURE;
    }
    if (!init_draft(options, argc, argv, &text, &status)) {
        init_report_error(buf_text(&file), "can't be written", strerror(errno));
        return EXIT_FAILURE;
    }
    if (status == EXIT_SUCCESS)
        return init_show_and_write(options, buf_text(&file), &text);
    init_print(&text);
    if (status != EXIT_USAGE)
        init_report_not_written(options, buf_text(&file), text.size > 0);
    return status;
}
