/* Fuzzing of forms: the elements of an array, as records of a listing. What a form takes, all forms
 * of the same records take; every line of JSONL is JSON, and CSV has as many fields in each row. */
#include <stdint.h>
#include <stdlib.h>

#include "core/output/form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void form_clean_up(struct form **form)
{
    form_destroy(*form);
}

/* Whether the form takes all of ITEMS. */
static bool fill(enum form_kind kind, const struct span *columns, size_t count, struct json items,
                 struct buf *out)
{
    static const char *const names[] = {"pk", "a"};
    static const struct record_view view = {names, 1, names + 1, 1, false};
    const struct form_setting setting = {
        .kind = kind, .view = &view, .columns = columns, .column_count = count, .dated_by = "d"};
    CLEAN_UP(form_clean_up) struct form *form = form_new(&setting);
    struct error err = {0};
    require(form != NULL);
    for (struct json item = json_first(items); json_present(item); item = json_next(item)) {
        size_t before = out->size;
        if (form_add(form, item, out, &err))
            continue;
        require(err.kind == ERROR_BAD_ANSWER && out->size == before);
        return false;
    }
    require(form_end(form, out, NULL, &err) && form_memory(form) > 0);
    return true;
}

static void require_lines(struct span text)
{
    while (text.size > 0) {
        CLEAN_UP(json_clean_up) struct json_doc doc;
        const char *end = memchr(text.data, '\n', text.size);
        require(end != NULL);
        size_t size = (size_t)(end - text.data);
        require(json_parse(&doc, span_of(text.data, size), JSON_STRICT, NULL));
        text = span_from(text, size + 1);
    }
}

/* The fields of the row that *TEXT begins with, which is taken away. */
static size_t take_row(struct span *text)
{
    size_t fields = 1, i = 0;
    bool quoted = false;
    for (; i < text->size && (quoted || text->data[i] != '\n'); i++) {
        quoted = quoted != (text->data[i] == '"');
        fields += !quoted && text->data[i] == ',';
    }
    require(!quoted && i < text->size);
    *text = span_from(*text, i + 1);
    return fields;
}

static void require_rows(struct span text, size_t records)
{
    size_t fields = take_row(&text);
    for (; records > 0; records--)
        require(take_row(&text) == fields);
    require(text.size == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct span columns[] = {{"b", 1}, {"a", 1}};
    CLEAN_UP(json_clean_up) struct json_doc doc;
    if (!json_parse(&doc, span_of((const char *)data, size), JSON_STRICT, NULL) ||
        !json_is(json_root(&doc), JSON_ARRAY))
        return 0;
    struct json items = json_root(&doc);
    CLEAN_UP(buf_clean_up) struct buf lines = {0}, all = {0}, asked = {0}, table = {0};
    CLEAN_UP(buf_clean_up) struct buf count = {0}, summary = {0}, database = {0};
    bool taken = fill(FORM_JSONL, NULL, 0, items, &lines);
    require(fill(FORM_CSV, NULL, 0, items, &all) == taken);
    require(fill(FORM_TABLE, NULL, 0, items, &table) == taken);
    require(fill(FORM_DATABASE, NULL, 0, items, &database) == taken);
    require(!taken || span_starts(buf_span(&database), SPAN_LITERAL("SQLite format 3")));
    if (fill(FORM_CSV, columns, 2, items, &asked))
        require_rows(buf_span(&asked), json_count(items));
    require(fill(FORM_COUNT, NULL, 0, items, &count));
    if (fill(FORM_SUMMARY, NULL, 0, items, &summary)) {
        CLEAN_UP(json_clean_up) struct json_doc told;
        require(json_parse(&told, buf_span(&summary), JSON_STRICT, NULL));
    }
    require_lines(buf_span(&lines));
    if (taken)
        require_rows(buf_span(&all), json_count(items));
    return 0;
}
