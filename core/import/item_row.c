#include "core/import/item_row.h"

#include "core/base/printable.h"
#include "core/item/item_fault.h"
#include "core/item/typed.h"
#include "core/snapshot/sort_text.h"

enum { NAME_SHOWN = 80 /* bytes of an attribute's name in a message */ };

bool item_row_init(struct item_row *row, const struct schema_columns *columns, struct arena *arena)
{
    *row = (struct item_row){.columns = columns};
    row->values = arena_array(arena, columns->count, sizeof *row->values);
    return row->values != NULL;
}

void item_row_clean_up(struct item_row *row)
{
    buf_clean_up(&row->texts);
    buf_clean_up(&row->scratch);
    buf_clean_up(&row->tight);
}

static struct span item_row_bytes(const struct item_row *row, size_t column)
{
    const struct item_row_value *value = &row->values[column];
    return value->is_in_texts ? span_of(row->texts.data + value->offset, value->bytes.size)
                              : value->bytes;
}

static bool item_row_fail(struct buf *why, struct span name, const char *what)
{
    buf_printf(why, "%s: %.*s", what, (int)(name.size < NAME_SHOWN ? name.size : NAME_SHOWN),
               name.data);
    return false;
}

/* The column of the attribute NAME; the number of columns without one. */
static size_t item_row_find(const struct item_row *row, struct json name)
{
    const struct schema_columns *columns = row->columns;
    struct span plain;
    if (json_plain_string(name, &plain))
        return schema_find_column(columns, plain);
    for (size_t i = 0; i < columns->count; i++)
        if (json_string_is(name, columns->list[i].attribute))
            return i;
    return columns->count;
}

/* Appends the column's value of CONTENT to the texts, where it differs from its JSON text. */
static bool item_row_set(struct item_row *row, size_t column, struct json content)
{
    struct item_row_value *value = &row->values[column];
    enum value_type type = row->columns->list[column].type;
    value->is_in_texts = type != VALUE_S || !json_plain_string(content, &value->bytes);
    value->is_present = true;
    if (!value->is_in_texts)
        return true;
    value->offset = row->texts.size;
    buf_truncate(&row->scratch, 0);
    if (!json_read_string(content, type == VALUE_S ? &row->texts : &row->scratch))
        return false;
    if (type == VALUE_N)
        sort_text_write(buf_span(&row->scratch), &row->texts);
    if (type == VALUE_B && !base64_read(buf_span(&row->scratch), &row->texts))
        return false;
    value->bytes.size = row->texts.size - value->offset;
    return !row->texts.failed && !row->scratch.failed;
}

/* An attribute of another type is not in an index, and cannot be in a table. */
static bool item_row_take_member(struct item_row *row, size_t column, struct json typed,
                                 struct buf *why)
{
    static const enum value_type types[] = {
        [TYPED_S] = VALUE_S, [TYPED_N] = VALUE_N, [TYPED_B] = VALUE_B};
    const struct schema_column *of = &row->columns->list[column];
    struct typed open = typed_open(typed);
    bool is_own = column < row->columns->own_count;
    bool fits = open.tag >= TYPED_S && open.tag <= TYPED_B && types[open.tag] == of->type;
    if (!fits && !is_own)
        return true;
    if (!fits) {
        buf_printf(why, "has a key attribute of type %s instead of %s", typed_tag_name(open.tag),
                   value_type_name(of->type));
        return item_row_fail(why, of->attribute, "");
    }
    if (!item_row_set(row, column, open.content))
        return false;
    if (row->values[column].bytes.size > 0)
        return true;
    row->values[column].is_present = false;
    return !is_own || item_row_fail(why, of->attribute, "has an empty key attribute");
}

static bool item_row_take_columns(struct item_row *row, struct json item, struct buf *why)
{
    const struct schema_columns *columns = row->columns;
    for (size_t i = 0; i < columns->count; i++)
        row->values[i] = (struct item_row_value){0};
    buf_truncate(&row->texts, 0);
    for (struct json name = json_first(item); json_present(name);) {
        struct json value = json_next(name);
        size_t column = item_row_find(row, name);
        if (column < columns->count && !item_row_take_member(row, column, value, why))
            return false;
        name = json_next(value);
    }
    for (size_t i = 0; i < columns->own_count; i++)
        if (!row->values[i].is_present)
            return item_row_fail(why, columns->list[i].attribute, "lacks the key attribute");
    return true;
}

/* The value itself is not printed: it may be a secret. */
static bool item_row_refuse(const struct item_fault *fault, struct buf *why)
{
    if (strcmp(fault->what, "out of memory") != 0)
        buf_printf(why, "is not valid: a part of it %s (byte %zu)", fault->what,
                   json_offset(fault->at) + 1);
    return false;
}

bool item_row_take(struct item_row *row, struct json item, struct buf *why)
{
    struct item_fault fault;
    bool tight;
    buf_truncate(why, 0);
    if (!item_is_valid(item, &row->scratch, &tight, &fault))
        return item_row_refuse(&fault, why);
    row->item = json_raw(item);
    if (!tight) {
        buf_truncate(&row->tight, 0);
        item_write_tight(item, &row->tight);
        row->item = buf_span(&row->tight);
    }
    return item_row_take_columns(row, item, why) && !row->tight.failed;
}

bool item_row_take_keys(struct item_row *row, struct json keys, struct buf *why)
{
    struct item_fault fault;
    bool tight;
    buf_truncate(why, 0);
    if (!item_is_valid(keys, &row->scratch, &tight, &fault))
        return item_row_refuse(&fault, why);
    if (!item_row_take_columns(row, keys, why))
        return false;
    if (json_count(keys) == row->columns->own_count)
        return true;
    buf_add_text(why, "has Keys with attributes that are not the table's keys");
    return false;
}

bool item_row_value(const struct item_row *row, size_t column, struct span *out)
{
    *out = item_row_bytes(row, column);
    return row->values[column].is_present;
}

void item_row_bind(const struct item_row *row, struct statement *statement, int from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!row->values[i].is_present)
            continue; /* NULL */
        struct span bytes = item_row_bytes(row, i);
        if (row->columns->list[i].type == VALUE_B)
            statement_bind_bytes(statement, from + (int)i, bytes);
        else
            statement_bind_text(statement, from + (int)i, bytes);
    }
}

bool item_row_has_keys(const struct item_row *row, const struct item_row *keys)
{
    for (size_t i = 0; i < row->columns->own_count; i++)
        if (!span_equal(item_row_bytes(row, i), item_row_bytes(keys, i)))
            return false;
    return true;
}
