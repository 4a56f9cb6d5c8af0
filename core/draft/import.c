#include "core/draft/import.h"

#include "core/draft/import_data_model.h"
#include "core/draft/import_electrodb.h"
#include "core/draft/import_onetable.h"
#include "core/draft/import_toolbox.h"
#include "core/draft/import_workbench.h"

/* Every format that is known: a model is of exactly one of them. */
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
                     "%s: this is a map already, and no model: give it with --map, or to "
                     "\"ddbfs check\"",
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

/* The format that recognises ROOT; NULL with an error when none does, or several do. */
static const struct import_format *import_recognise(const char *file, struct json root,
                                                    struct error *err)
{
    const struct import_format *found = NULL;
    size_t count = 0;
    for (size_t i = 0; formats[i]; i++) {
        if (!formats[i]->recognises(root))
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
              count ? "%s: this could be more than one model: make it one of"
                    : "%s: this is no model that can be imported; these can:",
              file);
    for (size_t i = 0, told = 0; formats[i]; i++)
        if (count == 0 || formats[i]->recognises(root))
            error_add(err, "%s %s (%s)", told++ ? ";" : "", formats[i]->name,
                      formats[i]->looks_for);
    return NULL;
}

/* A table of a map has kinds of record. */
static void import_drop_empty_tables(struct imported *out)
{
    struct declared_table **next = &out->tables;
    while (*next)
        if ((*next)->records)
            next = &(*next)->next;
        else
            *next = (*next)->next;
}

/* That some notes were not kept is itself one. */
static void import_count_notes(struct import_reader *reading)
{
    if (reading->notes <= IMPORT_MAX_NOTES)
        return;
    CLEAN_UP(buf_clean_up) struct buf why = {0};
    buf_printf(&why, "%zu more were left out, which are not listed",
               reading->notes - IMPORT_MAX_NOTES);
    struct left_out *note = arena_alloc(reading->arena, sizeof *note);
    if (note)
        *note = (struct left_out){"everywhere", arena_text(reading->arena, buf_span(&why)), NULL};
    *reading->next_left_out = note;
}

static bool import_read_model(struct arena *arena, const char *file, const struct json_doc *doc,
                              struct imported *out, struct error *err)
{
    const struct import_format *format = import_recognise(file, json_root(doc), err);
    if (!format)
        return false;
    *out = (struct imported){.format = format->name};
    struct import_reader reading = {.arena = arena,
                                    .doc = doc,
                                    .out = out,
                                    .next_table = &out->tables,
                                    .next_left_out = &out->left_out};
    format->read(&reading, json_root(doc));
    import_drop_empty_tables(out);
    import_count_notes(&reading);
    if (arena->failed)
        return error_no_memory(err);
    if (!out->tables && out->left_out)
        return error_set(err, ERROR_INVALID, "%s: this %s has nothing that can be imported: %s: %s",
                         file, format->name, out->left_out->where, out->left_out->why);
    return out->tables ||
           error_set(err, ERROR_INVALID, "%s: this %s describes no table", file, format->name);
}

/* What no strict JSON is may be a map, which has comments. */
static bool import_is_map_text(struct span text)
{
    struct json_doc doc;
    struct json_fault fault = {0};
    bool map = json_parse(&doc, text, JSON_COMMENTS, &fault) && import_is_map(json_root(&doc));
    json_clean_up(&doc);
    return map;
}

static bool import_refuse_text(const char *file, struct span text, const struct json_doc *doc,
                               const struct json_fault *fault, struct error *err)
{
    struct json_position at = {0};
    if (import_is_map_text(text))
        return import_refuse_map(file, err);
    if (import_refuse_infrastructure(file, text, err))
        return false;
    json_position_move(&at, doc, fault->offset);
    return error_set(err, ERROR_INVALID, "%s:%u:%u: this is no JSON: %s", file, at.lines + 1,
                     at.characters + 1, fault->what);
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
    if (read)
        done = import_read_model(arena, file, &doc, out, err);
    else if (strcmp(fault.what, "out of memory") == 0)
        error_no_memory(err);
    else
        import_refuse_text(file, text, &doc, &fault, err);
    json_clean_up(&doc);
    return done;
}
