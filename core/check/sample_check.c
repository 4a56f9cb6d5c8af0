#include "core/check/sample_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/dict.h"
#include "core/item/item.h"
#include "core/item/secret_clues.h"
#include "core/item/typed.h"
#include "core/map/condition_template.h"
#include "core/plan/item_match.h"

/* QUOTED: bytes of a value in a message. */
enum { MOST_FILTERED = 64, QUOTED = 80 };

/* A mistake in the map, with the first item that shows it and the number of items. */
struct mistake {
    enum sample_verdict verdict;
    unsigned line;
    const char *subject;
    const char *text; /* of the first item */
    size_t items, last_item;
    struct mistake *next;
};

/* One path of the table, with the number of items that it could show. */
struct sampled_path {
    const struct map_pattern *pattern;
    unsigned of_kinds; /* items of its kinds */
    unsigned items;    /* of these, those that pass its filter, as far as that is known */
    unsigned with_attribute;
    unsigned with_date;
};

struct sampled_kind {
    const struct map_kind *kind;
    bool any_key; /* its keys may be any, so that no item proves them */
    bool expected;
    size_t items;
};

/* An attribute of a path's filter, with the number of items of the path's kinds. */
struct filtered_attribute {
    const struct map_pattern *pattern;
    const char *attribute;
    unsigned items;
    unsigned with_attribute;
};

struct sample_check {
    const struct model *table;
    unsigned items;             /* with different keys */
    struct dict seen;           /* their keys */
    struct sampled_path *paths; /* owned; beside the table's patterns */
    size_t path_count;
    struct filtered_attribute filtered[MOST_FILTERED];
    size_t filtered_count;
    struct sampled_kind *kinds; /* owned; beside the table's kinds */
    size_t kind_count;
    unsigned *in_index;               /* owned; beside the table's indexes: items with its keys */
    unsigned *with_secret;            /* owned; beside the table's secrets */
    size_t item;                      /* the number of the item that is compared */
    struct arena arena;               /* owned: the nodes of SEEN, and the mistakes */
    struct mistake *mistakes, **last; /* in the order of finding */
};

/* Counts an item that shows the mistake SUBJECT at LINE of the map. The text is that of the first
 * item. */
static void sample_check_add_mistake(struct sample_check *sample, enum sample_verdict verdict,
                                     unsigned line, const char *subject, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void sample_check_add_mistake(struct sample_check *sample, enum sample_verdict verdict,
                                     unsigned line, const char *subject, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct mistake *each = sample->mistakes;
    while (each &&
           (each->verdict != verdict || each->line != line || strcmp(each->subject, subject) != 0))
        each = each->next;
    if (each) {
        each->items += each->last_item != sample->item;
        each->last_item = sample->item;
        return;
    }
    each = arena_alloc(&sample->arena, sizeof *each);
    if (!each)
        return;
    *each = (struct mistake){.verdict = verdict,
                             .line = line,
                             .subject = arena_text(&sample->arena, span_text(subject)),
                             .text = arena_text(&sample->arena, span_text(text)),
                             .items = 1,
                             .last_item = sample->item};
    if (sample->arena.failed)
        return;
    *sample->last = each;
    sample->last = &each->next;
}

static bool sample_check_note_attribute(void *arg, const char *attribute)
{
    struct sample_check *sample = arg;
    struct filtered_attribute *last = &sample->filtered[sample->filtered_count];
    if (sample->filtered_count == MOST_FILTERED - 1)
        return false;
    last[1].pattern = last->pattern; /* another attribute of the same filter may follow */
    last->attribute = attribute;
    sample->filtered_count++;
    return true;
}

/* Lists the table's kinds and paths, and the attributes that an item must have to pass a filter. A
 * filter for a missing attribute also passes items that can't have it. */
static void sample_check_list_parts(struct sample_check *sample)
{
    const struct model *table = sample->table;
    size_t number = 0;
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next) {
        bool any = table->kinds->next;
        for (size_t i = 0; i < table->key_count; i++)
            any = any && format_whole_param(&kind->keys[i]);
        sample->kinds[sample->kind_count++] = (struct sampled_kind){.kind = kind, .any_key = any};
    }
    for (const struct map_pattern *each = table->patterns; each; each = each->next) {
        sample->paths[number++].pattern = each;
        for (size_t i = 0; i < each->filter_count; i++) {
            const struct map_cond *cond = &each->filter[i];
            if (cond->op == COND_MISSING || cond->op == COND_NE || cond->op == COND_NOT ||
                cond->op == COND_OR || cond->op == COND_AND)
                continue;
            sample->filtered[sample->filtered_count].pattern = each;
            condition_each_attribute(cond, sample_check_note_attribute, sample);
        }
    }
}

struct sample_check *sample_check_new(const struct model *table)
{
    struct sample_check *sample = calloc(1, sizeof *sample);
    size_t kinds = 1, indexes = 1;
    if (!sample)
        return NULL;
    sample->table = table;
    sample->last = &sample->mistakes;
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next)
        kinds++;
    for (const struct map_index *index = table->indexes; index; index = index->next)
        indexes++;
    for (const struct map_pattern *each = table->patterns; each; each = each->next)
        sample->path_count++;
    sample->kinds = calloc(kinds, sizeof *sample->kinds);
    sample->in_index = calloc(indexes, sizeof *sample->in_index);
    sample->paths = calloc(sample->path_count + 1, sizeof *sample->paths);
    sample->with_secret = calloc(table->secret_count + 1, sizeof *sample->with_secret);
    if (!dict_init(&sample->seen) || !sample->kinds || !sample->in_index || !sample->paths ||
        !sample->with_secret) {
        sample_check_destroy(sample);
        return NULL;
    }
    sample_check_list_parts(sample);
    return sample;
}

void sample_check_destroy(struct sample_check *sample)
{
    if (!sample)
        return;
    free(sample->kinds);
    free(sample->in_index);
    free(sample->paths);
    free(sample->with_secret);
    dict_clean_up(&sample->seen);
    arena_clean_up(&sample->arena);
    free(sample);
}

/* An item and the map. */

/* An item while it is compared. */
struct checked_item {
    struct sample_check *sample;
    struct json item;
    const char *whose; /* its key, in words */
    struct bindings parts;
};

static bool sample_check_has(struct json item, const char *attribute)
{
    return json_present(item_attribute(item, span_text(attribute)));
}

/* Compares parts with the values of parameters that can have no others. */
static void sample_check_compare_values(const struct checked_item *checked,
                                        const struct bindings *parts)
{
    struct sample_check *sample = checked->sample;
    for (size_t i = 0; i < parts->count; i++) {
        const struct binding *part = &parts->items[i];
        const struct map_param *param = model_find_param(sample->table, part->param);
        if (param && !model_param_has(param, part->value))
            sample_check_add_mistake(
                sample, SAMPLE_MISTAKE, param->line, part->param,
                "{%s} of %s is \"%.*s\", which is not one of its \"values\"; add it, or remove "
                "\"only\"",
                part->param, checked->whose,
                (int)(part->value.size < QUOTED ? part->value.size : QUOTED), part->value.data);
    }
}

/* Compares one key attribute of an index with its type and with KIND's format of it. False when
 * memory ran out. */
static bool sample_check_compare_index_key(const struct checked_item *checked,
                                           const struct map_index *index, const struct map_key *key,
                                           const struct map_kind *kind)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0}, wanted = {0}, subject = {0};
    struct sample_check *sample = checked->sample;
    struct value value;
    struct json typed = item_attribute(checked->item, span_text(key->attribute));
    const struct format *format = key->format.count > 0 ? &key->format : NULL;
    if (!json_present(typed))
        return true; /* the item is not in the index */
    if (!value_read(typed, &bytes, &value) || value.type != key->type) {
        sample_check_add_mistake(sample, SAMPLE_MISTAKE, index->line, key->attribute,
                                 "%s of %s is not of type %s, so index %s does not hold the item",
                                 key->attribute, checked->whose, value_type_name(key->type),
                                 index->name);
        return !bytes.failed;
    }
    for (size_t i = 0; i < key->by_kind_count; i++)
        if (key->by_kind[i].kind == kind)
            format = &key->by_kind[i].format;
    if (!format || model_is_key(sample->table, key->attribute))
        return true; /* without a format, or compared as a key of the kind */
    struct bindings captures = checked->parts, whole = {0};
    const char *param = format_whole_param(format);
    if (param) {
        if (bindings_add(&whole, param, value.bytes))
            sample_check_compare_values(checked, &whole);
        return true;
    }
    if (format_match_key(format, value.bytes, sample->table->separator, &captures) &&
        bindings_agree(&captures, &captures)) {
        sample_check_compare_values(checked, &captures);
        return true;
    }
    format_write(format, &wanted);
    buf_printf(&subject, "%s of %s", key->attribute, kind->name);
    sample_check_add_mistake(sample, SAMPLE_MISTAKE, index->line, buf_text(&subject),
                             "%s of %s is \"%.*s\", which does not fit \"%s\" of index %s",
                             key->attribute, checked->whose,
                             (int)(value.bytes.size < QUOTED ? value.bytes.size : QUOTED),
                             value.bytes.data, buf_text(&wanted), index->name);
    return !wanted.failed && !subject.failed;
}

static bool sample_check_compare_indexes(const struct checked_item *checked,
                                         const struct map_kind *kind)
{
    struct sample_check *sample = checked->sample;
    bool ok = true;
    size_t number = 0;
    for (const struct map_index *index = sample->table->indexes; index; index = index->next) {
        bool in = true;
        for (size_t i = 0; i < index->partition_count; i++) {
            const struct map_key *key = &index->partition[i];
            in = in && sample_check_has(checked->item, key->attribute);
            ok = ok && sample_check_compare_index_key(checked, index, key, kind);
        }
        for (size_t i = 0; i < index->sort_count; i++) {
            const struct map_key *key = &index->sort[i];
            in = in && sample_check_has(checked->item, key->attribute);
            ok = ok && sample_check_compare_index_key(checked, index, key, kind);
        }
        sample->in_index[number++] += in;
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

/* Whether ITEM passes those conditions of the pattern's filter that have no parameters. */
static bool sample_check_passes_filter(const struct map_pattern *pattern, struct json item,
                                       bool *failed)
{
    static const struct bindings nothing;
    bool passes = true;
    struct arena arena = {0};
    for (size_t i = 0; i < pattern->filter_count && passes; i++) {
        struct cond cond;
        if (condition_each_param(&pattern->filter[i], sample_check_refuse_param, NULL) &&
            condition_expand(&pattern->filter[i], &nothing, &arena, &cond, NULL))
            passes = cond_holds(&cond, item, failed);
    }
    *failed = *failed || arena.failed;
    arena_clean_up(&arena);
    return passes;
}

/* Compares the item with each path that can show an item of KIND. False when memory ran out. */
static bool sample_check_compare_paths(const struct checked_item *checked,
                                       const struct map_kind *kind)
{
    struct sample_check *sample = checked->sample;
    struct json item = checked->item;
    bool failed = false;
    for (size_t i = 0; i < sample->filtered_count; i++) {
        struct filtered_attribute *each = &sample->filtered[i];
        if (!sample_check_shows(each->pattern, kind))
            continue;
        each->items++;
        each->with_attribute += sample_check_has(item, each->attribute);
    }
    for (size_t i = 0; i < sample->path_count; i++) {
        struct sampled_path *path = &sample->paths[i];
        const struct map_pattern *pattern = path->pattern;
        if (!sample_check_shows(pattern, kind))
            continue;
        path->of_kinds++;
        if (!sample_check_passes_filter(pattern, item, &failed))
            continue;
        path->items++;
        if (pattern->attribute)
            path->with_attribute += sample_check_has(item, pattern->attribute);
        if (pattern->pick != PICK_NONE && !sample_check_has(item, pattern->pick_attribute))
            sample_check_add_mistake(sample, SAMPLE_MISTAKE, pattern->line, pattern->pick_attribute,
                                     "%s has no %s, by which \"%s\" picks", checked->whose,
                                     pattern->pick_attribute, pattern->path);
        if (!pattern->mtime || !sample_check_has(item, pattern->mtime))
            continue;
        path->with_date++;
        bool own = !sample->table->mtime || strcmp(pattern->mtime, sample->table->mtime) != 0;
        if (!when_read(item_attribute(item, span_text(pattern->mtime))).known)
            sample_check_add_mistake(
                sample, SAMPLE_MISTAKE, own ? pattern->line : sample->table->line, pattern->mtime,
                "\"mtime\" is %s, which is not a date in %s", pattern->mtime, checked->whose);
    }
    return !failed;
}

static bool sample_check_is_index_key(const struct model *table, const char *name)
{
    for (const struct map_index *index = table->indexes; index; index = index->next) {
        for (size_t i = 0; i < index->partition_count; i++)
            if (strcmp(index->partition[i].attribute, name) == 0)
                return true;
        for (size_t i = 0; i < index->sort_count; i++)
            if (strcmp(index->sort[i].attribute, name) == 0)
                return true;
    }
    return false;
}

/* Warns of attributes that look like secrets and are not masked. Keys can't be masked, because
 * paths spell them. False when memory ran out. */
static bool sample_check_find_unmasked(const struct checked_item *checked)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    const struct model *table = checked->sample->table;
    struct typed_members members;
    if (!typed_members(checked->item, &arena, &members))
        return !arena.failed;
    for (size_t i = 0; i < members.count; i++) {
        const char *name = arena_text(&arena, members.list[i].name);
        if (!name || model_is_secret(table, members.list[i].name) || model_is_key(table, name) ||
            sample_check_is_index_key(table, name))
            continue;
        struct typed typed = typed_open(members.list[i].value);
        struct span text;
        if (typed.tag == TYPED_N || typed.tag == TYPED_NS || typed.tag == TYPED_BOOL ||
            typed.tag == TYPED_NULL) /* none of these is a secret */
            continue;
        const char *clue = secret_clue_in_name(members.list[i].name) ? "name" : NULL;
        if (!clue && typed.tag == TYPED_S && typed_text(typed.content, &arena, &text) &&
            secret_clue_in_value(text))
            clue = "value";
        if (clue)
            sample_check_add_mistake(
                checked->sample, SAMPLE_WARNING, table->line, name,
                "%s of %s looks like a secret by its %s and is not masked; add it to \"secret\" if "
                "it is one",
                name, checked->whose, clue);
    }
    return !arena.failed;
}

/* Counts the item for KIND. An item without a kind, of a path that can't show it, is a mistake: one
 * for each begin of such keys. False when memory ran out. */
static bool sample_check_compare_kind(const struct checked_item *checked, const struct plan *plan,
                                      const struct key *key, const struct map_kind *kind)
{
    CLEAN_UP(buf_clean_up) struct buf subject = {0};
    struct sample_check *sample = checked->sample;
    if (kind) {
        for (size_t i = 0; i < sample->kind_count; i++)
            sample->kinds[i].items += sample->kinds[i].kind == kind;
        sample_check_compare_values(checked, &checked->parts);
        return true;
    }
    if (sample_check_shows(plan->pattern, sample->table->any))
        return true;
    for (size_t i = 0; i < key->count; i++) {
        struct span text = key->attributes[i].value.bytes;
        const char *end = text.size ? memchr(text.data, sample->table->separator, text.size) : NULL;
        buf_add_span(&subject, span_of(text.data, end ? (size_t)(end - text.data) + 1 : 0));
    }
    sample_check_add_mistake(sample, SAMPLE_MISTAKE, sample->table->kinds->line, buf_text(&subject),
                             "the item with %s fits no kind of the map's \"records\"",
                             checked->whose);
    return !subject.failed;
}

bool sample_check_add_item(struct sample_check *sample, const struct plan *plan, struct json item)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf whose = {0};
    const struct model *table = sample->table;
    struct checked_item checked = {.sample = sample, .item = item};
    struct key key;
    sample->item++;
    if (!item_match_key(table, item, &arena, &key)) {
        struct error why = {0};
        sample->items++;
        item_match_report(plan->table, plan->table_name, item, &why);
        sample_check_add_mistake(sample, SAMPLE_MISTAKE, table->kinds->line, "key", "%s", why.text);
        return !arena.failed;
    }
    key_write_words(&key, &whose);
    if (whose.failed || arena.failed)
        return false;
    checked.whose = buf_text(&whose);
    const struct map_kind *kind = item_match_kind(table, &key, &checked.parts);
    if (kind || !sample_check_shows(plan->pattern, table->any)) {
        if (dict_find(&sample->seen, buf_span(&whose)))
            return true;
        struct dict_node *node = arena_alloc(&sample->arena, sizeof *node);
        if (!node)
            return false;
        node->key = arena_copy(&sample->arena, buf_span(&whose));
        if (sample->arena.failed)
            return false;
        dict_add(&sample->seen, node);
    }
    sample->items++;
    for (size_t i = 0; i < table->secret_count; i++)
        sample->with_secret[i] += sample_check_has(item, table->secrets[i]);
    return sample_check_compare_kind(&checked, plan, &key, kind) &&
           sample_check_find_unmasked(&checked) &&
           (!kind || sample_check_compare_indexes(&checked, kind)) &&
           sample_check_compare_paths(&checked, kind ? kind : table->any);
}

void sample_check_expect(struct sample_check *sample, const struct plan *plan)
{
    for (size_t i = 0; i < sample->kind_count; i++) {
        struct sampled_kind *each = &sample->kinds[i];
        struct bindings parts = {0};
        bool returned = true;
        if (plan && plan->kind == PLAN_KEY)
            returned = item_match_kind(plan->table, &plan->key, &parts) == each->kind;
        else if (plan)
            returned = sample_check_shows(plan->pattern, each->kind);
        each->expected = each->expected || (returned && !each->any_key);
    }
}

/* The report. */

void sample_check_each_kind(const struct sample_check *sample, sample_kind_fn *fn, void *arg)
{
    for (size_t i = 0; i < sample->kind_count; i++)
        if (sample->kinds[i].expected || sample->kinds[i].items > 0)
            fn(arg, sample->kinds[i].kind, sample->kinds[i].items);
}

struct sample_report {
    const struct sample_check *sample;
    sample_report_fn *fn;
    void *arg;
    struct buf unread; /* the kinds without an item: "note, tag" */
};

static void sample_check_print(const struct sample_report *report, enum sample_verdict verdict,
                               unsigned line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void sample_check_print(const struct sample_report *report, enum sample_verdict verdict,
                               unsigned line, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    report->fn(report->arg, verdict, line, text);
}

static void sample_check_print_mistakes(const struct sample_report *report,
                                        enum sample_verdict verdict)
{
    for (const struct mistake *each = report->sample->mistakes; each; each = each->next) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        if (each->verdict != verdict)
            continue;
        buf_add_text(&text, each->text);
        if (each->items > 1)
            buf_printf(&text, "; %zu more item%s show%s the same", each->items - 1,
                       each->items == 2 ? "" : "s", each->items == 2 ? "s" : "");
        if (!text.failed)
            report->fn(report->arg, verdict, each->line, buf_text(&text));
    }
}

static const char *sample_check_items_word(unsigned count)
{
    return count == 1 ? "the one item" : "any of the items";
}

static void sample_check_print_path(const struct sample_report *report,
                                    const struct sampled_path *path)
{
    const struct map_pattern *pattern = path->pattern;
    const char *table_mtime = report->sample->table->mtime;
    bool dated = pattern->mtime && (!table_mtime || strcmp(pattern->mtime, table_mtime) != 0);
    if (path->of_kinds > 0 && path->items == 0 && (pattern->attribute || dated))
        sample_check_print(
            report, SAMPLE_UNPROVEN, pattern->line,
            "no item that was read passes the filter of \"%s\", so that %s was not checked",
            pattern->path, pattern->attribute ? pattern->attribute : pattern->mtime);
    if (path->items == 0)
        return;
    if (pattern->attribute && path->with_attribute == 0)
        sample_check_print(report, SAMPLE_MISTAKE, pattern->line,
                           "\"%s\" shows %s, which is not in %s that it could show", pattern->path,
                           pattern->attribute, sample_check_items_word(path->items));
    if (dated && path->with_date == 0)
        sample_check_print(report, SAMPLE_MISTAKE, pattern->line,
                           "\"mtime\" of \"%s\" is %s, which is not in %s that it could show",
                           pattern->path, pattern->mtime, sample_check_items_word(path->items));
}

/* TEXT is a sentence about an attribute that no item has. It is a mistake only if items of all
 * kinds were read. */
static void sample_check_print_attribute(const struct sample_report *report, const char *text)
{
    const struct sample_check *sample = report->sample;
    const char *read = sample->items == 1 ? "was read" : "were read";
    const char *items = sample_check_items_word(sample->items);
    if (report->unread.size == 0)
        sample_check_print(report, SAMPLE_MISTAKE, sample->table->line, "%s in %s that %s", text,
                           items, read);
    else
        sample_check_print(report, SAMPLE_UNPROVEN, sample->table->line,
                           "%s in %s that %s; it may be in %s, whose items were not read", text,
                           items, read, buf_text(&report->unread));
}

/* The table's "mtime" and "secret", and its indexes. */
static void sample_check_print_table(const struct sample_report *report)
{
    const struct sample_check *sample = report->sample;
    const struct model *table = sample->table;
    char text[1024];
    unsigned dated = 0;
    size_t number = 0;
    for (size_t i = 0; i < sample->path_count; i++)
        dated += sample->paths[i].with_date;
    if (table->mtime && dated == 0) {
        snprintf(text, sizeof text, "\"mtime\" is %s, which is not", table->mtime);
        sample_check_print_attribute(report, text);
    }
    for (size_t i = 0; i < table->secret_count; i++) {
        snprintf(text, sizeof text, "%s is declared as \"secret\", but is not", table->secrets[i]);
        if (sample->with_secret[i] == 0)
            sample_check_print_attribute(report, text);
    }
    for (const struct map_index *index = table->indexes; index; index = index->next)
        if (sample->in_index[number++] == 0)
            sample_check_print(
                report, SAMPLE_UNPROVEN, index->line,
                "no item that was read is in index %s, so that its keys were not compared",
                index->name);
}

bool sample_check_report(struct sample_check *sample, sample_report_fn *fn, void *arg)
{
    struct sample_report report = {.sample = sample, .fn = fn, .arg = arg};
    for (size_t i = 0; i < sample->kind_count; i++)
        if (sample->kinds[i].items == 0 && !sample->kinds[i].any_key)
            buf_printf(&report.unread, "%s%s", report.unread.size ? ", " : "",
                       sample->kinds[i].kind->name);
    sample_check_print_mistakes(&report, SAMPLE_MISTAKE);
    for (size_t i = 0; i < sample->path_count; i++)
        sample_check_print_path(&report, &sample->paths[i]);
    for (size_t i = 0; i < sample->filtered_count; i++) {
        const struct filtered_attribute *each = &sample->filtered[i];
        if (each->items > 0 && each->with_attribute == 0)
            sample_check_print(&report, SAMPLE_MISTAKE, each->pattern->line,
                               "the filter of \"%s\" tests %s, which is not in %s of its kinds",
                               each->pattern->path, each->attribute,
                               sample_check_items_word(each->items));
    }
    sample_check_print_mistakes(&report, SAMPLE_WARNING);
    for (size_t i = 0; i < sample->kind_count; i++) {
        const struct sampled_kind *each = &sample->kinds[i];
        if (each->expected && each->items == 0)
            sample_check_print(&report, SAMPLE_UNPROVEN, each->kind->line,
                               "no item of %s was read, so that its keys and attributes were not "
                               "compared; pass a path that shows one",
                               each->kind->name);
    }
    if (sample->items > 0)
        sample_check_print_table(&report);
    bool ok = !report.unread.failed && !sample->arena.failed;
    buf_clean_up(&report.unread);
    return ok;
}
