#include "core/tree/explain.h"

#include <stdio.h>

#include "core/base/digest.h"
#include "core/item/when.h"
#include "core/tree/bind.h"

/* What a place reads, in one to two steps. */
struct plan {
    struct read *query;    /* NULL: no query */
    struct read *items;    /* NULL: nothing is read by key */
    bool items_from_query; /* the key in ITEMS is not known before the query answers */
    bool each;             /* ITEMS is read for every entry of the query */
};

static void plan_clean_up(struct plan *plan)
{
    read_destroy(plan->query);
    read_destroy(plan->items);
}

static bool is_listing(const struct place *place)
{
    return place->kind == PLACE_DIRECTORY && place->route->list;
}

static bool is_about_record(const struct place *place)
{
    return place->kind >= PLACE_RECORD; /* a README is not */
}

static struct span wanted_attribute(const struct place *place)
{
    if (place->kind == PLACE_ATTR)
        return place->attribute;
    return span_text(place->kind == PLACE_VALUE ? place->route->file->attribute : "");
}

/* A key of the right shape, for a Read whose key only the query will tell. */
static struct key unknown_key(const struct model *table)
{
    struct key key = {.count = table->key_count};
    for (size_t i = 0; i < key.count; i++)
        key.attributes[i] = (struct key_attribute){span_text(table->keys[i].attribute),
                                                   {table->keys[i].type, span_text("…")}};
    return key;
}

static bool plan_items(const struct place *place, struct plan *plan, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct key key = unknown_key(place->table);
    if (!plan->query && !bind_key(place, &arena, &key, err))
        return false;
    plan->items_from_query = plan->query;
    plan->items = bind_items(place, &key, 1, wanted_attribute(place), err);
    return plan->items;
}

static bool make_plan(const struct place *place, struct plan *plan, struct error *err)
{
    if (is_listing(place)) {
        plan->query = bind_query(place, err);
        plan->each = plan->query && place->route->list->hydrates;
        return plan->query && (!plan->each || plan_items(place, plan, err));
    }
    if (!is_about_record(place))
        return true;
    if (bind_has_key(place))
        return plan_items(place, plan, err);
    plan->query = place->shortened.size ? bind_search(place, err) : bind_query(place, err);
    bool read_again = place->route->file->hydrates || place->shortened.size > 0;
    return plan->query && (!read_again || plan_items(place, plan, err));
}

/* A JMESPath for the one of a query's items that is the file. max_by compares texts or numbers, and
 * fails on items that have neither. */
static void write_choice(struct buf *out, const struct map_pattern *pattern)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (!pattern->pick) {
        buf_add_text(out, "Items[0]");
        return;
    }
    json_write_string(&name, span_text(pattern->pick_attribute));
    const char *by = buf_text(&name);
    buf_printf(out, "%s(Items[?%s.S || %s.N], &(%s.S || to_number(%s.N)))",
               pattern->pick == PICK_GREATEST ? "max_by" : "min_by", by, by, by, by);
    out->failed = out->failed || name.failed;
}

/* A JMESPath that gives the key of the record the query found: {"pk":"pk"} names each of its
 * attributes. */
static void write_key_query(struct buf *out, const struct place *place)
{
    write_choice(out, place->route->file);
    buf_add_text(out, ".{");
    for (size_t i = 0; i < place->table->key_count; i++) {
        const char *attribute = place->table->keys[i].attribute;
        buf_printf(out, "%s\"%s\": \"%s\"", i ? ", " : "", attribute, attribute);
    }
    buf_add_char(out, '}');
}

/* A JMESPath for what of a query's answer is the file; empty for all of it. */
static void write_pick_query(struct buf *out, const struct place *place)
{
    const struct map_pattern *pattern = place->route->file;
    if (!pattern)
        return;
    write_choice(out, pattern);
    if (pattern->attribute)
        buf_printf(out, ".\"%s\".[S, N][] | [0]", pattern->attribute);
}

static void write_nested(struct buf *out, const struct source_ops *source,
                         const struct place *place, const struct plan *plan, const char *options)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0}, key = {0};
    write_key_query(&path, place);
    struct source_command query = {.options = options, .query = buf_text(&path), .output = "json"};
    buf_add_text(&key, "\"$(");
    source->write_command(plan->query, &query, &key);
    buf_add_text(&key, ")\"");
    struct source_command item = {.options = options, .key = buf_text(&key)};
    source->write_command(plan->items, &item, out);
    out->failed = out->failed || path.failed || key.failed;
}

static void write_query_command(struct buf *out, const struct source_ops *source,
                                const struct place *place, const struct plan *plan,
                                const char *options)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (!is_listing(place))
        write_pick_query(&path, place);
    bool bare = !is_listing(place) && place->route->file->attribute;
    struct source_command how = {
        .options = options,
        .query = path.size ? buf_text(&path) : NULL,
        .output = bare ? "text" : NULL,
    };
    source->write_command(plan->query, &how, out);
    out->failed = out->failed || path.failed;
}

/* The one command that gives the same record, or the same listing. */
static void write_command(struct buf *out, const struct source_ops *source, const char *options,
                          const struct place *place, const struct plan *plan)
{
    struct source_command how = {.options = options};
    if (plan->items_from_query && !plan->each && !place->shortened.size)
        write_nested(out, source, place, plan, options);
    else if (plan->query)
        write_query_command(out, source, place, plan, options);
    else if (plan->items)
        source->write_command(plan->items, &how, out);
}

static enum read_keys keys_of(const struct plan *plan)
{
    if (plan->each)
        return KEYS_FROM_ANSWER;
    return plan->items_from_query ? KEY_FROM_ANSWER : KEYS_OF_READ;
}

static void write_cost(struct buf *out, const struct place *place, const struct plan *plan)
{
    if (is_listing(place))
        buf_printf(out, "1 request a page of up to 1 MB%s",
                   plan->each ? "; contents: 1 more for every 100 records" : "");
    else if (place->kind == PLACE_ROOT)
        buf_add_text(out, "1 request for every 100 tables, if some environment has a parameter");
    else if (!is_about_record(place))
        buf_add_text(out, "no request: the map tells");
    else if (place->shortened.size)
        buf_add_text(out, "1 request a page until the name is found, then 1");
    else if (plan->query && (place->route->file->pick || plan->query->filter_count))
        buf_printf(out, "1 request a page of up to 1 MB%s", plan->items ? ", then 1" : "");
    else
        buf_add_text(out, plan->query && plan->items ? "2 requests" : "1 request");
}

static bool is_consistent(const struct plan *plan)
{
    return (plan->query && plan->query->consistent) || (plan->items && plan->items->consistent);
}

static void write_param_lines(struct buf *out, const struct place *place)
{
    for (size_t i = 0; i < place->bindings.count; i++) {
        buf_printf(out, "  %s ", place->bindings.items[i].param);
        buf_add_repeated(out, ' ',
                         strlen(place->bindings.items[i].param) < 16
                             ? 16 - strlen(place->bindings.items[i].param)
                             : 0);
        json_write_string(out, place->bindings.items[i].value);
        buf_add_char(out, '\n');
    }
}

/* The three texts that both forms show. */
struct words {
    struct buf steps[2];
    size_t step_count;
    struct buf cost;
    struct buf command;
};

static void words_clean_up(struct words *words)
{
    buf_clean_up(&words->steps[0]);
    buf_clean_up(&words->steps[1]);
    buf_clean_up(&words->cost);
    buf_clean_up(&words->command);
}

/* False when memory ran out. */
static bool find_words(struct words *words, const struct tree *tree, const struct place *place,
                       const struct plan *plan)
{
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    write_cost(&words->cost, place, plan);
    if (!plan->query && !plan->items)
        return !words->cost.failed;
    const struct source_ops *source = tree->describe(tree->source_arg, place, &options);
    if (plan->query)
        source->write_words(plan->query, KEYS_OF_READ, &words->steps[words->step_count++]);
    if (plan->items) {
        struct buf *step = &words->steps[words->step_count++];
        source->write_words(plan->items, keys_of(plan), step);
        buf_add_text(step, plan->each ? ", for contents and sizes" : "");
    }
    write_command(&words->command, source, buf_text(&options), place, plan);
    return !words->steps[0].failed && !words->steps[1].failed && !words->cost.failed &&
           !words->command.failed && !options.failed;
}

static void write_text(struct buf *out, const struct place *place, const struct plan *plan,
                       struct span path, const struct words *words)
{
    buf_add_span(out, path);
    buf_add_char(out, '\n');
    write_param_lines(out, place);
    for (size_t i = 0; i < words->step_count; i++)
        buf_printf(out, "reads  %zu. %s\n", i + 1, buf_text(&words->steps[i]));
    buf_printf(out, "cost   %s\n", buf_text(&words->cost));
    if (words->step_count)
        buf_printf(out, "       %s read unit for each started 4 KB that is read\n",
                   is_consistent(plan) ? "1" : "0.5");
    if (words->command.size)
        buf_printf(out, "aws    %s\n", buf_text(&words->command));
}

static void write_json(struct buf *out, const struct place *place, struct span path,
                       const struct words *words)
{
    buf_add_text(out, "{\n  \"path\": ");
    json_write_string(out, path);
    buf_add_text(out, ",\n  \"says\": {");
    for (size_t i = 0; i < place->bindings.count; i++) {
        buf_add_text(out, i ? ", " : "");
        json_write_string(out, span_text(place->bindings.items[i].param));
        buf_add_text(out, ": ");
        json_write_string(out, place->bindings.items[i].value);
    }
    buf_add_text(out, "},\n  \"reads\": [");
    for (size_t i = 0; i < words->step_count; i++) {
        buf_add_text(out, i ? ", " : "");
        json_write_string(out, buf_span(&words->steps[i]));
    }
    buf_add_text(out, "],\n  \"cost\": ");
    json_write_string(out, buf_span(&words->cost));
    buf_add_text(out, ",\n  \"aws\": ");
    json_write_string(out, buf_span(&words->command));
    buf_add_text(out, "\n}\n");
}

bool explain_write(const struct tree *tree, const struct place *place, struct span path, bool json,
                   struct buf *out, struct error *err)
{
    CLEAN_UP(plan_clean_up) struct plan plan = {0};
    CLEAN_UP(words_clean_up) struct words words = {0};
    if (!make_plan(place, &plan, err))
        return false;
    if (!find_words(&words, tree, place, &plan))
        return error_no_memory(err);
    if (json)
        write_json(out, place, path, &words);
    else
        write_text(out, place, &plan, path, &words);
    return !out->failed || error_no_memory(err);
}

static void write_member(struct buf *out, const char *name, struct span text)
{
    buf_printf(out, ",\n  \"%s\": ", name);
    json_write_string(out, text);
}

static void write_key(struct buf *out, const struct model *table, struct json item)
{
    buf_add_text(out, ",\n  \"key\": {");
    for (size_t i = 0; i < table->key_count; i++) {
        struct span name = span_text(table->keys[i].attribute);
        struct json typed = item_attribute(item, name);
        buf_add_text(out, i ? ", " : "");
        json_write_string(out, name);
        buf_add_text(out, ": ");
        buf_add_span(out, json_present(typed) ? json_raw(typed) : SPAN_LITERAL("null"));
    }
    buf_add_char(out, '}');
}

static void write_origin(struct buf *out, const struct tree *tree, const struct record *record)
{
    const struct record_origin *origin = record_origin(record);
    struct clock *clock = loop_clock(tree->loop);
    struct version version = record_version(record);
    CLEAN_UP(buf_clean_up) struct buf when = {0}, digest = {0};
    when_write(&when, origin->fetched_wall_ms);
    digest_hex(&digest, version.bytes, VERSION_SIZE);
    out->failed = out->failed || when.failed || digest.failed;
    write_member(out, "fetched", buf_span(&when));
    buf_printf(out, ",\n  \"age_ms\": %lld",
               (long long)(clock->now_ms(clock) - origin->fetched_ms));
    if (origin->capacity >= 0)
        buf_printf(out, ",\n  \"capacity\": %g", origin->capacity);
    write_member(out, "version", buf_span(&digest));
    write_member(out, "request_id", span_text(origin->request_id));
    buf_add_text(out, "\n}\n");
}

bool explain_write_info(const struct tree *tree, const struct place *place,
                        const struct record *record, struct buf *out)
{
    CLEAN_UP(plan_clean_up) struct plan plan = {0};
    CLEAN_UP(words_clean_up) struct words words = {0};
    const char *index = place->route->file->index ? place->route->file->index->name : NULL;
    if (!make_plan(place, &plan, NULL))
        return false;
    if (!find_words(&words, tree, place, &plan))
        return false;
    buf_add_text(out, "{\n  \"table\": ");
    json_write_string(out, span_text(plan.query ? plan.query->table : plan.items->table));
    if (plan.query && index)
        write_member(out, "index", span_text(index));
    write_key(out, place->table, record_item(record));
    buf_add_text(out, ",\n  \"reads\": [");
    for (size_t i = 0; i < words.step_count; i++) {
        buf_add_text(out, i ? ", " : "");
        json_write_string(out, buf_span(&words.steps[i]));
    }
    buf_add_char(out, ']');
    write_member(out, "aws", buf_span(&words.command));
    write_origin(out, tree, record);
    return !out->failed;
}
