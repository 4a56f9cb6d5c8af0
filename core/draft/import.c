#include "core/draft/import.h"

#include "core/draft/declare.h"
#include "core/draft/drafted_paths.h"
#include "core/draft/import_reader.h"

/* A model is of exactly one of these formats. */
static const struct import_format *const formats[] = {
    &data_model_format, &electrodb_format, &onetable_format,
    &toolbox_format,    &workbench_format, NULL,
};

static bool import_is_map(struct json root)
{
    return json_is(json_member(root, "environments"), JSON_OBJECT) &&
           json_is(json_member(root, "tables"), JSON_OBJECT);
}

static bool import_refuse_map(const char *file, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "%s: nothing was imported; this is a map, not a model; pass it to --map, or "
                     "to \"ddbfs check\"",
                     file);
}

/* Sets ERR and returns true if TEXT, in JSON, YAML or HCL, has a mark of a file that describes
 * infrastructure. */
static bool import_refuse_infrastructure(const char *file, struct span text, struct error *err)
{
    static const struct {
        const char *mark, *kind;
    } marks[] = {
        {"AWS::DynamoDB::", "CloudFormation template"},
        {"AWS::Serverless::", "CloudFormation template"},
        {"AWSTemplateFormatVersion", "CloudFormation template"},
        {"aws_dynamodb_table", "Terraform file"},
        {"\"terraform_version\"", "Terraform file"},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (memmem(text.data, text.size, marks[i].mark, strlen(marks[i].mark))) {
            error_set(err, ERROR_INVALID,
                      "%s: nothing was imported; a %s contains no key formats; run \"ddbfs map "
                      "TABLE\", which reads the keys and indexes of the live table",
                      file, marks[i].kind);
            return true;
        }
    return false;
}

/* The one format that recognizes ROOT; else NULL with an error. */
static const struct import_format *import_find_format(const char *file, struct json root,
                                                      struct error *err)
{
    const struct import_format *found = NULL;
    size_t count = 0, listed = 0;
    for (size_t i = 0; formats[i]; i++) {
        if (!formats[i]->recognizes(root))
            continue;
        found = formats[i];
        count++;
    }
    if (count == 1)
        return found;
    if (count == 0 && import_is_map(root)) {
        import_refuse_map(file, err);
        return NULL;
    }
    struct span text = span_of(root.doc->text, root.doc->size);
    if (count == 0 && import_refuse_infrastructure(file, text, err))
        return NULL;
    error_set(err, ERROR_INVALID,
              count
                  ? "%s: nothing was imported; the format is ambiguous; reduce the file to one of:"
                  : "%s: nothing was imported; the format is not known; these can be imported:",
              file);
    for (size_t i = 0; formats[i]; i++)
        if (count == 0 || formats[i]->recognizes(root))
            error_add(err, "%s %s (%s)", listed++ ? ";" : "", formats[i]->name,
                      formats[i]->looks_for);
    return NULL;
}

static bool import_read_model(struct arena *arena, const char *file, const struct json_doc *doc,
                              struct imported *out, struct error *err)
{
    const struct import_format *format = import_find_format(file, json_root(doc), err);
    if (!format)
        return false;
    *out = (struct imported){.format = format->name};
    struct import_reader reader = {.arena = arena,
                                   .doc = doc,
                                   .out = out,
                                   .next_table = &out->tables,
                                   .next_left_out = &out->left_out};
    format->read(&reader, json_root(doc));
    for (struct declared_table **next = &out->tables; *next;)
        if ((*next)->records)
            next = &(*next)->next;
        else
            *next = (*next)->next; /* a map's table has at least one kind of item */
    if (reader.notes > IMPORT_MAX_NOTES) {
        CLEAN_UP(buf_clean_up) struct buf why = {0};
        buf_printf(&why, "%zu more were left out and are not listed",
                   reader.notes - IMPORT_MAX_NOTES);
        struct left_out *note = arena_alloc(arena, sizeof *note);
        if (note)
            *note = (struct left_out){"everywhere", declare_text(arena, &why), NULL};
        *reader.next_left_out = note;
    }
    if (arena->failed)
        return error_no_memory(err);
    if (!out->tables && out->left_out)
        return error_set(err, ERROR_INVALID, "%s: this %s has nothing that can be imported: %s: %s",
                         file, format->name, out->left_out->where, out->left_out->why);
    return out->tables ||
           error_set(err, ERROR_INVALID, "%s: this %s describes no table", file, format->name);
}

bool import_model(struct arena *arena, const char *file, struct span text, struct imported *out,
                  struct error *err)
{
    struct json_doc doc;
    struct json_fault fault = {0};
    if (text.size > IMPORT_MAX_BYTES)
        return error_set(err, ERROR_INVALID, "%s: a model has at most %d MB", file,
                         IMPORT_MAX_BYTES >> 20);
    bool read = json_parse_within(&doc, text, IMPORT_MAX_VALUES, &fault);
    bool done = false;
    if (read) {
        done = import_read_model(arena, file, &doc, out, err);
    } else if (strcmp(fault.what, "out of memory") == 0) {
        error_no_memory(err);
    } else { /* it may be a map, which has comments */
        struct json_doc commented;
        struct json_fault ignored = {0};
        struct json_position at = {0};
        if (json_parse(&commented, text, JSON_COMMENTS, &ignored) &&
            import_is_map(json_root(&commented))) {
            import_refuse_map(file, err);
        } else if (!import_refuse_infrastructure(file, text, err)) {
            json_position_move(&at, &doc, fault.offset);
            error_set(err, ERROR_INVALID, "%s:%u:%u: this is not JSON: %s", file, at.lines + 1,
                      at.characters + 1, fault.what);
        }
        json_clean_up(&commented);
    }
    json_clean_up(&doc);
    return done;
}

/* One name for one part. Kinds may have the same format of the table's partition key with other
 * names of its parts: "account#{id}" and "account#{accountId}". Items of these kinds share
 * partitions, so that each such part gets one name, unless some kind has that name elsewhere. */

/* A part of the partition keys of all kinds that have the same format as FIRST. */
struct shared_part {
    struct declared_table *table;
    struct declared_record *first;
    size_t piece;
};

/* The part's name in KIND; NULL when the kind's partition key has another format. */
static const char *import_find_part(const struct shared_part *part,
                                    const struct declared_record *kind)
{
    const struct format *format = &kind->keys[0].format;
    return format_alike(&part->first->keys[0].format, format) ? format->pieces[part->piece].param
                                                              : NULL;
}

/* Counts the pieces of FORMAT that are the part NAME, and renames them unless RENAMED is NULL. */
static size_t import_rename_in_format(struct format *format, const char *name, const char *renamed)
{
    size_t count = 0;
    for (size_t i = 0; i < format->count; i++) {
        const char **param = &format->pieces[i].param;
        if (!*param || strcmp(*param, name) != 0)
            continue;
        count++;
        *param = renamed ? renamed : *param;
    }
    return count;
}

/* The same in KIND's formats of an index's keys. The key's common format is a whole key of the
 * table, which is not counted. */
static size_t import_rename_in_index(struct declared_key *keys, size_t key_count,
                                     const struct declared_record *kind, const char *name,
                                     const char *renamed)
{
    size_t count = 0;
    for (size_t i = 0; i < key_count; i++) {
        struct declared_kind_format *each = keys[i].by_kind;
        while (each && strcmp(each->kind, kind->name) != 0)
            each = each->next;
        if (each)
            count += import_rename_in_format(&each->format, name, renamed);
    }
    return count;
}

/* The same in all keys of KIND. */
static size_t import_rename_in_kind(const struct declared_table *table,
                                    struct declared_record *kind, const char *name,
                                    const char *renamed)
{
    size_t count = 0;
    for (size_t i = 0; i < kind->key_count; i++)
        count += import_rename_in_format(&kind->keys[i].format, name, renamed);
    for (struct declared_index *index = table->indexes; index; index = index->next)
        count +=
            import_rename_in_index(index->partition, index->partition_count, kind, name, renamed) +
            import_rename_in_index(index->sort, index->sort_count, kind, name, renamed);
    return count;
}

/* Whether the table declares a parameter called NAME, which holds for all parts of that name. */
static bool import_has_param(const struct declared_table *table, const char *name)
{
    for (const struct declared_param *each = table->params; each; each = each->next)
        if (strcmp(each->name, name) == 0)
            return true;
    return false;
}

/* The first name of the part that suits all kinds; NULL when no name does. */
static const char *import_choose_name(const struct shared_part *part)
{
    const char *name = NULL;
    for (struct declared_record *kind = part->first; kind && !name; kind = kind->next) {
        name = import_find_part(part, kind);
        for (struct declared_record *other = part->first; name && other; other = other->next) {
            const char *own = import_find_part(part, other);
            if (own && strcmp(own, name) != 0 &&
                (import_rename_in_kind(part->table, other, name, NULL) > 0 ||
                 import_has_param(part->table, own) || import_has_param(part->table, name)))
                name = NULL;
        }
    }
    return name;
}

/* Gives each such part one name in all kinds, if some name suits, and notes the model's own name.
 */
static void import_merge_parts(struct arena *arena, struct declared_table *table)
{
    for (struct declared_record *first = table->records; first; first = first->next) {
        const struct declared_record *before = table->records;
        while (before != first && !format_alike(&before->keys[0].format, &first->keys[0].format))
            before = before->next;
        if (first->key_count == 0 || before != first)
            continue;
        for (size_t i = 0; i < first->keys[0].format.count; i++) {
            const struct shared_part part = {table, first, i};
            const char *name =
                first->keys[0].format.pieces[i].param ? import_choose_name(&part) : NULL;
            for (struct declared_record *kind = first; kind && name; kind = kind->next) {
                CLEAN_UP(buf_clean_up) struct buf note = {0};
                const char *own = import_find_part(&part, kind);
                if (!own || strcmp(own, name) == 0)
                    continue;
                import_rename_in_kind(table, kind, own, name);
                buf_printf(&note, "%s%sThe model's name of {%s} in these keys is {%s}.",
                           kind->note ? kind->note : "", kind->note ? " " : "", name, own);
                kind->note = declare_text(arena, &note);
            }
        }
    }
}

bool import_draft_map(struct arena *arena, const char *file, const struct imported *imported,
                      const char *more, struct declared_map *map)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    buf_printf(&note,
               "A first map, to be edited, imported from %s (%s). docs/map.md describes each "
               "member; \"ddbfs check\" compares the map with the tables.",
               file, imported->format);
    buf_add_text(&note, imported->left_out ? "\nNot all of the model could be imported. Left out:"
                                           : "\nAll of the model was imported.");
    for (const struct left_out *each = imported->left_out; each; each = each->next)
        buf_printf(&note, "\n- %s: %s", each->where, each->why);
    if (more && more[0])
        buf_printf(&note, "\nThe live tables differ:\n%s", more);
    *map = (struct declared_map){.note = declare_text(arena, &note), .tables = imported->tables};
    bool ok = !arena->failed;
    for (struct declared_table *table = map->tables; table && ok; table = table->next) {
        if (!table->note && strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0)
            table->note = "The model does not contain the table's name: write it here.";
        import_reader_finish_secrets(arena, table);
        if (!table->paths) /* imported paths have the model's names of parts */
            import_merge_parts(arena, table);
        ok = drafted_paths_add(arena, table);
    }
    return ok;
}
