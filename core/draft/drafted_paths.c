#include "core/draft/drafted_paths.h"

#include "core/draft/attribute_clues.h"
#include "core/draft/declare.h"
#include "core/draft/declared_views.h"
#include "core/draft/generic_view.h"
#include "core/draft/slug.h"
#include "core/draft/whole_kind.h"

/* A path that says more would not find room for all that it says. */
enum { MOST_PARAMS = 8 };

/* Paths while they are added. */
struct paths {
    struct arena *arena;
    struct declared_table *table;
    const struct declared_record *whole; /* the kind of all records, by whole keys */
    struct window_params params;
};

/* One way in which the partition key of the table, or of an index, is written: a tree of its own.
 */
struct path_tree {
    const struct declared_index *index;  /* NULL: the table */
    const struct declared_record *first; /* of the kinds that write it so */
    struct format partition[KEY_MAX_ATTRIBUTES];
    size_t count;
};

/* How records of KIND write the key; NULL when they are not in the index. */
static const struct format *draft_paths_format_of(const struct declared_record *kind,
                                                  const struct declared_key *key)
{
    for (size_t i = 0; i < kind->key_count; i++)
        if (strcmp(kind->keys[i].attribute, key->attribute) == 0)
            return &kind->keys[i].format;
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next)
        if (strcmp(each->kind, kind->name) == 0)
            return &each->format;
    return key->by_kind || key->format.count == 0 ? NULL : &key->format;
}

/* False when records of KIND are not in the index. */
static bool draft_paths_read_tree(const struct declared_index *index,
                                  const struct declared_record *kind, struct path_tree *out)
{
    *out = (struct path_tree){
        .index = index, .first = kind, .count = index ? index->partition_count : 1};
    for (size_t i = 0; i < out->count; i++) {
        const struct format *format =
            index ? draft_paths_format_of(kind, &index->partition[i]) : &kind->keys[0].format;
        if (!format)
            return false;
        out->partition[i] = *format;
    }
    for (size_t i = 0; index && i < index->sort_count; i++)
        if (!draft_paths_format_of(kind, &index->sort[i]))
            return false;
    return true;
}

static bool draft_paths_is_of_tree(const struct path_tree *tree, const struct declared_record *kind)
{
    struct path_tree other;
    if (!draft_paths_read_tree(tree->index, kind, &other))
        return false;
    for (size_t i = 0; i < tree->count; i++)
        if (!format_equal(&tree->partition[i], &other.partition[i]))
            return false;
    return true;
}

/* The sort key by which a tree's listing is ordered, as records of KIND write it; NULL: none. KEY
 * gets its attribute. */
static const struct format *draft_paths_sort_of(const struct path_tree *tree,
                                                const struct declared_record *kind,
                                                const char **attribute)
{
    const struct declared_index *index = tree->index;
    if (index ? index->sort_count == 0 : kind->key_count < 2)
        return NULL;
    *attribute = index ? index->sort[0].attribute : kind->keys[1].attribute;
    return index ? draft_paths_format_of(kind, &index->sort[0]) : &kind->keys[1].format;
}

/* Whether the tree says nothing that the generic view does not: keys are whole, in all kinds. */
static bool draft_paths_is_generic(const struct paths *paths, const struct path_tree *tree)
{
    const char *attribute;
    for (size_t i = 0; i < tree->count; i++)
        if (!format_whole_param(&tree->partition[i]))
            return false;
    for (const struct declared_record *kind = paths->table->records; kind; kind = kind->next) {
        const struct format *sort = kind != paths->whole && draft_paths_is_of_tree(tree, kind)
                                        ? draft_paths_sort_of(tree, kind, &attribute)
                                        : NULL;
        if (sort && !format_whole_param(sort))
            return false;
    }
    return true;
}

/* The parameters that the tree's path says, each once. False when they are too many. */
struct said {
    const char *params[MOST_PARAMS];
    size_t count;
};

static bool draft_paths_is_stated(const struct said *said, const char *param)
{
    for (size_t i = 0; i < said->count; i++)
        if (strcmp(said->params[i], param) == 0)
            return true;
    return false;
}

static bool draft_paths_read_stated(const struct path_tree *tree, struct said *out)
{
    *out = (struct said){0};
    for (size_t i = 0; i < tree->count; i++)
        for (size_t k = 0; k < tree->partition[i].count; k++) {
            const char *param = tree->partition[i].pieces[k].param;
            if (!param || draft_paths_is_stated(out, param))
                continue;
            if (out->count == MOST_PARAMS)
                return false;
            out->params[out->count++] = param;
        }
    return true;
}

/* Whether some path of the table begins with the step, or a generic one will. */
static bool draft_paths_is_taken(const struct paths *paths, const char *step)
{
    size_t size = strlen(step);
    for (const struct declared_path *each = paths->table->paths; each; each = each->next)
        if (strncmp(each->path, step, size) == 0 &&
            (each->path[size] == '/' || each->path[size] == '\0'))
            return true;
    return strcmp(step, "items") == 0 || strcmp(step, "by") == 0;
}

/* The step with which the tree begins, which no other path has. */
static void draft_paths_add_root(struct paths *paths, const struct path_tree *tree,
                                 struct buf *path)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    const char *attribute;
    buf_add_text(&words, tree->index ? "by" : "");
    for (size_t i = 0; i < tree->count; i++)
        slug_add_format(&words, &tree->partition[i]);
    if (words.size == 0)
        buf_add_text(&words, "all");
    const struct format *sort = draft_paths_sort_of(tree, tree->first, &attribute);
    if (tree->index && sort && draft_paths_is_taken(paths, buf_text(&words)))
        slug_add_format(&words, sort);
    buf_add_text(path, buf_text(&words));
    for (unsigned n = 2; draft_paths_is_taken(paths, buf_text(path)) && !path->failed; n++) {
        buf_truncate(path, 0);
        buf_printf(path, "%s-%u", buf_text(&words), n);
    }
    path->failed = path->failed || words.failed;
}

static void draft_paths_add_kind(struct paths *paths, struct declared_path *path, const char *kind)
{
    path->kinds = arena_alloc(paths->arena, sizeof *path->kinds);
    if (!path->kinds)
        return;
    path->kinds->text = kind;
    path->kind_count = 1;
}

/* Whether some part has zeros in front of it in the key, and not in the path: then the kinds alone
 * can tell the key. */
static bool draft_paths_is_padded(const struct path_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        for (size_t k = 0; k < tree->partition[i].count; k++)
            if (tree->partition[i].pieces[k].pad)
                return true;
    return false;
}

/* FORMAT without how keys spell its parts: a path's values are spelled so when it is read. */
static void draft_paths_write_parts(const struct format *format, struct buf *out)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        if (piece->param)
            buf_printf(out, "{%s%s}", piece->param, piece->open ? "*" : "");
        else
            buf_add_span(out, piece->literal);
    }
}

/* What the path says of the whole keys, which are parts of the kind that has all records. */
static struct declared_condition *draft_paths_describe_keys(struct paths *paths,
                                                            const struct path_tree *tree)
{
    struct declared_path scratch = {0};
    for (size_t i = 0; i < tree->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        const char *part = tree->index ? generic_part(paths->whole, &tree->index->partition[i])
                                       : format_whole_param(&paths->whole->keys[0].format);
        const char *own = format_whole_param(&tree->partition[i]);
        if (part && own && strcmp(own, part) == 0)
            continue; /* the path says it */
        draft_paths_write_parts(&tree->partition[i], &text);
        paths->arena->failed = paths->arena->failed || text.failed;
        if (part)
            declare_where(paths->arena, &scratch, part, COND_EQ, buf_text(&text), NULL);
    }
    return scratch.wheres;
}

/* One of those that escapes in names are made of. */
static bool draft_paths_is_digit(char c)
{
    return c && strchr("0123456789ABCDEF", c);
}

/* Names are made of the key's own text, which can't always be taken apart again: then they are made
 * of its parts alone. NULL: as they are. */
static const char *draft_paths_name_of(struct paths *paths, const struct said *said,
                                       const struct declared_record *kind)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    bool parsable = !draft_paths_is_digit(paths->table->separator);
    const char *any = NULL; /* what names the only record, where the path says all parts */
    size_t count = 0;
    for (size_t k = 0; k < kind->key_count; k++) {
        const struct format *format = &kind->keys[k].format;
        for (size_t i = 0; i < format->count; i++) {
            const struct format_piece *piece = &format->pieces[i];
            parsable = parsable &&
                       (i == 0 || piece->param || !draft_paths_is_digit(piece->literal.data[0]));
            any = piece->param ? piece->param : any;
            if (!piece->param || draft_paths_is_stated(said, piece->param))
                continue;
            buf_printf(&name, "%s{%s}", count++ ? "," : "", piece->param);
        }
    }
    if (count == 0 && any)
        buf_printf(&name, "{%s}", any);
    paths->arena->failed = paths->arena->failed || name.failed;
    return parsable || !any ? NULL : arena_text(paths->arena, buf_span(&name));
}

static size_t draft_paths_params_of(const struct declared_record *kind)
{
    size_t count = 0;
    for (size_t k = 0; k < kind->key_count; k++)
        for (size_t i = 0; i < kind->keys[k].format.count; i++)
            count += kind->keys[k].format.pieces[i].param != NULL;
    return count;
}

/* The step below the tree's listing that shows KIND alone. */
static const char *draft_paths_kind_step(struct paths *paths, const char *listing,
                                         const struct declared_record *kind)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0}, path = {0};
    slug_add_text(&words, span_text(kind->name));
    if (words.size == 0)
        buf_add_text(&words, "kind");
    buf_printf(&path, "%s%s/", listing, buf_text(&words));
    for (unsigned n = 2; !path.failed; n++) {
        bool taken = false;
        for (const struct declared_path *each = paths->table->paths; each; each = each->next)
            taken = taken || strcmp(each->path, buf_text(&path)) == 0;
        if (!taken)
            break;
        buf_truncate(&path, 0);
        buf_printf(&path, "%s%s-%u/", listing, buf_text(&words), n);
    }
    paths->arena->failed = paths->arena->failed || words.failed || path.failed;
    return arena_text(paths->arena, buf_span(&path));
}

/* Windows on the first part of a kind's sort key that the path does not say. */
static void draft_paths_add_kind_windows(struct paths *paths, const struct path_tree *tree,
                                         const struct said *said, const char *listing,
                                         const struct declared_record *kind)
{
    const char *attribute = NULL, *part = NULL;
    bool padded = false; /* a number, then, of which nothing is the beginning */
    const struct format *sort = draft_paths_sort_of(tree, kind, &attribute);
    for (size_t i = 0; sort && i < sort->count && !part; i++)
        if (sort->pieces[i].param && !draft_paths_is_stated(said, sort->pieces[i].param))
            part = sort->pieces[i].param, padded = sort->pieces[i].pad > 0;
    if (!part || draft_paths_params_of(kind) > MOST_PARAMS)
        return;
    struct view view = {
        .path = draft_paths_kind_step(paths, listing, kind),
        .kind = kind->name,
        .index = tree->index ? tree->index->name : NULL,
        .name = draft_paths_name_of(paths, said, kind),
        .hidden = !draft_paths_is_padded(tree),
        .part = part,
        .type = padded ? VALUE_N : generic_type(paths->table, attribute),
        .dated = clue_names_a_date(span_text(part)),
    };
    if (!view.path)
        return;
    view_add(paths->arena, paths->table, &view);
    view_add_windows(paths->arena, paths->table, &view, &paths->params);
}

/* Whether records of KIND stand in the tree's listing, were their parts called otherwise. */
static bool draft_paths_is_listed_in(const struct path_tree *tree,
                                     const struct declared_record *kind)
{
    struct path_tree other;
    bool alike = draft_paths_read_tree(tree->index, kind, &other);
    for (size_t i = 0; alike && i < tree->count; i++)
        alike = format_alike(&tree->partition[i], &other.partition[i]);
    return alike;
}

/* "All of USER#{user_id}: profile, order." */
static const char *draft_paths_note_of(struct paths *paths, const struct path_tree *tree)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    size_t count = 0;
    buf_add_text(&note, "All of ");
    for (size_t i = 0; i < tree->count; i++) {
        buf_add_text(&note, i ? ", " : "");
        format_write(&tree->partition[i], &note);
    }
    if (tree->index)
        buf_printf(&note, " in %s", tree->index->name);
    for (const struct declared_record *kind = paths->table->records; kind; kind = kind->next)
        if (kind != paths->whole && draft_paths_is_listed_in(tree, kind))
            buf_printf(&note, "%s%s", count++ ? ", " : ": ", kind->name);
    buf_add_char(&note, '.');
    paths->arena->failed = paths->arena->failed || note.failed;
    return arena_text(paths->arena, buf_span(&note));
}

static void draft_paths_add_listing(struct paths *paths, const struct path_tree *tree,
                                    const struct said *said, const char *listing)
{
    struct view view = {
        .path = listing,
        .kind = paths->whole->name,
        .index = tree->index ? tree->index->name : NULL,
        .where = draft_paths_describe_keys(paths, tree),
        .name = tree->index ? generic_index_name(paths->arena, paths->table, paths->whole,
                                                 tree->index, tree->index->partition_count)
                            : NULL,
    };
    struct declared_path *path =
        draft_paths_is_padded(tree) ? NULL : view_add(paths->arena, paths->table, &view);
    if (path)
        path->note = draft_paths_note_of(paths, tree);
    for (const struct declared_record *kind = paths->table->records; kind; kind = kind->next)
        if (kind != paths->whole && draft_paths_is_of_tree(tree, kind) && !paths->arena->failed)
            draft_paths_add_kind_windows(paths, tree, said, listing, kind);
}

/* The tree, unless its keys are whole. */
static void draft_paths_add_tree(struct paths *paths, const struct path_tree *tree)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct said said;
    if (draft_paths_is_generic(paths, tree) || !draft_paths_read_stated(tree, &said))
        return;
    bool file = !tree->index && tree->first->key_count == 1;
    draft_paths_add_root(paths, tree, &path);
    for (size_t i = 0; i < said.count; i++)
        buf_printf(&path, "/{%s}", said.params[i]);
    buf_add_text(&path, file ? "" : "/");
    paths->arena->failed = paths->arena->failed || path.failed;
    if (!file) {
        draft_paths_add_listing(paths, tree, &said, buf_text(&path));
        return;
    }
    struct declared_path *record = declare_path(paths->arena, paths->table, buf_text(&path));
    if (record)
        draft_paths_add_kind(paths, record, tree->first->name);
}

/* Each way in which the partition key is written, once. */
static void draft_paths_add_trees(struct paths *paths, const struct declared_index *index)
{
    const struct declared_record *kind = paths->table->records;
    for (; kind && !paths->arena->failed; kind = kind->next) {
        struct path_tree tree;
        bool is_new = kind != paths->whole && draft_paths_read_tree(index, kind, &tree);
        const struct declared_record *before = paths->table->records;
        for (; is_new && before != kind; before = before->next)
            is_new = before == paths->whole || !draft_paths_is_of_tree(&tree, before);
        if (is_new)
            draft_paths_add_tree(paths, &tree);
    }
}

static void draft_paths_drop_generic(struct declared_table *table)
{
    for (struct declared_path **at = &table->paths; *at;) {
        struct span path = span_text((*at)->path);
        if (span_starts(path, SPAN_LITERAL("items/")) || span_starts(path, SPAN_LITERAL("by/")))
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
}

/* Paths that named no kind meant the only one. */
static void draft_paths_name_only_kind(struct paths *paths, const struct declared_record *only)
{
    for (struct declared_path *each = paths->table->paths; each; each = each->next)
        if (each->kind_count == 0)
            draft_paths_add_kind(paths, each, only->name);
}

bool author_add_paths(struct arena *arena, struct declared_table *table)
{
    struct paths paths = {.arena = arena, .table = table};
    const struct declared_record *first = table->records;
    bool one = first && !first->next;
    draft_paths_drop_generic(table);
    table->has_paths = true;
    paths.whole = whole_kind(arena, table);
    if (one && first->next)
        draft_paths_name_only_kind(&paths, first);
    if (!paths.whole)
        return !arena->failed; /* no records: nothing can be said of paths */
    paths.params = window_params_of(arena, table);
    if (arena->failed)
        return false;
    draft_paths_add_trees(&paths, NULL);
    for (const struct declared_index *each = table->indexes; each; each = each->next)
        draft_paths_add_trees(&paths, each);
    generic_add_paths(arena, table, paths.whole);
    return !arena->failed;
}
