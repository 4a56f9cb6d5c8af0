/* Fuzzing of the inputs of an import: bytes of any kind are items, or have an error that names the
 * file and the line, whatever pieces they come in. */
#include <stdint.h>
#include <stdlib.h>

#include "core/import/item_lines.h"
#include "core/import/item_row.h"
#include "tests/fuzz/memory_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct schema_column columns_of_row[] = {
    {{"pk", 2}, VALUE_S}, {{"sk", 2}, VALUE_N}, {{"b", 1}, VALUE_B}};

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* A row's item, read again, is the same row. */
static void take(struct item_row *row, struct item_row *again, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf why = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0}, second = {0};
    if (!json_parse(&doc, text, JSON_STRICT, NULL))
        return;
    if (!item_row_take(row, json_root(&doc), &why)) {
        require(why.size > 0);
        return;
    }
    require(json_parse(&second, row->item, JSON_STRICT, NULL));
    require(item_row_take(again, json_root(&second), &why));
    require(span_equal(again->item, row->item) && item_row_has_keys(row, again));
}

/* Appends all values, each behind its line's number, and the error. */
static void read_all(struct span content, size_t piece, struct item_row rows[2], struct buf *out)
{
    struct error err = {0};
    struct item_lines lines;
    struct span text;
    struct input *input = input_unpack(memory_input_new(content, piece), &err);
    bool ok;
    item_lines_init(&lines, input, ITEM_LINES_UNKNOWN);
    while ((ok = item_lines_next(&lines, &text, &err)) && text.size > 0) {
        buf_printf(out, "%llu:", (unsigned long long)lines.line);
        buf_add_span(out, text);
        take(&rows[0], &rows[1], text);
    }
    require(ok == (err.kind == ERROR_NONE));
    if (!ok)
        require(strncmp(err.text, "memory", 6) == 0);
    buf_add_text(out, err.text);
    item_lines_clean_up(&lines);
    input_close(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0}, pieces = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct schema_column list[3];
    const struct schema_columns columns = {list, 3, 2};
    struct item_row rows[2];
    memcpy(list, columns_of_row, sizeof list);
    require(item_row_init(&rows[0], &columns, &arena) && item_row_init(&rows[1], &columns, &arena));
    struct span content = span_of((const char *)data, size);
    read_all(content, SIZE_MAX, rows, &whole);
    read_all(content, 1 + size / 7, rows, &pieces);
    /* A damaged compressed file ends where its damage is noticed. */
    if (!span_starts(content, SPAN_LITERAL("\x1f\x8b")))
        require(span_equal(buf_span(&whole), buf_span(&pieces)));
    item_row_clean_up(&rows[0]);
    item_row_clean_up(&rows[1]);
    return 0;
}
