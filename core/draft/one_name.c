#include "core/draft/one_name.h"

#include "core/base/buf.h"

/* A part of the partition keys of all kinds that write them like FIRST. */
struct shared_part {
    struct arena *arena;
    struct declared_table *table;
    struct declared_record *first;
    size_t piece;
};

static const struct format *one_name_partition_of(const struct declared_record *kind)
{
    return &kind->keys[0].format;
}

static bool one_name_is_alike(const struct declared_record *a, const struct declared_record *b)
{
    return format_alike(one_name_partition_of(a), one_name_partition_of(b));
}

static const char *one_name_own_name(const struct shared_part *part,
                                     const struct declared_record *kind)
{
    return one_name_partition_of(kind)->pieces[part->piece].param;
}

/* In how many pieces of FORMAT the part stands; they are called RENAMED then, unless that is NULL.
 */
static size_t one_name_visit(struct format *format, const char *name, const char *renamed)
{
    size_t count = 0;
    for (size_t i = 0; i < format->count; i++) {
        const char **param = &format->pieces[i].param;
        if (!*param || strcmp(*param, name) != 0)
            continue;
        count++;
        *param = renamed ? renamed : *param;
    }
    return count;
}

static size_t one_name_visit_index_key(struct declared_key *key, const struct declared_record *kind,
                                       const char *name, const char *renamed)
{
    for (struct declared_kind_format *each = key->by_kind; each; each = each->next)
        if (strcmp(each->kind, kind->name) == 0)
            return one_name_visit(&each->format, name, renamed);
    return 0; /* the key's own format is that of a whole key of the table */
}

/* The same of all keys that KIND has. */
static size_t one_name_visit_kind(const struct declared_table *table, struct declared_record *kind,
                                  const char *name, const char *renamed)
{
    size_t count = 0;
    for (size_t i = 0; i < kind->key_count; i++)
        count += one_name_visit(&kind->keys[i].format, name, renamed);
    for (struct declared_index *index = table->indexes; index; index = index->next) {
        for (size_t i = 0; i < index->partition_count; i++)
            count += one_name_visit_index_key(&index->partition[i], kind, name, renamed);
        for (size_t i = 0; i < index->sort_count; i++)
            count += one_name_visit_index_key(&index->sort[i], kind, name, renamed);
    }
    return count;
}

/* Whether something is said of all parts of that name. */
static bool one_name_has_param(const struct declared_table *table, const char *name)
{
    for (const struct declared_param *each = table->params; each; each = each->next)
        if (strcmp(each->name, name) == 0)
            return true;
    return false;
}

/* Whether all kinds can call the part so. */
static bool one_name_suits(const struct shared_part *part, const char *name)
{
    for (struct declared_record *kind = part->first; kind; kind = kind->next) {
        const char *own =
            one_name_is_alike(part->first, kind) ? one_name_own_name(part, kind) : name;
        if (strcmp(own, name) != 0 &&
            (one_name_visit_kind(part->table, kind, name, NULL) > 0 ||
             one_name_has_param(part->table, own) || one_name_has_param(part->table, name)))
            return false;
    }
    return true;
}

static void one_name_note_name(struct arena *arena, struct declared_record *kind, const char *own,
                               const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    buf_printf(&note, "%s%sThe model calls {%s} of its keys {%s}.", kind->note ? kind->note : "",
               kind->note ? " " : "", name, own);
    arena->failed = arena->failed || note.failed;
    kind->note = arena_text(arena, buf_span(&note));
}

static void one_name_rename_part(const struct shared_part *part, const char *name)
{
    for (struct declared_record *kind = part->first; kind; kind = kind->next) {
        const char *own =
            one_name_is_alike(part->first, kind) ? one_name_own_name(part, kind) : name;
        if (strcmp(own, name) == 0)
            continue;
        one_name_visit_kind(part->table, kind, own, name);
        one_name_note_name(part->arena, kind, own, name);
    }
}

static void one_name_resolve_part(const struct shared_part *part)
{
    for (struct declared_record *kind = part->first; kind; kind = kind->next) {
        const char *name =
            one_name_is_alike(part->first, kind) ? one_name_own_name(part, kind) : NULL;
        if (!name || !one_name_suits(part, name))
            continue;
        one_name_rename_part(part, name);
        return;
    }
}

static bool one_name_is_first(const struct declared_table *table,
                              const struct declared_record *kind)
{
    const struct declared_record *each = table->records;
    while (each != kind && !one_name_is_alike(each, kind))
        each = each->next;
    return each == kind;
}

void one_name_merge(struct arena *arena, struct declared_table *table)
{
    for (struct declared_record *kind = table->records; kind; kind = kind->next) {
        if (kind->key_count == 0 || !one_name_is_first(table, kind))
            continue;
        for (size_t i = 0; i < one_name_partition_of(kind)->count; i++) {
            const struct shared_part part = {arena, table, kind, i};
            if (one_name_own_name(&part, kind))
                one_name_resolve_part(&part);
        }
    }
}
