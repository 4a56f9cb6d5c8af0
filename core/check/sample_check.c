#include "core/check/sample_check.h"

#include <stdlib.h>

#include "core/check/sample_state.h"
#include "core/check/unmasked.h"
#include "core/item/item.h"
#include "core/item/when.h"
#include "core/map/condition_template.h"
#include "core/plan/item_match.h"

/* Only what an item must have to get through a filter tells something: a filter that wants an
 * attribute to be missing is content when all lack it. */
static bool sample_check_note_attribute(void *arg, const char *attribute)
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

static void sample_check_note_filters(struct sample *sample, const struct map_pattern *pattern)
{
    for (size_t i = 0; i < pattern->filter_count; i++) {
        const struct map_cond *cond = &pattern->filter[i];
        if (cond->op == COND_MISSING || cond->op == COND_NE || cond->op == COND_NOT ||
            cond->op == COND_OR || cond->op == COND_AND)
            continue;
        sample->looked_at[sample->looked_at_count].pattern = pattern;
        condition_each_attribute(cond, sample_check_note_attribute, sample);
    }
}

/* Whether the keys of KIND are any keys, so that no item proves or contradicts them. */
static bool sample_check_is_any_key(const struct model *table, const struct map_kind *kind)
{
    for (size_t i = 0; i < table->key_count; i++)
        if (!format_whole_param(&kind->keys[i]))
            return false;
    return table->kinds->next;
}

static void sample_check_list_parts(struct sample *sample)
{
    const struct model *table = sample->table;
    size_t i = 0;
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next)
        sample->kinds[sample->kind_count++] =
            (struct kind_seen){.kind = kind, .any_key = sample_check_is_any_key(table, kind)};
    for (const struct map_pattern *each = table->patterns; each; each = each->next) {
        sample->shown[i++].pattern = each;
        sample_check_note_filters(sample, each);
    }
}

struct sample *sample_new(const struct model *table)
{
    struct sample *sample = calloc(1, sizeof *sample);
    size_t kinds = 1, indexes = 1;
    if (!sample)
        return NULL;
    sample->table = table;
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next)
        kinds++;
    for (const struct map_index *index = table->indexes; index; index = index->next)
        indexes++;
    for (const struct map_pattern *each = table->patterns; each; each = each->next)
        sample->shown_count++;
    sample->kinds = calloc(kinds, sizeof *sample->kinds);
    sample->in_index = calloc(indexes, sizeof *sample->in_index);
    sample->shown = calloc(sample->shown_count + 1, sizeof *sample->shown);
    sample->with_secret = calloc(table->secret_count + 1, sizeof *sample->with_secret);
    if (!dict_init(&sample->seen) || !sample->kinds || !sample->in_index || !sample->shown ||
        !sample->with_secret) {
        sample_destroy(sample);
        return NULL;
    }
    sample_check_list_parts(sample);
    return sample;
}

void sample_destroy(struct sample *sample)
{
    if (!sample)
        return;
    free(sample->kinds);
    free(sample->in_index);
    free(sample->shown);
    free(sample->with_secret);
    dict_clean_up(&sample->seen);
    arena_clean_up(&sample->keys);
    mistakes_clean_up(&sample->mistakes);
    mistakes_clean_up(&sample->warnings);
    free(sample);
}

static bool sample_check_has(struct json item, const char *attribute)
{
    return json_present(item_attribute(item, span_text(attribute)));
}

/* How records of KIND write the attribute of an index; NULL when the map does not say. */
static const struct format *sample_check_index_format(const struct map_key *key,
                                                      const struct map_kind *kind)
{
    for (size_t i = 0; i < key->by_kind_count; i++)
        if (key->by_kind[i].kind == kind)
            return &key->by_kind[i].format;
    return key->format.count > 0 ? &key->format : NULL;
}

/* With what the map says of parameters that can have no other values. */
static void sample_check_compare_values(struct sample *sample, const struct bindings *parts,
                                        const char *whose)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct binding *part = &parts->items[i];
        const struct map_param *param = model_find_param(sample->table, part->param);
        if (param && !model_param_has(param, part->value))
            mistakes_add(
                &sample->mistakes, param->line, part->param,
                "{%s} of %s is \"%.*s\", which is none of its \"values\": add it, or take \"only\" "
                "away",
                part->param, whose, (int)(part->value.size < 80 ? part->value.size : 80),
                part->value.data);
    }
}

static bool sample_check_compare_index_key(struct sample *sample, const struct map_index *index,
                                           const struct map_key *key, const struct map_kind *kind,
                                           const struct bindings *parts, const char *whose,
                                           struct json item)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0}, wanted = {0}, subject = {0};
    struct value value;
    struct json typed = item_attribute(item, span_text(key->attribute));
    const struct format *format = sample_check_index_format(key, kind);
    if (!json_present(typed))
        return true; /* it is not in the index */
    if (!value_read(typed, &bytes, &value) || value.type != key->type) {
        mistakes_add(&sample->mistakes, index->line, key->attribute,
                     "%s of %s is not of type %s, so index %s does not hold it", key->attribute,
                     whose, value_type_name(key->type), index->name);
        return !bytes.failed;
    }
    if (!format || model_is_key(sample->table, key->attribute))
        return true; /* the map says no more than what it is called, or the kind has been compared
                      */
    struct bindings captures = *parts, whole = {0};
    const char *param = format_whole_param(format);
    if (param && bindings_add(&whole, param, value.bytes))
        sample_check_compare_values(sample, &whole, whose);
    if (param)
        return true;
    bool fits = format_match_key(format, value.bytes, sample->table->separator, &captures) &&
                bindings_agree(&captures, &captures);
    if (fits)
        sample_check_compare_values(sample, &captures, whose);
    if (fits)
        return true;
    format_write(format, &wanted);
    buf_printf(&subject, "%s of %s", key->attribute, kind->name);
    mistakes_add(&sample->mistakes, index->line, buf_text(&subject),
                 "%s of %s is \"%.*s\", which does not fit \"%s\" of index %s", key->attribute,
                 whose, (int)(value.bytes.size < 80 ? value.bytes.size : 80), value.bytes.data,
                 buf_text(&wanted), index->name);
    return !wanted.failed && !subject.failed;
}

static bool sample_check_is_in_index(const struct map_index *index, struct json item)
{
    bool in = true;
    for (size_t i = 0; i < index->partition_count; i++)
        in = in && sample_check_has(item, index->partition[i].attribute);
    for (size_t i = 0; i < index->sort_count; i++)
        in = in && sample_check_has(item, index->sort[i].attribute);
    return in;
}

static bool sample_check_compare_indexes(struct sample *sample, const struct map_kind *kind,
                                         const struct bindings *parts, const char *whose,
                                         struct json item)
{
    bool ok = true;
    size_t number = 0;
    for (const struct map_index *index = sample->table->indexes; index; index = index->next) {
        sample->in_index[number++] += sample_check_is_in_index(index, item);
        for (size_t i = 0; i < index->partition_count; i++)
            ok = ok && sample_check_compare_index_key(sample, index, &index->partition[i], kind,
                                                      parts, whose, item);
        for (size_t i = 0; i < index->sort_count; i++)
            ok = ok && sample_check_compare_index_key(sample, index, &index->sort[i], kind, parts,
                                                      whose, item);
    }
    return ok;
}

static bool sample_check_shows(const struct map_pattern *pattern, const struct map_kind *kind)
{
    for (size_t i = 0; i < pattern->kind_count; i++)
        if (pattern->kinds[i] == kind || pattern->kinds[i] == pattern->table->any)
            return true;
    return false;
}

static bool sample_check_refuse_param(void *arg, const struct map_cond *cond, const char *param)
{
    (void)arg;
    (void)cond;
    (void)param;
    return false;
}

/* Whether the pattern's filter lets ITEM through, as far as it says so without a path's values. */
static bool sample_check_gets_through(const struct map_pattern *pattern, struct json item,
                                      bool *failed)
{
    static const struct bindings nothing;
    bool through = true;
    struct arena arena = {0};
    for (size_t i = 0; i < pattern->filter_count && through; i++) {
        struct cond cond;
        if (condition_each_param(&pattern->filter[i], sample_check_refuse_param, NULL) &&
            condition_expand(&pattern->filter[i], &nothing, &arena, &cond, NULL))
            through = cond_holds(&cond, item, failed);
    }
    *failed = *failed || arena.failed;
    arena_clean_up(&arena);
    return through;
}

static void sample_check_compare_shown(struct sample *sample, struct shown *shown,
                                       const char *whose, struct json item)
{
    const struct map_pattern *pattern = shown->pattern;
    shown->records++;
    if (pattern->attribute)
        shown->with_attribute += sample_check_has(item, pattern->attribute);
    if (pattern->pick != PICK_NONE && !sample_check_has(item, pattern->pick_attribute))
        mistakes_add(&sample->mistakes, pattern->line, pattern->pick_attribute,
                     "%s has no %s, by which \"%s\" picks", whose, pattern->pick_attribute,
                     pattern->path);
    if (!pattern->mtime || !sample_check_has(item, pattern->mtime))
        return;
    shown->with_date++;
    bool own = !sample->table->mtime || strcmp(pattern->mtime, sample->table->mtime) != 0;
    if (!when_read(item_attribute(item, span_text(pattern->mtime))).known)
        mistakes_add(&sample->mistakes, own ? pattern->line : sample->table->line, pattern->mtime,
                     "%s of %s is no date, but \"mtime\" says it is", pattern->mtime, whose);
}

/* With what each path says that can show a record of KIND. */
static bool sample_check_compare_paths(struct sample *sample, const struct map_kind *kind,
                                       const char *whose, struct json item)
{
    bool failed = false;
    for (size_t i = 0; i < sample->looked_at_count; i++) {
        struct looked_at *each = &sample->looked_at[i];
        bool counts = sample_check_shows(each->pattern, kind);
        each->records += counts;
        each->with_attribute += counts && sample_check_has(item, each->attribute);
    }
    for (size_t i = 0; i < sample->shown_count; i++) {
        struct shown *shown = &sample->shown[i];
        if (!sample_check_shows(shown->pattern, kind))
            continue;
        shown->of_kinds++;
        if (sample_check_gets_through(shown->pattern, item, &failed))
            sample_check_compare_shown(sample, shown, whose, item);
    }
    return !failed;
}

/* What the keys of a kind that the map does not declare begin with: each beginning is one mistake.
 */
static void sample_check_write_beginnings(const struct model *table, const struct key *key,
                                          struct buf *out)
{
    for (size_t i = 0; i < key->count; i++) {
        struct span text = key->attributes[i].value.bytes;
        const char *end = text.size ? memchr(text.data, table->separator, text.size) : NULL;
        buf_add_span(out, span_of(text.data, end ? (size_t)(end - text.data) + 1 : 0));
    }
}

/* An item of KIND (NULL: of none that the map declares). */
static bool sample_check_compare_kind(struct sample *sample, const struct plan *plan,
                                      const struct key *key, const struct map_kind *kind,
                                      const struct bindings *parts, const char *whose)
{
    CLEAN_UP(buf_clean_up) struct buf subject = {0};
    if (kind) {
        for (size_t i = 0; i < sample->kind_count; i++)
            sample->kinds[i].items += sample->kinds[i].kind == kind;
        sample_check_compare_values(sample, parts, whose);
    } else if (!sample_check_shows(plan->pattern, sample->table->any)) {
        sample_check_write_beginnings(sample->table, key, &subject);
        mistakes_add(&sample->mistakes, sample->table->kinds->line, buf_text(&subject),
                     "the record with %s fits none of the map's \"records\"", whose);
    }
    return !subject.failed;
}

static bool sample_check_remember(struct sample *sample, const struct buf *whose)
{
    struct dict_node *node = arena_alloc(&sample->keys, sizeof *node);
    if (!node)
        return false;
    node->key = arena_copy(&sample->keys, buf_span(whose));
    if (!sample->keys.failed)
        dict_add(&sample->seen, node);
    return !sample->keys.failed;
}

static bool sample_check_compare_item(struct sample *sample, const struct plan *plan,
                                      const struct key *key, const struct map_kind *kind,
                                      const struct bindings *parts, const char *whose,
                                      struct json item)
{
    const struct model *table = sample->table;
    sample->records++;
    for (size_t i = 0; i < table->secret_count; i++)
        sample->with_secret[i] += sample_check_has(item, table->secrets[i]);
    if (!sample_check_compare_kind(sample, plan, key, kind, parts, whose) ||
        !unmasked_find(table, whose, item, &sample->warnings))
        return false;
    if (kind && !sample_check_compare_indexes(sample, kind, parts, whose, item))
        return false;
    return sample_check_compare_paths(sample, kind ? kind : table->any, whose, item);
}

bool sample_add(struct sample *sample, const struct plan *plan, struct json item)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf whose = {0};
    struct bindings parts = {0};
    struct key key;
    sample->mistakes.item = ++sample->warnings.item;
    if (!item_match_key(sample->table, item, &arena, &key)) {
        struct error why = {0};
        sample->records++;
        item_match_report(plan, item, &why);
        mistakes_add(&sample->mistakes, sample->table->kinds->line, "key", "%s", why.text);
        return !arena.failed;
    }
    key_write_words(&key, &whose);
    if (whose.failed || arena.failed)
        return false;
    const struct map_kind *kind = item_match_kind(sample->table, &key, &parts);
    bool may_be_any = !kind && sample_check_shows(plan->pattern, sample->table->any);
    if (!may_be_any && dict_find(&sample->seen, buf_span(&whose)))
        return true;
    if (!may_be_any && !sample_check_remember(sample, &whose))
        return false;
    return sample_check_compare_item(sample, plan, &key, kind, &parts, buf_text(&whose), item);
}

/* Whether PLAN can return an item of KIND. One that reads a key returns an item of the kind that
 * has it. */
static bool sample_check_returns(const struct plan *plan, const struct map_kind *kind)
{
    struct bindings parts = {0};
    if (plan->kind == PLAN_KEY)
        return item_match_kind(plan->table, &plan->key, &parts) == kind;
    return sample_check_shows(plan->pattern, kind);
}

void sample_want(struct sample *sample, const struct plan *plan)
{
    for (size_t i = 0; i < sample->kind_count; i++) {
        struct kind_seen *seen = &sample->kinds[i];
        bool may_come = !plan || sample_check_returns(plan, seen->kind);
        seen->wanted = seen->wanted || (may_come && !seen->any_key);
    }
}
