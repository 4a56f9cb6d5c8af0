#include "core/draft/generic_view.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/ascii.h"
#include "core/draft/declare.h"
#include "core/draft/declared_views.h"
#include "core/map/companion.h"
#include "core/source/table_words.h"

/* The table's note. */

static void generic_view_describe_keys(struct buf *out, const struct key_schema *keys)
{
    static const char *const types[] = {
        [VALUE_S] = "", [VALUE_N] = " (a number)", [VALUE_B] = " (binary)"};
    for (size_t i = 0; i < keys->partition_count; i++) {
        buf_add_text(out, i ? " and " : "");
        buf_add_span(out, keys->partition[i].name);
        buf_add_text(out, keys->partition[i].type <= VALUE_B ? types[keys->partition[i].type] : "");
    }
    for (size_t i = 0; i < keys->sort_count; i++) {
        buf_add_text(out, i ? ", then " : ", sorted by ");
        buf_add_span(out, keys->sort[i].name);
        buf_add_text(out, keys->sort[i].type <= VALUE_B ? types[keys->sort[i].type] : "");
    }
}

static void generic_view_describe_index(struct buf *out, const struct index_info *index)
{
    buf_add_text(out, index->local ? "Local index " : "Index ");
    buf_add_span(out, index->name);
    buf_add_text(out, ": by ");
    generic_view_describe_keys(out, &index->keys);
    if (index->projection == PROJECTS_ALL)
        buf_add_text(out, "; holds whole items.");
    else if (index->projection == PROJECTS_KEYS || index->included_count == 0)
        buf_add_text(out, "; holds only keys, so items are read again from the table.");
    for (size_t i = 0; index->projection == PROJECTS_SOME && i < index->included_count; i++) {
        buf_add_text(out, i ? ", " : "; holds keys and ");
        buf_add_span(out, index->included[i]);
    }
    if (index->projection == PROJECTS_SOME && index->included_count > 0)
        buf_add_text(out, ", so items are read again from the table.");
    buf_add_char(out, '\n');
}

static void generic_view_describe(struct buf *out, const struct table_info *info)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    char digits[32];
    buf_add_text(out, "Items by ");
    generic_view_describe_keys(out, &info->keys);
    buf_add_text(out, ".\n");
    for (size_t i = 0; i < info->index_count; i++)
        generic_view_describe_index(out, &info->indexes[i]);
    table_words_write_indexes(info, out);
    if (info->stream_enabled)
        table_words_write_stream(info, out);
    table_words_write_replicas(info, out);
    if (info->item_count < 0) {
        buf_add_text(out, "The number of items is unknown.");
        return;
    }
    int count = snprintf(digits, sizeof digits, "%" PRId64, info->item_count);
    for (int i = 0; i < count; i++) { /* "1,234,567 items, 2.5 GB" */
        buf_add_text(out, i > 0 && (count - i) % 3 == 0 ? "," : "");
        buf_add_char(out, digits[i]);
    }
    buf_add_text(out, info->item_count == 1 ? " item" : " items");
    double size = (double)info->size_bytes;
    size_t unit = 0;
    for (; size >= 1000 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        size /= 1000;
    if (info->size_bytes >= 0)
        buf_printf(out, ", %.*f %s", unit > 0 && size < 10 ? 1 : 0, size, units[unit]);
    buf_add_text(out, " (by DescribeTable, which updates these numbers about every six hours).");
}

/* The declaration of a table. */

/* A key attribute of the table or of an index, and its part in paths. */
struct generic_part {
    const char *attribute;
    const char *name;
    enum value_type type;
    struct generic_part *next;
};

/* A table while it is declared. */
struct generic_table {
    struct arena *arena;
    struct declared_table *table;
    struct generic_part *parts; /* of the whole table: one name means one attribute everywhere */
    const struct table_info *info;
};

static bool generic_view_schema_has(const struct key_schema *keys, const char *attribute)
{
    for (size_t i = 0; i < keys->partition_count; i++)
        if (span_is(keys->partition[i].name, attribute))
            return true;
    for (size_t i = 0; i < keys->sort_count; i++)
        if (span_is(keys->sort[i].name, attribute))
            return true;
    return false;
}

/* The part that ATTRIBUTE is, made on its first use. NULL when memory ran out. */
static const struct generic_part *generic_view_add_part(struct generic_table *to,
                                                        struct span attribute, enum value_type type)
{
    struct generic_part **last = &to->parts;
    for (; *last; last = &(*last)->next)
        if (span_is(attribute, (*last)->attribute))
            return *last;
    struct generic_part *part = arena_alloc(to->arena, sizeof *part);
    const char *wanted = declare_param_name(to->arena, attribute), *name = wanted;
    if (!part || !wanted)
        return NULL;
    for (unsigned n = 2; name; n++) {
        /* another part or key attribute may have the name, or RANK_PARAM, a number in entry names
         */
        bool taken = generic_view_schema_has(&to->info->keys, name);
        for (size_t i = 0; i < to->info->index_count; i++)
            taken = taken || generic_view_schema_has(&to->info->indexes[i].keys, name);
        taken = (taken && !span_is(attribute, name)) || strcmp(name, RANK_PARAM) == 0;
        for (const struct generic_part *other = to->parts; other; other = other->next)
            taken = taken || strcmp(other->name, name) == 0;
        if (!taken)
            break;
        name = declare_other_name(to->arena, wanted, "key", n);
    }
    *part = (struct generic_part){
        .attribute = arena_text(to->arena, attribute), .name = name, .type = type};
    if (!part->attribute || !part->name)
        return NULL;
    *last = part;
    if (type != VALUE_S)
        declare_type(to->arena, to->table, part->attribute, type);
    return part;
}

/* A key that is one part. A text's format is unknown, so that its part is open. */
static void generic_view_declare_key(struct generic_table *to, struct span attribute,
                                     enum value_type type, struct declared_key *key)
{
    const struct generic_part *part = generic_view_add_part(to, attribute, type);
    if (part)
        *key = (struct declared_key){
            .attribute = part->attribute,
            .format = declare_whole_format(to->arena, part->name, part->type == VALUE_S)};
}

static void generic_view_declare_index(struct generic_table *to, const struct index_info *info)
{
    struct arena *arena = to->arena;
    const char *name = arena_text(arena, info->name);
    struct declared_index *index = name ? declare_index(arena, to->table, name) : NULL;
    if (!index)
        return;
    for (size_t i = 0; i < info->keys.partition_count; i++)
        generic_view_declare_key(to, info->keys.partition[i].name, info->keys.partition[i].type,
                                 &index->partition[index->partition_count++]);
    for (size_t i = 0; i < info->keys.sort_count; i++)
        generic_view_declare_key(to, info->keys.sort[i].name, info->keys.sort[i].type,
                                 &index->sort[index->sort_count++]);
    index->local = info->local;
    index->projects = info->projection;
    index->includes = arena_array(arena, info->included_count, sizeof *index->includes);
    for (size_t i = 0; index->includes && i < info->included_count; i++)
        index->includes[index->include_count++] = arena_text(arena, info->included[i]);
}

static void generic_view_add_vector(struct generic_table *to, const struct vector_info *info);

struct declared_table *generic_view_declare_table(struct arena *arena, const char *name,
                                                  const struct table_info *info)
{
    struct generic_table to = {
        .arena = arena, .table = declare_table(arena, name, name), .info = info};
    struct declared_record *item = to.table ? declare_record(arena, to.table, "item") : NULL;
    if (!item)
        return NULL;
    generic_view_declare_key(&to, info->keys.partition[0].name, info->keys.partition[0].type,
                             &item->keys[item->key_count++]);
    if (info->keys.sort_count > 0)
        generic_view_declare_key(&to, info->keys.sort[0].name, info->keys.sort[0].type,
                                 &item->keys[item->key_count++]);
    for (size_t i = 0; i < info->index_count && !arena->failed; i++)
        generic_view_declare_index(&to, &info->indexes[i]);
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    generic_view_describe(&note, info);
    to.table->note = declare_text(arena, &note);
    to.table->arn = info->arn.size ? arena_text(arena, info->arn) : NULL;
    if (!arena->failed)
        generic_view_add_paths(arena, to.table, item);
    for (size_t i = 0; i < info->vector_count && !arena->failed; i++)
        generic_view_add_vector(&to, &info->vectors[i]);
    return arena->failed ? NULL : to.table;
}

/* Paths. */

/* The generic view while its paths are declared. */
struct generic_paths {
    struct arena *arena;
    struct declared_table *table;
    const struct declared_record *record;
    const char *kind; /* RECORD's, where there are others */
    struct window_params params;
};

const char *generic_view_find_part(const struct declared_record *record,
                                   const struct declared_key *key)
{
    const struct format *format = declare_find_format(record, key);
    return format ? format_whole_param(format) : NULL;
}

static void generic_view_add_items(struct generic_paths *paths)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    const struct declared_key *keys = paths->record->keys;
    bool sorted = paths->record->key_count > 1;
    buf_printf(&path, "items/{%s}%s", format_whole_param(&keys[0].format), sorted ? "/" : "");
    paths->arena->failed = paths->arena->failed || path.failed;
    if (!sorted) {
        struct declared_path *file = declare_path(paths->arena, paths->table, buf_text(&path));
        if (file && paths->kind)
            declare_path_kind(paths->arena, file, paths->kind);
        return;
    }
    struct view view = {
        .path = buf_text(&path),
        .kind = paths->kind,
        .part = format_whole_param(&keys[1].format),
        .attribute = keys[1].attribute,
        .type = declare_find_type(paths->table, keys[1].attribute),
    };
    declared_views_add(paths->arena, paths->table, &view);
    declared_views_add_windows(paths->arena, paths->table, &view, &paths->params);
}

/* The parts of an index's key, in the key's order. */
struct generic_index_parts {
    const char *parts[2 * KEY_MAX_ATTRIBUTES];
    size_t count;
    size_t bound; /* the path binds these first ones: the partition key, and the sort key without
                   * its last attribute */
};

/* False when some key of the index is not one part. */
static bool generic_view_find_index_parts(const struct declared_record *record,
                                          const struct declared_index *index,
                                          struct generic_index_parts *out)
{
    *out = (struct generic_index_parts){0};
    for (size_t i = 0; i < index->partition_count; i++)
        out->parts[out->count++] = generic_view_find_part(record, &index->partition[i]);
    for (size_t i = 0; i < index->sort_count; i++)
        out->parts[out->count++] = generic_view_find_part(record, &index->sort[i]);
    out->bound = index->partition_count + (index->sort_count ? index->sort_count - 1 : 0);
    for (size_t i = 0; i < out->count; i++)
        if (!out->parts[i])
            return false;
    return out->count > 0;
}

static bool generic_view_is_bound(const struct generic_index_parts *parts, const char *part)
{
    for (size_t i = 0; i < parts->bound; i++)
        if (parts->parts[i] && strcmp(parts->parts[i], part) == 0)
            return true;
    return false;
}

/* The format of an entry's name in an index's listing: the part that sorts it, and the parts of the
 * table's key that the path does not bind. The former is omitted if it is a secret, in the table's
 * key, or called RANK_PARAM, which is the position in names. NULL where one part is left, which is
 * the default. */
static const char *generic_view_name_entries(struct arena *arena,
                                             const struct declared_table *table,
                                             const struct declared_record *record,
                                             const struct declared_index *index,
                                             const struct generic_index_parts *parts)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    const char *sort = parts->bound < parts->count ? parts->parts[parts->bound] : NULL;
    bool shown =
        sort && strcmp(sort, RANK_PARAM) != 0 && !generic_view_is_bound(parts, sort) &&
        !declare_is_secret(table, index->sort[parts->bound - index->partition_count].attribute);
    size_t count = 0;
    for (size_t i = 0; i < record->key_count; i++)
        shown = shown && strcmp(format_whole_param(&record->keys[i].format), sort) != 0;
    if (shown)
        buf_printf(&name, "{%s},", sort);
    for (size_t i = 0; i < record->key_count; i++) {
        const char *part = format_whole_param(&record->keys[i].format);
        if (!generic_view_is_bound(parts, part))
            buf_printf(&name, "%s{%s}", count++ ? "," : "", part);
    }
    arena->failed = arena->failed || name.failed;
    bool more = count > 1 || (count == 1 && shown);
    return more ? arena_text(arena, buf_span(&name)) : NULL;
}

const char *generic_view_name_index_entries(struct arena *arena, const struct declared_table *table,
                                            const struct declared_record *record,
                                            const struct declared_index *index, size_t bound)
{
    struct generic_index_parts parts;
    if (!generic_view_find_index_parts(record, index, &parts))
        return NULL;
    parts.bound = bound;
    return generic_view_name_entries(arena, table, record, index, &parts);
}

/* Adds NAME as a step of a path. A name that is longer than NAME_LIMIT is cut. A number follows
 * where another path begins alike. */
static void generic_view_add_index_step(const struct generic_paths *paths, const char *name,
                                        struct buf *path)
{
    CLEAN_UP(buf_clean_up) struct buf step = {0};
    size_t begin = path->size;
    bool is_free = false;
    bool cut = strlen(name) > NAME_LIMIT;
    for (size_t i = 0; name[i] && i < (cut ? NAME_LIMIT - 8 : NAME_LIMIT); i++) {
        char c = name[i];
        bool plain = ascii_is_letter(c) || ascii_is_digit(c) || c == '.' || c == '-' || c == '_';
        buf_add_char(&step, plain ? c : '_');
    }
    for (unsigned number = 1; !is_free && !step.failed && !path->failed; number++) {
        buf_truncate(path, begin);
        buf_add_span(path, buf_span(&step));
        if (number > 1)
            buf_printf(path, "_%u", number);
        buf_add_char(path, '/');
        is_free = true;
        for (const struct declared_path *each = paths->table->paths; each; each = each->next)
            is_free = is_free && !span_starts(span_text(each->path), buf_span(path));
        struct span taken = span_from(buf_span(path), begin);
        for (const struct map_vector *each = paths->table->vectors; each; each = each->next)
            is_free = is_free && !span_is(span_of(taken.data, taken.size - 1), each->step);
    }
    path->failed = path->failed || step.failed;
}

/* The directory of a vector index in by/. */
static void generic_view_add_vector(struct generic_table *to, const struct vector_info *info)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct arena *arena = to->arena;
    struct map_vector *vector = arena_alloc(arena, sizeof *vector);
    const char *name = arena_text(arena, info->name);
    if (!vector || !name)
        return;
    buf_add_text(&path, "by/");
    generic_view_add_index_step(&(struct generic_paths){.arena = arena, .table = to->table}, name,
                                &path);
    buf_truncate(&path, path.size > 0 ? path.size - 1 : 0); /* the slash */
    arena->failed = arena->failed || path.failed;
    *vector = (struct map_vector){
        .name = name,
        .step = arena_text(arena, span_from(buf_span(&path), sizeof "by/" - 1)),
        .attribute = arena_text(arena, info->attribute),
        .dimensions = (uint32_t)info->dimensions,
        .distance = arena_text(arena, info->distance),
        .partition = info->partition.size ? arena_text(arena, info->partition) : NULL,
        .partition_type = info->partition_type,
        .status = arena_text(arena, info->status),
        .is_backfilling = info->backfilling,
    };
    struct map_vector **last = &to->table->vectors;
    while (*last)
        last = &(*last)->next;
    *last = vector;
}

static void generic_view_add_index(struct generic_paths *paths, const struct declared_index *index)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct generic_index_parts parts;
    if (!generic_view_find_index_parts(paths->record, index, &parts))
        return;
    buf_add_text(&path, "by/");
    generic_view_add_index_step(paths, index->name, &path);
    for (size_t i = 0; i < parts.bound; i++) {
        struct generic_index_parts above = parts;
        above.bound = i;
        if (i >= index->partition_count && !generic_view_is_bound(&above, parts.parts[i]) &&
            !declare_is_secret(paths->table, index->sort[i - index->partition_count].attribute)) {
            /* directories, one for each value of this part of the sort key */
            paths->arena->failed = paths->arena->failed || path.failed;
            struct view view = {.path = buf_text(&path), .kind = paths->kind, .index = index->name};
            struct declared_path *group = declared_views_add(paths->arena, paths->table, &view);
            if (group)
                group->groups = true;
        }
        buf_printf(&path, "{%s}/", parts.parts[i]);
    }
    paths->arena->failed = paths->arena->failed || path.failed;
    const char *last = index->sort_count > 0 ? parts.parts[parts.bound] : NULL;
    const char *attribute = last ? index->sort[index->sort_count - 1].attribute : NULL;
    bool open = last && !generic_view_is_bound(&parts, last);
    struct view view = {
        .path = buf_text(&path),
        .kind = paths->kind,
        .index = index->name,
        .name = generic_view_name_entries(paths->arena, paths->table, paths->record, index, &parts),
        .part = open ? last : NULL,
        .attribute = attribute,
        .type = attribute ? declare_find_type(paths->table, attribute) : VALUE_S,
    };
    declared_views_add(paths->arena, paths->table, &view);
    declared_views_add_windows(paths->arena, paths->table, &view, &paths->params);
}

void generic_view_add_paths(struct arena *arena, struct declared_table *table,
                            const struct declared_record *record)
{
    struct generic_paths paths = {
        .arena = arena,
        .table = table,
        .record = record,
        .kind = table->records->next ? record->name : NULL,
        .params = declared_views_params(arena, table),
    };
    if (arena->failed)
        return;
    generic_view_add_items(&paths);
    for (const struct declared_index *each = table->indexes; each; each = each->next)
        if (!arena->failed)
            generic_view_add_index(&paths, each);
}
