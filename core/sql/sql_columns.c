#include "core/sql/sql_columns.h"

#include <stdlib.h>
#include <strings.h>

#include "core/item/item.h"
#include "core/item/typed.h"
#include "core/plan/item_match.h"
#include "core/plan/item_parts.h"
#include "core/read/key_parts.h"

/* An occurrence of a part in a format. */
struct sql_part_use {
    const struct map_key *key;   /* of an index; NULL: of the table */
    const struct map_kind *kind; /* NULL: of all kinds */
    const char *attribute;
    enum value_type type; /* of the attribute */
    const struct format *format;
    const struct format_piece *piece;
};

struct sql_part_uses {
    struct arena *arena;
    struct sql_part_use *list;
    size_t count, room;
};

static void sql_columns_note_format(struct sql_part_uses *uses, const struct sql_part_use *use)
{
    for (size_t i = 0; i < use->format->count; i++) {
        if (!use->format->pieces[i].param)
            continue;
        if (uses->count == uses->room) {
            size_t room = uses->room * 2 + 16;
            struct sql_part_use *list = arena_array(uses->arena, room, sizeof *list);
            if (!list)
                return;
            if (uses->count > 0)
                memcpy(list, uses->list, uses->count * sizeof *list);
            uses->list = list;
            uses->room = room;
        }
        uses->list[uses->count] = *use;
        uses->list[uses->count++].piece = &use->format->pieces[i];
    }
}

/* Kinds in the order of the map, then indexes. */
static void sql_columns_note_parts(const struct model *model, struct sql_part_uses *uses)
{
    const struct map_key *key;
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
        for (size_t i = 0; i < model->key_count; i++)
            sql_columns_note_format(uses,
                                    &(struct sql_part_use){.attribute = model->keys[i].attribute,
                                                           .type = model->keys[i].type,
                                                           .format = &kind->keys[i]});
    for (const struct map_index *index = model->indexes; index; index = index->next)
        for (size_t i = 0; (key = model_index_key(index, i)); i++) {
            struct sql_part_use use = {
                .key = key, .attribute = key->attribute, .type = key->type, .format = &key->format};
            if (model_is_key(model, key->attribute))
                continue;
            sql_columns_note_format(uses, &use);
            for (size_t k = 0; k < key->by_kind_count; k++) {
                use.format = &key->by_kind[k].format;
                use.kind = key->by_kind[k].kind;
                if (key->by_kind[k].kind != model->any)
                    sql_columns_note_format(uses, &use);
            }
        }
}

/* Room for one more column, which is zeroed; NULL when memory ran out. */
static struct sql_column *sql_columns_append(struct sql_columns *columns, const char *name)
{
    struct sql_column *items =
        reallocarray(columns->items, columns->count + 1, sizeof *columns->items);
    if (!items || !name) {
        columns->items = items ? items : columns->items;
        columns->arena.failed = true;
        return NULL;
    }
    columns->items = items;
    items[columns->count] = (struct sql_column){.name = name};
    return &items[columns->count++];
}

static bool sql_columns_is_masked(const struct sql_columns *columns, const char *attribute)
{
    return !columns->show_secrets && model_is_secret(columns->model, span_text(attribute));
}

static bool sql_columns_is_number(const struct sql_part_use *use)
{
    return use->type == VALUE_N || (use->type == VALUE_S && use->piece->pad > 0);
}

/* The key of the table or an index whose attribute has that name; NULL for none. */
static const struct map_key *sql_columns_find_key(const struct model *model, const char *attribute)
{
    const struct map_key *key;
    for (size_t i = 0; i < model->key_count; i++)
        if (strcmp(model->keys[i].attribute, attribute) == 0)
            return &model->keys[i];
    for (const struct map_index *index = model->indexes; index; index = index->next)
        for (size_t i = 0; (key = model_index_key(index, i)); i++)
            if (strcmp(key->attribute, attribute) == 0)
                return key;
    return NULL;
}

static bool sql_columns_kind_has(const struct model *model, const struct map_kind *kind,
                                 const char *param)
{
    for (size_t i = 0; i < model->key_count; i++)
        if (format_has(&kind->keys[i], param))
            return true;
    return false;
}

/* Whether the part is the column's value in some items: an index's part is, where the table's key
 * lacks it. */
static bool sql_columns_is_read(const struct model *model, const struct sql_part_use *use)
{
    bool is_read = !use->key;
    for (const struct map_kind *kind = model->kinds; kind && !is_read; kind = kind->next)
        is_read = (!use->kind || use->kind == kind) &&
                  !sql_columns_kind_has(model, kind, use->piece->param);
    return is_read;
}

/* Adds the column of the part FIRST, unless it is an attribute everywhere. */
static void sql_columns_add_part(struct sql_columns *columns, const struct sql_part_uses *uses,
                                 const struct sql_part_use *first)
{
    const char *param = first->piece->param;
    struct sql_column found = {.is_text = true, .is_number = true, .is_binary = true};
    const struct map_key *key = sql_columns_find_key(columns->model, param);
    bool is_attribute = key;
    for (size_t i = 0; i < uses->count; i++) {
        const struct sql_part_use *use = &uses->list[i];
        if (strcmp(use->piece->param, param) != 0 || (use->key && key) ||
            !sql_columns_is_read(columns->model, use))
            continue;
        const char *whole = format_whole_param(use->format);
        is_attribute = is_attribute && whole && strcmp(whole, use->attribute) == 0 &&
                       !format_is_spelled(use->piece);
        found.is_number = found.is_number && sql_columns_is_number(use);
        found.is_text = found.is_text && use->type == VALUE_S && use->piece->pad == 0;
        found.is_binary = found.is_binary && use->type == VALUE_B;
        found.is_masked = found.is_masked || sql_columns_is_masked(columns, use->attribute);
    }
    found.name = param;
    found.role = SQL_PART;
    found.key = key;
    found.is_masked = found.is_masked || sql_columns_is_masked(columns, param);
    struct sql_column *column = is_attribute ? NULL : sql_columns_append(columns, param);
    if (column)
        *column = found;
}

static void sql_columns_add_key(struct sql_columns *columns, const struct map_key *key)
{
    if (sql_columns_find(columns, span_text(key->attribute)) < columns->count)
        return;
    struct sql_column *column = sql_columns_append(columns, key->attribute);
    if (!column)
        return;
    column->role = SQL_ATTRIBUTE;
    column->is_text = key->type == VALUE_S;
    column->is_number = key->type == VALUE_N;
    column->is_binary = key->type == VALUE_B;
    column->is_masked = sql_columns_is_masked(columns, key->attribute);
    column->key = key;
}

static void sql_columns_fill(struct sql_columns *columns)
{
    const struct model *model = columns->model;
    const struct map_key *key;
    struct sql_part_uses uses = {.arena = &columns->arena};
    sql_columns_note_parts(model, &uses);
    for (size_t i = 0; i < uses.count && !columns->arena.failed; i++)
        if (sql_columns_find(columns, span_text(uses.list[i].piece->param)) == columns->count)
            sql_columns_add_part(columns, &uses, &uses.list[i]);
    for (size_t i = 0; i < model->key_count; i++)
        sql_columns_add_key(columns, &model->keys[i]);
    for (const struct map_index *index = model->indexes; index; index = index->next)
        for (size_t i = 0; (key = model_index_key(index, i)); i++)
            sql_columns_add_key(columns, key);
    const char *name = "item";
    if (sql_columns_find(columns, span_text(name)) < columns->count)
        name = "item_json";
    columns->item = columns->count;
    struct sql_column *item = sql_columns_append(columns, name);
    if (item)
        item->role = SQL_ITEM;
}

struct sql_columns *sql_columns_new(const struct model *model, bool show_secrets)
{
    struct sql_columns *columns = calloc(1, sizeof *columns);
    if (!columns)
        return NULL;
    columns->model = model_ref(model);
    columns->show_secrets = show_secrets;
    sql_columns_fill(columns);
    if (!columns->arena.failed)
        return columns;
    sql_columns_destroy(columns);
    return NULL;
}

void sql_columns_destroy(struct sql_columns *columns)
{
    if (!columns)
        return;
    model_unref(columns->model);
    free(columns->items);
    arena_discard(&columns->arena);
    free(columns);
}

size_t sql_columns_find(const struct sql_columns *columns, struct span name)
{
    size_t i = 0;
    while (i < columns->count && (strlen(columns->items[i].name) != name.size ||
                                  strncasecmp(columns->items[i].name, name.data, name.size) != 0))
        i++;
    return i;
}

size_t sql_columns_find_part(const struct sql_columns *columns, const char *param)
{
    size_t i = sql_columns_find(columns, span_text(param));
    bool found = i < columns->count && strcmp(columns->items[i].name, param) == 0 &&
                 columns->items[i].role != SQL_ITEM;
    return found ? i : columns->count;
}

bool sql_columns_add(struct sql_columns *columns, struct span attribute)
{
    if (sql_columns_find(columns, attribute) < columns->count)
        return true;
    char *name = arena_text(&columns->arena, attribute);
    struct sql_column *column = sql_columns_append(columns, name);
    if (!column)
        return false;
    column->role = SQL_ATTRIBUTE;
    column->is_hidden = true;
    column->is_masked = sql_columns_is_masked(columns, name);
    return true;
}

struct sql_origin sql_columns_origin(const struct sql_columns *columns, size_t number,
                                     const struct map_kind *kind)
{
    const struct model *model = columns->model;
    const struct sql_column *column = &columns->items[number];
    const struct map_key *key;
    const struct format *format;
    if (column->role != SQL_PART)
        return (struct sql_origin){.place = SQL_FROM_ATTRIBUTE};
    if (!kind)
        return (struct sql_origin){.place = SQL_FROM_NOWHERE};
    if (sql_columns_kind_has(model, kind, column->name))
        return (struct sql_origin){.place = SQL_FROM_KEY};
    bool may_have = model_presence(model, kind, column->name) != MAP_ABSENT;
    for (const struct map_index *index = column->key ? NULL : model->indexes; index;
         index = index->next)
        for (size_t i = 0; (key = model_index_key(index, i)); i++)
            if (!model_is_key(model, key->attribute) &&
                (format = model_key_format(model, key, kind)) && format_has(format, column->name))
                return (struct sql_origin){SQL_FROM_INDEX, key, may_have};
    return (struct sql_origin){.place = may_have ? SQL_FROM_ATTRIBUTE : SQL_FROM_NOWHERE};
}

static void sql_columns_write_name(const char *name, struct buf *out)
{
    buf_add_char(out, '"');
    for (; *name; name++) {
        buf_add_text(out, *name == '"' ? "\"" : "");
        buf_add_char(out, *name);
    }
    buf_add_char(out, '"');
}

/* The word BLOB gives no affinity; HIDDEN alone would give NUMERIC. */
void sql_columns_write_declaration(const struct sql_columns *columns, struct buf *out)
{
    buf_add_text(out, "CREATE TABLE x(");
    for (size_t i = 0; i < columns->count; i++) {
        const struct sql_column *column = &columns->items[i];
        buf_add_text(out, i ? ", " : "");
        sql_columns_write_name(column->name, out);
        buf_add_text(out, column->is_text ? " TEXT" : column->is_number ? " NUMERIC" : " BLOB");
        buf_add_text(out, column->is_hidden ? " HIDDEN" : "");
    }
    buf_add_char(out, ')');
}

bool sql_row_begin(struct sql_row *row, const struct sql_columns *columns, struct json item,
                   struct error *err)
{
    const struct model *model = columns->model;
    struct key key;
    arena_clean_up(&row->arena);
    row->arena = (struct arena){0};
    row->columns = columns;
    row->item = item;
    row->kind = NULL;
    row->parts = (struct bindings){0};
    if (item_match_key(model, item, &row->arena, &key)) {
        row->kind = item_match_kind(model, &key, &row->parts);
        return true;
    }
    if (row->arena.failed)
        return error_no_memory(err);
    return error_set(err, ERROR_BAD_ANSWER,
                     "an item of %s lacks a key attribute of the map's type (%s%s%s); ddbfs check "
                     "prints the table's keys",
                     model->path_name, model->keys[0].attribute, model->key_count > 1 ? ", " : "",
                     model->key_count > 1 ? model->keys[1].attribute : "");
}

static const struct binding *sql_row_find_part(const struct bindings *parts, const char *param)
{
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->items[i].param, param) == 0)
            return &parts->items[i];
    return NULL;
}

/* The part PARAM of the index's attribute KEY. NULL if the item has no such part. */
static const struct binding *sql_row_read_index_part(struct sql_row *row, const struct map_key *key,
                                                     const char *param, struct bindings *parts)
{
    const struct model *model = row->columns->model;
    struct value value;
    const struct format *format = model_key_format(model, key, row->kind);
    if (!item_parts_read_key(key, row->item, &row->arena, &value) ||
        !format_match_key(format, value.bytes, model->separator, parts) ||
        !bindings_agree(parts, parts))
        return NULL;
    return sql_row_find_part(parts, param);
}

/* The part that is the column's value; NULL if it is the attribute, or NULL. PARTS are of an index.
 */
static const struct binding *sql_row_part(struct sql_row *row, size_t number,
                                          struct sql_origin origin, struct bindings *parts)
{
    const char *name = row->columns->items[number].name;
    if (origin.place == SQL_FROM_KEY)
        return sql_row_find_part(&row->parts, name);
    return origin.place == SQL_FROM_INDEX ? sql_row_read_index_part(row, origin.key, name, parts)
                                          : NULL;
}

static bool sql_row_store(struct sql_row *row, struct sql_value *out, struct error *err)
{
    if (out->type == SQL_TEXT || out->type == SQL_BLOB)
        out->bytes = arena_copy(&row->arena, out->bytes);
    return !row->arena.failed || error_no_memory(err);
}

static bool sql_row_read_item(struct sql_row *row, struct sql_value *out, struct error *err)
{
    const struct model *model = row->columns->model;
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    for (size_t i = 0; i < model->key_count; i++)
        first[i] = model->keys[i].attribute;
    struct record_view view = {.first = first,
                               .first_count = model->key_count,
                               .secret = model->secrets,
                               .secret_count = row->columns->show_secrets ? 0 : model->secret_count,
                               .compact = true};
    if (!item_write(row->item, &view, &row->storage))
        return row->storage.failed ? error_no_memory(err)
                                   : error_set(err, ERROR_BAD_ANSWER,
                                               "an item of %s is not understood", model->path_name);
    *out = (struct sql_value){.type = SQL_TEXT,
                              .attribute = SQL_OF_S,
                              .bytes = span_of(row->storage.data, row->storage.size - 1)};
    return sql_row_store(row, out, err);
}

static bool sql_row_is_of_key_type(const struct map_key *key, struct json typed)
{
    static const enum typed_tag tags[] = {
        [VALUE_S] = TYPED_S, [VALUE_N] = TYPED_N, [VALUE_B] = TYPED_B};
    return typed_open(typed).tag == tags[key->type];
}

static bool sql_row_read_attribute(struct sql_row *row, const struct sql_column *column,
                                   struct sql_value *out, struct error *err)
{
    struct json typed = item_attribute(row->item, span_text(column->name));
    if (column->key && !sql_row_is_of_key_type(column->key, typed))
        return true;
    if (sql_value_read(typed, column->is_masked, &row->storage, out))
        return sql_row_store(row, out, err);
    if (row->storage.failed)
        return error_no_memory(err);
    return error_set(err, ERROR_BAD_ANSWER, "%s of an item of %s is not understood", column->name,
                     row->columns->model->path_name);
}

bool sql_row_read(struct sql_row *row, size_t number, struct sql_value *out, struct error *err)
{
    const struct sql_column *column = &row->columns->items[number];
    struct bindings parts = {0};
    *out = (struct sql_value){.type = SQL_NULL};
    row->storage.failed = false;
    buf_truncate(&row->storage, 0);
    if (column->role == SQL_ITEM)
        return sql_row_read_item(row, out, err);
    struct sql_origin origin = sql_columns_origin(row->columns, number, row->kind);
    const struct binding *part = sql_row_part(row, number, origin, &parts);
    if (row->arena.failed)
        return error_no_memory(err);
    if (!part)
        return (origin.place != SQL_FROM_ATTRIBUTE && !origin.or_attribute) ||
               sql_row_read_attribute(row, column, out, err);
    *out = column->is_masked ? (struct sql_value){.type = SQL_TEXT,
                                                  .attribute = SQL_OF_S,
                                                  .bytes = SPAN_LITERAL(RECORD_MASK)}
                             : key_parts_value(row->columns->model, part);
    return true;
}

/* The text of an attribute of type S, N or B; false of others. */
static bool sql_row_read_text(struct json typed, struct arena *arena, struct value *out)
{
    return typed_scalar(typed, arena, out) && out->type <= VALUE_B;
}

enum sql_hiding sql_row_hides(struct sql_row *row, size_t number)
{
    const struct sql_column *column = &row->columns->items[number];
    struct json typed = item_attribute(row->item, span_text(column->name));
    struct bindings parts = {0};
    struct value value;
    if (!json_present(typed) || column->role == SQL_ITEM)
        return SQL_HIDES_NOTHING;
    struct sql_origin origin = sql_columns_origin(row->columns, number, row->kind);
    const struct binding *part = sql_row_part(row, number, origin, &parts);
    if (!part && origin.place != SQL_FROM_ATTRIBUTE && !origin.or_attribute)
        return SQL_HIDES_UNSTATED;
    if (!part)
        return column->key && !sql_row_is_of_key_type(column->key, typed) ? SQL_HIDES_VALUE
                                                                          : SQL_HIDES_NOTHING;
    if (!sql_row_read_text(typed, &row->arena, &value))
        return row->arena.failed ? SQL_HIDES_NOTHING : SQL_HIDES_VALUE;
    bool same = column->is_number ? number_compare(part->value, value.bytes) == 0
                                  : span_equal(part->value, value.bytes);
    return same ? SQL_HIDES_NOTHING : SQL_HIDES_VALUE;
}

void sql_row_clean_up(struct sql_row *row)
{
    arena_clean_up(&row->arena);
    buf_clean_up_secret(&row->storage);
    *row = (struct sql_row){0};
}
