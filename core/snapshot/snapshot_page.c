#include "core/snapshot/snapshot_page.h"

#include <stdlib.h>

#include "core/item/item.h"
#include "core/item/typed.h"

enum { FIRST_ROWS = 16, MOST_VALUES = 16 << 20 };

static void snapshot_page_release(struct page_owner *owner)
{
    snapshot_page_destroy((struct snapshot_page *)owner);
}

struct snapshot_page *snapshot_page_new(void)
{
    struct snapshot_page *page = calloc(1, sizeof *page);
    if (page)
        page->owner.release = snapshot_page_release;
    return page;
}

void snapshot_page_destroy(struct snapshot_page *page)
{
    if (!page)
        return;
    json_clean_up(&page->doc);
    json_clean_up(&page->key_doc);
    buf_clean_up_secret(&page->text);
    buf_clean_up_secret(&page->key_text);
    arena_clean_up(&page->arena);
    snapshot_file_unref(page->file);
    free(page);
}

static struct page_row *snapshot_page_new_row(struct snapshot_page *page)
{
    if (page->row_count == page->row_capacity) {
        size_t capacity = page->row_capacity ? 2 * page->row_capacity : FIRST_ROWS;
        struct page_row *rows = arena_array(&page->arena, capacity, sizeof *rows);
        if (!rows)
            return NULL;
        if (page->row_count > 0)
            memcpy(rows, page->rows, page->row_count * sizeof *rows);
        page->rows = rows;
        page->row_capacity = capacity;
    }
    return &page->rows[page->row_count++];
}

bool snapshot_page_add_row(struct snapshot_page *page, const struct snapshot_query *query,
                           const struct statement *statement)
{
    struct span item = statement_text(statement, 0);
    struct page_row *row = snapshot_page_new_row(page);
    if (!row)
        return false;
    buf_add_char(page->room, page->room->size ? ',' : '[');
    *row = (struct page_row){.offset = page->room->size, .size = item.size};
    buf_add_span(page->room, item);
    row->values = arena_array(&page->arena, query->column_count, sizeof *row->values);
    for (size_t i = 0; row->values && i < query->column_count; i++) {
        int column = (int)i + 1;
        bool is_bytes = statement_is_bytes(statement, column);
        struct span bytes =
            is_bytes ? statement_bytes(statement, column) : statement_text(statement, column);
        row->values[i] = (struct column_value){is_bytes, arena_copy(&page->arena, bytes)};
    }
    return !page->room->failed && !page->arena.failed;
}

/* Attributes. */

static bool page_attributes_have(const struct page_attributes *attributes, struct span name)
{
    for (size_t i = 0; i < attributes->count; i++)
        if (span_equal(attributes->list[i], name))
            return true;
    return attributes->all;
}

static void page_attributes_add(struct page_attributes *attributes, struct span name)
{
    if (!page_attributes_have(attributes, name))
        attributes->list[attributes->count++] = name;
}

static void page_attributes_add_keys(struct page_attributes *attributes,
                                     const struct key_schema *keys)
{
    for (size_t i = 0; i < keys->partition_count; i++)
        page_attributes_add(attributes, keys->partition[i].name);
    for (size_t i = 0; i < keys->sort_count; i++)
        page_attributes_add(attributes, keys->sort[i].name);
}

/* All that the index has. */
static bool page_attributes_find_projected(struct page_attributes *projected,
                                           const struct snapshot_table *table,
                                           const struct index_info *index, struct arena *arena)
{
    if (!index || index->projection == PROJECTS_ALL) {
        projected->all = true;
        return true;
    }
    size_t most = index->included_count + QUERY_MOST_COLUMNS + KEY_MAX_BASE_ATTRIBUTES;
    projected->list = arena_array(arena, most, sizeof *projected->list);
    if (!projected->list)
        return false;
    page_attributes_add_keys(projected, &index->keys);
    page_attributes_add_keys(projected, &table->info->keys);
    for (size_t i = 0; i < index->included_count; i++)
        page_attributes_add(projected, index->included[i]);
    return true;
}

struct page_lookup {
    const struct page_attributes *projected;
    struct span missing; /* the first attribute that is not among them */
};

static bool page_attributes_look_up(void *arg, struct span attribute)
{
    struct page_lookup *lookup = arg;
    lookup->missing = attribute;
    return page_attributes_have(lookup->projected, attribute);
}

static bool page_attributes_count_one(void *arg, struct span attribute)
{
    size_t *count = arg;
    (void)attribute;
    (*count)++;
    return true;
}

static bool page_attributes_add_one(void *arg, struct span attribute)
{
    page_attributes_add(arg, attribute);
    return true;
}

/* Beside READ's own attributes those of its conditions and of the key, as a source returns them. */
static bool page_attributes_find_wanted(struct page_attributes *wanted,
                                        const struct snapshot_table *table, const struct read *read,
                                        struct arena *arena)
{
    size_t most = read->attribute_count + read->where_count + QUERY_MOST_COLUMNS;
    for (size_t i = 0; i < read->filter_count; i++)
        cond_each_attribute(&read->filter[i], page_attributes_count_one, &most);
    wanted->list = arena_array(arena, most, sizeof *wanted->list);
    if (!wanted->list)
        return false;
    for (size_t i = 0; i < read->attribute_count; i++)
        page_attributes_add(wanted, read->attributes[i]);
    for (size_t i = 0; i < read->where_count; i++)
        page_attributes_add(wanted, read->where[i].attribute);
    for (size_t i = 0; i < read->sort_count; i++)
        page_attributes_add(wanted, read->sort[i]);
    for (size_t i = 0; i < read->own_key_count; i++)
        page_attributes_add(wanted, read->own_key[i]);
    for (size_t i = 0; i < read->filter_count; i++)
        cond_each_attribute(&read->filter[i], page_attributes_add_one, wanted);
    if (read->kind == READ_ITEMS)
        page_attributes_add_keys(wanted, &table->info->keys);
    return true;
}

/* The service refuses such a filter, and does not take the attribute for missing. */
static bool page_attributes_have_filter(const struct page_attributes *projected,
                                        const struct snapshot_table *table, const struct read *read,
                                        struct error *err)
{
    struct page_lookup lookup = {.projected = projected};
    for (size_t i = 0; i < read->filter_count; i++)
        if (!cond_each_attribute(&read->filter[i], page_attributes_look_up, &lookup))
            return error_set(
                err, ERROR_INVALID,
                "the filter uses the attribute %.*s, which the index %s of %s does not "
                "have; filter the items themselves",
                (int)lookup.missing.size, lookup.missing.data, read->index, table->name);
    return true;
}

bool page_attributes_find(struct page_attributes *attributes, const struct snapshot_table *table,
                          const struct index_info *index, const struct read *read,
                          struct arena *arena, struct error *err)
{
    struct page_attributes projected = {0};
    *attributes = (struct page_attributes){0};
    if (!page_attributes_find_projected(&projected, table, index, arena))
        return error_no_memory(err);
    if (!page_attributes_have_filter(&projected, table, read, err))
        return false;
    for (size_t i = 0; i < read->attribute_count && !projected.all; i++) {
        struct span name = read->attributes[i];
        if (page_attributes_have(&projected, name))
            continue;
        if (!index->local)
            return error_set(err, ERROR_INVALID,
                             "the global index %.*s of %s does not have the attribute %.*s; read "
                             "another index, or the items themselves",
                             (int)index->name.size, index->name.data, table->name, (int)name.size,
                             name.data);
        projected.all = true; /* for a local index the service reads it from the table */
    }
    if (read->attribute_count == 0) {
        *attributes = projected;
        return true;
    }
    return page_attributes_find_wanted(attributes, table, read, arena) || error_no_memory(err);
}

/* Checks. */

static bool snapshot_page_is_typed_set(struct typed typed, struct arena *arena)
{
    struct typed_set set;
    return typed_set(typed, arena, &set);
}

/* Whether VALUE is typed at all depths; json_parse bounds the depth. */
static bool snapshot_page_is_typed(struct json value, struct arena *arena)
{
    struct typed typed = typed_open(value);
    switch (typed.tag) {
    case TYPED_NONE:
        return false;
    case TYPED_M:
        for (struct json name = json_first(typed.content), member; json_present(name);
             name = json_next(member)) {
            member = json_next(name);
            if (!snapshot_page_is_typed(member, arena))
                return false;
        }
        return true;
    case TYPED_L:
        for (struct json each = json_first(typed.content); json_present(each);
             each = json_next(each))
            if (!snapshot_page_is_typed(each, arena))
                return false;
        return true;
    case TYPED_SS:
    case TYPED_NS:
    case TYPED_BS:
        return snapshot_page_is_typed_set(typed, arena);
    default:
        return true;
    }
}

static bool snapshot_page_is_item(struct json item, struct arena *arena)
{
    if (!json_is(item, JSON_OBJECT))
        return false;
    for (struct json name = json_first(item), value; json_present(name); name = json_next(value)) {
        value = json_next(name);
        if (!snapshot_page_is_typed(value, arena))
            return false;
    }
    return true;
}

static bool snapshot_page_has_keys(struct json item, const struct page_row *row,
                                   const struct snapshot_table *table,
                                   const struct snapshot_query *query, struct arena *arena)
{
    for (size_t i = 0; i < query->column_count; i++) {
        const struct schema_column *column = &table->columns.list[query->columns[i]];
        struct value value;
        struct column_value own;
        if (!typed_scalar(item_attribute(item, column->attribute), arena, &value) ||
            !column_value_of(value, column->type, arena, &own) ||
            own.is_bytes != row->values[i].is_bytes || !span_equal(own.bytes, row->values[i].bytes))
            return false;
    }
    return true;
}

static bool snapshot_page_refuse(const struct snapshot_file *file,
                                 const struct snapshot_table *table, const char *what,
                                 struct error *err)
{
    return error_set(err, ERROR_BAD_ANSWER,
                     "%s is damaged: an item of %s %s; import it again, or restore a copy",
                     file->path, table->name, what);
}

static bool snapshot_page_parse(struct snapshot_page *page, const struct snapshot_file *file,
                                const struct snapshot_table *table, struct error *err)
{
    struct json_fault fault = {0};
    buf_add_text(&page->text, page->text.size ? "]" : "[]");
    json_clean_up(&page->doc);
    page->doc = (struct json_doc){0};
    if (page->text.failed)
        return error_no_memory(err);
    if (json_parse_within(&page->doc, buf_span(&page->text), MOST_VALUES, &fault))
        return true;
    return strcmp(fault.what, "out of memory") == 0
               ? error_no_memory(err)
               : snapshot_page_refuse(file, table, "is no JSON", err);
}

/* Rows come in the order of their keys, so two versions of one item are neighbours. */
static bool snapshot_page_repeats(const struct snapshot_page *page, size_t row,
                                  const struct snapshot_query *query)
{
    const struct column_value *a = row > 0 ? page->rows[row - 1].values : NULL;
    const struct column_value *b = page->rows[row].values;
    bool same = a != NULL;
    for (size_t i = 0; same && i < query->column_count; i++)
        same = a[i].is_bytes == b[i].is_bytes && span_equal(a[i].bytes, b[i].bytes);
    return same;
}

/* The rows are separate values, and not one text that happens to be JSON. */
static bool snapshot_page_check(struct snapshot_page *page, const struct snapshot_file *file,
                                const struct snapshot_table *table,
                                const struct snapshot_query *query, struct error *err)
{
    struct json item = json_first(json_root(&page->doc));
    page->items = arena_array(&page->arena, page->row_count, sizeof *page->items);
    if (!page->items)
        return error_no_memory(err);
    for (size_t i = 0; i < page->row_count; i++, item = json_next(item)) {
        const struct page_row *row = &page->rows[i];
        if (!json_present(item) || json_offset(item) != row->offset ||
            json_raw(item).size != row->size || !snapshot_page_is_item(item, &page->arena))
            return page->arena.failed ? error_no_memory(err)
                                      : snapshot_page_refuse(file, table, "is no typed JSON", err);
        if (!snapshot_page_has_keys(item, row, table, query, &page->arena))
            return page->arena.failed
                       ? error_no_memory(err)
                       : snapshot_page_refuse(file, table, "has another key than its columns", err);
        if (snapshot_page_repeats(page, i, query))
            return snapshot_page_refuse(file, table, "has two versions at one moment", err);
        page->items[i] = item;
    }
    page->item_count = page->row_count;
    return true;
}

/* Appends the members of ITEM that ATTRIBUTES have. */
static bool snapshot_page_write_some(struct json item, const struct page_attributes *attributes,
                                     struct buf *out)
{
    size_t count = 0;
    buf_add_char(out, '{');
    for (struct json name = json_first(item), value; json_present(name); name = json_next(value)) {
        CLEAN_UP(buf_clean_up) struct buf unescaped = {0};
        struct span plain;
        value = json_next(name);
        if (!json_plain_string(name, &plain)) {
            json_read_string(name, &unescaped);
            plain = buf_span(&unescaped);
        }
        if (unescaped.failed)
            return false;
        if (!page_attributes_have(attributes, plain))
            continue;
        buf_add_text(out, count++ ? "," : "");
        buf_add_span(out, json_raw(name));
        buf_add_char(out, ':');
        buf_add_span(out, json_raw(value));
    }
    buf_add_char(out, '}');
    return !out->failed;
}

/* Replaces the text by one with ATTRIBUTES only. */
static bool snapshot_page_rewrite(struct snapshot_page *page,
                                  const struct page_attributes *attributes)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    for (size_t i = 0; i < page->item_count; i++) {
        buf_add_char(&text, text.size ? ',' : '[');
        snapshot_page_write_some(page->items[i], attributes, &text);
    }
    if (text.failed)
        return false;
    buf_clean_up_secret(&page->text);
    page->text = (struct buf){0};
    buf_move(&page->text, &text);
    return true;
}

static void snapshot_page_find_items(struct snapshot_page *page)
{
    struct json item = json_first(json_root(&page->doc));
    for (size_t i = 0; i < page->item_count; i++, item = json_next(item))
        page->items[i] = item;
}

static bool snapshot_page_filter(struct snapshot_page *page, const struct read *read,
                                 struct error *err)
{
    size_t left = 0;
    bool failed = false;
    for (size_t i = 0; i < page->item_count; i++) {
        bool holds = true;
        for (size_t k = 0; k < read->filter_count && holds; k++)
            holds = cond_holds(&read->filter[k], page->items[i], &failed);
        if (holds)
            page->items[left++] = page->items[i];
    }
    page->item_count = left;
    return !failed || error_no_memory(err);
}

/* Writes the key of the last row: the position behind which the next page begins. */
static bool snapshot_page_set_key(struct snapshot_page *page, const struct snapshot_table *table,
                                  const struct snapshot_query *query, struct error *err)
{
    struct page_attributes keys = {
        .list = arena_array(&page->arena, query->column_count, sizeof *keys.list)};
    for (size_t i = 0; keys.list && i < query->column_count; i++)
        keys.list[keys.count++] = table->columns.list[query->columns[i]].attribute;
    return (keys.list &&
            snapshot_page_write_some(page->items[page->item_count - 1], &keys, &page->key_text) &&
            json_parse(&page->key_doc, buf_span(&page->key_text), JSON_STRICT, NULL)) ||
           error_no_memory(err);
}

/* Copies the text into memory of its size. */
static bool snapshot_page_settle(struct snapshot_page *page)
{
    if (buf_reserve(&page->text, page->room->size + sizeof "[]"))
        buf_add_span(&page->text, buf_span(page->room));
    return !page->text.failed;
}

bool snapshot_page_finish(struct snapshot_page *page, const struct snapshot_file *file,
                          const struct snapshot_table *table, const struct snapshot_query *query,
                          const struct page_attributes *attributes, const struct read *read,
                          struct error *err)
{
    page->scanned = page->row_count;
    if (!snapshot_page_settle(page))
        return error_no_memory(err);
    if (!snapshot_page_parse(page, file, table, err) ||
        !snapshot_page_check(page, file, table, query, err))
        return false;
    if (page->more && !snapshot_page_set_key(page, table, query, err))
        return false;
    if (!attributes->all) {
        if (!snapshot_page_rewrite(page, attributes))
            return error_no_memory(err);
        if (!snapshot_page_parse(page, file, table, err))
            return false;
        snapshot_page_find_items(page);
    }
    return snapshot_page_filter(page, read, err);
}
