#include "core/import/export_manifest.h"

#include <inttypes.h>

#include "core/base/instant.h"
#include "core/import/item_lines.h"
#include "core/item/typed.h"
#include "core/json/json.h"

enum { MANIFEST_MOST = 1 << 20 /* bytes of a summary or a checksum */ };

struct manifest_reader {
    struct input_folder *folder;
    struct arena *arena;
    struct export_manifest *out;
    struct error *err;
    struct span folder_key; /* the key of the export's folder, ended by a slash; may be empty */
    struct span prefix;     /* of the bucket, without a slash at its end */
};

static struct input *manifest_open_file(const struct manifest_reader *reader, const char *name,
                                        const char *ending, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf file = {0};
    buf_printf(&file, "%s%s", name, ending);
    if (!file.failed)
        return input_folder_open_file(reader->folder, buf_text(&file), err);
    error_no_memory(err);
    return NULL;
}

/* Opens the checksum of the manifest NAME; NULL without an error: it has no such file. */
static struct input *manifest_open_checksum(const struct manifest_reader *reader, const char *name)
{
    static const char *const endings[] = {".md5", ".checksum"};
    struct input *input = NULL;
    for (size_t i = 0; !input && i < sizeof endings / sizeof endings[0]; i++) {
        struct error why;
        input = manifest_open_file(reader, name, endings[i], &why);
        if (!input && why.kind != ERROR_NOT_FOUND) {
            *reader->err = why;
            return NULL;
        }
    }
    return input;
}

/* Opens NAME.json, which is compared with its checksum at its end. NULL with ERR filled. */
static struct input *manifest_open(const struct manifest_reader *reader, const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    *reader->err = (struct error){0};
    struct input *checksum = manifest_open_checksum(reader, name);
    if (reader->err->kind)
        return NULL;
    bool ok = !checksum || input_read_all(checksum, MANIFEST_MOST, &text, reader->err);
    input_close(checksum);
    if (!ok)
        return NULL;
    while (text.size > 0 && strchr(" \r\n\t", text.data[text.size - 1]))
        buf_truncate(&text, text.size - 1);
    struct input *input = manifest_open_file(reader, name, ".json", reader->err);
    if (!input || text.size == 0)
        return input;
    return input_verify(input, buf_span(&text), reader->err);
}

static struct span manifest_text(const struct manifest_reader *reader, struct json object,
                                 const char *name)
{
    struct span text = span_text("");
    struct json member = json_member(object, name);
    if (json_is(member, JSON_STRING))
        typed_text(member, reader->arena, &text);
    return arena_copy(reader->arena, text);
}

static bool manifest_fail(const struct manifest_reader *reader, const char *text)
{
    if (reader->arena->failed)
        return error_no_memory(reader->err);
    return error_set(reader->err, ERROR_INVALID, "%s/manifest-summary.json %s",
                     reader->folder->name, text);
}

static bool manifest_read_time(const struct manifest_reader *reader, struct json summary,
                               const char *name, int64_t *out)
{
    struct span text = manifest_text(reader, summary, name);
    struct instant instant = instant_parse(text);
    if (reader->arena->failed)
        return error_no_memory(reader->err);
    *out = instant.ms;
    if (!instant.known)
        error_set(reader->err, ERROR_INVALID,
                  "%s/manifest-summary.json has no valid %s: \"%.*s\" is no time",
                  reader->folder->name, name, (int)(text.size < 80 ? text.size : 80), text.data);
    return instant.known;
}

/* "arn:aws:dynamodb:eu-west-1:123456789012:table/Orders". */
static struct span manifest_table_of(struct span arn)
{
    const struct span before = SPAN_LITERAL(":table/");
    const char *at = arn.size ? memmem(arn.data, arn.size, before.data, before.size) : NULL;
    if (!at)
        return span_text("");
    struct span name = span_from(arn, (size_t)(at - arn.data) + before.size);
    const char *end = memchr(name.data, '/', name.size);
    return span_of(name.data, end ? (size_t)(end - name.data) : name.size);
}

static bool manifest_read_moments(const struct manifest_reader *reader, struct json summary)
{
    struct export_manifest *out = reader->out;
    struct span type = manifest_text(reader, summary, "exportType");
    struct span view = manifest_text(reader, summary, "outputView");
    out->is_incremental = span_is(type, "INCREMENTAL_EXPORT");
    if (type.size > 0 && !out->is_incremental && !span_is(type, "FULL_EXPORT"))
        return manifest_fail(reader, "has an exportType that is not known; install a newer ddbfs");
    if (!out->is_incremental)
        return manifest_read_time(reader, summary, "exportTime", &out->at_ms);
    out->has_old_images = span_is(view, "NEW_AND_OLD_IMAGES");
    if (!out->has_old_images && !span_is(view, "NEW_IMAGE") && !span_is(view, "NEW_IMAGES"))
        return manifest_fail(reader, "has an outputView that is not known; install a newer ddbfs");
    if (!manifest_read_time(reader, summary, "exportFromTime", &out->from_ms) ||
        !manifest_read_time(reader, summary, "exportToTime", &out->at_ms))
        return false;
    return out->from_ms < out->at_ms ||
           manifest_fail(reader, "has a window that ends before it begins");
}

static bool manifest_read_count(struct json value, int64_t *out)
{
    return json_read_int(value, out) && *out >= 0;
}

static bool manifest_take_summary(struct manifest_reader *reader, struct json summary)
{
    struct export_manifest *out = reader->out;
    struct span format = manifest_text(reader, summary, "outputFormat");
    struct span key = manifest_text(reader, summary, "manifestFilesS3Key");
    if (span_is(format, "ION"))
        return manifest_fail(reader,
                             "states the format ION, which is not read; export the table again "
                             "with --export-format DYNAMODB_JSON");
    if (!span_is(format, "DYNAMODB_JSON"))
        return manifest_fail(reader, "has no outputFormat DYNAMODB_JSON; it is no summary of an "
                                     "export of a table");
    out->arn = manifest_text(reader, summary, "exportArn");
    out->table_arn = manifest_text(reader, summary, "tableArn");
    out->table = manifest_table_of(out->table_arn);
    out->table_id = manifest_text(reader, summary, "tableId");
    if (out->table.size == 0)
        return manifest_fail(reader, "has no tableArn, so the table is not known");
    if (!manifest_read_count(json_member(summary, "itemCount"), &out->item_count))
        return manifest_fail(reader, "has no valid itemCount, so that missing items would not be "
                                     "noticed; copy the export again, or, to import the items of a "
                                     "full export unverified, name its data files");
    reader->prefix = manifest_text(reader, summary, "s3Prefix");
    while (reader->prefix.size > 0 && reader->prefix.data[reader->prefix.size - 1] == '/')
        reader->prefix.size--;
    const char *slash = key.size ? memrchr(key.data, '/', key.size) : NULL;
    reader->folder_key = span_of(key.data, slash ? (size_t)(slash - key.data) + 1 : 0);
    return manifest_read_moments(reader, summary);
}

static bool manifest_read_summary(struct manifest_reader *reader)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, name = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    buf_printf(&name, "%s/manifest-summary.json", reader->folder->name);
    struct input *input = manifest_open(reader, "manifest-summary");
    if (!input && reader->err->kind == ERROR_NOT_FOUND)
        return error_set(reader->err, ERROR_INVALID,
                         "%s is no export: it has no manifest-summary.json; name the folder of one "
                         "export, or, to import data files without their manifests, the files",
                         reader->folder->name);
    bool ok = input && input_read_all(input, MANIFEST_MOST, &text, reader->err);
    input_close(input);
    if (!ok)
        return false;
    if (!input_parse(buf_text(&name), buf_span(&text), &doc, reader->err))
        return false;
    return manifest_take_summary(reader, json_root(&doc));
}

/* Sets OUT to what follows BEFORE in KEY. */
static bool manifest_strip(struct span key, struct span before, struct span *out)
{
    if (before.size == 0 || !span_starts(key, before))
        return false;
    *out = span_from(key, before.size);
    return true;
}

/* The name of the file KEY in the export's folder. Keys, and that of the folder, are written with
 * or without the bucket's prefix. */
static struct span manifest_name_of(const struct manifest_reader *reader, struct span key)
{
    const struct span data = SPAN_LITERAL("/data/");
    struct span folder = reader->folder_key, bare_folder = folder, bare_key = key, name = key;
    if (manifest_strip(bare_key, reader->prefix, &bare_key) &&
        span_starts(bare_key, span_text("/")))
        bare_key = span_from(bare_key, 1);
    else
        bare_key = key;
    if (manifest_strip(bare_folder, reader->prefix, &bare_folder) &&
        span_starts(bare_folder, span_text("/")))
        bare_folder = span_from(bare_folder, 1);
    else
        bare_folder = folder;
    if (manifest_strip(key, folder, &name) || manifest_strip(bare_key, bare_folder, &name) ||
        manifest_strip(key, bare_folder, &name) || manifest_strip(bare_key, folder, &name))
        return name;
    for (size_t at = key.size; at-- > 0;)
        if (span_starts(span_from(key, at), data))
            return span_from(key, at + 1);
    return key;
}

/* A relative path without "..", which stays in the folder. */
static bool manifest_is_inside(struct span name)
{
    struct span left = name;
    if (name.size == 0 || name.data[0] == '/' || memchr(name.data, '\0', name.size))
        return false;
    while (left.size > 0) {
        const char *slash = memchr(left.data, '/', left.size);
        size_t size = slash ? (size_t)(slash - left.data) : left.size;
        if (span_is(span_of(left.data, size), ".."))
            return false;
        left = span_from(left, size + (slash != NULL));
    }
    return true;
}

static bool manifest_take_file(const struct manifest_reader *reader, struct item_lines *lines,
                               struct span text, struct export_file *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!item_lines_parse(lines, text, &doc, reader->err))
        return false;
    struct json root = json_root(&doc);
    struct span key = manifest_text(reader, root, "dataFileS3Key");
    struct span name = manifest_name_of(reader, key);
    if (reader->arena->failed)
        return error_no_memory(reader->err);
    if (!manifest_is_inside(name))
        return item_lines_fail(lines, reader->err, "has no valid dataFileS3Key");
    out->md5 = manifest_text(reader, root, "md5Checksum");
    out->name = arena_text(reader->arena, name);
    if (out->md5.size == 0 ||
        !manifest_read_count(json_member(root, "itemCount"), &out->item_count))
        return item_lines_fail(
            lines, reader->err,
            "has no md5Checksum or no valid itemCount, so that damage of %s would "
            "not be noticed; copy the export again, or, to import the items of a "
            "full export unverified, name its data files",
            out->name ? out->name : "the file");
    return !reader->arena->failed || error_no_memory(reader->err);
}

static bool manifest_take_files(struct manifest_reader *reader, struct item_lines *lines)
{
    CLEAN_UP(buf_clean_up) struct buf files = {0};
    for (;;) {
        struct span text;
        struct export_file file = {0};
        if (!item_lines_next(lines, &text, reader->err))
            return false;
        if (text.size == 0)
            break;
        if (!manifest_take_file(reader, lines, text, &file))
            return false;
        buf_add(&files, &file, sizeof file);
        reader->out->file_count++;
    }
    reader->out->files =
        arena_array(reader->arena, reader->out->file_count, sizeof(struct export_file));
    if (files.failed || !reader->out->files)
        return error_no_memory(reader->err);
    if (files.size > 0)
        memcpy(reader->out->files, files.data, files.size);
    return true;
}

static bool manifest_read_files(struct manifest_reader *reader)
{
    struct item_lines lines;
    struct input *input = manifest_open(reader, "manifest-files");
    if (!input && reader->err->kind == ERROR_NOT_FOUND)
        error_add(reader->err, "; the copy of the export is not complete");
    if (!input)
        return false;
    item_lines_init(&lines, input, ITEM_LINES_ROWS);
    bool ok = manifest_take_files(reader, &lines);
    if (!ok && reader->err->kind == ERROR_INVALID)
        input_read_rest(input, NULL, reader->err);
    item_lines_clean_up(&lines);
    input_close(input);
    return ok;
}

/* The counts of all files are that of the export. */
static bool manifest_check_counts(const struct manifest_reader *reader)
{
    const struct export_manifest *out = reader->out;
    int64_t sum = 0;
    for (size_t i = 0; i < out->file_count; i++) {
        bool fits = out->files[i].item_count <= INT64_MAX - sum;
        sum = fits ? sum + out->files[i].item_count : INT64_MAX;
    }
    if (sum == out->item_count)
        return true;
    return error_set(reader->err, ERROR_INVALID,
                     "%s: manifest-summary.json states %" PRId64
                     " items, but the files of manifest-files.json have %" PRId64
                     "; copy the export again",
                     reader->folder->name, out->item_count, sum);
}

bool export_manifest_read(struct input_folder *folder, struct arena *arena,
                          struct export_manifest *out, struct error *err)
{
    struct error unwanted;
    struct manifest_reader reader = {
        .folder = folder, .arena = arena, .out = out, .err = err ? err : &unwanted};
    *out = (struct export_manifest){.folder = arena_text(arena, span_text(folder->name))};
    bool ok = manifest_read_summary(&reader) && manifest_read_files(&reader) &&
              manifest_check_counts(&reader);
    return ok && (!arena->failed || error_no_memory(err));
}
