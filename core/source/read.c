#include "core/source/read.h"

#include <stdlib.h>
#include <string.h>

int key_compare(const struct key *a, const struct key *b)
{
    int order = 0;
    for (size_t i = 0; i < a->count && i < b->count && order == 0; i++)
        order = value_compare(a->attributes[i].value, b->attributes[i].value);
    return order;
}

void key_write_words(const struct key *key, struct buf *out)
{
    struct cond conds[KEY_MAX_BASE_ATTRIBUTES];
    for (size_t i = 0; i < key->count; i++)
        conds[i] = (struct cond){
            .attribute = key->attributes[i].name, .op = COND_EQ, .value = key->attributes[i].value};
    conds_write_words(conds, key->count, out);
}

struct read *read_new(enum read_kind kind, const char *table, const char *index)
{
    struct read *read = calloc(1, sizeof *read);
    if (!read)
        return NULL;
    read->kind = kind;
    read->table = arena_text(&read->arena, span_text(table));
    read->pattern = "";
    read->index = index ? arena_text(&read->arena, span_text(index)) : NULL;
    if (read_failed(read)) {
        read_destroy(read);
        return NULL;
    }
    return read;
}

void read_destroy(struct read *read)
{
    if (!read)
        return;
    for (size_t i = 0; i < read->part_count; i++)
        read_destroy(read->parts[i]);
    arena_clean_up(&read->arena);
    free(read);
}

bool read_failed(const struct read *read)
{
    return read->arena.failed;
}

void read_set_table_arn(struct read *read, const char *arn)
{
    read->table_arn = arena_text(&read->arena, span_text(arn));
}

void read_set_pattern(struct read *read, const char *table, const char *path)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s/%s", table, path);
    const char *pattern = text.failed ? NULL : arena_text(&read->arena, buf_span(&text));
    if (pattern)
        read->pattern = pattern;
    else
        read->arena.failed = true;
}

/* An array with room for one more than COUNT things. It doubles when COUNT is a power of two, so
 * that no capacity is stored. The old array stays in the arena. */
static void *read_with_room(struct arena *arena, void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array;
    void *grown = arena_array(arena, count ? count * 2 : 1, size);
    if (grown && count)
        memcpy(grown, array, count * size);
    return grown;
}

/* Too many parts make the Read fail. */
static bool read_has_room(struct read *read, size_t count, size_t max)
{
    if (count >= max)
        read->arena.failed = true;
    return !read_failed(read);
}

void read_add_key(struct read *read, const struct key *key)
{
    if (!read_has_room(read, read->key_count, READ_MAX_KEYS))
        return;
    struct key *keys = read_with_room(&read->arena, read->keys, read->key_count, sizeof *keys);
    if (!keys)
        return;
    struct key *copy = &keys[read->key_count++];
    copy->count = key->count;
    for (size_t i = 0; i < key->count; i++) {
        copy->attributes[i].name = arena_copy(&read->arena, key->attributes[i].name);
        copy->attributes[i].value.type = key->attributes[i].value.type;
        copy->attributes[i].value.bytes = arena_copy(&read->arena, key->attributes[i].value.bytes);
    }
    read->keys = keys;
}

static void read_add_cond(struct read *read, struct cond **conds, size_t *count, size_t most,
                          const struct cond *cond)
{
    if (!read_has_room(read, *count, most))
        return;
    struct cond *grown = read_with_room(&read->arena, *conds, *count, sizeof *grown);
    if (!grown)
        return;
    cond_copy(cond, &read->arena, &grown[(*count)++]);
    *conds = grown;
}

void read_add_where(struct read *read, const struct cond *cond)
{
    read_add_cond(read, &read->where, &read->where_count, READ_MAX_CONDS, cond);
}

void read_add_filter(struct read *read, const struct cond *cond)
{
    read_add_cond(read, &read->filter, &read->filter_count, READ_MAX_FILTERS, cond);
}

void read_add_sort(struct read *read, struct span name)
{
    if (read_has_room(read, read->sort_count, KEY_MAX_ATTRIBUTES))
        read->sort[read->sort_count++] = arena_copy(&read->arena, name);
}

void read_add_own_key(struct read *read, struct span name)
{
    if (read_has_room(read, read->own_key_count, KEY_MAX_BASE_ATTRIBUTES))
        read->own_key[read->own_key_count++] = arena_copy(&read->arena, name);
}

void read_add_attribute(struct read *read, struct span name)
{
    if (read_failed(read))
        return;
    struct span *grown =
        read_with_room(&read->arena, read->attributes, read->attribute_count, sizeof *grown);
    if (!grown)
        return;
    grown[read->attribute_count++] = arena_copy(&read->arena, name);
    read->attributes = grown;
}

void read_set_vector(struct read *read, struct span attribute, struct span vector)
{
    read->vector_of = arena_copy(&read->arena, attribute);
    read->vector = arena_copy(&read->arena, vector);
}

void read_set_stream(struct read *read, const struct read_stream *stream)
{
    read->stream = (struct read_stream){
        .arn = arena_copy(&read->arena, stream->arn),
        .shard = arena_copy(&read->arena, stream->shard),
        .at = stream->at,
        .sequence = arena_copy(&read->arena, stream->sequence),
        .iterator = arena_copy(&read->arena, stream->iterator),
    };
}

void read_add_part(struct read *read, struct read *part)
{
    struct read **grown = NULL;
    if (read_has_room(read, read->part_count, READ_MAX_KEYS))
        grown = read_with_room(&read->arena, read->parts, read->part_count, sizeof *grown);
    if (!grown) {
        read_destroy(part);
        return;
    }
    grown[read->part_count++] = part;
    read->parts = grown;
}

void read_set_path(struct read *read, const char *path)
{
    read->path = arena_text(&read->arena, span_text(path));
}

void read_write_tables(const struct read *read, const char *between, struct buf *out)
{
    if (read->part_count == 0)
        buf_add_text(out, read->table);
    for (size_t i = 0; i < read->part_count; i++) {
        size_t before = 0;
        while (before < i && strcmp(read->parts[before]->table, read->parts[i]->table) != 0)
            before++;
        if (before == i)
            buf_printf(out, "%s%s", i ? between : "", read->parts[i]->table);
    }
}

static bool read_has_name(const struct span *names, size_t count, struct span name)
{
    for (size_t i = 0; i < count; i++)
        if (span_equal(names[i], name))
            return true;
    return false;
}

static bool read_is_constant(const struct read *read, struct span attribute)
{
    for (size_t i = 0; i < read->where_count; i++)
        if (read->where[i].op == COND_EQ && span_equal(read->where[i].attribute, attribute))
            return true;
    return false;
}

const struct cond *read_sort_cond(const struct read *read)
{
    for (size_t i = 0; i < read->where_count; i++)
        if (span_equal(read->where[i].attribute, read->sort[0]))
            return &read->where[i];
    return NULL;
}

bool read_is_divisible(const struct read *read)
{
    if (read->kind != READ_QUERY || read->limit > 0 || read->counts || read->sort_count != 1 ||
        read_is_constant(read, read->sort[0]))
        return false;
    if (!read->index)
        return true;
    if (!read_has_name(read->own_key, read->own_key_count, read->sort[0]))
        return false;
    for (size_t i = 0; i < read->own_key_count; i++)
        if (!span_equal(read->own_key[i], read->sort[0]) &&
            !read_is_constant(read, read->own_key[i]))
            return false;
    return true;
}

/* Adds copies of READ's parts. */
static void read_copy_parts(struct read *copy, const struct read *read)
{
    for (size_t i = 0; i < read->part_count; i++) {
        struct read *part = read_copy(read->parts[i], NULL);
        if (part)
            read_add_part(copy, part);
        else
            copy->arena.failed = true;
    }
}

/* Adds the keys, names and parts of READ. */
static void read_copy_lists(struct read *copy, const struct read *read)
{
    for (size_t i = 0; i < read->key_count; i++)
        read_add_key(copy, &read->keys[i]);
    for (size_t i = 0; i < read->filter_count; i++)
        read_add_filter(copy, &read->filter[i]);
    for (size_t i = 0; i < read->sort_count; i++)
        read_add_sort(copy, read->sort[i]);
    for (size_t i = 0; i < read->own_key_count; i++)
        read_add_own_key(copy, read->own_key[i]);
    for (size_t i = 0; i < read->attribute_count; i++)
        read_add_attribute(copy, read->attributes[i]);
    read_copy_parts(copy, read);
}

struct read *read_copy(const struct read *read, const struct cond *sort)
{
    const struct cond *replaced = sort ? read_sort_cond(read) : NULL;
    struct read *copy = read_new(read->kind, read->table, read->index);
    if (!copy)
        return NULL;
    const char *pattern = arena_text(&copy->arena, span_text(read->pattern));
    copy->pattern = pattern ? pattern : "";
    if (read->table_arn)
        read_set_table_arn(copy, read->table_arn);
    copy->descending = read->descending;
    copy->consistent = read->consistent;
    copy->limit = read->limit;
    copy->ties = read->ties;
    copy->counts = read->counts;
    copy->once = read->once;
    copy->unstored = read->unstored;
    copy->segment = read->segment;
    copy->segments = read->segments;
    read_set_vector(copy, read->vector_of, read->vector);
    read_set_stream(copy, &read->stream);
    for (size_t i = 0; i < read->where_count; i++)
        if (&read->where[i] != replaced)
            read_add_where(copy, &read->where[i]);
    if (sort)
        read_add_where(copy, sort);
    read_copy_lists(copy, read);
    if (read->path)
        read_set_path(copy, read->path);
    if (!read_failed(copy))
        return copy;
    read_destroy(copy);
    return NULL;
}

/* Texts have their length in front, so that no text can pass for two. */
static void read_add_sized(struct buf *out, struct span text)
{
    buf_add_number(out, text.size);
    buf_add_char(out, ':');
    buf_add_span(out, text);
}

static void read_add_key_part(struct buf *out, const struct read *read, size_t i)
{
    const struct key *key = &read->keys[i];
    for (size_t k = 0; k < key->count; k++) {
        read_add_sized(out, key->attributes[k].name);
        value_write_identity(key->attributes[k].value, out);
    }
}

static void read_add_where_part(struct buf *out, const struct read *read, size_t i)
{
    cond_write_identity(&read->where[i], out);
}

static void read_add_filter_part(struct buf *out, const struct read *read, size_t i)
{
    cond_write_identity(&read->filter[i], out);
}

static void read_add_attribute_part(struct buf *out, const struct read *read, size_t i)
{
    read_add_sized(out, read->attributes[i]);
}

static void read_add_part_part(struct buf *out, const struct read *read, size_t i)
{
    read_identity(read->parts[i], out);
}

static int read_compare_bufs(const void *a, const void *b)
{
    return span_compare(buf_span(a), buf_span(b));
}

typedef void part_fn(struct buf *out, const struct read *read, size_t i);

/* Appends COUNT parts in byte order: the order in which they were added does not matter. */
static void read_add_sorted(struct buf *out, size_t count, const struct read *read,
                            part_fn *add_part)
{
    buf_add_char(out, '(');
    buf_add_number(out, count);
    buf_add_char(out, ' '); /* before a part's size, which begins with a digit, too */
    if (count == 0) {
        buf_add_char(out, ')');
        return;
    }
    struct buf *parts = calloc(count, sizeof *parts);
    out->failed = out->failed || !parts;
    for (size_t i = 0; parts && i < count; i++) {
        add_part(&parts[i], read, i);
        out->failed = out->failed || parts[i].failed;
    }
    if (parts && !out->failed)
        qsort(parts, count, sizeof *parts, read_compare_bufs);
    for (size_t i = 0; parts && i < count; i++) {
        read_add_sized(out, buf_span(&parts[i]));
        buf_clean_up(&parts[i]);
    }
    free(parts);
    buf_add_char(out, ')');
}

/* Nothing for a Read of no stream: recordings have the identities of others. */
static void read_add_stream(struct buf *out, const struct read_stream *stream)
{
    const struct span texts[] = {stream->arn, stream->shard, stream->sequence, stream->iterator};
    if (stream->arn.size == 0 && stream->iterator.size == 0)
        return;
    buf_add_char(out, ' ');
    buf_add_number(out, stream->at);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        read_add_sized(out, texts[i]);
}

void read_identity(const struct read *read, struct buf *out)
{
    buf_add_number(out, read->kind);
    buf_add_char(out, ' ');
    read_add_sized(out, span_text(read->table));
    buf_add_text(out, read->index ? " of " : " ");
    read_add_sized(out, span_text(read->index));
    read_add_sorted(out, read->key_count, read, read_add_key_part);
    read_add_sorted(out, read->where_count, read, read_add_where_part);
    read_add_sorted(out, read->filter_count, read, read_add_filter_part);
    read_add_sorted(out, read->attribute_count, read, read_add_attribute_part);
    if (read->part_count)
        read_add_sorted(out, read->part_count, read, read_add_part_part);
    buf_add_text(out, read->descending ? "-" : "+");
    buf_add_text(out, read->consistent ? "!" : " ");
    buf_add_text(out, read->ties ? "=" : " ");
    buf_add_text(out, read->counts ? "#" : " ");
    read_add_sized(out, read->vector);
    const uint64_t numbers[] = {read->limit, read->segment, read->segments};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        buf_add_char(out, ' ');
        buf_add_number(out, numbers[i]);
    }
    read_add_stream(out, &read->stream);
}
