/* Drafts as a filter: one table a line in, as {"table": a map's table, "items": [typed items]};
 * out, one line of JSON: the formats of its kinds and indexes as they are inferred, or the line
 * "error".
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/draft/infer.h"
#include "core/map/compile.h"
#include "core/map/table_members.h"

static void free_line(char **line)
{
    free(*line);
}

static void write_member(struct buf *out, const char *name, const struct format *format)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    format_write(format, &text);
    if (out->data[out->size - 1] != '{')
        buf_add_char(out, ',');
    json_write_string(out, span_text(name));
    buf_add_char(out, ':');
    json_write_string(out, buf_span(&text));
}

static void begin_object(struct buf *out, const char *name)
{
    if (out->data[out->size - 1] != '{')
        buf_add_char(out, ',');
    json_write_string(out, span_text(name));
    buf_add_text(out, ":{");
}

static void write_index_key(struct buf *out, const struct declared_key *key)
{
    begin_object(out, key->attribute);
    if (!key->by_kind)
        write_member(out, "", &key->format);
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next)
        write_member(out, each->kind, &each->format);
    buf_add_char(out, '}');
}

static void write_table(struct buf *out, const struct declared_table *table)
{
    buf_add_text(out, "{\"records\":{");
    for (const struct declared_record *each = table->records; each; each = each->next) {
        begin_object(out, each->name);
        for (size_t i = 0; i < each->key_count; i++)
            write_member(out, each->keys[i].attribute, &each->keys[i].format);
        buf_add_char(out, '}');
    }
    buf_add_text(out, "},\"indexes\":{");
    for (const struct declared_index *each = table->indexes; each; each = each->next) {
        begin_object(out, each->name);
        for (size_t i = 0; i < each->partition_count; i++)
            write_index_key(out, &each->partition[i]);
        for (size_t i = 0; i < each->sort_count; i++)
            write_index_key(out, &each->sort[i]);
        buf_add_char(out, '}');
    }
    buf_printf(out, "},\"separator\":\"%c\"}", table->separator);
}

static void inference_clean_up(struct inference **inference)
{
    inference_destroy(*inference);
}

static bool draft(struct json line, struct arena *arena, struct buf *out)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(inference_clean_up) struct inference *inference = NULL;
    struct map_reader reader = {.arena = arena, .findings = &findings};
    struct declared_table *described = NULL;
    buf_add_text(&text, "{\"t\":");
    buf_add_span(&text, json_raw(json_member(line, "table")));
    buf_add_char(&text, '}');
    if (!json_parse(&reader.doc, buf_span(&text), JSON_STRICT, NULL))
        return false;
    doc = reader.doc;
    if (!map_read_tables(&reader, json_root(&reader.doc), &described) ||
        !(inference = inference_new(described)))
        return false;
    if (findings.count > 0 || !described->records) {
        fprintf(stderr, "drafts: %s\n", findings.count ? findings.items[0].text : "no records");
        return false;
    }
    struct json item = json_first(json_member(line, "items"));
    for (; json_present(item); item = json_next(item))
        if (!inference_add(inference, item))
            return false;
    const struct declared_table *made = inference_end(inference, arena);
    const struct model *model = made ? compile_table(made, &findings) : NULL;
    if (model)
        write_table(out, made);
    else if (findings.count > 0)
        fprintf(stderr, "drafts: %s\n", findings.items[0].text);
    model_unref(model);
    return model;
}

int main(void)
{
    CLEAN_UP(free_line) char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    while ((size = getline(&line, &capacity, stdin)) >= 0) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        CLEAN_UP(arena_clean_up) struct arena arena = {0};
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        bool drafted = json_parse(&doc, span_of(line, (size_t)size), JSON_STRICT, NULL) &&
                       draft(json_root(&doc), &arena, &out);
        puts(drafted ? buf_text(&out) : "error");
    }
    return 0;
}
