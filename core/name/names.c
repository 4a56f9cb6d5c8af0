#include "core/name/names.h"

#include <stdint.h>

#include "core/base/escape.h"
#include "core/base/nearest.h"
#include "core/base/printable.h"
#include "core/map/entry_names.h"
#include "core/map/listable.h"
#include "core/name/name_draft.h"
#include "core/source/table_description.h"

/* Names that programs probe, and placeholders. */

static const char *const probed_words[] = {
    "4913", /* vim tries whether it may write */
    "AACS",         "BDMV",        "CVS",
    "HEAD",         /* git, for bare repositories */
    "package.json", /* editors and node, for a project in a parent directory */
    "RCS",          "SCCS",        "System Volume Information",
    "Thumbs.db",    "VIDEO_TS",    "_FOSSIL_",
    "_darcs",       "autorun.inf", "desktop.ini",
    "ehthumbs.db",  "lost+found",
};

/* SQLite looks for these behind the name of each database that it opens. */
static const char *const probed_endings[] = {"-journal", "-wal", "-shm"};

static bool names_is_probed_by_sqlite(struct span name)
{
    for (size_t i = 0; i < sizeof probed_endings / sizeof probed_endings[0]; i++) {
        struct span ending = span_text(probed_endings[i]), columns, base = name;
        if (!span_ends(name, ending))
            continue;
        base.size -= ending.size;
        if (companion_split(&base, &columns) == COMPANION_SQLITE)
            return true;
    }
    return false;
}

static bool names_is_probed_word(struct span name)
{
    if (names_is_probed_by_sqlite(name))
        return true;
    for (size_t i = 0; i < sizeof probed_words / sizeof probed_words[0]; i++)
        if (span_is(name, probed_words[i]))
            return true;
    return false;
}

bool names_is_probed(struct span name)
{
    return span_starts(name, SPAN_LITERAL(".")) || span_ends(name, SPAN_LITERAL("~")) ||
           names_is_probed_word(name);
}

/* "." and ".." are no names. */
static bool names_can_open(struct span name)
{
    return !span_is(name, ".") && !span_is(name, "..");
}

bool names_refuse_probed(const struct place_options *options, struct span name, struct error *err)
{
    if (!names_is_probed(name) || (options->opens_probed && names_can_open(name)))
        return false;
    error_set(err, ERROR_NOT_FOUND, "programs try \"%.*s\" by themselves; escape it",
              (int)name.size, name.data);
    return true;
}

bool names_is_probed_at(const struct format *step, struct span name)
{
    if (format_is_literal(step))
        return false;
    struct span dot = SPAN_LITERAL("."), tilde = SPAN_LITERAL("~");
    struct span first = step->pieces[0].literal, last = step->pieces[step->count - 1].literal;
    return (span_starts(name, dot) && !span_starts(first, dot)) ||
           (span_ends(name, tilde) && !span_ends(last, tilde)) || names_is_probed_word(name);
}

void names_write_placeholder(const struct route *step, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    format_write(&step->segment, &name);
    if (name.size > NAME_LIMIT && !escape_shorten(&name, NAME_LIMIT, ESCAPE_MARK_DIRECTORY))
        out->failed = true;
    buf_add_span(out, buf_span(&name));
    out->failed = out->failed || name.failed;
}

/* The map's hint for the first parameter of STEP that has one, or NULL. */
static const char *names_placeholder_hint(const struct model *table, const struct route *step)
{
    for (size_t i = 0; i < step->segment.count; i++) {
        const char *name = step->segment.pieces[i].param;
        const struct map_param *param = name ? model_find_param(table, name) : NULL;
        if (param && param->hint)
            return param->hint;
    }
    return NULL;
}

bool names_refuse_unlisted(const struct model *table, const struct route *step,
                           const struct bindings *path, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf segment = {0};
    if (step->vector)
        return error_set(err, ERROR_NOT_LISTABLE,
                         "the vector index %s can't be listed: it answers only searches by a "
                         "vector; use ITEM@similar/ of an item of the table",
                         step->vector->name);
    format_write(&step->segment, &segment);
    const char *slash = step->file ? "" : "/", *hint = names_placeholder_hint(table, step);
    const char *reason =
        listable_values(table, step)
            ? "shows the values in the map, and without \"only\" there may be others"
        : listable_follows_some(step, path) || listable_is_group(step, path)
            ? "shows those that entries lead to, and there may be others"
            : "can't be listed, since no key leads to all of them";
    return error_set(err, ERROR_NOT_LISTABLE, "%s%s %s; type one: …/%s%s%s%s", buf_text(&segment),
                     slash, reason, buf_text(&segment), slash, hint ? "; " : "", hint ? hint : "");
}

bool names_refuse_columns(struct error *err)
{
    return error_set(err, ERROR_NOT_LISTABLE,
                     "the columns of a table are typed: …@table/status,created_at, with attributes "
                     "of the items in their place; …@summary lists them");
}

/* Reading a name. */

/* Reasons to refuse a name that has the form of a step of the map. */
enum refusal_kind {
    REFUSED_NOT,
    BAD_ESCAPE,
    BAD_BASE64,
    NOT_PADDED, /* not a number of the key's digits */
    SAID_TWICE,
    NO_MATCH,
    NO_COUNT,    /* not a number; another step may take the name */
    WRONG_COUNT, /* a number that no listing can have */
    A_SECRET,
    NO_COMPANION,
    OF_DIRECTORY,   /* a companion of an item or a listing, on a plain directory */
    OF_LISTING,     /* a companion that only items have, on a listing of items */
    OF_RECORD,      /* a companion that only listings have, on an item */
    OF_PLACEHOLDER, /* a placeholder before a companion's ending */
    NO_VALUE,       /* nothing before a companion's ending */
    NO_COLUMN,      /* an empty column, or one that no attribute can have as its name */
    TOO_MANY
};

struct refusal {
    enum refusal_kind kind;
    const char *param;
    const char *why; /* of BAD_BASE64 and OF_*: a static phrase */
};

/* The result of matching a step of the map with a name. UNSUITED: only a "match" refuses a value
 * that is written with an escape. */
enum names_taken { NOT_ITS_FORM, REFUSED, UNSUITED, TAKEN };

/* The prefix of bytes that are typed as base64. */
#define NAME_BASE64 "base64:"

/* Notes the first refusal of a name only: more specific steps are tried first. */
static void names_note_refusal(struct refusal *refusal, enum refusal_kind kind, const char *param)
{
    if (refusal->kind == REFUSED_NOT)
        *refusal = (struct refusal){.kind = kind, .param = param};
}

/* Whether VALUE matches the map's "match" of PARAM. */
static bool names_value_matches(const struct model *table, const char *name, struct span value,
                                struct arena *arena)
{
    const struct map_param *param = model_find_param(table, name);
    if (!param || !param->match)
        return true;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_span(&text, value);
    arena->failed = arena->failed || text.failed;
    if (text.failed || memchr(buf_text(&text), '\0', text.size))
        return false;
    int unlike = regexec(&param->regex, buf_text(&text), 0, NULL, 0);
    arena->failed = arena->failed || unlike == REG_ESPACE;
    return unlike == 0;
}

/* Decodes a piece of a name. False if a % begins no escape. */
static bool names_decode_piece(struct span *value, struct arena *arena)
{
    CLEAN_UP(buf_clean_up) struct buf decoded = {0};
    if (!escape_decode(*value, &decoded))
        return false;
    arena->failed = arena->failed || decoded.failed;
    *value = arena_copy(arena, buf_span(&decoded));
    return true;
}

/* Decodes the base64 behind "base64:"; in it only a / needs an escape. */
static bool names_decode_base64(struct span *value, struct arena *arena, const char **why)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, bytes = {0};
    if (!escape_decode(span_from(*value, sizeof NAME_BASE64 - 1), &text))
        return false;
    *why = base64_read_typed(buf_span(&text), &bytes);
    arena->failed = arena->failed || text.failed || bytes.failed;
    *value = arena_copy(arena, buf_span(&bytes));
    return !*why;
}

/* Replaces a typed spelling by the part's value: 42 for "00042", ann for "Ann". */
static bool names_read_spelling(const struct model *table, const char *param, struct span *value,
                                struct arena *arena)
{
    CLEAN_UP(buf_clean_up) struct buf plain = {0};
    if (!table || !model_spelling(table, param))
        return true;
    bool fits = model_read_part(table, param, *value, &plain);
    arena->failed = arena->failed || plain.failed;
    if (fits)
        *value = arena_copy(arena, buf_span(&plain));
    return fits;
}

/* Decodes VALUE, a piece of a name. False with the refusal noted. */
static bool names_read_piece(const struct model *table, const struct binding *piece,
                             struct span *value, struct arena *arena, struct refusal *refusal)
{
    const char *why = NULL;
    bool escaped = memchr(value->data, '%', value->size);
    bool base64 = piece->type == VALUE_B && span_starts(*value, SPAN_LITERAL(NAME_BASE64));
    bool decoded = base64    ? names_decode_base64(value, arena, &why)
                   : escaped ? names_decode_piece(value, arena)
                             : true;
    if (!decoded) {
        names_note_refusal(refusal, why ? BAD_BASE64 : BAD_ESCAPE, piece->param);
        refusal->why = refusal->why ? refusal->why : why;
        return false;
    }
    if (names_read_spelling(table, piece->param, value, arena))
        return true;
    names_note_refusal(refusal, NOT_PADDED, piece->param);
    return false;
}

static enum names_taken names_take_apart(const struct format *format, struct span name,
                                         const struct bindings *path, const struct model *table,
                                         struct arena *arena, struct bindings *values,
                                         struct refusal *refusal)
{
    enum names_taken taken = TAKEN;
    struct bindings captures;
    captures.count = values->count = 0;
    if (!format_match(format, name, &captures))
        return NOT_ITS_FORM;
    for (size_t i = 0; i < captures.count; i++) {
        const struct binding *piece = &captures.items[i];
        const char *param = piece->param;
        struct span value = piece->value;
        if (!names_read_piece(table, piece, &value, arena, refusal))
            return REFUSED;
        const struct span *known = bindings_find(path, param);
        if (!known)
            known = bindings_find(values, param);
        if (known && span_equal(*known, value))
            continue;
        if (known) {
            names_note_refusal(refusal, SAID_TWICE, param);
            return REFUSED;
        }
        if (path->count + values->count >= BINDINGS_MAX || !bindings_add(values, param, value)) {
            names_note_refusal(refusal, TOO_MANY, param);
            return REFUSED;
        }
        if (table && !names_value_matches(table, param, value, arena)) {
            names_note_refusal(refusal, NO_MATCH, param);
            if (!memchr(piece->value.data, '%', piece->value.size))
                return REFUSED;
            taken = UNSUITED;
        }
    }
    return taken;
}

size_t names_limit(const struct place_options *options)
{
    return NAME_LIMIT - strlen(options->suffix);
}

bool names_withhold(const struct route *route, const struct place_options *options)
{
    const struct map_pattern *file = route->file;
    return options->hide_secrets && file && file->attribute &&
           model_is_secret(file->table, span_text(file->attribute));
}

static bool names_is_record(const struct route *route)
{
    return route->file && !route->file->attribute;
}

bool names_have_readme(const struct route *route)
{
    for (const struct route *child = route->children; child; child = child->next)
        if (format_is_literal(&child->segment) &&
            span_is(child->segment.pieces[0].literal, README_NAME))
            return false;
    return true;
}

bool names_list_readme(const struct model *table, const struct route *route,
                       const struct bindings *path)
{
    bool lacks = !route->parent;
    for (const struct route *child = route->children; child && !lacks; child = child->next)
        lacks = listable_lacks(table, child, path);
    return lacks && names_have_readme(route);
}

const struct route *names_next_unlisted(const struct names_directory *directory,
                                        const struct route *after)
{
    const struct route *step = after ? after->next : directory->route->children;
    while (step &&
           (step == directory->scanned || !listable_lacks(directory->table, step, directory->path)))
        step = step->next;
    return step;
}

bool names_skip_rank(const struct route *child, struct span *name)
{
    return !child->entry || rank_skip(&child->entry->rank, name);
}

/* Takes the suffix off an item's name. False if it has no suffix. */
static bool names_strip_suffix(struct span *name, const struct place_options *options)
{
    struct span suffix = span_text(options->suffix);
    if (!span_ends(*name, suffix) || name->size <= suffix.size)
        return false;
    name->size -= suffix.size;
    return true;
}

/* Whether a part of a key would contain the separator: no item of that kind has such a key. */
static bool names_holds_separator(const struct names_directory *directory,
                                  const struct route *child, const struct bindings *values)
{
    for (size_t i = 0; child->entry && i < child->segment.count; i++) {
        const struct format_piece *piece = &child->segment.pieces[i];
        const struct span *value = piece->param ? bindings_find(values, piece->param) : NULL;
        if (value && !piece->open && piece->type == VALUE_S && value->size > 0 &&
            memchr(value->data, directory->table->separator, value->size))
            return true;
    }
    return false;
}

/* Whether the value for CHILD's number of entries is valid. Another step may take a value that is
 * not a number; a number out of range is refused. */
static bool names_is_count(const struct route *child, const struct bindings *values,
                           struct refusal *refusal)
{
    uint32_t limit;
    const struct span *value = child->count ? bindings_find(values, child->count) : NULL;
    if (!value || entry_limit_parse(child->count, *value, &limit, NULL))
        return true;
    if (entry_limit_is_number(*value))
        *refusal = (struct refusal){.kind = WRONG_COUNT, .param = child->count};
    else
        names_note_refusal(refusal, NO_COUNT, child->count);
    return false;
}

/* Matches NAME with CHILD. TAKEN and UNSUITED only if there is no other reason against it; both
 * fill in FOUND. */
static enum names_taken names_try_step(const struct names_directory *directory,
                                       const struct route *child, struct span name,
                                       struct arena *arena, struct names_found *found,
                                       struct refusal *refusal)
{
    if (!names_skip_rank(child, &name) || (child->vector && !format_is_literal(&child->segment)))
        return NOT_ITS_FORM;
    found->kind = NAMES_CHILD;
    found->route = child;
    found->companion = COMPANION_NONE;
    found->columns = span_text("");
    enum names_taken taken = names_take_apart(&child->segment, name, directory->path,
                                              directory->table, arena, &found->values, refusal);
    if ((taken == TAKEN || taken == UNSUITED) && names_withhold(child, directory->options)) {
        /* The item must not open by another pattern either. */
        *refusal = (struct refusal){.kind = A_SECRET};
        return REFUSED;
    }
    if (taken == TAKEN && !names_is_count(child, &found->values, refusal))
        return REFUSED;
    if (taken == TAKEN && names_holds_separator(directory, child, &found->values))
        return UNSUITED;
    return taken;
}

/* Whether NAME ends in a companion's ending where CHILD needs a value. A value with that text is
 * typed with its @ escaped. */
static bool names_lacks_value(const struct route *child, struct span name,
                              const struct bindings *values, struct refusal *refusal)
{
    const struct format *segment = &child->segment;
    const char *param = segment->pieces[segment->count - 1].param;
    const struct span *value = param ? bindings_find(values, param) : NULL;
    enum companion bare =
        value && span_ends(name, *value) ? companion_parse_ending(*value) : COMPANION_NONE;
    if (bare == COMPANION_NONE)
        return false;
    if (refusal->kind == REFUSED_NOT || refusal->kind == NO_MATCH)
        *refusal = (struct refusal){.kind = NO_VALUE, .param = companion_ending(bare)};
    return true;
}

/* Tries steps, the more specific first. "match" helps people who type: a key that does not match it
 * opens by a name with an escape, unless another step takes that name. */
static bool names_find_step(const struct names_directory *directory, struct span name,
                            bool no_records, struct arena *arena, struct names_found *found,
                            struct refusal *refusal)
{
    struct names_found unsuited;
    unsuited.route = NULL;
    bool readme = span_is(name, README_NAME) && names_have_readme(directory->route);
    for (const struct route *child = directory->route->children; child; child = child->next) {
        struct span text = name;
        if (readme && !format_is_literal(&child->segment))
            break;
        if (names_is_record(child) &&
            (no_records || !names_strip_suffix(&text, directory->options)))
            continue;
        if (names_is_probed_at(&child->segment, name) &&
            !(directory->opens_probed && names_can_open(name)))
            continue;
        enum names_taken taken = names_try_step(directory, child, text, arena, found, refusal);
        if (taken != NOT_ITS_FORM && names_lacks_value(child, name, &found->values, refusal))
            taken = REFUSED;
        if (taken == TAKEN)
            return true;
        if (taken == REFUSED && (refusal->kind == A_SECRET || refusal->kind == WRONG_COUNT))
            return false;
        if (taken == UNSUITED && !unsuited.route &&
            (child->entry || listable_follows_some(child, directory->path)))
            unsuited = *found;
    }
    if (readme)
        *found = (struct names_found){.kind = NAMES_README};
    else if (unsuited.route)
        *found = unsuited;
    return readme || unsuited.route;
}

static bool names_is_written_as(const struct names_directory *directory, const struct route *child,
                                const struct bindings *value, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf written = {0};
    return names_write(directory, child, value, 0, &written, NULL) &&
           span_equal(buf_span(&written), name);
}

/* Finds the shortened name of a known value. */
static bool names_find_known(const struct names_directory *directory, struct span name,
                             enum escape_mark mark, struct names_found *found)
{
    for (const struct route *child = directory->route->children; child; child = child->next) {
        const struct map_param *param =
            child->entry ? NULL : listable_values(directory->table, child);
        if (!param || (mark == ESCAPE_MARK_FILE) != (child->file != NULL))
            continue;
        for (size_t i = 0; i < param->value_count; i++) {
            struct bindings value = {.items = {{.param = param->name, .value = param->values[i]}},
                                     .count = 1};
            if (!names_is_written_as(directory, child, &value, name))
                continue;
            *found = (struct names_found){.kind = NAMES_CHILD, .route = child, .values = value};
            return true;
        }
    }
    return false;
}

/* NAME, without companion, is a shortened one. */
static bool names_find_shortened(const struct names_directory *directory, struct span name,
                                 struct names_found *found)
{
    struct span bare = name, prefix;
    enum escape_mark mark;
    bool suffixed = names_strip_suffix(&bare, directory->options);
    if (escape_is_shortened(name, &mark, &prefix) && names_find_known(directory, name, mark, found))
        return true;
    if (!suffixed || !escape_is_shortened(bare, &mark, &prefix) || mark != ESCAPE_MARK_FILE)
        return false;
    if (names_find_known(directory, name, mark, found))
        return true;
    if (!directory->route->list)
        return false;
    for (const struct route *child = directory->route->children; child; child = child->next) {
        if (child->entry && names_skip_rank(child, &bare)) {
            *found = (struct names_found){.kind = NAMES_SHORTENED, .route = child, .bare = bare};
            return true;
        }
    }
    return false;
}

/* The step with the placeholder NAME, or NULL. A placeholder's name contains a '{', or it is
 * shortened and contains a '%'. */
static const struct route *names_find_placeholder(const struct names_directory *directory,
                                                  struct span name, struct arena *arena)
{
    const struct route *step = NULL;
    if (name.size == 0 ||
        (!memchr(name.data, '{', name.size) && !memchr(name.data, '%', name.size)))
        return NULL;
    while ((step = names_next_unlisted(directory, step))) {
        CLEAN_UP(buf_clean_up) struct buf written = {0};
        names_write_placeholder(step, &written);
        arena->failed = arena->failed || written.failed;
        if (span_equal(buf_span(&written), name))
            return step;
    }
    return NULL;
}

/* Notes that ROUTE does not have COMPANION. */
static void names_note_foreign(const struct route *route, enum companion companion,
                               struct refusal *refusal)
{
    bool lists = route->list && !route->list->groups;
    enum refusal_kind kind = names_is_record(route) ? OF_RECORD
                             : route->file          ? NO_COMPANION
                             : lists                ? OF_LISTING
                                                    : OF_DIRECTORY;
    if (refusal->kind != REFUSED_NOT)
        return;
    names_note_refusal(refusal, kind, companion_ending(companion));
    refusal->why = companion_is_of_listing(companion) ? "listing of records"
                   : companion == COMPANION_INFO      ? "listing or a record"
                                                      : "record";
}

/* Makes FOUND its companion. False, with a refusal noted, if it does not have that companion. */
static bool names_take_companion(struct names_found *found, enum companion companion,
                                 struct span columns, struct arena *arena, struct refusal *refusal)
{
    struct span *names;
    size_t count;
    const struct route *route = found->route;
    bool lists = route->list && !route->list->groups;
    if (companion_is_of_listing(companion)
            ? !lists
            : !names_is_record(route) && !(route->list && companion == COMPANION_INFO)) {
        names_note_foreign(found->route, companion, refusal);
        return false;
    }
    if (!names_find_columns(columns, arena, &names, &count, NULL)) {
        names_note_refusal(refusal, NO_COLUMN, NULL);
        return false;
    }
    found->companion = companion;
    found->columns = columns;
    return true;
}

/* NAME@info is the companion of NAME, if that is an item or a listing. Else it is found like other
 * names, but not as an item: items' names do not end that way. */
static bool names_find_any(const struct names_directory *directory, struct span name,
                           struct arena *arena, struct names_found *found, struct refusal *refusal)
{
    struct span base = name, columns;
    enum companion companion =
        names_is_probed_by_sqlite(name) ? COMPANION_NONE : companion_split(&base, &columns);
    const struct route *unlisted = names_find_placeholder(directory, base, arena);
    if (unlisted && companion != COMPANION_NONE) {
        *refusal = (struct refusal){.kind = OF_PLACEHOLDER};
        return false;
    }
    if (unlisted) {
        *found = (struct names_found){.kind = NAMES_PLACEHOLDER, .route = unlisted};
        return true;
    }
    if (companion == COMPANION_NONE)
        return names_find_shortened(directory, name, found) ||
               names_find_step(directory, name, false, arena, found, refusal);
    struct refusal of_base = {0};
    if (names_find_shortened(directory, base, found) ||
        names_find_step(directory, base, false, arena, found, &of_base)) {
        if (found->kind != NAMES_README &&
            names_take_companion(found, companion, columns, arena, refusal))
            return true;
        if (found->kind != NAMES_README &&
            (found->route->file || companion_is_of_listing(companion)))
            return false;
    }
    if (of_base.kind != A_SECRET && names_find_step(directory, name, true, arena, found, refusal))
        return true;
    if (refusal->kind == REFUSED_NOT)
        *refusal = of_base;
    return false;
}

/* Whether NAME consists of a name here and an ending that is not among its companions; then fills
 * ERR. */
static bool names_describe_no_companion(const struct names_directory *directory, struct span name,
                                        struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    struct refusal refusal = {0};
    struct names_found found;
    size_t at = companion_find_at(name);
    struct span base = span_of(name.data, at), wrong = span_from(name, at);
    if (at == 0 || !names_find_any(directory, base, &arena, &found, &refusal) ||
        found.kind != NAMES_CHILD || found.companion != COMPANION_NONE)
        return false;
    bool record = names_is_record(found.route);
    if (!record && (!found.route->list || found.route->list->groups))
        return false;
    companion_write_hint(!record, wrong, &hint);
    companion_write_names(!record, &names);
    error_set(err, ERROR_NOT_FOUND, "\"%.*s\" has no \"%.*s\"%s; %s has %s", (int)base.size,
              base.data, (int)wrong.size, wrong.data, buf_text(&hint),
              record ? "a record" : "a listing of records", buf_text(&names));
    return true;
}

/* That only others have the companion, and which ones this has. */
static bool names_describe_foreign(const struct refusal *refusal, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf names = {0};
    bool listing = refusal->kind == OF_LISTING;
    if (refusal->kind == OF_DIRECTORY)
        return error_set(err, ERROR_NOT_FOUND, "only a %s has %s; this is a plain directory",
                         refusal->why, refusal->param);
    companion_write_names(listing, &names);
    return error_set(err, ERROR_NOT_FOUND, "only a %s has %s; this is a %s, which has %s",
                     refusal->why, refusal->param, listing ? "listing of records" : "record",
                     buf_text(&names));
}

/* Lists the directory's names, with a hint if NAME is near to one of the literals. */
static bool names_describe_missing(const struct names_directory *directory, struct span name,
                                   struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    struct nearest nearest = nearest_to(name);
    const char *suffix = directory->options->suffix;
    for (const struct route *child = directory->route->children; child; child = child->next) {
        buf_add_text(&names, names.size ? ", " : "");
        route_write_segment(child, &names);
        buf_add_text(&names, child->file ? "" : "/");
        if (format_is_literal(&child->segment))
            nearest_offer(&nearest, child->segment.pieces[0].literal);
    }
    nearest_write(&nearest, &hint);
    return error_set(err, ERROR_NOT_FOUND, "not found here: \"%.*s\"%s; there is %s%s%s",
                     (int)name.size, name.data, buf_text(&hint), buf_text(&names),
                     suffix[0] ? ", and items end in " : "", suffix);
}

static bool names_describe_unmatched(const struct names_directory *directory, struct span name,
                                     const char *param_name, struct error *err)
{
    const struct map_param *param = model_find_param(directory->table, param_name);
    if (param->hint)
        return error_set(err, ERROR_INVALID, "{%s} does not match in \"%.*s\"; %s", param->name,
                         (int)name.size, name.data, param->hint);
    return error_set(err, ERROR_INVALID, "{%s} does not match %s in \"%.*s\"", param->name,
                     param->match, (int)name.size, name.data);
}

static bool names_describe_bad_escape(struct span name, struct error *err)
{
    enum escape_mark mark;
    struct span prefix;
    if (escape_is_shortened(name, &mark, &prefix))
        return error_set(err, ERROR_INVALID,
                         "a shortened name opens in the listing that shows it, and nowhere else");
    return error_set(err, ERROR_INVALID,
                     "in \"%.*s\" two hexadecimal digits must follow each %%; a %% itself is "
                     "written %%25",
                     (int)name.size, name.data);
}

/* NAME is a placeholder's with the ending of a companion. */
static bool names_refuse_companion(struct span name, struct error *err)
{
    struct span base = name, columns;
    companion_split(&base, &columns);
    return error_set(
        err, ERROR_NOT_LISTABLE,
        "\"%.*s\" is a placeholder for names that can't be listed; type one of them before %.*s",
        (int)base.size, base.data, (int)(name.size - base.size), name.data + base.size);
}

static bool names_describe_refusal(const struct names_directory *directory, struct span name,
                                   const struct refusal *refusal, struct error *err)
{
    switch (refusal->kind) {
    case REFUSED_NOT:
        return !names_describe_no_companion(directory, name, err) &&
               names_describe_missing(directory, name, err);
    case BAD_ESCAPE:
        return names_describe_bad_escape(name, err);
    case NOT_PADDED:
        return error_set(err, ERROR_INVALID,
                         "{%s} in \"%.*s\" is no value: the key has a number of %u digits; type "
                         "all of them, or none of the leading zeros",
                         refusal->param, (int)name.size, name.data,
                         model_spelling(directory->table, refusal->param)->pad);
    case BAD_BASE64:
        return error_set(err, ERROR_INVALID,
                         "{%s} in \"%.*s\" is not base64: %s; a value that begins with \"base64:\" "
                         "is typed %%62ase64:",
                         refusal->param, (int)name.size, name.data, refusal->why);
    case SAID_TWICE:
        return error_set(err, ERROR_INVALID,
                         "{%s} in \"%.*s\" differs from the value earlier in the path",
                         refusal->param, (int)name.size, name.data);
    case NO_MATCH:
        return names_describe_unmatched(directory, name, refusal->param, err);
    case NO_COUNT:
    case WRONG_COUNT:
        return error_set(err, ERROR_INVALID,
                         "{%s} in \"%.*s\" is the number of entries: a number from 1 to %d",
                         refusal->param, (int)name.size, name.data, ENTRY_LIMIT_MOST);
    case A_SECRET:
        return error_set(err, ERROR_DENIED,
                         "this is a secret, and others may read here; --show-secrets allows it");
    case NO_COMPANION:
        return error_set(err, ERROR_NOT_FOUND,
                         "a file of a bare value has no companions; use those of its item");
    case OF_PLACEHOLDER:
        return names_refuse_companion(name, err);
    case OF_DIRECTORY:
    case OF_LISTING:
    case OF_RECORD:
        return names_describe_foreign(refusal, err);
    case NO_VALUE:
        return error_set(err, ERROR_INVALID,
                         "a value is missing before %s; a value with that text is typed %%40%s",
                         refusal->param, refusal->param + 1);
    case NO_COLUMN:
        return error_set(err, ERROR_INVALID,
                         "\"%.*s\" names no columns: write attributes with a comma between them, "
                         "as in @csv:status,created_at, and a comma in a name as %%2C",
                         (int)name.size, name.data);
    case TOO_MANY:
        return error_set(err, ERROR_INVALID, "a path has at most %d parameters", BINDINGS_MAX);
    }
    return false;
}

/* In the directory of a vector index. */
static bool names_refuse_vector(const struct map_vector *vector, struct error *err)
{
    return error_set(err, ERROR_NOT_FOUND,
                     "the vector index %s has no names: it answers only searches by a vector; use "
                     "ITEM@similar/ of an item of the table",
                     vector->name);
}

bool names_find(const struct names_directory *directory, struct span name, struct arena *arena,
                struct names_found *found, struct error *err)
{
    struct refusal refusal = {0};
    if (names_find_any(directory, name, arena, found, &refusal))
        return !arena->failed || error_no_memory(err);
    if (arena->failed)
        return error_no_memory(err);
    if (err && directory->route->vector)
        return names_refuse_vector(directory->route->vector, err);
    return err && names_describe_refusal(directory, name, &refusal, err);
}

/* Writing one. */

struct names_child {
    const struct names_directory *directory;
    const struct route *route;
};

static bool names_is_child(struct name_draft *draft, struct span name)
{
    const struct names_child *child = draft->of;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct names_found found;
    if (span_is(name, README_NAME) && !format_is_literal(draft->format))
        return false; /* no item has the name of a README, even without one */
    bool opens = names_find(child->directory, name, &arena, &found, NULL);
    draft->no_memory = arena.failed;
    return opens && found.kind == NAMES_CHILD && found.route == child->route &&
           found.companion == COMPANION_NONE && name_draft_has(draft, &found.values);
}

bool names_write(const struct names_directory *directory, const struct route *child,
                 const struct bindings *parts, uint64_t rank, struct buf *out, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf prefix = {0};
    bool fits = !child->entry || rank_write(&child->entry->rank, rank, &prefix);
    if (prefix.failed)
        return error_no_memory(err);
    if (!fits)
        return rank_refuse(&child->entry->rank, err);
    struct name_draft draft = {
        .prefix = buf_span(&prefix),
        .format = &child->segment,
        .path = directory->path,
        .parts = parts,
        .suffix = names_is_record(child) ? directory->options->suffix : "",
        .mark = child->file ? ESCAPE_MARK_FILE : ESCAPE_MARK_DIRECTORY,
        .limit = names_limit(directory->options),
        .leads_back = names_is_child,
        .of = &(struct names_child){directory, child},
    };
    return name_draft_write(&draft, out, err);
}

/* Adds a plain value for each parameter of SEGMENT. */
static void names_describe_all(const struct model *table, const struct format *segment,
                               struct bindings *values)
{
    for (size_t i = 0; i < segment->count; i++) {
        const char *param = segment->pieces[i].param;
        const struct format_piece *spelling = param ? model_spelling(table, param) : NULL;
        const char *plain = !spelling                           ? "v"
                            : spelling->pad                     ? "7"
                            : spelling->letters == FORMAT_UPPER ? "V"
                                                                : "v";
        if (param && !bindings_find(values, param))
            bindings_add(values, param, span_text(plain));
    }
}

/* If another name takes that of one plain item of a kind, it takes all of them. */
static bool names_suits_below(const struct names_directory *directory, struct error *err)
{
    const char *suffix = directory->options->suffix;
    for (const struct route *child = directory->route->children; child; child = child->next) {
        CLEAN_UP(buf_clean_up) struct buf name = {0}, segment = {0};
        struct bindings values = *directory->path;
        struct names_directory below = *directory;
        names_describe_all(directory->table, &child->segment, &values);
        below.route = child;
        below.path = &values;
        if (!names_is_record(child)) {
            if (!names_suits_below(&below, err))
                return false;
        } else if ((child->entry || format_is_literal(&child->segment)) &&
                   !names_write(directory, child, &values, 1, &name, err)) {
            if (err->kind == ERROR_NO_MEMORY)
                return false;
            route_write_segment(child, &segment);
            return error_set(err, ERROR_INVALID,
                             "--suffix %s does not go with the map: with it \"%s%s\" (line %u) is "
                             "the name of something else, too",
                             suffix, buf_text(&segment), suffix, child->line);
        }
    }
    return true;
}

bool names_suit(const struct map *map, const struct place_options *options, struct error *err)
{
    struct bindings nothing = {0};
    for (size_t i = 0; options->suffix[0] && i < map->model_count; i++) {
        const struct model *table = map->models[i];
        struct names_directory root = {table, table->root, &nothing, options, NULL, false};
        if (!names_suits_below(&root, err))
            return false;
    }
    return true;
}

static struct format_piece attribute_piece = {.param = "attribute"};
static const struct format attribute_format = {.pieces = &attribute_piece, .count = 1};

bool names_find_attribute(struct span name, struct buf *out, struct error *err)
{
    if (escape_decode(name, out))
        return !out->failed || error_no_memory(err);
    return error_set(err, ERROR_INVALID, "\"%.*s\" is not the name of an attribute", (int)name.size,
                     name.data);
}

bool names_find_columns(struct span columns, struct arena *arena, struct span **out, size_t *count,
                        struct error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < columns.size; i++)
        most += i == 0 || columns.data[i] == ',';
    *count = 0;
    *out = arena_array(arena, most + 1, sizeof **out);
    while (*out && *count < most) {
        CLEAN_UP(buf_clean_up) struct buf attribute = {0};
        const char *comma = columns.size ? memchr(columns.data, ',', columns.size) : NULL;
        struct span one = comma ? span_of(columns.data, (size_t)(comma - columns.data)) : columns;
        if (one.size == 0 || !escape_decode(one, &attribute) || attribute.size == 0)
            return attribute.failed
                       ? error_no_memory(err)
                       : error_set(err, ERROR_INVALID, "\"%.*s\" is not the name of an attribute",
                                   (int)one.size, one.data);
        (*out)[(*count)++] = arena_copy(arena, buf_span(&attribute));
        columns = span_from(columns, comma ? one.size + 1 : one.size);
    }
    return !arena->failed || error_no_memory(err);
}

static bool names_is_attribute(struct name_draft *draft, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf attribute = {0};
    bool opens = !names_is_probed(name) && names_find_attribute(name, &attribute, NULL);
    draft->no_memory = attribute.failed;
    return opens && span_equal(buf_span(&attribute), draft->parts->items[0].value);
}

bool names_write_attribute(struct span attribute, struct buf *out)
{
    struct bindings value = {.items = {{.param = attribute_piece.param, .value = attribute}},
                             .count = 1};
    struct name_draft draft = {
        .format = &attribute_format,
        .parts = &value,
        .suffix = "",
        .mark = ESCAPE_MARK_FILE,
        .limit = NAME_LIMIT,
        .leads_back = names_is_attribute,
    };
    return name_draft_write(&draft, out, NULL);
}

bool names_find_table(struct span name, struct buf *out, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0};
    bool is_name = escape_decode(name, &table);
    if (table.failed)
        return error_no_memory(err);
    if (!is_name || !table_name_is_valid(buf_span(&table)))
        return error_set(err, ERROR_NOT_FOUND,
                         "no table can have the name \"%.*s\": names have 3 to 255 letters, "
                         "digits, dots, hyphens and underscores",
                         (int)name.size, name.data);
    buf_add_span(out, buf_span(&table));
    return !out->failed || error_no_memory(err);
}

static struct format_piece table_piece = {.param = "table"};
static const struct format table_format = {.pieces = &table_piece, .count = 1};

static bool names_is_table(struct name_draft *draft, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf table = {0};
    struct error ignored = {0};
    bool opens = !names_is_probed(name) && names_find_table(name, &table, &ignored);
    draft->no_memory = !opens && ignored.kind == ERROR_NO_MEMORY;
    return opens && span_equal(buf_span(&table), draft->parts->items[0].value);
}

bool names_check_table(struct span name, struct error *err)
{
    char shown[120];
    if (table_name_is_valid(name))
        return true;
    printable_copy(shown, sizeof shown, name, "");
    return error_set(err, ERROR_BAD_ANSWER,
                     "the list of tables has \"%s\", which is omitted: no table can have that "
                     "name; check the proxies between this machine and the service",
                     shown);
}

bool names_write_table(struct span table, struct buf *out, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct bindings value = {.items = {{.param = table_piece.param, .value = table}}, .count = 1};
    struct name_draft draft = {
        .format = &table_format,
        .parts = &value,
        .suffix = "",
        .limit = SIZE_MAX,
        .leads_back = names_is_table,
    };
    if (!names_check_table(table, err) || !name_draft_write(&draft, &name, err))
        return false;
    if (name.size > NAME_MAX_BYTES)
        return error_set(err, ERROR_LONG_NAME,
                         "the table %.*s can't be listed: with its escapes, its name is too long "
                         "for a directory",
                         (int)table.size, table.data);
    buf_add_span(out, buf_span(&name));
    return !out->failed || error_no_memory(err);
}

/* Whether ENVIRONMENT takes NAME. */
static enum names_taken names_enter(const struct map_environment *environment, struct span name,
                                    bool opens_probed, struct arena *arena, struct bindings *values,
                                    struct refusal *refusal)
{
    struct bindings nothing = {0};
    if (names_is_probed_at(&environment->name, name) && !(opens_probed && names_can_open(name)))
        return NOT_ITS_FORM;
    return names_take_apart(&environment->name, name, &nothing, NULL, arena, values, refusal);
}

const struct map_environment *names_find_environment(const struct map *map, struct span name,
                                                     bool opens_probed, struct arena *arena,
                                                     struct bindings *values, struct error *err)
{
    struct refusal refusal = {0};
    const struct map_environment *each;
    for (int literal = 1; literal >= 0; literal--)
        for (each = map->environments; each; each = each->next)
            if (format_is_literal(&each->name) == literal &&
                names_enter(each, name, opens_probed, arena, values, &refusal) == TAKEN)
                return each;
    if (refusal.kind != REFUSED_NOT) {
        error_set(err, ERROR_INVALID, "\"%.*s\" is not the name of an environment", (int)name.size,
                  name.data);
        return NULL;
    }
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    struct nearest nearest = nearest_to(name);
    for (each = map->environments; each; each = each->next) {
        buf_add_text(&names, each == map->environments ? "" : ", ");
        format_write(&each->name, &names);
        if (format_is_literal(&each->name))
            nearest_offer(&nearest, each->name.pieces[0].literal);
    }
    nearest_write(&nearest, &hint);
    error_set(err, ERROR_NOT_FOUND, "the map has no environment \"%.*s\"%s; it has %s",
              (int)name.size, name.data, buf_text(&hint), buf_text(&names));
    return NULL;
}

static bool names_is_environment(struct name_draft *draft, struct span name)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct bindings values;
    struct refusal refusal = {0};
    enum names_taken taken = names_enter(draft->of, name, false, &arena, &values, &refusal);
    draft->no_memory = arena.failed;
    return taken == TAKEN && name_draft_has(draft, &values);
}

bool names_write_environment(const struct map_environment *environment,
                             const struct bindings *values, struct buf *out)
{
    struct name_draft draft = {
        .format = &environment->name,
        .parts = values,
        .suffix = "",
        .mark = ESCAPE_MARK_DIRECTORY,
        .limit = NAME_LIMIT,
        .leads_back = names_is_environment,
        .of = environment,
    };
    return name_draft_write(&draft, out, NULL);
}
