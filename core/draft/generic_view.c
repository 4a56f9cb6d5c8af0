#include "core/draft/generic_view.h"

#include "core/draft/declare.h"
#include "core/draft/declared_views.h"
#include "core/map/companion.h"

/* The generic view while it is declared. */
struct view_maker {
    struct arena *arena;
    struct declared_table *table;
    const struct declared_record *record;
    const char *kind; /* RECORD's, where there are others */
    struct window_params params;
};

const char *generic_part(const struct declared_record *record, const struct declared_key *key)
{
    for (size_t i = 0; i < record->key_count; i++)
        if (strcmp(record->keys[i].attribute, key->attribute) == 0)
            return format_whole_param(&record->keys[i].format);
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next)
        if (strcmp(each->kind, record->name) == 0)
            return format_whole_param(&each->format);
    return key->by_kind ? NULL : format_whole_param(&key->format);
}

enum value_type generic_type(const struct declared_table *table, const char *attribute)
{
    for (const struct declared_type *type = table->types; type; type = type->next)
        if (strcmp(type->attribute, attribute) == 0)
            return type->type;
    return VALUE_S;
}

static void generic_view_add_step(struct buf *path, const char *part)
{
    buf_printf(path, "{%s}/", part);
}

static void generic_view_add_file(struct view_maker *maker, struct buf *path)
{
    buf_truncate(path, path->size - 1);
    struct declared_path *file = declare_path(maker->arena, maker->table, buf_text(path));
    if (!file || !maker->kind)
        return;
    file->kinds = arena_alloc(maker->arena, sizeof *file->kinds);
    if (!file->kinds)
        return;
    file->kinds->text = maker->kind;
    file->kind_count = 1;
}

static void generic_view_add_items(struct view_maker *maker)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    const struct declared_record *record = maker->record;
    buf_add_text(&path, "items/");
    generic_view_add_step(&path, format_whole_param(&record->keys[0].format));
    maker->arena->failed = maker->arena->failed || path.failed;
    if (record->key_count == 1) {
        generic_view_add_file(maker, &path);
        return;
    }
    struct view view = {
        .path = buf_text(&path),
        .kind = maker->kind,
        .part = format_whole_param(&record->keys[1].format),
        .attribute = record->keys[1].attribute,
        .type = generic_type(maker->table, record->keys[1].attribute),
    };
    view_add(maker->arena, maker->table, &view);
    view_add_windows(maker->arena, maker->table, &view, &maker->params);
}

/* The parts of an index's key, in the key's order. */
struct index_parts {
    const char *parts[2 * KEY_MAX_ATTRIBUTES];
    size_t count;
    size_t said; /* so many stand in the path: all of the partition key, and all of the sort key
                  * but its last attribute */
};

/* False when some key of the index is not one part. */
static bool generic_view_find_parts(const struct declared_record *record,
                                    const struct declared_index *index, struct index_parts *out)
{
    *out = (struct index_parts){0};
    for (size_t i = 0; i < index->partition_count; i++)
        out->parts[out->count++] = generic_part(record, &index->partition[i]);
    for (size_t i = 0; i < index->sort_count; i++)
        out->parts[out->count++] = generic_part(record, &index->sort[i]);
    out->said = index->partition_count + (index->sort_count ? index->sort_count - 1 : 0);
    for (size_t i = 0; i < out->count; i++)
        if (!out->parts[i])
            return false;
    return out->count > 0;
}

static bool generic_view_is_stated(const struct index_parts *parts, const char *part)
{
    for (size_t i = 0; i < parts->said; i++)
        if (strcmp(parts->parts[i], part) == 0)
            return true;
    return false;
}

static bool generic_view_is_base(const struct declared_record *record, const char *part)
{
    for (size_t i = 0; i < record->key_count; i++)
        if (strcmp(format_whole_param(&record->keys[i].format), part) == 0)
            return true;
    return false;
}

static bool generic_view_is_secret(const struct declared_table *table, const char *attribute)
{
    for (size_t i = 0; i < table->secret_count; i++)
        if (strcmp(table->secrets[i], attribute) == 0)
            return true;
    return false;
}

/* The part that a listing is sorted by whose path says PARTS; NULL when no name may tell it: in
 * names "rank" is the place, and a secret stands in none. */
static const char *generic_view_shown_sort(const struct declared_table *table,
                                           const struct declared_record *record,
                                           const struct declared_index *index,
                                           const struct index_parts *parts)
{
    const char *sort = parts->said < parts->count ? parts->parts[parts->said] : NULL;
    if (!sort || strcmp(sort, RANK_PARAM) == 0 || generic_view_is_stated(parts, sort) ||
        generic_view_is_base(record, sort))
        return NULL;
    const char *attribute = index->sort[parts->said - index->partition_count].attribute;
    return generic_view_is_secret(table, attribute) ? NULL : sort;
}

/* How an entry of an index's listing is named: by the part that the listing is sorted by, and by
 * what of the table's key the path does not say. NULL where that is one part, which the name would
 * be anyway. */
static const char *generic_view_name_entries(struct arena *arena,
                                             const struct declared_table *table,
                                             const struct declared_record *record,
                                             const struct declared_index *index,
                                             const struct index_parts *parts)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const char *sort = generic_view_shown_sort(table, record, index, parts);
    size_t count = 0;
    if (sort)
        buf_printf(&name, "{%s},", sort);
    for (size_t i = 0; i < record->key_count; i++) {
        const char *part = format_whole_param(&record->keys[i].format);
        if (!generic_view_is_stated(parts, part))
            buf_printf(&name, "%s{%s}", count++ ? "," : "", part);
    }
    arena->failed = arena->failed || name.failed;
    bool more = count > 1 || (count == 1 && strchr(buf_text(&name), ','));
    return more ? arena_text(arena, buf_span(&name)) : NULL;
}

const char *generic_index_name(struct arena *arena, const struct declared_table *table,
                               const struct declared_record *record,
                               const struct declared_index *index, size_t said)
{
    struct index_parts parts;
    if (!generic_view_find_parts(record, index, &parts))
        return NULL;
    parts.said = said;
    return generic_view_name_entries(arena, table, record, index, &parts);
}

static bool generic_view_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

/* NAME as a step of a path: it can be longer than names are, and then it is cut. */
static void generic_view_add_index_step(const struct view_maker *maker, const char *name,
                                        struct buf *path)
{
    CLEAN_UP(buf_clean_up) struct buf step = {0};
    size_t begin = path->size;
    bool is_free = false;
    bool cut = strlen(name) > NAME_LIMIT;
    for (size_t i = 0; name[i] && i < (cut ? NAME_LIMIT - 8 : NAME_LIMIT); i++)
        buf_add_char(&step, generic_view_is_plain(name[i]) ? name[i] : '_');
    for (unsigned number = 1; !is_free && !step.failed && !path->failed; number++) {
        buf_truncate(path, begin);
        buf_add_span(path, buf_span(&step));
        if (number > 1)
            buf_printf(path, "_%u", number);
        buf_add_char(path, '/');
        is_free = true;
        for (const struct declared_path *each = maker->table->paths; each; each = each->next)
            is_free = is_free && !span_starts(span_text(each->path), buf_span(path));
    }
    path->failed = path->failed || step.failed;
}

/* The directories of PATH, one a value of part AT, which is of the index's sort key. */
static void generic_view_add_group(struct view_maker *maker, const struct declared_index *index,
                                   const struct index_parts *parts, size_t at,
                                   const struct buf *path)
{
    struct index_parts above = *parts;
    const char *attribute = index->sort[at - index->partition_count].attribute;
    above.said = at;
    if (generic_view_is_stated(&above, parts->parts[at]) ||
        generic_view_is_secret(maker->table, attribute))
        return;
    maker->arena->failed = maker->arena->failed || path->failed;
    struct view view = {.path = buf_text(path), .kind = maker->kind, .index = index->name};
    struct declared_path *group = view_add(maker->arena, maker->table, &view);
    if (group)
        group->groups = true;
}

static void generic_view_add_index(struct view_maker *maker, const struct declared_index *index)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct index_parts parts;
    if (!generic_view_find_parts(maker->record, index, &parts))
        return;
    buf_add_text(&path, "by/");
    generic_view_add_index_step(maker, index->name, &path);
    for (size_t i = 0; i < parts.said; i++) {
        if (i >= index->partition_count)
            generic_view_add_group(maker, index, &parts, i, &path);
        generic_view_add_step(&path, parts.parts[i]);
    }
    maker->arena->failed = maker->arena->failed || path.failed;
    const char *last = index->sort_count > 0 ? parts.parts[parts.said] : NULL;
    const char *attribute = last ? index->sort[index->sort_count - 1].attribute : NULL;
    bool open = last && !generic_view_is_stated(&parts, last);
    struct view view = {
        .path = buf_text(&path),
        .kind = maker->kind,
        .index = index->name,
        .name = generic_view_name_entries(maker->arena, maker->table, maker->record, index, &parts),
        .part = open ? last : NULL,
        .attribute = attribute,
        .type = attribute ? generic_type(maker->table, attribute) : VALUE_S,
    };
    view_add(maker->arena, maker->table, &view);
    view_add_windows(maker->arena, maker->table, &view, &maker->params);
}

void generic_add_paths(struct arena *arena, struct declared_table *table,
                       const struct declared_record *record)
{
    struct view_maker maker = {
        .arena = arena,
        .table = table,
        .record = record,
        .kind = table->records->next ? record->name : NULL,
        .params = window_params_of(arena, table),
    };
    if (arena->failed)
        return;
    generic_view_add_items(&maker);
    for (const struct declared_index *each = table->indexes; each; each = each->next)
        if (!arena->failed)
            generic_view_add_index(&maker, each);
}
