#include "core/map/entry_names.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/escape.h"
#include "core/base/printable.h"
#include "core/map/companion.h"
#include "core/map/pattern_draft.h"

unsigned rank_digits(uint32_t limit)
{
    char text[16];
    return limit ? (unsigned)snprintf(text, sizeof text, "%" PRIu32, limit) : RANK_DIGITS;
}

bool rank_write(const struct map_rank *rank, uint64_t number, struct buf *out)
{
    if (rank->digits == 0)
        return true;
    char text[24];
    int size = snprintf(text, sizeof text, "%0*" PRIu64, (int)rank->digits, number);
    buf_add_text(out, text);
    buf_add_span(out, rank->behind);
    return size == (int)rank->digits;
}

bool rank_refuse(const struct map_rank *rank, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "there are more entries than ranks of %u digits; give the path \"newest\" or "
                     "\"oldest\" with a number, or remove {" RANK_PARAM "} from \"name\"",
                     rank->digits);
}

bool rank_skip(const struct map_rank *rank, struct span *name)
{
    if (rank->digits == 0)
        return true;
    size_t digits = 0;
    while (digits < name->size && name->data[digits] >= '0' && name->data[digits] <= '9')
        digits++;
    struct span rest = span_from(*name, digits);
    if (digits == 0 || !span_starts(rest, rank->behind) || rest.size == rank->behind.size)
        return false;
    *name = span_from(rest, rank->behind.size);
    return true;
}

void rank_write_format(const struct map_rank *rank, struct buf *out)
{
    if (rank->digits == 0)
        return;
    buf_add_text(out, "{" RANK_PARAM "}");
    buf_add_span(out, rank->behind);
}

bool entry_limit_is_number(struct span text)
{
    size_t digits = 0;
    while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    return digits > 0 && digits == text.size;
}

bool entry_limit_parse(const char *param, struct span text, uint32_t *out, struct error *err)
{
    uint32_t limit = 0;
    for (size_t i = 0; entry_limit_is_number(text) && i < text.size && limit <= ENTRY_LIMIT_MOST;
         i++)
        limit = limit * 10 + (uint32_t)(text.data[i] - '0');
    *out = limit;
    return (limit > 0 && limit <= ENTRY_LIMIT_MOST) ||
           (err &&
            error_set(err, ERROR_INVALID,
                      "{%s} is the number of entries: a number from 1 to %d, which \"%.*s\" is not",
                      param, ENTRY_LIMIT_MOST, text.size > 100 ? 100 : (int)text.size, text.data));
}

/* Takes pieces off the end until the text ends after a separator or is empty. FORMAT is
 * pattern_draft_common's. */
static void entry_names_cut_back_to_separator(struct pattern_draft *draft, struct format *format)
{
    for (; format->count > 0; format->count--) {
        struct format_piece *last = &format->pieces[format->count - 1];
        struct span cut =
            pattern_draft_cut_after_separator(draft, last->literal); /* none of a parameter */
        if (cut.size > 0) {
            last->literal = cut;
            return;
        }
    }
}

/* Appends a piece of a key's format to a name: its literal as names write it. */
static bool entry_names_append_to_name(struct pattern_draft *draft, struct format *name,
                                       const struct format_piece *piece, struct span literal)
{
    struct format_piece copy = *piece;
    copy.letters = FORMAT_ANY_CASE; /* a name shows the part's own value */
    copy.pad = 0;
    CLEAN_UP(buf_clean_up) struct buf escaped = {0};
    if (!piece->param) {
        if (literal.size == 0)
            return true;
        escape_add_value(&escaped, literal, span_text(""), NULL);
        copy.literal = arena_copy(&draft->scratch, buf_span(&escaped));
        draft->scratch.failed = draft->scratch.failed || escaped.failed;
    }
    return !draft->scratch.failed && pattern_draft_append(draft, name, &copy);
}

/* Appends to NAME the pieces of FORMAT behind its beginning PREFIX, up to piece END. */
static bool entry_names_append_rest(struct pattern_draft *draft, struct format *name,
                                    const struct format *format, const struct format *prefix,
                                    size_t end)
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
        if (!entry_names_append_to_name(draft, name, piece, literal))
            return false;
    }
    return true;
}

/* The end of the last piece without a value in the path. */
static size_t entry_names_unsaid_end(const struct pattern_draft *draft, const struct format *format)
{
    size_t end = format->count;
    while (end > 0 && (!format->pieces[end - 1].param ||
                       pattern_draft_states(draft, format->pieces[end - 1].param)))
        end--;
    return end;
}

/* The beginning of FORMAT that has values in the path. */
static struct format entry_names_stated_beginning(const struct pattern_draft *draft,
                                                  const struct format *format)
{
    struct format stated = {format->pieces, 0};
    while (stated.count < format->count &&
           (!format->pieces[stated.count].param ||
            pattern_draft_states(draft, format->pieces[stated.count].param)))
        stated.count++;
    return stated;
}

/* The beginning, with values in the path, that the key attribute's formats of all kinds share:
 * names need not repeat it. */
static bool entry_names_stated_by_all(struct pattern_draft *draft, size_t key, struct format *out)
{
    const struct map_pattern *pattern = draft->pattern;
    *out = entry_names_stated_beginning(draft, &pattern->kinds[0]->keys[key]);
    if (pattern->kind_count == 1)
        return true;
    for (size_t i = 1; i < pattern->kind_count; i++) {
        struct format stated = entry_names_stated_beginning(draft, &pattern->kinds[i]->keys[key]),
                      common;
        if (!pattern_draft_common(draft, out, &stated, &common))
            return false;
        *out = common;
    }
    entry_names_cut_back_to_separator(draft, out);
    return true;
}

/* Whether PREFIX is the whole sort key of a kind, whose entries would then have no name. */
static bool entry_names_leaves_nothing(const struct pattern_draft *draft,
                                       const struct format *prefix)
{
    const struct map_pattern *pattern = draft->pattern;
    for (size_t i = 0; pattern->kind_count > 1 && i < pattern->kind_count; i++)
        if (format_equal(&pattern->kinds[i]->keys[1], prefix))
            return true;
    return false;
}

/* Appends the sort key's share of a name. STATED, which the name need not repeat, becomes empty if
 * the name repeats it. */
static bool entry_names_name_sort_key(struct pattern_draft *draft, const struct format *format,
                                      struct format *stated, struct format *name)
{
    bool alone = draft->pattern->kind_count == 1;
    size_t end = alone ? entry_names_unsaid_end(draft, format) : format->count;
    if (alone && end == 0) {
        struct format nothing = {0};
        stated->count = 0;
        /* The path has all values; a name is needed unless the partition key has one. */
        return name->count > 0 ||
               entry_names_append_rest(draft, name, format, &nothing, format->count);
    }
    /* A separator that names escape would look like the same character in a value. */
    struct format_piece joint = {.literal = span_of(&draft->model->separator, 1)};
    if (!escape_is_unneeded(joint.literal))
        joint.literal = span_text("#");
    if (name->count > 0 && !entry_names_append_to_name(draft, name, &joint, joint.literal))
        return false;
    return entry_names_append_rest(draft, name, format, stated, end);
}

/* Escapes the ends of a name that consists of the keys' own text: no leading dot, no companion's
 * ending, no tilde. */
static bool entry_names_escape_ends(struct pattern_draft *draft, struct format *name)
{
    if (name->count == 0)
        return true;
    struct span *first = &name->pieces[0].literal, *last = &name->pieces[name->count - 1].literal;
    struct arena *arena = &draft->scratch;
    CLEAN_UP(buf_clean_up) struct buf head = {0}, tail = {0};
    if (span_starts(*first, SPAN_LITERAL("."))) {
        printable_escape(&head, span_of(first->data, 1));
        buf_add_span(&head, span_from(*first, 1));
        *first = arena_copy(arena, buf_span(&head));
    }
    size_t at = companion_find_ending(*last);
    if (at < last->size) {
        buf_add_span(&tail, span_of(last->data, at));
        printable_escape(&tail, span_of(last->data + at, 1));
        buf_add_span(&tail, span_from(*last, at + 1));
        *last = arena_copy(arena, buf_span(&tail));
    }
    arena->failed = arena->failed || head.failed || tail.failed;
    return !arena->failed;
}

/* Whether a name shows the pieces behind PREFIX with the key's own bytes. */
static bool entry_names_shows_as_it_is(const struct format *format, const struct format *prefix)
{
    for (size_t i = prefix->count; i < format->count; i++)
        if (format->pieces[i].pad > 0)
            return false;
    return true;
}

/* The default name: the parts of the key without values in the path, in the key's order. */
static bool entry_names_default_name(struct pattern_draft *draft, struct map_entry *entry)
{
    const struct format *partition = &entry->kind->keys[0];
    struct format stated = entry_names_stated_beginning(draft, partition);
    size_t end = entry_names_unsaid_end(draft, partition);
    bool only = draft->model->key_count == 1;
    if (only && end == 0)
        end = partition->count, stated.count = 0;
    if (end > 0 && !entry_names_append_rest(draft, &entry->name, partition, &stated, end))
        return false;
    if (only)
        return true;
    entry->has_sort_prefix = !draft->pattern->index && end == 0;
    if (!entry_names_stated_by_all(draft, 1, &entry->sort_prefix))
        return false;
    if (entry->name.count == 0 && entry_names_leaves_nothing(draft, &entry->sort_prefix))
        entry->sort_prefix.count = 0;
    entry->has_sort_prefix = entry->has_sort_prefix &&
                             entry_names_shows_as_it_is(&entry->kind->keys[1], &entry->sort_prefix);
    return entry_names_name_sort_key(draft, &entry->kind->keys[1], &entry->sort_prefix,
                                     &entry->name);
}

/* Whether PARAM is a part of KIND's key, or has a value in the path. */
static bool entry_names_is_known(const struct pattern_draft *draft, const struct map_kind *kind,
                                 const char *param)
{
    for (size_t k = 0; k < draft->model->key_count; k++)
        if (format_has(&kind->keys[k], param))
            return true;
    return pattern_draft_states(draft, param);
}

/* Whether PARAM is a part of the index's key. */
static bool entry_names_is_of_index(const struct pattern_draft *draft, const struct map_kind *kind,
                                    const char *param)
{
    const struct map_index *index = draft->pattern->index;
    const struct map_key *key;
    for (size_t i = 0; index && (key = model_index_key(index, i)); i++) {
        const struct format *format = model_key_format(draft->model, key, kind);
        if (format && format_has(format, param))
            return true;
    }
    return false;
}

/* Takes the rank off the map's name. A part of the key may also have the name "rank"; then it is
 * that part, which the name must contain. */
static bool entry_names_take_rank(struct pattern_draft *draft, struct map_entry *entry)
{
    struct format *name = &entry->name;
    if (entry_names_is_known(draft, entry->kind, RANK_PARAM) || !format_has(name, RANK_PARAM))
        return true;
    if (entry_names_is_of_index(draft, entry->kind, RANK_PARAM))
        return pattern_draft_fail(draft, "{" RANK_PARAM
                                         "} in \"name\" is the position in the listing, but also a "
                                         "part of the index's key: rename that part");
    for (size_t i = 0; i < name->count; i++)
        if (name->pieces[i].param && strcmp(name->pieces[i].param, RANK_PARAM) == 0 &&
            (i > 0 || name->pieces[i].open))
            return pattern_draft_fail(draft,
                                      "{" RANK_PARAM "} occurs once, at the beginning of \"name\"");
    if (name->count < 3)
        return pattern_draft_fail(
            draft, "behind {" RANK_PARAM
                   "} a \"name\" has a text, and then the parts that identify the item");
    struct span behind = name->pieces[1].literal;
    if (behind.size > RANK_MAX_BEHIND)
        return pattern_draft_fail(draft, "the text behind {" RANK_PARAM "} has more than %d bytes",
                                  RANK_MAX_BEHIND);
    entry->rank =
        (struct map_rank){rank_digits(draft->pattern->ties ? 0 : draft->pattern->limit), behind};
    *name = (struct format){name->pieces + 2, name->count - 2};
    return true;
}

/* The part that NAME lacks: without it two keys would share a name. NULL if it has all. */
static const char *entry_names_part_missing(const struct pattern_draft *draft,
                                            const struct map_kind *kind, const struct format *name)
{
    for (size_t k = 0; k < draft->model->key_count; k++)
        for (size_t i = 0; i < kind->keys[k].count; i++) {
            const char *param = kind->keys[k].pieces[i].param;
            if (param && !pattern_draft_states(draft, param) && !format_has(name, param))
                return param;
        }
    return NULL;
}

/* The value before a text has the text's first byte escaped. If that byte could be a digit of an
 * escape, the name could not be parsed. */
static bool entry_names_can_be_parsed(const struct format *name)
{
    for (size_t i = 1; i < name->count; i++) {
        char first = name->pieces[i].literal.size ? name->pieces[i].literal.data[0] : 0;
        if (first && strchr("0123456789ABCDEF", first))
            return false;
    }
    return true;
}

/* Whether the text of a name has characters that names escape: it could not be typed as the map
 * writes it. */
static bool entry_names_holds_reserved(const struct format *name)
{
    for (size_t i = 0; i < name->count; i++)
        if (!escape_is_unneeded(name->pieces[i].literal))
            return true;
    return false;
}

/* Notes the parts of the index's key in a name: their values come from the item. */
static bool entry_names_take_indexed(struct pattern_draft *draft, struct map_entry *entry)
{
    const struct format *name = &entry->name;
    entry->indexed.pieces =
        arena_array(&draft->scratch, name->count, sizeof *entry->indexed.pieces);
    if (!entry->indexed.pieces)
        return findings_no_memory(draft->findings);
    for (size_t i = 0; i < name->count; i++) {
        const char *param = name->pieces[i].param;
        if (!param || entry_names_is_known(draft, entry->kind, param))
            continue;
        if (!entry_names_is_of_index(draft, entry->kind, param))
            return pattern_draft_fail(draft, "{%s} in \"name\" is no part of the item's key%s",
                                      param, draft->pattern->index ? ", nor of the index's" : "");
        entry->indexed.pieces[entry->indexed.count++] = name->pieces[i];
    }
    return true;
}

/* WRITTEN is the name with its rank. */
static bool entry_names_check_name(struct pattern_draft *draft, struct map_entry *entry,
                                   const struct format *written)
{
    if (!entry_names_take_indexed(draft, entry))
        return false;
    const char *missing = entry_names_part_missing(draft, entry->kind, &entry->name);
    if (missing)
        return pattern_draft_fail(
            draft, "\"name\" lacks {%s}, without which two keys would share a name", missing);
    if (draft->path->has_name && entry_names_holds_reserved(written))
        return pattern_draft_fail(draft, "\"name\" holds a /, a %% or a control character");
    struct span last =
        entry->name.count ? entry->name.pieces[entry->name.count - 1].literal : span_text("");
    if (draft->path->has_name && companion_find_ending(last) < last.size)
        return pattern_draft_fail(
            draft, "\"name\" ends as a companion does (@, @typed, @info, @links, @jsonl, "
                   "@csv, @table, @count, @summary, @sqlite), or in ~, which programs try by "
                   "themselves");
    if (!entry_names_can_be_parsed(written))
        return pattern_draft_fail(draft, "after a parameter the text of a name can't begin with "
                                         "one of 0-9 or A-F; change that text in \"name\"");
    return true;
}

bool entry_names_compile(struct pattern_draft *draft)
{
    struct map_pattern *pattern = draft->pattern;
    const struct declared_path *path = draft->path;
    if (path->has_name && pattern->kind_count > 1)
        return pattern_draft_fail(draft, "\"name\" requires a path of one kind of record");
    pattern->entries = arena_array(draft->arena, pattern->kind_count, sizeof *pattern->entries);
    if (!pattern->entries)
        return findings_no_memory(draft->findings);
    for (size_t i = 0; i < pattern->kind_count; i++) {
        struct map_entry *entry = &pattern->entries[pattern->entry_count++];
        entry->kind = pattern->kinds[i];
        entry->name = path->name;
        if (!path->has_name && (!entry_names_default_name(draft, entry) ||
                                !entry_names_escape_ends(draft, &entry->name)))
            return draft->scratch.failed ? findings_no_memory(draft->findings)
                                         : pattern_draft_fail(draft, "a name has too many parts");
        struct format written = entry->name;
        if ((path->has_name && !entry_names_take_rank(draft, entry)) ||
            !entry_names_check_name(draft, entry, &written))
            return false;
    }
    return true;
}

/* KIND's format of the key ATTRIBUTE, of PATTERN's index or table; NULL for none. */
static const struct format *entry_names_key_format(const struct map_pattern *pattern,
                                                   const struct map_kind *kind,
                                                   const char *attribute)
{
    const struct model *table = pattern->table;
    const struct map_key *key;
    for (size_t i = 0; pattern->index && (key = model_index_key(pattern->index, i)); i++)
        if (strcmp(key->attribute, attribute) == 0)
            return model_key_format(table, key, kind);
    for (size_t i = 0; i < table->key_count; i++)
        if (strcmp(table->keys[i].attribute, attribute) == 0)
            return &kind->keys[i];
    return NULL;
}

const char *entry_names_tested_part(const struct map_pattern *pattern)
{
    const struct map_cond *cond =
        pattern->where_count > 0 ? &pattern->where[pattern->where_count - 1] : NULL;
    if (!cond || cond->op == COND_EQ || cond->value.count == 0 || pattern->entry_count == 0)
        return NULL;
    const struct format *format =
        entry_names_key_format(pattern, pattern->entries[0].kind, cond->attribute);
    size_t last = cond->value.count - 1;
    bool is_tested = format && last < format->count && cond->value.pieces[last].param;
    return is_tested ? format->pieces[last].param : NULL;
}

bool entry_names_begin_with(const struct map_pattern *pattern, const char *part)
{
    for (size_t i = 0; i < pattern->entry_count; i++) {
        const struct format *name = &pattern->entries[i].name;
        size_t first = 0;
        while (first < name->count && !name->pieces[first].param)
            first++;
        if (first == name->count || strcmp(name->pieces[first].param, part) != 0)
            return false;
    }
    return true;
}
