#include "fs/cli/check_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/printable.h"
#include "core/import/snapshot_check.h"
#include "core/json/writer.h"

struct checked_snapshot {
    struct app app;
    const char *file;
};

bool check_snapshot_is_meant(const char *file)
{
    static const char magic[] = "SQLite format 3";
    char bytes[sizeof magic] = "";
    struct stat status;
    if (span_ends(span_text(file), SPAN_LITERAL(".ddb")))
        return true;
    if (stat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return false; /* a map in a pipe can be read once */
    FILE *stream = fopen(file, "re");
    bool is_magic = stream && fread(bytes, 1, sizeof bytes, stream) == sizeof bytes &&
                    memcmp(bytes, magic, sizeof magic) == 0;
    if (stream)
        fclose(stream);
    return is_magic;
}

static void check_snapshot_write(const struct checked_snapshot *checked, bool is_proven,
                                 const char *table, const char *text, struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    if (!checked->app.options->json) {
        buf_add_text(out, checked->file);
        if (table)
            buf_printf(out, ": %s", table);
        buf_printf(out, ": %s", text);
        return;
    }
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_add_text(&json, "file", checked->file);
    if (table)
        json_writer_add_text(&json, "table", table);
    json_writer_add_text(&json, is_proven ? "proven" : "text", text);
    json_writer_end(&json);
}

static void check_snapshot_report(void *arg, bool is_proven, const char *table, const char *text)
{
    struct checked_snapshot *checked = arg;
    CLEAN_UP(buf_clean_up) struct buf line = {0}, safe = {0};
    check_snapshot_write(checked, is_proven, table, text, &line);
    if (checked->app.options->json)
        json_add_printable(&safe, buf_span(&line));
    else
        printable_add(&safe, buf_span(&line), "");
    buf_add_char(&safe, '\n');
    fwrite(safe.data, 1, safe.size, stdout);
    if (!is_proven)
        checked->app.status = EXIT_FAILURE;
}

int check_snapshot_run(const struct options *options, const char *file)
{
    struct checked_snapshot checked = {.app = {.options = options}, .file = file};
    struct error err = {0};
    const struct snapshot_check_options how = {file, check_snapshot_report, &checked};
    if (!snapshot_check(&how, &err))
        app_report_error(&checked.app, NULL, &err);
    return checked.app.status;
}
