#include "core/plan/sample.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/item/item.h"
#include "core/item/when.h"
#include "core/map/condition.h"
#include "core/plan/sieve.h"

/* One path of the table: how many records it could show, and what of them it needs. */
struct shown {
    const struct map_pattern *pattern;
    unsigned records; /* of its kinds; of those that its filter lets through, if that is known */
    unsigned with_attribute;
    unsigned with_date;
};

/* A filter's attribute: how many records of the path's kinds have it, filtered or not. */
struct looked_at {
    const struct map_pattern *pattern;
    const char *attribute;
    unsigned records;
    unsigned with_attribute;
};

enum { MOST_LOOKED_AT = 64 };

struct sample {
    const struct model *table;
    check_finding_fn *fn;
    void *arg;
    unsigned records;
    struct shown *shown; /* owned; beside the table's patterns */
    size_t shown_count;
    struct looked_at looked_at[MOST_LOOKED_AT];
    size_t looked_at_count;
    bool *kind_seen; /* owned; beside the table's kinds */
    size_t kind_count;
    unsigned *with_secret; /* owned; beside the table's secrets */
    struct buf told;       /* "LINE: TEXT" of each finding, so that none comes twice */
};

static void tell(struct sample *sample, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(struct sample *sample, unsigned line, const char *format, ...)
{
    char text[1024];
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_printf(&whole, "\n%u: %s\n", line, text);
    if (strstr(buf_text(&sample->told), buf_text(&whole)))
        return;
    buf_add_span(&sample->told, buf_span(&whole));
    sample->fn(sample->arg, line, text);
}

/* Only what an item must have to get through a filter tells something: a filter that wants an
 * attribute to be missing is content when all lack it. */
static bool note_attribute(void *arg, const char *attribute)
{
    struct sample *sample = arg;
    struct looked_at *last = &sample->looked_at[sample->looked_at_count];
    if (sample->looked_at_count == MOST_LOOKED_AT - 1)
        return false;
    last[1].pattern = last->pattern; /* another attribute of the same filter may follow */
    last->attribute = attribute;
    sample->looked_at_count++;
    return true;
}

static void note_filters(struct sample *sample, const struct map_pattern *pattern)
{
    for (size_t i = 0; i < pattern->filter_count; i++) {
        const struct map_cond *cond = &pattern->filter[i];
        if (cond->op == COND_MISSING || cond->op == COND_NE || cond->op == COND_NOT ||
            cond->op == COND_OR || cond->op == COND_AND)
            continue;
        sample->looked_at[sample->looked_at_count].pattern = pattern;
        condition_each_attribute(cond, note_attribute, sample);
    }
}

struct sample *sample_new(const struct model *table, check_finding_fn *fn, void *arg)
{
    struct sample *sample = calloc(1, sizeof *sample);
    if (!sample)
        return NULL;
    *sample = (struct sample){.table = table, .fn = fn, .arg = arg};
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next)
        sample->kind_count++;
    for (const struct map_pattern *each = table->patterns; each; each = each->next)
        sample->shown_count++;
    sample->kind_seen = calloc(sample->kind_count + 1, sizeof *sample->kind_seen);
    sample->shown = calloc(sample->shown_count + 1, sizeof *sample->shown);
    sample->with_secret = calloc(table->secret_count + 1, sizeof *sample->with_secret);
    if (!sample->kind_seen || !sample->shown || !sample->with_secret) {
        sample_destroy(sample);
        return NULL;
    }
    size_t i = 0;
    for (const struct map_pattern *each = table->patterns; each; each = each->next) {
        sample->shown[i++].pattern = each;
        note_filters(sample, each);
    }
    return sample;
}

void sample_destroy(struct sample *sample)
{
    if (!sample)
        return;
    free(sample->kind_seen);
    free(sample->shown);
    free(sample->with_secret);
    buf_clean_up(&sample->told);
    free(sample);
}

static bool has(struct json item, const char *attribute)
{
    return json_present(item_attribute(item, span_text(attribute)));
}

static size_t number_of(const struct sample *sample, const struct map_kind *kind)
{
    size_t number = 0;
    for (const struct map_kind *each = sample->table->kinds; each != kind; each = each->next)
        number++;
    return number;
}

/* How records of KIND write the attribute of an index; NULL when the map does not say. */
static const struct format *index_format(const struct map_key *key, const struct map_kind *kind)
{
    for (size_t i = 0; i < key->by_kind_count; i++)
        if (key->by_kind[i].kind == kind)
            return &key->by_kind[i].format;
    return key->format.count > 0 ? &key->format : NULL;
}

/* With what the map says of parameters that can have no other values. */
static void compare_values(struct sample *sample, const struct bindings *parts, const char *whose)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct binding *part = &parts->items[i];
        const struct map_param *param = model_find_param(sample->table, part->param);
        if (param && !model_param_has(param, part->value))
            tell(
                sample, param->line,
                "{%s} of %s is \"%.*s\", which is none of its \"values\": add it, or take \"only\" "
                "away",
                part->param, whose, (int)(part->value.size < 80 ? part->value.size : 80),
                part->value.data);
    }
}

static bool compare_index_key(struct sample *sample, const struct map_index *index,
                              const struct map_key *key, const struct map_kind *kind,
                              const struct bindings *parts, const char *whose, struct json item)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0}, wanted = {0};
    struct value value;
    struct json typed = item_attribute(item, span_text(key->attribute));
    const struct format *format = index_format(key, kind);
    if (!json_present(typed))
        return true; /* it is not in the index */
    if (!value_read(typed, &bytes, &value) || value.type != key->type) {
        tell(sample, index->line, "%s of %s is not of type %s, so index %s does not hold it",
             key->attribute, whose, value_type_name(key->type), index->name);
        return !bytes.failed;
    }
    if (!format || model_is_key(sample->table, key->attribute))
        return true; /* the map says no more than what it is called, or the kind has been compared
                      */
    struct bindings captures = *parts, whole = {0};
    const char *param = format_whole_param(format);
    if (param && bindings_add(&whole, param, value.bytes))
        compare_values(sample, &whole, whose);
    if (param)
        return true;
    bool fits = format_match_key(format, value.bytes, sample->table->separator, &captures) &&
                bindings_agree(&captures, &captures);
    if (fits)
        compare_values(sample, &captures, whose);
    if (fits)
        return true;
    format_write(format, &wanted);
    tell(sample, index->line, "%s of %s is \"%.*s\", which does not fit \"%s\" of index %s",
         key->attribute, whose, (int)(value.bytes.size < 80 ? value.bytes.size : 80),
         value.bytes.data, buf_text(&wanted), index->name);
    return !wanted.failed;
}

static bool compare_indexes(struct sample *sample, const struct map_kind *kind,
                            const struct bindings *parts, const char *whose, struct json item)
{
    bool ok = true;
    for (const struct map_index *index = sample->table->indexes; index; index = index->next) {
        for (size_t i = 0; i < index->partition_count; i++)
            ok = ok &&
                 compare_index_key(sample, index, &index->partition[i], kind, parts, whose, item);
        for (size_t i = 0; i < index->sort_count; i++)
            ok = ok && compare_index_key(sample, index, &index->sort[i], kind, parts, whose, item);
    }
    return ok;
}

static bool shows(const struct map_pattern *pattern, const struct map_kind *kind)
{
    for (size_t i = 0; i < pattern->kind_count; i++)
        if (pattern->kinds[i] == kind || pattern->kinds[i] == pattern->table->any)
            return true;
    return false;
}

static bool refuse_param(void *arg, const struct map_cond *cond, const char *param)
{
    (void)arg;
    (void)cond;
    (void)param;
    return false;
}

/* Whether the pattern's filter lets ITEM through, as far as it says so without a path's values. */
static bool gets_through(const struct map_pattern *pattern, struct json item, bool *failed)
{
    static const struct bindings nothing;
    bool through = true;
    struct arena arena = {0};
    for (size_t i = 0; i < pattern->filter_count && through; i++) {
        struct cond cond;
        if (condition_each_param(&pattern->filter[i], refuse_param, NULL) &&
            condition_expand(&pattern->filter[i], &nothing, &arena, &cond, NULL))
            through = cond_holds(&cond, item, failed);
    }
    *failed = *failed || arena.failed;
    arena_clean_up(&arena);
    return through;
}

static void compare_shown(struct sample *sample, struct shown *shown, const char *whose,
                          struct json item)
{
    const struct map_pattern *pattern = shown->pattern;
    shown->records++;
    if (pattern->attribute)
        shown->with_attribute += has(item, pattern->attribute);
    if (pattern->pick != PICK_NONE && !has(item, pattern->pick_attribute))
        tell(sample, pattern->line, "%s has no %s, by which \"%s\" picks", whose,
             pattern->pick_attribute, pattern->path);
    if (!pattern->mtime || !has(item, pattern->mtime))
        return;
    shown->with_date++;
    bool own = !sample->table->mtime || strcmp(pattern->mtime, sample->table->mtime) != 0;
    if (!when_read(item_attribute(item, span_text(pattern->mtime))).known)
        tell(sample, own ? pattern->line : sample->table->line,
             "%s of %s is no date, but \"mtime\" says it is", pattern->mtime, whose);
}

/* With what each path says that can show a record of KIND. */
static bool compare_paths(struct sample *sample, const struct map_kind *kind, const char *whose,
                          struct json item)
{
    bool failed = false;
    for (size_t i = 0; i < sample->looked_at_count; i++) {
        struct looked_at *each = &sample->looked_at[i];
        bool counts = shows(each->pattern, kind);
        each->records += counts;
        each->with_attribute += counts && has(item, each->attribute);
    }
    for (size_t i = 0; i < sample->shown_count; i++)
        if (shows(sample->shown[i].pattern, kind) &&
            gets_through(sample->shown[i].pattern, item, &failed))
            compare_shown(sample, &sample->shown[i], whose, item);
    return !failed;
}

bool sample_add(struct sample *sample, const struct plan *plan, struct json item)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf whose = {0};
    const struct model *table = sample->table;
    struct bindings parts = {0};
    struct key key;
    sample->records++;
    if (!sieve_key(table, item, &arena, &key)) {
        struct error why = {0};
        sieve_complain(plan, item, &why);
        tell(sample, table->kinds->line, "%s", why.text);
        return !arena.failed;
    }
    key_write_words(&key, &whose);
    for (size_t i = 0; i < table->secret_count; i++)
        sample->with_secret[i] += has(item, table->secrets[i]);
    const struct map_kind *kind = sieve_kind(table, &key, &parts);
    if (kind)
        sample->kind_seen[number_of(sample, kind)] = true;
    else if (!shows(plan->pattern, table->any))
        tell(sample, table->kinds->line, "the record with %s fits none of the map's \"records\"",
             buf_text(&whose));
    if (kind)
        compare_values(sample, &parts, buf_text(&whose));
    if (kind && !compare_indexes(sample, kind, &parts, buf_text(&whose), item))
        return false;
    return compare_paths(sample, kind ? kind : table->any, buf_text(&whose), item) &&
           !whose.failed && !arena.failed;
}

static const char *records_word(unsigned count)
{
    return count == 1 ? "the one record" : "any of the records";
}

static void end_shown(struct sample *sample, const struct shown *shown)
{
    const struct map_pattern *pattern = shown->pattern;
    if (shown->records == 0)
        return;
    if (pattern->attribute && shown->with_attribute == 0)
        tell(sample, pattern->line, "\"%s\" shows %s, which is not in %s that it could show",
             pattern->path, pattern->attribute, records_word(shown->records));
    bool own = !sample->table->mtime || !pattern->mtime ||
               strcmp(pattern->mtime, sample->table->mtime) != 0;
    if (pattern->mtime && own && shown->with_date == 0)
        tell(sample, pattern->line, "\"%s\" is dated by %s, which is not in %s that it could show",
             pattern->path, pattern->mtime, records_word(shown->records));
}

void sample_end(struct sample *sample)
{
    unsigned dated = 0;
    bool all_kinds = true;
    for (size_t i = 0; i < sample->kind_count; i++)
        all_kinds = all_kinds && sample->kind_seen[i];
    for (size_t i = 0; i < sample->shown_count; i++) {
        end_shown(sample, &sample->shown[i]);
        dated += sample->shown[i].with_date;
    }
    for (size_t i = 0; i < sample->looked_at_count; i++) {
        const struct looked_at *each = &sample->looked_at[i];
        if (each->records > 0 && each->with_attribute == 0)
            tell(sample, each->pattern->line,
                 "the filter of \"%s\" looks at %s, which is not in %s that it could let through",
                 each->pattern->path, each->attribute, records_word(each->records));
    }
    if (!all_kinds)
        return; /* what is in none of these may be in another kind */
    if (sample->table->mtime && dated == 0)
        tell(sample, sample->table->line, "\"mtime\" is %s, which is not in %s that were read",
             sample->table->mtime, records_word(sample->records));
    for (size_t i = 0; i < sample->table->secret_count; i++)
        if (sample->with_secret[i] == 0)
            tell(sample, sample->table->line,
                 "%s is called a secret, and is not in %s that were read",
                 sample->table->secrets[i], records_word(sample->records));
}
