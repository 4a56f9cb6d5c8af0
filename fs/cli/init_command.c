/* ddbfs init [--yes] TABLE…: prints the same as ddbfs map, and writes it to the default location.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "fs/cli/app.h"
#include "fs/cli/prompt.h"

/* The user's map. False without XDG_CONFIG_HOME and HOME. */
static bool init_find_file(struct buf *out)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && config[0])
        buf_printf(out, "%s/ddbfs/map.json", config);
    else if (home && home[0])
        buf_printf(out, "%s/.config/ddbfs/map.json", home);
    return out->size > 0 && !out->failed;
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

/* Captures the standard output of `ddbfs map`, and its exit status. False with errno. */
static bool init_draft(const struct options *options, int argc, char **argv, struct buf *out,
                       int *status)
{
    int copy = memfd_create("map", MFD_CLOEXEC), own = dup(STDOUT_FILENO);
    bool ok = copy >= 0 && own >= 0 && fflush(stdout) == 0 && dup2(copy, STDOUT_FILENO) >= 0;
    if (ok) {
        *status = map_draft(options, argc, argv, "init");
        ok = fflush(stdout) == 0 && init_read_all(copy, out);
        ok = dup2(own, STDOUT_FILENO) >= 0 && ok;
    }
    if (copy >= 0)
        close(copy);
    if (own >= 0)
        close(own);
    return ok;
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

/* Creates FILE as a whole, or not at all, and the folders above it with the mode that XDG requires.
 * link() fails if FILE exists. */
static bool init_write_file(const char *file, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, folder = {0};
    buf_printf(&name, "%s.XXXXXX", file);
    if (name.failed)
        return errno = ENOMEM, false;
    for (const char *at = strchr(file + 1, '/'); at; at = strchr(at + 1, '/')) {
        buf_truncate(&folder, 0);
        buf_add(&folder, file, (size_t)(at - file));
        mkdir(buf_text(&folder), 0700);
    }
    int fd = mkostemp(name.data, O_CLOEXEC);
    bool ok = fd >= 0 && init_write_all(fd, text);
    ok = (fd < 0 || close(fd) == 0) && ok && link(buf_text(&name), file) == 0;
    int why = errno;
    if (fd >= 0)
        unlink(buf_text(&name));
    errno = why;
    return ok;
}

static bool init_confirm(const struct options *options, const char *file)
{
    if (options->yes)
        return true;
    fputs("ddbfs: this map would be written to ", stderr);
    app_print_safely(file);
    fputc('\n', stderr);
    enum prompt_consent consent = prompt_for_consent("Write it");
    if (consent == PROMPT_NO_TERMINAL)
        app_fail(file, "was not written: no terminal can confirm it; pass --yes to write it");
    else if (consent == PROMPT_REFUSED)
        app_fail(file, "was not written");
    return consent == PROMPT_AGREED;
}

/* Prints the map, and writes it if the user agrees. Returns an exit status. */
static int init_write(const struct options *options, const char *file, const struct buf *text)
{
    CLEAN_UP(buf_clean_up) struct buf done = {0};
    const char *other = getenv("DDBFS_MAP");
    fputs(buf_text(text), stdout); /* JSON has no NUL */
    fflush(stdout);
    if (!init_confirm(options, file))
        return EXIT_FAILURE;
    if (!init_write_file(file, buf_span(text))) {
        buf_printf(&done, "was not written: %s", strerror(errno));
        return app_fail(file, buf_text(&done));
    }
    buf_add_text(&done, "was written; \"ddbfs check\" compares it with the tables");
    if (other && other[0]) {
        buf_add_text(&done, "; but DDBFS_MAP names ");
        printable_add(&done, span_text(other), "");
        buf_add_text(&done, ", which takes precedence");
    }
    app_fail(file, buf_text(&done));
    return EXIT_SUCCESS;
}

/* Prints the map, which is incomplete. */
static void init_refuse(const struct options *options, const char *file, const struct buf *text)
{
    CLEAN_UP(buf_clean_up) struct buf why = {0};
    fputs(buf_text(text), stdout);
    if (options->from && text->size > 0) {
        buf_add_text(&why, "was not written: parts of the model were not imported (see above); to "
                           "write the map without them: ddbfs map --from ");
        printable_add(&why, span_text(options->from), "");
        buf_add_text(&why, " … > FILE");
    } else {
        buf_add_text(&why, "was not written: the map is incomplete (see above)");
    }
    app_fail(file, buf_text(&why));
}

int init_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf file = {0}, text = {0}, why = {0};
    struct stat ignored;
    int status = EXIT_FAILURE;
    if (!init_find_file(&file))
        return app_usage("XDG_CONFIG_HOME and HOME are not set; a map has no default location",
                         "init");
    if (options->map && stat(options->map, &ignored) != 0 && errno == ENOENT) {
        /* The user may mean the file to write. */
        buf_add_text(&why, "was not found, and --map names a map to read; init writes to ");
        printable_add(&why, buf_span(&file), "");
        buf_add_text(&why, "; another file: ddbfs map TABLE… > FILE");
        return app_fail(options->map, buf_text(&why));
    }
    if (lstat(buf_text(&file), &ignored) == 0)
        return app_fail(buf_text(&file),
                        "exists already, and was not changed; ddbfs map prints another map");
    if (!init_draft(options, argc, argv, &text, &status)) {
        buf_printf(&why, "was not written: %s", strerror(errno));
        return app_fail(buf_text(&file), buf_text(&why));
    }
    if (status == EXIT_SUCCESS)
        return init_write(options, buf_text(&file), &text);
    if (status == EXIT_USAGE)
        fputs(buf_text(&text), stdout);
    else
        init_refuse(options, buf_text(&file), &text);
    return status;
}
