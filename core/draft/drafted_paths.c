#include "core/draft/drafted_paths.h"

#include "core/base/ascii.h"
#include "core/draft/attribute_clues.h"
#include "core/draft/declare.h"
#include "core/draft/declared_views.h"
#include "core/draft/generic_view.h"

/* A path binds at most MOST_PARAMS parameters. A step's words are short enough to be typed. */
enum { MOST_PARAMS = 8, MOST_STEP_BYTES = 60 };

/* The kind of all items that fit no other kind: by whole keys. */

/* The part that is all of the key, spelled as in the key; else NULL. */
static const char *whole_kind_plain_part(const struct format *format)
{
    const char *part = format_whole_param(format);
    return part && !format->pieces[0].pad && !format->pieces[0].letters ? part : NULL;
}

static bool whole_kind_has_values(const struct declared_table *table, const char *part)
{
    const struct declared_param *each = table->params;
    while (each && (strcmp(each->name, part) != 0 || each->value_count == 0))
        each = each->next;
    return each;
}

/* Whether PART, all of ATTRIBUTE in some kind, has known values, and other kinds have another
 * format. Then it can't name an attribute with any value. */
static bool whole_kind_is_narrow(const struct declared_table *table, const char *attribute,
                                 const char *part)
{
    bool otherwise = false;
    for (const struct declared_record *each = table->records; each; each = each->next)
        for (size_t i = 0; i < each->key_count; i++)
            otherwise = otherwise || (strcmp(each->keys[i].attribute, attribute) == 0 &&
                                      !whole_kind_plain_part(&each->keys[i].format));
    return otherwise && whole_kind_has_values(table, part);
}

/* An open part with a new name for all of the attribute. A key attribute's name is only for that
 * attribute: else a condition on the part would look like one on the attribute. */
static struct format whole_kind_new_format(struct arena *arena, const struct declared_table *table,
                                           const char *attribute)
{
    const char *wanted = declare_param_name(arena, span_text(attribute)), *name = wanted;
    for (unsigned n = 2; name; n++) {
        const char *free = declared_views_free_param(arena, table, name);
        bool other = strcmp(name, attribute) != 0 && declare_is_key(table, span_text(name));
        if (free && strcmp(free, name) == 0 && !other && strcmp(name, RANK_PARAM) != 0)
            break;
        name = free ? declare_other_name(arena, wanted, "key", n) : NULL;
    }
    return declare_whole_format(arena, name, true);
}

static const struct declared_record *whole_kind_add(struct arena *arena,
                                                    struct declared_table *table)
{
    const struct declared_record *first = table->records;
    const char *name = "other";
    for (unsigned n = 2; name && declare_has_record(table, name); n++)
        name = declare_other_name(arena, "other", "records", n);
    struct declared_record made = {.key_count = first->key_count,
                                   .note =
                                       "All items that are of no other kind, by their whole keys."};
    for (size_t i = 0; i < first->key_count; i++) {
        const char *attribute = first->keys[i].attribute;
        const char *part = NULL; /* that of another kind whose key is whole */
        for (const struct declared_record *each = first; each && !part; each = each->next)
            for (size_t k = 0; k < each->key_count && !part; k++)
                if (strcmp(each->keys[k].attribute, attribute) == 0) {
                    part = whole_kind_plain_part(&each->keys[k].format);
                    part = part && !whole_kind_is_narrow(table, attribute, part) ? part : NULL;
                }
        made.keys[i] =
            (struct declared_key){.attribute = attribute,
                                  .format = part ? declare_whole_format(arena, part, true)
                                                 : whole_kind_new_format(arena, table, attribute)};
    }
    struct declared_record *record = declare_record(arena, table, name ? name : "");
    if (!record)
        return NULL;
    made.name = record->name;
    *record = made;
    return record;
}

/* Whether PART occurs in KEY, other than as all of ATTRIBUTE. */
static bool whole_kind_key_has_other(const struct declared_key *key, const char *attribute,
                                     const char *part)
{
    bool same = strcmp(key->attribute, attribute) == 0;
    if (format_has(&key->format, part) && !(same && whole_kind_plain_part(&key->format)))
        return true;
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next)
        if (format_has(&each->format, part) && !(same && whole_kind_plain_part(&each->format)))
            return true;
    return false;
}

/* Whether PART, all of ATTRIBUTE, is also the name of another part: a path that binds one would
 * seem to bind the other. */
static bool whole_kind_is_ambiguous(const struct declared_table *table, const char *attribute,
                                    const char *part)
{
    for (const struct declared_record *each = table->records; each; each = each->next)
        for (size_t i = 0; i < each->key_count; i++)
            if (whole_kind_key_has_other(&each->keys[i], attribute, part))
                return true;
    for (const struct declared_index *each = table->indexes; each; each = each->next) {
        for (size_t i = 0; i < each->partition_count; i++)
            if (whole_kind_key_has_other(&each->partition[i], attribute, part))
                return true;
        for (size_t i = 0; i < each->sort_count; i++)
            if (whole_kind_key_has_other(&each->sort[i], attribute, part))
                return true;
    }
    return false;
}

/* The part of an index that was completed before for the attribute. */
static const char *whole_kind_part_before(const struct declared_table *table,
                                          const struct declared_record *record,
                                          const char *attribute)
{
    for (const struct declared_index *each = table->indexes; each; each = each->next) {
        for (size_t i = 0; i < each->partition_count; i++)
            if (strcmp(each->partition[i].attribute, attribute) == 0 &&
                generic_view_find_part(record, &each->partition[i]))
                return generic_view_find_part(record, &each->partition[i]);
        for (size_t i = 0; i < each->sort_count; i++)
            if (strcmp(each->sort[i].attribute, attribute) == 0 &&
                generic_view_find_part(record, &each->sort[i]))
                return generic_view_find_part(record, &each->sort[i]);
    }
    return NULL;
}

/* Gives RECORD a format of its own for each key of an index that has several parts. */
static void whole_kind_complete(struct arena *arena, struct declared_table *table,
                                const struct declared_record *record, struct declared_key *keys,
                                size_t count)
{
    for (size_t i = 0; i < count && !arena->failed; i++) {
        struct declared_key *key = &keys[i];
        if (generic_view_find_part(record, key) ||
            declare_is_table_key(table, span_text(key->attribute)))
            continue;
        const char *part = whole_kind_part_before(table, record, key->attribute);
        bool usable = part && !whole_kind_is_ambiguous(table, key->attribute, part);
        struct format whole = usable ? declare_whole_format(arena, part, true)
                                     : whole_kind_new_format(arena, table, key->attribute);
        const struct declared_record *each =
            key->by_kind || key->format.count == 0 ? NULL : table->records;
        for (; each; each = each->next)
            if (each != record)
                declare_kind_format(arena, key, each->name, &key->format);
        key->format = (struct format){0};
        declare_kind_format(arena, key, record->name, &whole);
    }
}

/* Drops RECORD's formats of an index whose part would be ambiguous or narrow. */
static void whole_kind_drop_ambiguous(const struct declared_table *table,
                                      const struct declared_record *record,
                                      struct declared_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct declared_kind_format *mine = NULL;
        bool otherwise = false;
        for (struct declared_kind_format *each = keys[i].by_kind; each; each = each->next) {
            otherwise = otherwise || !whole_kind_plain_part(&each->format);
            if (!mine && strcmp(each->kind, record->name) == 0)
                mine = each;
        }
        const char *part = mine ? format_whole_param(&mine->format) : NULL;
        if (part && (whole_kind_is_ambiguous(table, keys[i].attribute, part) ||
                     (otherwise && whole_kind_has_values(table, part))))
            mine->format = (struct format){0};
    }
}

/* The kind of TABLE whose keys are one open part each, added unless there is one, with such a part
 * for each key of each index. NULL when TABLE has no kind, or when memory ran out. */
static const struct declared_record *whole_kind_make(struct arena *arena,
                                                     struct declared_table *table)
{
    const struct declared_record *record = table->records;
    for (; record; record = record->next) {
        bool whole = record->key_count > 0;
        for (size_t i = 0; i < record->key_count; i++) {
            const struct declared_key *key = &record->keys[i];
            whole =
                whole && whole_kind_plain_part(&key->format) &&
                (key->format.pieces[0].open || declare_find_type(table, key->attribute) != VALUE_S);
        }
        if (whole)
            break;
    }
    if (!record && table->records)
        record = whole_kind_add(arena, table);
    if (!record)
        return NULL;
    struct declared_record *mine = table->records;
    while (mine != record)
        mine = mine->next;
    for (size_t i = 0; i < mine->key_count; i++) {
        struct declared_key *key = &mine->keys[i];
        const char *part = format_whole_param(&key->format);
        if (part && (whole_kind_is_ambiguous(table, key->attribute, part) ||
                     whole_kind_is_narrow(table, key->attribute, part)))
            key->format = whole_kind_new_format(arena, table, key->attribute);
    }
    for (struct declared_index *each = table->indexes; each && !arena->failed; each = each->next) {
        whole_kind_drop_ambiguous(table, record, each->partition, each->partition_count);
        whole_kind_drop_ambiguous(table, record, each->sort, each->sort_count);
    }
    for (struct declared_index *each = table->indexes; each; each = each->next) {
        whole_kind_complete(arena, table, record, each->partition, each->partition_count);
        whole_kind_complete(arena, table, record, each->sort, each->sort_count);
    }
    return arena->failed ? NULL : record;
}

/* Forgets the statements about parts whose last format was replaced. */
static void whole_kind_drop_attributes(struct arena *arena, struct declared_table *table)
{
    for (struct declared_attribute **at = &table->attributes; *at;) {
        const char *free = declared_views_free_param(arena, table, (*at)->name);
        if (free && strcmp(free, (*at)->name) == 0)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
}

/* Steps of paths. */

/* Appends the words of TEXT in lower case, joined by "-" to the text of OUT. */
static void drafted_paths_add_words(struct buf *out, struct span text)
{
    bool joint = out->size > 0;
    for (size_t i = 0; i < text.size && out->size < MOST_STEP_BYTES; i++) {
        char c = text.data[i];
        if (!ascii_is_letter(c) && !ascii_is_digit(c)) {
            joint = out->size > 0;
            continue;
        }
        if (joint)
            buf_add_char(out, '-');
        joint = false;
        buf_add_char(out, ascii_is_upper(c) ? (char)(c - 'A' + 'a') : c);
    }
}

/* Appends the words of FORMAT's text: "PLATFORM#{platform}#SHOP#{id}" is "platform-shop". If it has
 * no text, the names of its parts are the words. */
static void drafted_paths_add_format_words(struct buf *out, const struct format *format)
{
    size_t before = out->size;
    for (size_t i = 0; i < format->count; i++)
        drafted_paths_add_words(out, format->pieces[i].literal);
    bool wordless = out->size == before;
    for (size_t i = 0; wordless && i < format->count; i++)
        if (format->pieces[i].param)
            drafted_paths_add_words(out, span_text(format->pieces[i].param));
}

/* Trees: one for each format of the partition key, of the table or of an index. */

/* A table while its paths are added. */
struct drafted_table {
    struct arena *arena;
    struct declared_table *table;
    const struct declared_record *whole; /* the kind of all items, by whole keys */
    struct window_params params;
};

struct path_tree {
    const struct declared_index *index;  /* NULL: the table */
    const struct declared_record *first; /* of the kinds whose partition key has the format */
    struct format partition[KEY_MAX_ATTRIBUTES];
    size_t count;
    const char *params[MOST_PARAMS]; /* the path's parameters, each once */
    size_t param_count;
};

/* False when items of KIND are not in the index. */
static bool drafted_paths_read_tree(const struct declared_index *index,
                                    const struct declared_record *kind, struct path_tree *out)
{
    *out = (struct path_tree){
        .index = index, .first = kind, .count = index ? index->partition_count : 1};
    for (size_t i = 0; i < out->count; i++) {
        const struct format *format =
            index ? declare_find_format(kind, &index->partition[i]) : &kind->keys[0].format;
        if (!format || format->count == 0)
            return false;
        out->partition[i] = *format;
    }
    for (size_t i = 0; index && i < index->sort_count; i++) {
        const struct format *format = declare_find_format(kind, &index->sort[i]);
        if (!format || format->count == 0)
            return false;
    }
    return true;
}

/* Whether KIND's partition key has the tree's format, compared by EQUAL. */
static bool drafted_paths_is_in_tree(const struct path_tree *tree,
                                     const struct declared_record *kind,
                                     bool (*equal)(const struct format *, const struct format *))
{
    struct path_tree other;
    if (!drafted_paths_read_tree(tree->index, kind, &other))
        return false;
    for (size_t i = 0; i < tree->count; i++)
        if (!equal(&tree->partition[i], &other.partition[i]))
            return false;
    return true;
}

/* KIND's format of the sort key that orders the tree's listing, and the key's ATTRIBUTE; NULL when
 * there is no sort key. */
static const struct format *drafted_paths_find_sort(const struct path_tree *tree,
                                                    const struct declared_record *kind,
                                                    const char **attribute)
{
    const struct declared_index *index = tree->index;
    if (index ? index->sort_count == 0 : kind->key_count < 2)
        return NULL;
    *attribute = index ? index->sort[0].attribute : kind->keys[1].attribute;
    return index ? declare_find_format(kind, &index->sort[0]) : &kind->keys[1].format;
}

/* Whether the generic view has the same paths: keys are whole in all kinds of the tree. */
static bool drafted_paths_is_generic(const struct drafted_table *to, const struct path_tree *tree)
{
    const char *attribute;
    for (size_t i = 0; i < tree->count; i++)
        if (!format_whole_param(&tree->partition[i]))
            return false;
    for (const struct declared_record *kind = to->table->records; kind; kind = kind->next) {
        const struct format *sort =
            kind != to->whole && drafted_paths_is_in_tree(tree, kind, format_equal)
                ? drafted_paths_find_sort(tree, kind, &attribute)
                : NULL;
        if (sort && !format_whole_param(sort))
            return false;
    }
    return true;
}

static bool drafted_paths_binds(const struct path_tree *tree, const char *param)
{
    for (size_t i = 0; i < tree->param_count; i++)
        if (strcmp(tree->params[i], param) == 0)
            return true;
    return false;
}

/* Whether some path of the table begins with the step, or a generic one will. */
static bool drafted_paths_is_taken(const struct drafted_table *to, const char *step)
{
    size_t size = strlen(step);
    for (const struct declared_path *each = to->table->paths; each; each = each->next)
        if (strncmp(each->path, step, size) == 0 &&
            (each->path[size] == '/' || each->path[size] == '\0'))
            return true;
    return strcmp(step, "items") == 0 || strcmp(step, "by") == 0;
}

/* The first step of the tree's paths, which no other path has. */
static void drafted_paths_add_root(struct drafted_table *to, const struct path_tree *tree,
                                   struct buf *path)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    const char *attribute;
    buf_add_text(&words, tree->index ? "by" : "");
    for (size_t i = 0; i < tree->count; i++)
        drafted_paths_add_format_words(&words, &tree->partition[i]);
    if (words.size == 0)
        buf_add_text(&words, "all");
    const struct format *sort = drafted_paths_find_sort(tree, tree->first, &attribute);
    if (tree->index && sort && drafted_paths_is_taken(to, buf_text(&words)))
        drafted_paths_add_format_words(&words, sort);
    buf_add_text(path, buf_text(&words));
    for (unsigned n = 2; drafted_paths_is_taken(to, buf_text(path)) && !path->failed; n++) {
        buf_truncate(path, 0);
        buf_printf(path, "%s-%u", buf_text(&words), n);
    }
    path->failed = path->failed || words.failed;
}

/* Whether a part has leading zeros in the key but not in the path: then the key can't be made from
 * the path without a kind. */
static bool drafted_paths_is_padded(const struct path_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        for (size_t k = 0; k < tree->partition[i].count; k++)
            if (tree->partition[i].pieces[k].pad)
                return true;
    return false;
}

/* The tree's conditions on the whole keys, which are parts of the kind of all items. */
static struct declared_condition *drafted_paths_describe_keys(struct drafted_table *to,
                                                              const struct path_tree *tree)
{
    struct declared_path scratch = {0};
    for (size_t i = 0; i < tree->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        const struct format *format = &tree->partition[i];
        const char *part = tree->index
                               ? generic_view_find_part(to->whole, &tree->index->partition[i])
                               : format_whole_param(&to->whole->keys[0].format);
        const char *own = format_whole_param(format);
        if (part && own && strcmp(own, part) == 0)
            continue; /* the path binds it */
        for (size_t k = 0; k < format->count; k++) {
            const struct format_piece *piece = &format->pieces[k];
            if (piece->param) /* without its spelling: the path's values are spelled when read */
                buf_printf(&text, "{%s%s}", piece->param, piece->open ? "*" : "");
            else
                buf_add_span(&text, piece->literal);
        }
        to->arena->failed = to->arena->failed || text.failed;
        if (part)
            declare_where(to->arena, &scratch, part, COND_EQ, buf_text(&text), NULL);
    }
    return scratch.wheres;
}

/* Whether C may be a part of an escape in a name. */
static bool drafted_paths_is_digit(char c)
{
    return c && strchr("0123456789ABCDEF", c);
}

/* Appends the parts of FORMAT that the path does not bind to NAME, which lacks those in SEEN. */
static void drafted_paths_add_unbound(const struct path_tree *tree, const struct format *format,
                                      struct bindings *seen, struct buf *name)
{
    for (size_t i = 0; i < format->count; i++) {
        const char *param = format->pieces[i].param;
        if (!param || drafted_paths_binds(tree, param) || bindings_find(seen, param) ||
            !bindings_add(seen, param, span_text("")))
            continue;
        buf_printf(name, "%s{%s}", name->size ? "," : "", param);
    }
}

/* The format of entry names of KIND in an index: the parts of the sort key come first, since they
 * order the listing and windows test them. A secret stays out of names. */
static const char *drafted_paths_name_index_entries(struct drafted_table *to,
                                                    const struct path_tree *tree,
                                                    const struct declared_record *kind)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct bindings seen = {0};
    for (size_t i = 0; i < tree->index->sort_count; i++) {
        const struct declared_key *key = &tree->index->sort[i];
        const struct format *format = declare_find_format(kind, key);
        if (!declare_is_secret(to->table, key->attribute) && !format_has(format, RANK_PARAM))
            drafted_paths_add_unbound(tree, format, &seen, &name);
    }
    for (size_t i = 0; i < kind->key_count; i++)
        drafted_paths_add_unbound(tree, &kind->keys[i].format, &seen, &name);
    to->arena->failed = to->arena->failed || name.failed;
    bool fits = 2 * seen.count <= FORMAT_MAX_PIECES;
    return fits && name.size > 0 ? arena_text(to->arena, buf_span(&name)) : NULL;
}

/* The format of entry names of KIND; NULL for the default, which is the key's own text. If a name
 * with that text could not be parsed again, the name is made of the unbound parts alone. */
static const char *drafted_paths_name_entries(struct drafted_table *to,
                                              const struct path_tree *tree,
                                              const struct declared_record *kind)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    bool parsable = !drafted_paths_is_digit(to->table->separator);
    const char *by_index = tree->index ? drafted_paths_name_index_entries(to, tree, kind) : NULL;
    const char *any = NULL; /* the name of the only item, where the path binds all parts */
    size_t count = 0;
    if (by_index)
        return by_index;
    for (size_t k = 0; k < kind->key_count; k++) {
        const struct format *format = &kind->keys[k].format;
        for (size_t i = 0; i < format->count; i++) {
            const struct format_piece *piece = &format->pieces[i];
            parsable = parsable &&
                       (i == 0 || piece->param || !drafted_paths_is_digit(piece->literal.data[0]));
            any = piece->param ? piece->param : any;
            if (!piece->param || drafted_paths_binds(tree, piece->param))
                continue;
            buf_printf(&name, "%s{%s}", count++ ? "," : "", piece->param);
        }
    }
    if (count == 0 && any)
        buf_printf(&name, "{%s}", any);
    to->arena->failed = to->arena->failed || name.failed;
    return parsable || !any ? NULL : arena_text(to->arena, buf_span(&name));
}

/* The path of the directory below LISTING that lists KIND alone. */
static const char *drafted_paths_kind_path(struct drafted_table *to, const char *listing,
                                           const struct declared_record *kind)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0}, path = {0};
    drafted_paths_add_words(&words, span_text(kind->name));
    if (words.size == 0)
        buf_add_text(&words, "kind");
    buf_printf(&path, "%s%s/", listing, buf_text(&words));
    for (unsigned n = 2; !path.failed; n++) {
        bool taken = false;
        for (const struct declared_path *each = to->table->paths; each; each = each->next)
            taken = taken || strcmp(each->path, buf_text(&path)) == 0;
        if (!taken)
            break;
        buf_truncate(&path, 0);
        buf_printf(&path, "%s%s-%u/", listing, buf_text(&words), n);
    }
    path.failed = path.failed || words.failed;
    return declare_text(to->arena, &path);
}

/* Windows on the first part of a kind's sort key that the path does not bind. */
static void drafted_paths_add_kind_windows(struct drafted_table *to, const struct path_tree *tree,
                                           const char *listing, const struct declared_record *kind)
{
    const char *attribute = NULL, *part = NULL;
    bool padded = false; /* a number with leading zeros has no useful prefixes */
    size_t params = 0;
    const struct format *sort = drafted_paths_find_sort(tree, kind, &attribute);
    for (size_t i = 0; sort && i < sort->count && !part; i++)
        if (sort->pieces[i].param && !drafted_paths_binds(tree, sort->pieces[i].param)) {
            part = sort->pieces[i].param;
            padded = sort->pieces[i].pad > 0;
        }
    for (size_t k = 0; k < kind->key_count; k++)
        for (size_t i = 0; i < kind->keys[k].format.count; i++)
            params += kind->keys[k].format.pieces[i].param != NULL;
    if (!part || params > MOST_PARAMS)
        return;
    struct view view = {
        .path = drafted_paths_kind_path(to, listing, kind),
        .kind = kind->name,
        .index = tree->index ? tree->index->name : NULL,
        .name = drafted_paths_name_entries(to, tree, kind),
        .hidden = !drafted_paths_is_padded(tree),
        .part = part,
        .type = padded ? VALUE_N : declare_find_type(to->table, attribute),
        .dated = clue_names_a_date(span_text(part)),
    };
    if (!view.path)
        return;
    declared_views_add(to->arena, to->table, &view);
    declared_views_add_windows(to->arena, to->table, &view, &to->params);
}

/* "All of USER#{user_id}: profile, order." */
static const char *drafted_paths_describe_tree(struct drafted_table *to,
                                               const struct path_tree *tree)
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
    for (const struct declared_record *kind = to->table->records; kind; kind = kind->next)
        if (kind != to->whole && drafted_paths_is_in_tree(tree, kind, format_alike))
            buf_printf(&note, "%s%s", count++ ? ", " : ": ", kind->name);
    buf_add_char(&note, '.');
    return declare_text(to->arena, &note);
}

/* The tree's listing and the windows of its kinds; one file where the key is a partition key alone.
 * If all keys are whole, the generic view has the tree. */
static void drafted_paths_add_tree(struct drafted_table *to, struct path_tree *tree)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (drafted_paths_is_generic(to, tree))
        return;
    for (size_t i = 0; i < tree->count; i++)
        for (size_t k = 0; k < tree->partition[i].count; k++) {
            const char *param = tree->partition[i].pieces[k].param;
            if (!param || drafted_paths_binds(tree, param))
                continue;
            if (tree->param_count == MOST_PARAMS)
                return;
            tree->params[tree->param_count++] = param;
        }
    bool file = !tree->index && tree->first->key_count == 1;
    drafted_paths_add_root(to, tree, &path);
    for (size_t i = 0; i < tree->param_count; i++)
        buf_printf(&path, "/{%s}", tree->params[i]);
    buf_add_text(&path, file ? "" : "/");
    to->arena->failed = to->arena->failed || path.failed;
    if (file) {
        struct declared_path *item = declare_path(to->arena, to->table, buf_text(&path));
        if (item)
            declare_path_kind(to->arena, item, tree->first->name);
        return;
    }
    struct view view = {
        .path = buf_text(&path),
        .kind = to->whole->name,
        .index = tree->index ? tree->index->name : NULL,
        .where = drafted_paths_describe_keys(to, tree),
        .name = tree->index
                    ? generic_view_name_index_entries(to->arena, to->table, to->whole, tree->index,
                                                      tree->index->partition_count)
                    : NULL,
    };
    struct declared_path *listing =
        drafted_paths_is_padded(tree) ? NULL : declared_views_add(to->arena, to->table, &view);
    if (listing)
        listing->note = drafted_paths_describe_tree(to, tree);
    for (const struct declared_record *kind = to->table->records; kind; kind = kind->next)
        if (kind != to->whole && drafted_paths_is_in_tree(tree, kind, format_equal) &&
            !to->arena->failed)
            drafted_paths_add_kind_windows(to, tree, buf_text(&path), kind);
}

/* A tree for each format of the partition key. */
static void drafted_paths_add_trees(struct drafted_table *to, const struct declared_index *index)
{
    const struct declared_record *kind = to->table->records;
    for (; kind && !to->arena->failed; kind = kind->next) {
        struct path_tree tree;
        bool is_new = kind != to->whole && drafted_paths_read_tree(index, kind, &tree);
        const struct declared_record *before = to->table->records;
        for (; is_new && before != kind; before = before->next)
            is_new = before == to->whole || !drafted_paths_is_in_tree(&tree, before, format_equal);
        if (is_new)
            drafted_paths_add_tree(to, &tree);
    }
}

bool drafted_paths_add(struct arena *arena, struct declared_table *table)
{
    struct drafted_table to = {.arena = arena, .table = table};
    const struct declared_record *first = table->records;
    bool one = first && !first->next;
    for (struct declared_path **at = &table->paths; *at;) {
        struct span path = span_text((*at)->path);
        if (span_starts(path, SPAN_LITERAL("items/")) || span_starts(path, SPAN_LITERAL("by/")))
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
    table->has_paths = true;
    to.whole = whole_kind_make(arena, table);
    whole_kind_drop_attributes(arena, table);
    if (one && first->next) /* paths without a kind are of the only one, which is no longer that */
        for (struct declared_path *each = table->paths; each; each = each->next)
            if (each->kind_count == 0)
                declare_path_kind(arena, each, first->name);
    if (!to.whole)
        return !arena->failed; /* a table without kinds has no paths */
    to.params = declared_views_params(arena, table);
    if (arena->failed)
        return false;
    drafted_paths_add_trees(&to, NULL);
    for (const struct declared_index *each = table->indexes; each; each = each->next)
        drafted_paths_add_trees(&to, each);
    generic_view_add_paths(arena, table, to.whole);
    return !arena->failed;
}
