/* An SQLite database: one table, "records", with a row for each item. Its columns are known only
 * after the last item, and rows are held until then. The same items make the same bytes. */
#include <stdlib.h>

#include "core/base/ascii.h"
#include "core/base/database.h"
#include "core/base/dict.h"
#include "core/item/record.h"
#include "core/item/typed.h"
#include "core/output/cell.h"
#include "core/output/form.h"
#include "core/output/form_ops.h"

enum {
    MOST_COLUMNS = 2000,  /* of a table of SQLite, as it is usually built */
    STEP_BYTES = 1 << 16, /* of rows or of the file, in one call of the end */
};

struct database_column {
    struct dict_node node; /* its key is the attribute; not used for the name and parts */
    struct span name;      /* of the attribute or the part */
    struct span shown;     /* the name in the table */
    const struct database_column *part; /* the part of the same name, which has that name */
    bool is_part;
    bool differs;   /* of one with PART: an item has another value there */
    bool is_text;   /* declared as a text, unless it has something else */
    unsigned types; /* of its values: a bit for each enum sql_value_type */
    size_t number;  /* in order of first use */
    bool is_named;
};

/* Held rows are in chunks. A chunk is freed when its rows are in the database. A row is a list of
 * cells and a 0. A cell is its column's number + 1, a byte with its type, and its value: 8 bytes of
 * a number, or the size and the bytes of a text or a blob. */

enum database_stage { DATABASE_HOLDS, DATABASE_FILLS, DATABASE_WRITES };

/* Columns are in order of first use: the name, key attributes and parts, other attributes. */
struct database_form {
    struct form form;
    struct arena arena; /* columns and their names */
    struct dict by_attribute;
    struct database_column **columns; /* owned */
    size_t count, capacity;
    struct buf *chunks; /* owned, as are their bytes */
    size_t chunk_count, chunk_capacity;
    size_t chunk;    /* in hand; those before are empty */
    size_t held;     /* bytes of rows */
    struct buf row;  /* the next one */
    struct buf text; /* of one value */
    enum database_stage stage;
    size_t at;       /* of the next row in the chunk, or of the file */
    int *parameters; /* of the INSERT, by number of a column; 0: the column is left out */
    struct database *database;
    struct statement *insert;
};

/* NULL when memory ran out. */
static struct database_column *database_form_add_column(struct database_form *data,
                                                        struct span name)
{
    struct database_column *column = arena_alloc(&data->arena, sizeof *column);
    struct span copy = arena_copy(&data->arena, name);
    if (data->arena.failed)
        return NULL;
    if (data->count == data->capacity) {
        size_t capacity = data->capacity ? data->capacity * 2 : 16;
        struct database_column **columns = reallocarray(data->columns, capacity, sizeof(*columns));
        if (!columns)
            return NULL;
        data->columns = columns;
        data->capacity = capacity;
    }
    *column = (struct database_column){.name = copy, .number = data->count};
    return data->columns[data->count++] = column;
}

/* The column of an attribute, which is added if it is new. NULL when memory ran out. */
static struct database_column *database_form_column_of(struct database_form *data,
                                                       struct span attribute)
{
    struct dict_node *known = dict_find(&data->by_attribute, attribute);
    if (known)
        return (struct database_column *)known;
    struct database_column *column = database_form_add_column(data, attribute);
    if (!column)
        return NULL;
    column->node.key = column->name;
    dict_add(&data->by_attribute, &column->node);
    for (size_t i = 0; i < column->number; i++)
        if (data->columns[i]->is_part && span_equal(data->columns[i]->name, attribute))
            column->part = data->columns[i];
    return column;
}

/* Parts come before key attributes here, so that these find them. */
static bool database_form_start(struct form *form)
{
    struct database_form *data = (struct database_form *)form;
    struct database_column *column = database_form_add_column(data, SPAN_LITERAL("name"));
    bool ok = column && dict_init(&data->by_attribute);
    if (ok)
        column->is_text = true;
    for (size_t i = 0; ok && i < form->part_count; i++) {
        column = database_form_add_column(data, form->parts[i].name);
        ok = column;
        if (ok) {
            column->is_part = true;
            column->is_text = form->parts[i].is_text;
        }
    }
    for (size_t i = 0; ok && i < form->view.first_count; i++)
        ok = database_form_column_of(data, span_text(form->view.first[i]));
    for (size_t i = 0; ok && i < form->column_count; i++)
        ok = database_form_column_of(data, form->columns[i]);
    return ok;
}

static void database_form_clean_up(struct form *form)
{
    struct database_form *data = (struct database_form *)form;
    statement_end(data->insert);
    database_close(data->database);
    free(data->columns);
    dict_clean_up(&data->by_attribute);
    arena_clean_up(&data->arena);
    for (size_t i = 0; i < data->chunk_count; i++)
        buf_clean_up_secret(&data->chunks[i]);
    free(data->chunks);
    buf_clean_up_secret(&data->row);
    buf_clean_up_secret(&data->text);
}

static size_t database_form_memory(const struct form *form)
{
    const struct database_form *data = (const struct database_form *)form;
    size_t image = data->database ? database_image(data->database).size : 0;
    size_t rows = data->chunk_capacity * sizeof *data->chunks + data->row.capacity;
    for (size_t i = data->chunk; i < data->chunk_count; i++)
        rows += data->chunks[i].capacity;
    return arena_memory(&data->arena) + dict_memory(&data->by_attribute) + rows +
           data->text.capacity + data->capacity * sizeof(*data->columns) + image;
}

/* Held rows. */

static bool database_form_equal(const struct sql_value *a, const struct sql_value *b)
{
    if (a->type != b->type)
        return false;
    return a->type == SQL_NULL      ? true
           : a->type == SQL_INTEGER ? a->integer == b->integer
           : a->type == SQL_REAL    ? a->real == b->real
                                    : span_equal(a->bytes, b->bytes);
}

/* Appends NUMBER, 7 bits a byte, the lowest first. */
static void database_form_pack(struct buf *out, size_t number)
{
    for (; number >= 0x80; number >>= 7)
        buf_add_char(out, (char)((number & 0x7f) | 0x80));
    buf_add_char(out, (char)number);
}

static size_t database_form_unpack(struct database_form *data)
{
    size_t number = 0;
    unsigned char byte = 0x80;
    const char *rows = data->chunks[data->chunk].data;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        byte = (unsigned char)rows[data->at++];
        number |= (size_t)(byte & 0x7f) << shift;
    }
    return number;
}

static void database_form_hold(struct database_form *data, struct database_column *column,
                               const struct sql_value *value)
{
    struct buf *row = &data->row;
    if (value->type == SQL_NULL)
        return;
    column->types |= 1U << value->type;
    database_form_pack(row, column->number + 1);
    buf_add_char(row, (char)value->type);
    if (value->type == SQL_INTEGER) {
        buf_add(row, &value->integer, sizeof value->integer);
    } else if (value->type == SQL_REAL) {
        buf_add(row, &value->real, sizeof value->real);
    } else {
        database_form_pack(row, value->bytes.size);
        buf_add_span(row, value->bytes);
    }
}

/* The next cell; false at the end of its row. */
static bool database_form_next(struct database_form *data, size_t *column, struct sql_value *value)
{
    const char *rows = data->chunks[data->chunk].data;
    size_t number = database_form_unpack(data);
    if (number == 0)
        return false;
    *column = number - 1;
    *value = (struct sql_value){.type = (enum sql_value_type)rows[data->at++]};
    size_t size = sizeof value->integer;
    if (value->type == SQL_TEXT || value->type == SQL_BLOB)
        size = database_form_unpack(data);
    const char *bytes = rows + data->at;
    if (value->type == SQL_INTEGER)
        memcpy(&value->integer, bytes, size);
    else if (value->type == SQL_REAL)
        memcpy(&value->real, bytes, size);
    else
        value->bytes = span_of(bytes, size);
    data->at += size;
    return true;
}

/* The value of part I of the next item: of a secret one the mask. */
static struct sql_value database_form_part(const struct form *form, size_t i)
{
    struct sql_value value = form->next_parts ? form->next_parts[i] : (struct sql_value){0};
    if (value.type != SQL_NULL && cell_is_masked(&form->view, form->parts[i].name))
        value = (struct sql_value){.type = SQL_TEXT, .bytes = SPAN_LITERAL(RECORD_MASK)};
    return value;
}

static void database_form_hold_parts(struct database_form *data)
{
    const struct form *form = &data->form;
    const struct sql_value name = {.type = SQL_TEXT, .bytes = form->next_name};
    database_form_hold(data, data->columns[0], &name);
    for (size_t i = 0; i < form->part_count; i++) {
        struct sql_value value = database_form_part(form, i);
        database_form_hold(data, data->columns[i + 1], &value);
    }
}

/* False when ITEM is no item, or memory ran out. */
static bool database_form_hold_attributes(struct database_form *data, struct json item,
                                          struct arena *arena)
{
    struct typed_members members;
    bool ok = typed_members(item, arena, &members);
    for (size_t i = 0; ok && i < members.count; i++) {
        struct sql_value value;
        struct span name = members.list[i].name;
        if (data->form.column_count > 0 && !dict_find(&data->by_attribute, name))
            continue;
        struct database_column *column = database_form_column_of(data, name);
        data->row.failed |= !column;
        buf_truncate(&data->text, 0);
        ok = column && sql_value_read(members.list[i].value, cell_is_masked(&data->form.view, name),
                                      &data->text, &value);
        if (!ok)
            break;
        if (column->part && !column->differs) {
            struct sql_value part = database_form_part(&data->form, column->part->number - 1);
            column->differs = !database_form_equal(&value, &part);
        }
        database_form_hold(data, column, &value);
    }
    return ok;
}

/* Moves the row behind the others. False when memory ran out. */
static bool database_form_keep_row(struct database_form *data)
{
    struct buf *last = data->chunk_count > 0 ? &data->chunks[data->chunk_count - 1] : NULL;
    if (data->chunk_count == data->chunk_capacity) {
        size_t capacity = data->chunk_capacity ? data->chunk_capacity * 2 : 4;
        struct buf *chunks = reallocarray(data->chunks, capacity, sizeof *chunks);
        if (!chunks)
            return false;
        data->chunks = chunks;
        data->chunk_capacity = capacity;
        last = data->chunk_count > 0 ? &chunks[data->chunk_count - 1] : NULL;
    }
    if (!last || last->size + data->row.size > STEP_BYTES) {
        last = &data->chunks[data->chunk_count++];
        *last = (struct buf){0};
    }
    buf_add_span(last, buf_span(&data->row));
    data->held += data->row.size;
    buf_truncate(&data->row, 0);
    return !last->failed;
}

/* An attribute with the values of a part is no column. */
static bool database_form_check_columns(const struct database_form *data, struct error *err)
{
    size_t count = 0;
    for (size_t i = 0; data->count > MOST_COLUMNS && i < data->count; i++)
        count += !data->columns[i]->part || data->columns[i]->differs;
    return count <= MOST_COLUMNS ||
           error_set(err, ERROR_TOO_LARGE,
                     "the items have more different attributes than the %d columns that a table "
                     "of SQLite can have; use …@sqlite:status,created_at, with your attributes, or "
                     "…@jsonl, which has all",
                     MOST_COLUMNS);
}

static bool database_form_add(struct form *form, struct json item, struct buf *out,
                              struct error *err)
{
    struct database_form *data = (struct database_form *)form;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    (void)out;
    database_form_hold_parts(data);
    bool ok = database_form_hold_attributes(data, item, &arena);
    database_form_pack(&data->row, 0);
    if (arena.failed || data->row.failed || data->text.failed)
        return error_no_memory(err);
    if (!ok)
        return record_refuse(item, "", err);
    if (!database_form_keep_row(data))
        return error_no_memory(err);
    return database_form_check_columns(data, err) &&
           form_allows(form, data->held + arena_memory(&data->arena), err);
}

/* Columns. */

/* The name, key attributes, parts of keys, then the given columns, or all other attributes by their
 * names. */
static int database_form_by_place(const void *a, const void *b, void *arg)
{
    const struct database_column *x = *(struct database_column *const *)a;
    const struct database_column *y = *(struct database_column *const *)b;
    size_t keys = 1 + ((const struct form *)arg)->part_count;
    size_t ends = keys + ((const struct form *)arg)->view.first_count;
    int rank_x = x->number == 0 ? 0 : x->is_part ? 2 : x->number < ends ? 1 : 3;
    int rank_y = y->number == 0 ? 0 : y->is_part ? 2 : y->number < ends ? 1 : 3;
    if (rank_x != rank_y)
        return rank_x - rank_y;
    if (rank_x == 3 && ((const struct form *)arg)->column_count == 0)
        return span_compare(x->name, y->name);
    return x->number < y->number ? -1 : x->number > y->number;
}

/* A name that is in the table. */
struct database_name {
    struct dict_node node;
};

/* Takes the name for COLUMN, unless a column has it. SQLite ignores the case of ASCII letters, and
 * ends a statement at a NUL. */
static void database_form_try_name(struct arena *arena, struct dict *taken,
                                   struct database_column *column, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf shown = {0}, lower = {0};
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        buf_add_text(&shown, c ? "" : "\xEF\xBF\xBD");
        buf_add_text(&lower, c ? "" : "\xEF\xBF\xBD");
        if (c) {
            buf_add_char(&shown, c);
            buf_add_char(&lower, ascii_is_upper(c) ? (char)(c | 0x20) : c);
        }
    }
    arena->failed = arena->failed || shown.failed || lower.failed;
    if (arena->failed || dict_find(taken, buf_span(&lower)))
        return;
    struct database_name *one = arena_alloc(arena, sizeof *one);
    struct span key = arena_copy(arena, buf_span(&lower));
    column->shown = arena_copy(arena, buf_span(&shown));
    column->is_named = !arena->failed;
    if (arena->failed)
        return;
    one->node = (struct dict_node){.key = key};
    dict_add(taken, &one->node);
}

/* Each column has its own name if it is the first with that; the name and parts are before all
 * attributes. The others get a number behind, from 2 on. Then columns are in the order of the
 * table. */
static bool database_form_name_columns(struct database_form *data, struct dict *taken)
{
    struct arena *arena = &data->arena;
    size_t kept = 0;
    for (size_t i = 0; i < data->count; i++)
        if (!data->columns[i]->part || data->columns[i]->differs)
            data->columns[kept++] = data->columns[i];
    data->count = kept;
    for (size_t i = 0; i <= data->form.part_count; i++)
        database_form_try_name(arena, taken, data->columns[i], data->columns[i]->name);
    qsort_r(data->columns, data->count, sizeof(*data->columns), database_form_by_place,
            &data->form);
    for (size_t i = 0; i < data->count; i++)
        if (!data->columns[i]->is_named)
            database_form_try_name(arena, taken, data->columns[i], data->columns[i]->name);
    for (size_t i = 0; i < data->count; i++)
        for (unsigned n = 2; !data->columns[i]->is_named && !arena->failed; n++) {
            CLEAN_UP(buf_clean_up) struct buf name = {0};
            buf_add_span(&name, data->columns[i]->name);
            buf_printf(&name, "_%u", n);
            arena->failed |= name.failed;
            database_form_try_name(arena, taken, data->columns[i], buf_span(&name));
        }
    return !arena->failed;
}

/* The declared type of a column, which changes none of its values: a NUMERIC column would shorten
 * a text with many digits, so that is only declared without texts. */
static const char *database_form_type(const struct database_column *column)
{
    switch (column->types) {
    case 0:
        return column->is_text ? " TEXT" : "";
    case 1U << SQL_INTEGER:
        return " INTEGER";
    case 1U << SQL_REAL:
        return " REAL";
    case 1U << SQL_INTEGER | 1U << SQL_REAL:
        return " NUMERIC";
    case 1U << SQL_TEXT:
        return " TEXT";
    case 1U << SQL_BLOB:
        return " BLOB";
    default:
        return "";
    }
}

/* Appends CREATE TABLE, and to INSERT its statement. */
static void database_form_write_statements(struct database_form *data, struct buf *create,
                                           struct buf *insert)
{
    buf_add_text(create, "BEGIN; CREATE TABLE records(");
    buf_add_text(insert, "INSERT INTO records VALUES(");
    for (size_t i = 0; i < data->count; i++) {
        buf_add_text(create, i ? ", " : "");
        database_write_name(data->columns[i]->shown, create);
        buf_add_text(create, database_form_type(data->columns[i]));
        buf_printf(insert, "%s?%zu", i ? ", " : "", i + 1);
        data->parameters[data->columns[i]->number] = (int)i + 1;
    }
    buf_add_char(create, ')');
    buf_add_char(insert, ')');
}

/* The file. */

/* The database can't grow any more. */
static bool database_form_refuse(struct form *form, struct error *err)
{
    if (err->kind == ERROR_NO_SPACE && form_allows(form, SIZE_MAX, err))
        error_set(err, ERROR_TOO_LARGE,
                  "the database would be larger than 2 GB, which is the limit for one in memory; "
                  "use …@jsonl, which has no limit");
    return false;
}

static bool database_form_begin(struct database_form *data, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf create = {0}, insert = {0};
    struct dict taken;
    data->parameters = arena_array(&data->arena, data->count, sizeof *data->parameters);
    if (!data->parameters || !dict_init(&taken))
        return error_no_memory(err);
    bool ok = database_form_name_columns(data, &taken);
    dict_clean_up(&taken);
    if (!ok)
        return error_no_memory(err);
    database_form_write_statements(data, &create, &insert);
    if (create.failed || insert.failed)
        return error_no_memory(err);
    data->database = database_open_in_memory("the database of the items", data->form.most, err);
    if (!data->database || !database_run(data->database, buf_text(&create), err))
        return false;
    data->insert = database_prepare(data->database, buf_text(&insert), err);
    return data->insert;
}

static void database_form_bind(struct statement *insert, int parameter,
                               const struct sql_value *value)
{
    switch (value->type) {
    case SQL_NULL:
        break;
    case SQL_INTEGER:
        statement_bind_integer(insert, parameter, value->integer);
        break;
    case SQL_REAL:
        statement_bind_real(insert, parameter, value->real);
        break;
    case SQL_TEXT:
        statement_bind_text(insert, parameter, value->bytes);
        break;
    case SQL_BLOB:
        statement_bind_bytes(insert, parameter, value->bytes);
        break;
    }
}

/* Inserts the next row of the chunk. */
static bool database_form_fill_row(struct database_form *data, struct error *err)
{
    struct sql_value value;
    size_t column;
    while (database_form_next(data, &column, &value))
        if (data->parameters[column] > 0)
            database_form_bind(data->insert, data->parameters[column], &value);
    return statement_run(data->insert, err);
}

/* Inserts the rows of the next chunk. Behind the last, the file is complete. */
static bool database_form_fill(struct database_form *data, struct error *err)
{
    if (data->chunk == data->chunk_count) {
        statement_end(data->insert);
        data->insert = NULL;
        data->stage = DATABASE_WRITES;
        return database_run(data->database, "COMMIT", err);
    }
    struct buf *rows = &data->chunks[data->chunk];
    bool ok = true;
    while (ok && data->at < rows->size)
        ok = database_form_fill_row(data, err);
    data->form.worked += rows->size;
    buf_clean_up_secret(rows);
    data->chunk++;
    data->at = 0;
    return ok;
}

static void database_form_write(struct database_form *data, struct buf *out, bool *more)
{
    struct span rest = span_from(database_image(data->database), data->at);
    *more = rest.size > STEP_BYTES;
    if (*more)
        rest.size = STEP_BYTES;
    buf_add_span(out, rest);
    data->at += rest.size;
}

static bool database_form_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    struct database_form *data = (struct database_form *)form;
    bool ok = true;
    *more = true;
    switch (data->stage) {
    case DATABASE_HOLDS:
        ok = database_form_begin(data, err);
        data->stage = DATABASE_FILLS;
        break;
    case DATABASE_FILLS:
        ok = database_form_fill(data, err);
        break;
    case DATABASE_WRITES:
        database_form_write(data, out, more);
        break;
    }
    return ok || database_form_refuse(form, err);
}

const struct form_ops form_database = {
    sizeof(struct database_form), database_form_start, database_form_add, database_form_end,
    database_form_clean_up,       database_form_memory};
