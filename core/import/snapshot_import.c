#include "core/import/snapshot_import.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/instant.h"
#include "core/import/export_manifest.h"
#include "core/import/item_lines.h"
#include "core/import/key_description.h"
#include "core/import/snapshot_writer.h"
#include "core/item/record.h"
#include "core/source/table_description.h"

enum {
    PROCEED_ITEMS = 64, /* between two calls of the caller */
    KEY_SHOWN = 200,    /* bytes of a value in a message */
};

/* An export, or all streams, as one step. */
struct import_step {
    const struct export_manifest *manifest; /* NULL: the streams */
    struct input_folder *folder;            /* borrowed */
};

struct import_run {
    const struct import_options *options;
    struct import_progress *progress;
    struct import_result *result;
    struct error *err;
    struct arena arena;
    struct import_step *steps; /* in the order of their moments */
    size_t step_count;
    bool has_full;        /* the first one is a full state */
    const char *table;    /* NULL: not known yet */
    struct span origin;   /* of the state that increments are added to; may be empty */
    struct span table_id; /* of the exports; empty: not known */
    struct buf description, expiry;
    struct json_doc description_doc;
    const struct table_info *info;
    struct schema_columns columns;
    struct snapshot_writer *writer;
    struct table_state state;
    struct item_row row, keys, old; /* of the line; its keys; its old image */
    struct buf why;
    struct json_doc old_doc;
    bool has_list;         /* a list of items came, perhaps an empty one */
    uint64_t bytes_before; /* of the progress: those of earlier inputs */
    struct buf parts;      /* of a full state: an import_part for each input */
};

/* The first item of an input, and its name. */
struct import_part {
    int64_t first;
    const char *name;
};

void import_result_clean_up(struct import_result *result)
{
    buf_clean_up(&result->table);
    buf_clean_up(&result->indexes);
}

static bool import_run_proceeds(void *arg)
{
    const struct import_run *run = arg;
    return run->options->proceed(run->options->arg);
}

static bool import_run_stop(const struct import_run *run)
{
    return error_set(run->err, ERROR_TIMED_OUT,
                     "the import was interrupted; %s is as it was before", run->options->file);
}

/* Plans. */

static int import_compare_steps(const void *a, const void *b)
{
    const struct export_manifest *first = ((const struct import_step *)a)->manifest;
    const struct export_manifest *second = ((const struct import_step *)b)->manifest;
    int64_t from[] = {first && first->is_incremental ? first->from_ms : INT64_MIN,
                      second && second->is_incremental ? second->from_ms : INT64_MIN};
    return from[0] < from[1] ? -1 : from[0] > from[1];
}

static bool import_take_folder(struct import_run *run, struct input_folder *folder)
{
    struct export_manifest *manifest = arena_alloc(&run->arena, sizeof *manifest);
    if (!manifest)
        return error_no_memory(run->err);
    if (!export_manifest_read(folder, &run->arena, manifest, run->err))
        return false;
    const struct export_manifest *before = run->step_count ? run->steps[0].manifest : NULL;
    if (before && !(span_equal(before->table_arn, manifest->table_arn) &&
                    span_equal(before->table_id, manifest->table_id)))
        return error_set(
            run->err, ERROR_INVALID,
            "%s is of the table %s (%s), and %s of the table %s (%s); import one table, "
            "and another one with --onto",
            manifest->folder, manifest->table_arn.data, manifest->table_id.data, before->folder,
            before->table_arn.data, before->table_id.data);
    run->table_id = manifest->table_id;
    if (!run->table)
        run->table = manifest->table.data;
    for (size_t i = 0; i < manifest->file_count; i++)
        run->progress->items_total += (uint64_t)manifest->files[i].item_count;
    run->steps[run->step_count++] = (struct import_step){manifest, folder};
    return true;
}

static bool import_check_steps(struct import_run *run)
{
    size_t full = 0;
    for (size_t i = 0; i < run->step_count; i++)
        full += !run->steps[i].manifest || !run->steps[i].manifest->is_incremental;
    run->has_full = full == 1;
    if (full > 1)
        return error_set(run->err, ERROR_INVALID,
                         "the sources have several full states of a table; import each one into a "
                         "file of its own, and increments with --onto");
    if (full == 0 && !run->options->onto)
        return error_set(run->err, ERROR_INVALID,
                         "%s is an incremental export, which has changes only; add it to the "
                         "snapshot of the state before: ddbfs import --onto FILE.ddb %s",
                         run->steps[0].manifest->folder, run->steps[0].manifest->folder);
    if (run->options->has_moment && run->steps[0].manifest)
        return error_set(run->err, ERROR_INVALID,
                         "--at has no effect on an export, whose manifest has its moment; omit it");
    return true;
}

static bool import_plan(struct import_run *run)
{
    const struct import_options *options = run->options;
    bool has_streams = false;
    run->table = options->table;
    run->steps = arena_array(&run->arena, options->source_count + 1, sizeof *run->steps);
    if (!run->steps)
        return error_no_memory(run->err);
    for (size_t i = 0; i < options->source_count; i++) {
        if (options->sources[i].folder && !import_take_folder(run, options->sources[i].folder))
            return false;
        has_streams |= !options->sources[i].folder;
    }
    if (has_streams)
        run->steps[run->step_count++] = (struct import_step){0};
    qsort(run->steps, run->step_count, sizeof *run->steps, import_compare_steps);
    return import_check_steps(run);
}

/* Keys. */

static bool import_read_description(struct import_run *run)
{
    if (!input_parse("the description of the table", buf_span(&run->description),
                     &run->description_doc, run->err))
        return false;
    run->info = table_description_read(json_root(&run->description_doc), &run->arena);
    if (run->arena.failed)
        return error_no_memory(run->err);
    if (!run->info)
        return error_set(run->err, ERROR_INVALID,
                         "the description of the table %s is not valid: a key or an index of it "
                         "lacks a name, a type or a projection; use the output of aws dynamodb "
                         "describe-table",
                         run->table ? run->table : "");
    if (!schema_find_columns(run->info, &run->arena, &run->columns) ||
        !item_row_init(&run->row, &run->columns, &run->arena) ||
        !item_row_init(&run->keys, &run->columns, &run->arena) ||
        !item_row_init(&run->old, &run->columns, &run->arena))
        return error_no_memory(run->err);
    return true;
}

/* The name in the file: --table, or that of the export, or that of the description. The id is that
 * of the export. */
static bool import_name_table(struct import_run *run)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0}, renamed = {0};
    if (!input_parse("the description of the table", buf_span(&run->description), &doc, run->err))
        return false;
    json_read_string(json_member(json_root(&doc), "TableName"), &name);
    if (name.failed)
        return error_no_memory(run->err);
    if (!run->table && name.size == 0)
        return error_set(run->err, ERROR_INVALID,
                         "the sources do not name their table; add --table NAME");
    if (!run->table)
        run->table = arena_text(&run->arena, buf_span(&name));
    if (!run->table)
        return error_no_memory(run->err);
    if (!table_name_is_valid(span_text(run->table)))
        return error_set(run->err, ERROR_INVALID,
                         "no table can have the name %s: names have 3 to 255 letters, digits, "
                         "dots, hyphens and underscores; name it: --table NAME",
                         run->table);
    bool is_same = span_is(buf_span(&name), run->table);
    if (is_same && run->table_id.size == 0)
        return true;
    if (!is_same && name.size > 0 && !run->options->table)
        return error_set(run->err, ERROR_INVALID,
                         "the description is of the table %s, and the export of the table %s; use "
                         "the description of %s, or confirm the name: --table %s",
                         buf_text(&name), run->table, run->table, run->table);
    if (!key_description_rename(json_root(&doc), span_text(run->table), run->table_id, &renamed,
                                run->err))
        return false;
    buf_clean_up(&run->description);
    buf_move(&run->description, &renamed);
    return true;
}

/* Lines. */

/* The item of a line of a full state: {"Item": ITEM}, or ITEM, whose key may be named Item. */
static struct json import_find_item(const struct import_run *run, struct json root)
{
    struct json inner = json_member(root, "Item");
    bool wraps = json_count(root) == 1 && json_is(inner, JSON_OBJECT);
    for (size_t i = 0; wraps && i < run->columns.own_count; i++)
        if (span_is(run->columns.list[i].attribute, "Item"))
            wraps = json_present(json_member(inner, "Item"));
    return wraps ? inner : root;
}

static bool import_fail_item(const struct import_run *run, const struct item_lines *lines,
                             const char *part)
{
    return run->why.size > 0
               ? item_lines_fail(lines, run->err, "the %s %s", part, buf_text(&run->why))
               : error_no_memory(run->err);
}

static bool import_add_item(struct import_run *run, const struct item_lines *lines,
                            struct json root)
{
    if (json_present(json_member(root, "Keys")) && json_present(json_member(root, "Metadata")) &&
        json_count(root) <= 4)
        return item_lines_fail(lines, run->err,
                               "is a change of an incremental export; name the folder of the "
                               "export, whose manifest has the window, with --onto");
    if (!item_row_take(&run->row, import_find_item(run, root), &run->why))
        return import_fail_item(run, lines, "item");
    return snapshot_writer_add_item(run->writer, &run->state, &run->row, run->err);
}

/* Whether the old image of a change is the item in the file. */
static bool import_check_old(struct import_run *run, const struct item_lines *lines,
                             struct json old, const struct stored_item *stored)
{
    struct version versions[2];
    if (json_present(old) != stored->exists)
        return item_lines_fail(lines, run->err,
                               stored->exists
                                   ? "the change has no OldImage, but %s has the item; it "
                                     "is not the state before this window"
                                   : "the change has an OldImage, but %s does not have "
                                     "the item; it is not the state before this window",
                               run->options->file);
    if (!stored->exists)
        return true;
    if (!item_row_take(&run->old, old, &run->why))
        return import_fail_item(run, lines, "OldImage");
    json_clean_up(&run->old_doc);
    run->old_doc = (struct json_doc){0};
    if (!input_parse("the item in the snapshot", stored->item, &run->old_doc, run->err))
        return false;
    if (!item_row_take(&run->old, json_root(&run->old_doc), &run->why) && run->why.size > 0)
        return error_set(run->err, ERROR_BAD_ANSWER,
                         "%s has an item that is not valid; ddbfs check examines the file",
                         run->options->file);
    if (!item_version(json_root(&run->old_doc), &versions[0]) || !item_version(old, &versions[1]))
        return error_no_memory(run->err);
    return memcmp(&versions[0], &versions[1], sizeof versions[0]) == 0 ||
           item_lines_fail(lines, run->err,
                           "the OldImage differs from the item in %s; it is not the state before "
                           "this window",
                           run->options->file);
}

static bool import_apply_change(struct import_run *run, const struct item_lines *lines,
                                const struct export_manifest *manifest, struct json root)
{
    struct json keys = json_member(root, "Keys"), item = json_member(root, "NewImage");
    struct json old = json_member(root, "OldImage");
    struct stored_item stored;
    if (!json_is(keys, JSON_OBJECT))
        return item_lines_fail(lines, run->err,
                               "is no change of an incremental export: it has no Keys");
    if (!item_row_take_keys(&run->keys, keys, &run->why))
        return import_fail_item(run, lines, "change");
    if (json_present(item) && !item_row_take(&run->row, item, &run->why))
        return import_fail_item(run, lines, "NewImage");
    if (json_present(item) && !item_row_has_keys(&run->row, &run->keys))
        return item_lines_fail(lines, run->err, "the NewImage has other keys than Keys");
    if (!snapshot_writer_find_item(run->writer, &run->state, &run->keys, &stored, run->err))
        return false;
    if (stored.is_new)
        return item_lines_fail(lines, run->err,
                               "the item was changed by an earlier line of the same window");
    if (manifest->has_old_images && !import_check_old(run, lines, old, &stored))
        return false;
    if (!json_present(item) && !stored.exists)
        return item_lines_fail(lines, run->err,
                               "the change deletes an item that %s does not have; it is not the "
                               "state before this window",
                               run->options->file);
    if (json_present(item) && stored.exists && span_equal(stored.item, run->row.item))
        return true; /* changed and changed back */
    return snapshot_writer_change_item(run->writer, &run->state, &stored,
                                       json_present(item) ? &run->row : NULL, run->err);
}

/* Reads all values of a stream, which is unpacked already. */
static bool import_read_values(struct import_run *run, struct item_lines *lines,
                               const struct export_manifest *manifest)
{
    bool is_change = manifest && manifest->is_incremental;
    for (;;) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        struct span text;
        run->progress->bytes = run->bytes_before + lines->input->position;
        if (lines->count % PROCEED_ITEMS == 0 && !import_run_proceeds(run))
            return import_run_stop(run);
        if (!item_lines_next(lines, &text, run->err))
            return false;
        if (text.size == 0)
            return true;
        if (!item_lines_parse(lines, text, &doc, run->err))
            return false;
        run->progress->items++;
        if (!(is_change ? import_apply_change(run, lines, manifest, json_root(&doc))
                        : import_add_item(run, lines, json_root(&doc))))
            return false;
    }
}

/* Takes over STORED, which may be NULL with the error filled. */
static bool import_read_input(struct import_run *run, struct input *stored,
                              const struct export_manifest *manifest, int64_t item_count)
{
    struct item_lines lines;
    struct input *input = stored ? input_unpack(stored, run->err) : NULL;
    if (!input)
        return false;
    struct import_part part = {run->state.item_count + 1,
                               arena_text(&run->arena, span_text(input->name))};
    buf_add(&run->parts, &part, sizeof part);
    item_lines_init(&lines, input, manifest ? ITEM_LINES_ROWS : ITEM_LINES_UNKNOWN);
    bool ok = import_read_values(run, &lines, manifest);
    if (!ok && manifest && run->err->kind == ERROR_INVALID)
        input_read_rest(stored, &(struct input_watch){import_run_proceeds, run}, run->err);
    run->bytes_before += input->position;
    run->has_list = run->has_list || lines.form == ITEM_LINES_OVER || lines.count > 0;
    if (ok && item_count >= 0 && lines.count != (uint64_t)item_count)
        ok = error_set(run->err, ERROR_INVALID,
                       "%s has %" PRIu64 " items, but the manifest states %" PRId64
                       "; copy the file again",
                       input->name, lines.count, item_count);
    item_lines_clean_up(&lines);
    input_close(input);
    return ok && (!run->parts.failed && part.name ? true : error_no_memory(run->err));
}

static bool import_read_export(struct import_run *run, const struct import_step *step)
{
    const struct export_manifest *manifest = step->manifest;
    for (size_t i = 0; i < manifest->file_count; i++) {
        const struct export_file *file = &manifest->files[i];
        struct input *input = input_folder_open_file(step->folder, file->name, run->err);
        if (!input && run->err->kind == ERROR_NOT_FOUND)
            error_add(run->err, "; the copy of the export is not complete; copy it again");
        if (input)
            input = input_verify(input, file->md5, run->err);
        if (!import_read_input(run, input, manifest, file->item_count))
            return false;
    }
    return true;
}

/* Reads all streams, one after the other, as one state. */
static bool import_read_streams(struct import_run *run)
{
    const struct import_options *options = run->options;
    for (size_t i = 0; i < options->source_count; i++) {
        struct input *stream = options->sources[i].stream;
        options->sources[i].stream = NULL;
        if (stream && !import_read_input(run, stream, NULL, -1))
            return false;
    }
    return run->has_list ||
           error_set(run->err, ERROR_INVALID,
                     "the sources are empty; the command that wrote them may have failed; if the "
                     "table has no items, write them as {\"Items\": []}");
}

/* Whole seconds: moments are names of folders. */
static int64_t import_find_moment(const struct import_options *options)
{
    int64_t newest = INT64_MIN;
    if (options->has_moment)
        return options->at_ms;
    for (size_t i = 0; i < options->source_count; i++) {
        const struct input *stream = options->sources[i].stream;
        int64_t modified = stream && stream->modified_ms ? stream->modified_ms : options->now_ms;
        if (stream && modified > newest)
            newest = modified;
    }
    return newest - newest % 1000;
}

/* Full states. */

static const struct import_part *import_part_with(const struct import_run *run, int64_t number)
{
    const struct import_part *parts = (const void *)run->parts.data;
    size_t i = run->parts.size / sizeof *parts;
    while (i > 1 && parts[i - 1].first > number)
        i--;
    return &parts[i - 1];
}

/* The key of ITEM: pk = "a" and sk = 7 */
static void import_write_key(const struct import_run *run, struct span item, struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct error unread;
    if (!input_parse("the item", item, &doc, &unread))
        return;
    for (size_t i = 0; i < run->columns.own_count; i++) {
        struct span name = run->columns.list[i].attribute;
        enum value_type type = run->columns.list[i].type;
        struct json value =
            json_member(json_member_span(json_root(&doc), name), value_type_name(type));
        struct span raw = json_raw(value);
        if (type == VALUE_N && raw.size > 2)
            raw = span_of(raw.data + 1, raw.size - 2);
        buf_printf(out, "%s%.*s = ", i > 0 ? " and " : "", (int)name.size, name.data);
        buf_add_span(out, span_of(raw.data, raw.size < KEY_SHOWN ? raw.size : KEY_SHOWN));
        buf_add_text(out, raw.size > KEY_SHOWN ? "…" : "");
    }
}

static bool import_end_state(struct import_run *run)
{
    CLEAN_UP(buf_clean_up) struct buf item = {0}, key = {0};
    int64_t first, second;
    run->progress->is_indexing = true;
    if (snapshot_writer_end_state(run->writer, &run->state, &first, &second, &item, run->err))
        return true;
    if (!import_run_proceeds(run))
        return import_run_stop(run);
    if (second == 0)
        return false;
    const struct import_part *a = import_part_with(run, first), *b = import_part_with(run, second);
    import_write_key(run, buf_span(&item), &key);
    return error_set(run->err, ERROR_INVALID,
                     "%s: item %" PRId64 " has the same key as item %" PRId64
                     " of %s: %s; a state of a table has each key once%s",
                     b->name, second - b->first + 1, first - a->first + 1, a->name, buf_text(&key),
                     run->columns.own_count == 1 ? "; if --keys was given, it may lack the sort key"
                                                 : "");
}

static bool import_check_new(struct import_run *run)
{
    struct stored_table stored;
    bool found;
    if (!run->options->onto)
        return true;
    if (!snapshot_writer_find_table(run->writer, run->table, &found, &stored, run->err))
        return false;
    stored_table_clean_up(&stored);
    return !found || error_set(run->err, ERROR_INVALID,
                               "%s already has the table %s; a second full state belongs into a "
                               "file of its own, and --onto adds incremental exports to this one",
                               run->options->file, run->table);
}

static bool import_write_state(struct import_run *run, const struct import_step *step)
{
    const struct export_manifest *manifest = step->manifest;
    const struct schema_table table = {.name = span_text(run->table),
                                       .description = buf_span(&run->description),
                                       .expiry = buf_span(&run->expiry),
                                       .info = run->info};
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    run->state = (struct table_state){.info = run->info, .columns = &run->columns};
    run->state.at_ms = manifest ? manifest->at_ms : import_find_moment(run->options);
    if (manifest)
        buf_add_span(&origin, manifest->arn);
    for (size_t i = 0; !manifest && i < run->options->source_count; i++)
        buf_printf(&origin, "%s%s", i > 0 ? ", " : "", run->options->sources[i].stream->name);
    return import_check_new(run) &&
           snapshot_writer_begin_state(run->writer, &table, &run->state, run->err) &&
           (manifest ? import_read_export(run, step) : import_read_streams(run)) &&
           import_end_state(run) &&
           snapshot_writer_add_moment(run->writer, &run->state, NULL, buf_span(&origin), run->err);
}

/* Windows. */

/* The state, if it comes from an export, must be of the same table. The ARN of an export begins
 * with that of its table. */
static bool import_check_origin(const struct import_run *run,
                                const struct export_manifest *manifest)
{
    const struct span before = SPAN_LITERAL("/export/");
    struct span arn = run->origin;
    const char *end = arn.size ? memmem(arn.data, arn.size, before.data, before.size) : NULL;
    if (!span_starts(arn, SPAN_LITERAL("arn:")) || !end)
        return true;
    arn.size = (size_t)(end - arn.data);
    return span_equal(arn, manifest->table_arn) ||
           error_set(run->err, ERROR_INVALID,
                     "%s is of the table %s, and the state in %s of the table %.*s",
                     manifest->folder, manifest->table_arn.data, run->options->file, (int)arn.size,
                     arn.data);
}

/* The window must begin at the moment that the file has. */
static bool import_check_window(const struct import_run *run,
                                const struct export_manifest *manifest)
{
    CLEAN_UP(buf_clean_up) struct buf from = {0}, to = {0}, at = {0};
    int64_t before = run->state.at_ms;
    if (manifest->from_ms == before)
        return true;
    instant_write_exact(&from, manifest->from_ms);
    instant_write_exact(&to, manifest->at_ms);
    instant_write_exact(&at, before);
    if (manifest->from_ms > before)
        return error_set(
            run->err, ERROR_INVALID,
            "%s has the window %s to %s, but the state before it is of %s; the changes "
            "from %s to %s are missing; export them, and import both",
            manifest->folder, buf_text(&from), buf_text(&to), buf_text(&at), buf_text(&at),
            buf_text(&from));
    if (manifest->at_ms <= before)
        return error_set(
            run->err, ERROR_INVALID,
            "%s has the window %s to %s, which is a part of the state already: that is "
            "of %s; omit this export",
            manifest->folder, buf_text(&from), buf_text(&to), buf_text(&at));
    return error_set(
        run->err, ERROR_INVALID,
        "%s has the window %s to %s, which overlaps the state of %s; export the changes "
        "from %s on",
        manifest->folder, buf_text(&from), buf_text(&to), buf_text(&at), buf_text(&at));
}

static bool import_write_window(struct import_run *run, const struct import_step *step)
{
    const struct export_manifest *manifest = step->manifest;
    if (!import_check_origin(run, manifest) || !import_check_window(run, manifest))
        return false;
    run->state.at_ms = manifest->at_ms;
    run->result->window_count++;
    return snapshot_writer_begin_changes(run->writer, &run->state, run->err) &&
           import_read_export(run, step) &&
           snapshot_writer_add_moment(run->writer, &run->state, &manifest->from_ms, manifest->arn,
                                      run->err);
}

/* A file without the id, or exports without it, may belong together. */
static bool import_check_id(const struct import_run *run)
{
    CLEAN_UP(buf_clean_up) struct buf id = {0};
    struct json stored = json_member(json_root(&run->description_doc), "TableId");
    if (run->table_id.size == 0 || !json_is(stored, JSON_STRING) ||
        json_string_is(stored, run->table_id))
        return true;
    json_read_string(stored, &id);
    return error_set(
        run->err, ERROR_INVALID,
        "%s is of a table with the id %.*s, and the table %s in %s has the id %s: it is "
        "another table, or was deleted and created again; import its full export into "
        "a file of its own",
        run->steps[0].manifest->folder, (int)run->table_id.size, run->table_id.data, run->table,
        run->options->file, buf_text(&id));
}

/* Loads the table that increments belong to. */
static bool import_load_table(struct import_run *run)
{
    struct stored_table stored;
    bool found;
    if (!snapshot_writer_find_table(run->writer, run->table, &found, &stored, run->err))
        return false;
    if (found) {
        buf_clean_up(&run->description);
        buf_move(&run->description, &stored.description);
        run->origin = arena_copy(&run->arena, buf_span(&stored.origin));
        run->state = (struct table_state){.number = stored.number,
                                          .columns = &run->columns,
                                          .at_ms = stored.at_ms,
                                          .item_count = stored.item_count,
                                          .byte_count = stored.byte_count};
    }
    stored_table_clean_up(&stored);
    if (!found)
        return error_set(run->err, ERROR_INVALID,
                         "%s does not have the table %s; import its full export first; if it has "
                         "another name there, add --table NAME",
                         run->options->file, run->table);
    if (!import_read_description(run) || !import_check_id(run))
        return false;
    run->state.info = run->info;
    return true;
}

/* All steps. */

static bool import_prepare(struct import_run *run)
{
    const struct import_options *options = run->options;
    if (!import_plan(run))
        return false;
    if (run->has_full &&
        (!options->describe(options->arg, run->table, &run->description, &run->expiry, run->err) ||
         !import_name_table(run) || !import_read_description(run)))
        return false;
    const struct snapshot_writer_options writer = {.file = options->file,
                                                   .onto = options->onto,
                                                   .replaces = options->replaces,
                                                   .watch = import_run_proceeds,
                                                   .watch_arg = run};
    run->writer = snapshot_writer_new(&writer, run->err);
    return run->writer && (run->has_full || import_load_table(run));
}

static bool import_fill_result(struct import_run *run)
{
    struct import_result *result = run->result;
    buf_add_text(&result->table, run->table);
    for (size_t i = 0; i < run->info->index_count; i++) {
        buf_add_span(&result->indexes, run->info->indexes[i].name);
        buf_add_char(&result->indexes, '\0');
    }
    result->at_ms = run->state.at_ms;
    result->item_count = run->state.item_count;
    result->byte_count = run->state.byte_count;
    return (!result->table.failed && !result->indexes.failed) || error_no_memory(run->err);
}

static bool import_execute(struct import_run *run)
{
    if (!import_prepare(run))
        return false;
    for (size_t i = 0; i < run->step_count; i++) {
        const struct import_step *step = &run->steps[i];
        if (!(i == 0 && run->has_full ? import_write_state(run, step)
                                      : import_write_window(run, step)))
            return false;
    }
    if (!import_run_proceeds(run))
        return import_run_stop(run);
    const char *map = run->options->map;
    if (map && !snapshot_writer_set_fact(run->writer, "map", span_text(map), run->err))
        return false;
    return import_fill_result(run) && snapshot_writer_commit(run->writer, run->err);
}

bool snapshot_import_check_target(const char *file, struct error *err)
{
    return schema_is_in_header(file) ||
           error_set(err, ERROR_INVALID,
                     "%s exists and is no snapshot, and was not changed; the last word names the "
                     "snapshot to write: FILE.ddb",
                     file);
}

bool snapshot_import(const struct import_options *options, struct import_result *result,
                     struct error *err)
{
    struct error unwanted;
    struct import_run run = {.options = options,
                             .progress = options->progress,
                             .result = result,
                             .err = err ? err : &unwanted};
    bool ok = import_execute(&run);
    if (!ok && !options->proceed(options->arg))
        import_run_stop(&run); /* a read or a statement that the signal ended */
    snapshot_writer_destroy(run.writer);
    item_row_clean_up(&run.row);
    item_row_clean_up(&run.keys);
    item_row_clean_up(&run.old);
    buf_clean_up(&run.description);
    buf_clean_up(&run.expiry);
    buf_clean_up(&run.why);
    buf_clean_up(&run.parts);
    json_clean_up(&run.description_doc);
    json_clean_up(&run.old_doc);
    arena_discard(&run.arena);
    return ok;
}
