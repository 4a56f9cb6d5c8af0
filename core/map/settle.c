#include "core/map/settle.h"

#include "core/map/name.h"
#include "core/map/pattern.h"

static const struct map_where *equality_on(const struct map_pattern *pattern, const char *param)
{
    for (const struct map_where *where = pattern->wheres; where; where = where->next)
        if (where->op == COND_EQ && strcmp(where->target, param) == 0)
            return where;
    return NULL;
}

static bool is_said(const struct map_pattern *pattern, const char *param)
{
    return pattern_path_has(pattern, param) || equality_on(pattern, param);
}

bool settle_append(struct arena *arena, struct format *format, const struct format_piece *piece)
{
    if (!format->pieces) {
        format->pieces = arena_array(arena, FORMAT_MAX_PIECES, sizeof *format->pieces);
        if (!format->pieces)
            return false;
    }
    struct format_piece *last = format->count ? &format->pieces[format->count - 1] : NULL;
    if (last && !last->param && !piece->param) {
        CLEAN_UP(buf_clean_up) struct buf joined = {0};
        buf_add_span(&joined, last->literal);
        buf_add_span(&joined, piece->literal);
        last->literal = arena_copy(arena, buf_span(&joined));
        arena->failed = arena->failed || joined.failed;
        return !arena->failed;
    }
    if (format->count == FORMAT_MAX_PIECES)
        return false;
    format->pieces[format->count++] = *piece;
    return true;
}

static bool append_all(struct arena *arena, struct format *format, const struct format *more)
{
    for (size_t i = 0; i < more->count; i++)
        if (!settle_append(arena, format, &more->pieces[i]))
            return false;
    return true;
}

bool settle_known(struct arena *arena, const struct map_pattern *pattern,
                  const struct format *format, struct known *out)
{
    *out = (struct known){0};
    for (size_t i = 0; i < format->count; i++, out->pieces++) {
        const struct format_piece *piece = &format->pieces[i];
        const struct map_where *equal = piece->param ? equality_on(pattern, piece->param) : NULL;
        if (piece->param && !is_said(pattern, piece->param)) {
            out->stop = piece->param;
            return true;
        }
        bool ok = equal ? append_all(arena, &out->text, &equal->value)
                        : settle_append(arena, &out->text, piece);
        if (!ok)
            return false;
    }
    return true;
}

const struct format *settle_key_format(const struct map_pattern *pattern, const struct map_key *key,
                                       const struct map_kind *kind)
{
    const struct map_table *table = pattern->table;
    for (size_t i = 0; i < table->key_count; i++)
        if (strcmp(table->keys[i].attribute, key->attribute) == 0)
            return &kind->keys[i];
    return &key->format;
}

static size_t shared_bytes(struct span a, struct span b)
{
    size_t n = 0;
    while (n < a.size && n < b.size && a.data[n] == b.data[n])
        n++;
    return n;
}

static struct span cut_after(struct span text, char separator)
{
    while (text.size > 0 && text.data[text.size - 1] != separator)
        text.size--;
    return text;
}

static bool same_param(const struct format_piece *a, const struct format_piece *b)
{
    return a->param && b->param && strcmp(a->param, b->param) == 0;
}

bool settle_common(struct arena *arena, const struct format *a, const struct format *b,
                   char separator, struct format *out)
{
    *out = (struct format){0};
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        const struct format_piece *left = &a->pieces[i], *right = &b->pieces[i];
        if (same_param(left, right) ||
            (!left->param && !right->param && span_equal(left->literal, right->literal))) {
            if (!settle_append(arena, out, left))
                return false;
            continue;
        }
        size_t shared = shared_bytes(left->literal, right->literal);
        struct format_piece part = {.literal =
                                        cut_after(span_of(left->literal.data, shared), separator)};
        return left->param || right->param || part.literal.size == 0 ||
               settle_append(arena, out, &part);
    }
    return true;
}

/* Takes pieces off the end until the text ends after a separator or is empty. */
static bool back_to_separator(struct arena *arena, struct format *format, char separator)
{
    while (format->count > 0) {
        struct format_piece *last = &format->pieces[format->count - 1];
        struct span cut = last->param ? span_of("", 0) : cut_after(last->literal, separator);
        if (cut.size > 0) {
            last->literal = arena_copy(arena, cut);
            return !arena->failed;
        }
        format->count--;
    }
    return true;
}

/* Appends a piece of a key's format to a name: its literal as names write it. */
static bool append_to_name(struct arena *arena, struct format *name,
                           const struct format_piece *piece, struct span literal)
{
    struct format_piece copy = *piece;
    CLEAN_UP(buf_clean_up) struct buf escaped = {0};
    if (!piece->param) {
        if (literal.size == 0)
            return true;
        name_add_value(&escaped, literal, 0);
        copy.literal = arena_copy(arena, buf_span(&escaped));
        arena->failed = arena->failed || escaped.failed;
    }
    return !arena->failed && settle_append(arena, name, &copy);
}

/* Appends what FORMAT says beyond its beginning PREFIX, up to piece END. */
static bool append_rest(struct arena *arena, struct format *name, const struct format *format,
                        const struct format *prefix, size_t end)
{
    for (size_t i = 0; i < end; i++) {
        const struct format_piece *piece = &format->pieces[i];
        struct span literal = piece->literal;
        if (i < prefix->count) {
            size_t taken = prefix->pieces[i].literal.size;
            if (piece->param || taken == literal.size)
                continue;
            literal = span_from(literal, taken);
        }
        if (!append_to_name(arena, name, piece, literal))
            return false;
    }
    return true;
}

/* One past the last piece that is not said. */
static size_t unsaid_end(const struct map_pattern *pattern, const struct format *format)
{
    size_t end = format->count;
    while (end > 0 &&
           (!format->pieces[end - 1].param || is_said(pattern, format->pieces[end - 1].param)))
        end--;
    return end;
}

static struct format head(const struct format *format, size_t count)
{
    return (struct format){format->pieces, count};
}

static size_t said_pieces(const struct map_pattern *pattern, const struct format *format)
{
    size_t i = 0;
    while (i < format->count &&
           (!format->pieces[i].param || is_said(pattern, format->pieces[i].param)))
        i++;
    return i;
}

/* What the last key attribute's formats of all kinds begin with and the path says, so that names
 * need not repeat it. */
static bool said_by_all(struct arena *arena, const struct map_pattern *pattern, size_t key,
                        struct format *out)
{
    const struct format *first = &pattern->kinds[0]->keys[key];
    *out = head(first, said_pieces(pattern, first));
    for (size_t i = 1; i < pattern->kind_count; i++) {
        const struct format *other = &pattern->kinds[i]->keys[key];
        struct format said = head(other, said_pieces(pattern, other)), common;
        if (!settle_common(arena, out, &said, pattern->table->separator, &common))
            return false;
        *out = common;
    }
    return pattern->kind_count == 1 || back_to_separator(arena, out, pattern->table->separator);
}

/* The sort key's share in a name. SAID, what the name need not repeat, becomes empty when the name
 * repeats it all the same. */
static bool name_sort_key(struct arena *arena, const struct map_pattern *pattern,
                          const struct format *format, struct format *said, struct format *name)
{
    bool alone = pattern->kind_count == 1;
    size_t end = alone ? unsaid_end(pattern, format) : format->count;
    if (alone && end == 0) {
        struct format nothing = {0};
        said->count = 0;
        /* All is said: a name is needed all the same, unless the partition key gave one. */
        return name->count > 0 || append_rest(arena, name, format, &nothing, format->count);
    }
    struct format_piece joint = {.literal = span_of(&pattern->table->separator, 1)};
    if (name->count > 0 && !append_to_name(arena, name, &joint, joint.literal))
        return false;
    return append_rest(arena, name, format, said, end);
}

static bool default_name(struct arena *arena, const struct map_pattern *pattern,
                         struct map_entry *entry)
{
    const struct map_table *table = pattern->table;
    const struct map_kind *kind = entry->kind;
    struct format *name = &entry->name;
    const struct format *partition = &kind->keys[0];
    struct format said = head(partition, said_pieces(pattern, partition));
    size_t end = unsaid_end(pattern, partition);
    bool only = table->key_count == 1;
    if (only && end == 0)
        end = partition->count, said.count = 0;
    if (end > 0 && !append_rest(arena, name, partition, &said, end))
        return false;
    if (only)
        return true;
    entry->has_lead = !pattern->index && end == 0;
    return said_by_all(arena, pattern, 1, &entry->lead) &&
           name_sort_key(arena, pattern, &kind->keys[1], &entry->lead, name);
}

/* Every part that the path does not say stands in NAME, or two keys would share one. */
static const char *part_missing(const struct map_pattern *pattern, const struct map_kind *kind,
                                const struct format *name)
{
    for (size_t k = 0; k < pattern->table->key_count; k++)
        for (size_t i = 0; i < kind->keys[k].count; i++) {
            const char *param = kind->keys[k].pieces[i].param;
            if (param && !is_said(pattern, param) && !format_has(name, param))
                return param;
        }
    return NULL;
}

/* A value has the first byte of the text after it escaped; were that byte one that escapes are
 * made of, the name could not be taken apart. */
static bool can_be_parsed(const struct format *name)
{
    for (size_t i = 1; i < name->count; i++) {
        char first = name->pieces[i].literal.size ? name->pieces[i].literal.data[0] : 0;
        if (first && strchr("0123456789ABCDEF", first))
            return false;
    }
    return true;
}

/* What a name never holds as it is could not be typed as the map writes it, or not be told from an
 * escape. */
static bool holds_reserved(const struct format *name)
{
    for (size_t i = 0; i < name->count; i++)
        for (size_t at = 0; at < name->pieces[i].literal.size; at++) {
            unsigned char c = (unsigned char)name->pieces[i].literal.data[at];
            if (c == '/' || c == '%' || c < 0x20 || c == 0x7F)
                return true;
        }
    return false;
}

static bool check_name(const struct map_pattern *pattern, const struct map_entry *entry,
                       struct error *err)
{
    const char *missing = part_missing(pattern, entry->kind, &entry->name);
    if (missing)
        return error_set(err, ERROR_INVALID,
                         "\"name\" lacks {%s}, without which two keys would share a name", missing);
    if (pattern->has_name && holds_reserved(&entry->name))
        return error_set(err, ERROR_INVALID, "\"name\" holds a /, a %% or a control character");
    if (!can_be_parsed(&entry->name))
        return error_set(err, ERROR_INVALID,
                         "after a parameter a name can't go on with one of 0-9 or A-F; give "
                         "\"name\" another text there");
    return true;
}

bool settle_entries(struct arena *arena, struct map_pattern *pattern, struct error *err)
{
    if (pattern->has_name && pattern->kind_count > 1)
        return error_set(err, ERROR_INVALID, "\"name\" goes with one kind of record");
    pattern->entries = arena_array(arena, pattern->kind_count, sizeof *pattern->entries);
    if (!pattern->entries)
        return error_no_memory(err);
    for (size_t i = 0; i < pattern->kind_count; i++) {
        struct map_entry *entry = &pattern->entries[pattern->entry_count++];
        entry->kind = pattern->kinds[i];
        entry->name = pattern->name;
        if (!pattern->has_name && !default_name(arena, pattern, entry))
            return arena->failed ? error_no_memory(err)
                                 : error_set(err, ERROR_INVALID, "a name has too many parts");
        if (!check_name(pattern, entry, err))
            return false;
    }
    return true;
}
