#include "core/describe/explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/crypto.h"
#include "core/base/instant.h"
#include "core/describe/equal_command.h"
#include "core/describe/follow_words.h"
#include "core/describe/price.h"
#include "core/describe/readme.h"
#include "core/json/writer.h"
#include "core/read/fact.h"
#include "core/read/key_scan.h"
#include "core/read/links.h"
#include "core/read/moments.h"
#include "core/read/near_miss.h"
#include "core/read/similar.h"

/* How a place is read. */
struct explanation {
    struct price price;
    struct read *items;      /* owned: the plan's read by key; may be NULL */
    const struct plan **own; /* owned: files that are items of the listing under other names */
    size_t own_count;
};

static void explain_clean_up(struct explanation *explanation)
{
    read_destroy(explanation->items);
    free(explanation->own);
    price_clean_up(&explanation->price);
}

static bool explain_init(struct explanation *explanation, const struct tree *tree,
                         const struct place *place, struct error *err)
{
    struct price *price = &explanation->price;
    *explanation = (struct explanation){0};
    if (place->kind == PLACE_PLACEHOLDER)
        return tree_refuse_placeholder(tree, place, err);
    if (!price_init(price, place, &tree->names, err))
        return false;
    const struct plan *plan = price->plan;
    if (plan && (plan->kind == PLAN_KEY || plan->reads_again)) {
        /* Of the right shape, where only the query finds the key. */
        struct key unknown = {.count = place->table->key_count};
        for (size_t i = 0; i < unknown.count; i++) {
            const struct map_key *key = &place->table->keys[i];
            unknown.attributes[i] =
                (struct key_attribute){span_text(key->attribute), {key->type, span_text("…")}};
        }
        explanation->items = plan_items(plan, plan->reads_again ? &unknown : &plan->key, 1, err);
        if (!explanation->items)
            return false;
    }
    explanation->own = calloc(price->files.count + 1, sizeof *explanation->own);
    bool alone = place->kind == PLACE_LIST_FILE; /* such a file contains them */
    for (size_t i = 0; !alone && explanation->own && i < price->files.count; i++)
        if (declared_files_is_item(&price->files.items[i]))
            explanation->own[explanation->own_count++] = price->files.items[i].plan;
    return explanation->own || error_no_memory(err);
}

enum { EXPLAIN_STEPS = 4 };

/* The texts that all forms show. An empty one is left out. */
struct explain_words {
    struct buf steps[EXPLAIN_STEPS];
    size_t step_count;
    struct buf cost, exception, bound;
    struct buf searched;           /* the bytes of a search */
    struct buf paid, rcu, dollars; /* as text, and as JSON */
    struct buf command;
    struct buf hint;              /* about the path's values */
    struct buf target;            /* of a link */
    struct buf of_target, of_way; /* the parts of COST for that, and for links on the way */
    struct buf filter;            /* of the selection */
    struct buf origin;            /* the snapshot and its moment */
};

static void explain_words_clean_up(struct explain_words *words)
{
    struct buf *all[] = {&words->cost,   &words->exception, &words->bound,   &words->paid,
                         &words->rcu,    &words->dollars,   &words->command, &words->hint,
                         &words->target, &words->of_target, &words->of_way,  &words->filter,
                         &words->origin, &words->searched};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        buf_clean_up(all[i]);
    for (size_t i = 0; i < EXPLAIN_STEPS; i++)
        buf_clean_up(&words->steps[i]);
}

/* Appends READ, as words and as a command behind those before. */
static void explain_add_read(struct explain_words *words, const struct source_ops *source,
                             const struct read *read, struct span options, const char *choose)
{
    CLEAN_UP(buf_clean_up) struct buf where = {0};
    struct buf *step = &words->steps[words->step_count++];
    buf_add_span(&where, options);
    struct source_command how = {.options = buf_text(&where), .choose = choose, .flags = "-c"};
    buf_add_text(&words->command, words->command.size ? "; " : "");
    if (read) {
        source->write_words(read, KEYS_OF_READ, step);
        if (source->write_command)
            source->write_command(read, &how, &words->command);
    }
    step->failed = step->failed || !read || where.failed;
}

/* The requests of a follower before the first change. */
static void explain_add_follower(struct explain_words *words, const struct source_ops *source,
                                 const struct place *place, struct span options)
{
    struct read *table = read_new(READ_TABLE, place->table_name, NULL);
    struct read *stream = fact_read(FACT_STREAM, 0, place->table_name, NULL);
    explain_add_read(words, source, table, options, NULL);
    explain_add_read(words, source, stream, options, NULL);
    read_destroy(table);
    read_destroy(stream);
}

/* Of a place without a plan. */
static void explain_add_table_reads(struct explain_words *words, const struct tree *tree,
                                    const struct place *place, bool scans)
{
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    const struct source_ops *source = tree->describe(tree->source_arg, place, &options);
    words->command.failed |= options.failed;
    if (place->kind == PLACE_CHANGES)
        explain_add_follower(words, source, place, buf_span(&options));
    for (size_t i = 0; place->kind == PLACE_FACT && i < fact_read_count(place->fact); i++) {
        struct read *read = fact_read(place->fact, i, place->table_name, place->table->arn);
        explain_add_read(words, source, read, buf_span(&options), NULL);
        read_destroy(read);
    }
    if (!scans)
        return;
    struct read *read = key_scan_read(place);
    explain_add_read(words, source, read, buf_span(&options), "unique | .[]");
    buf_printf(&words->steps[0], ", in %d segments at once", KEY_SCAN_SEGMENTS);
    read_destroy(read);
}

/* Adds the selection to the steps in which it is tested. */
static void explain_add_selection(struct explain_words *words, const struct plan *plan)
{
    const struct selection *selection = plan->selection;
    struct buf *last = &words->steps[words->step_count - 1];
    if (!selection)
        return;
    if (selection->filter)
        cond_write_words(selection->filter, &words->filter);
    if (plan->parts.early.child_count > 0) {
        buf_add_text(&words->steps[0], "; only those with ");
        cond_write_words(&plan->parts.early, &words->steps[0]);
    }
    if (plan->parts.late)
        buf_printf(last, "; only those with %s", buf_text(&words->filter));
    bool here = plan->parts.early.child_count > 0 || plan->parts.late;
    if (selection->limit > 0 && (here || plan->query->limit != selection->limit))
        buf_printf(last, ", at most %lu", (unsigned long)selection->limit);
}

/* Adds the search, and the items that it finds. False when memory ran out. */
static bool explain_add_search(struct explain_words *words, const struct plan *plan,
                               const struct source_ops *source)
{
    if (!plan->search)
        return true;
    source->write_words(plan->search, KEYS_OF_READ, &words->steps[words->step_count++]);
    if (plan->found == PLAN_FOUND_NONE)
        return true;
    struct read *items = read_new(READ_ITEMS, plan->table_name, NULL);
    if (!items)
        return false;
    bool one = plan->found == PLAN_FOUND_ONE;
    struct buf *step = &words->steps[words->step_count++];
    source->write_words(items, one ? KEY_FROM_ANSWER : KEYS_FROM_ANSWER, step);
    buf_add_text(step, one ? "" : ", for contents and sizes");
    read_destroy(items);
    return true;
}

static void explain_add_plan(struct explain_words *words, const struct tree *tree,
                             const struct place *place, const struct explanation *explanation)
{
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    const struct plan *plan = explanation->price.plan;
    const struct source_ops *source = tree->describe(tree->source_arg, place, &options);
    if (plan->query)
        source->write_words(plan->query, KEYS_OF_READ, &words->steps[words->step_count++]);
    if (plan->index_suffices)
        buf_add_text(&words->steps[0],
                     plan->counts ? ", counted in the index" : ", which holds all columns");
    if (explanation->items) {
        bool each = plan->kind == PLAN_LIST;
        enum read_keys again = each ? KEYS_FROM_ANSWER : KEY_FROM_ANSWER;
        struct buf *step = &words->steps[words->step_count++];
        source->write_words(explanation->items, plan->reads_again ? again : KEYS_OF_READ, step);
        buf_add_text(step, !each              ? ""
                           : plan->parts.late ? ", which are tested"
                                              : ", for contents and sizes");
    }
    explain_add_selection(words, plan);
    words->command.failed |= !explain_add_search(words, plan, source);
    struct equal_command command = {
        .plan = plan,
        .items = explanation->items,
        .source = source,
        .options = buf_text(&options),
        .own = explanation->own,
        .own_count = explanation->own_count,
    };
    if (source->write_command)
        equal_command_write(&command, &words->command);
    words->command.failed |= options.failed;
}

/* The snapshot that PLACE is read from; of a history, all moments. */
static void explain_write_origin(const struct tree *tree, const struct place *place,
                                 struct buf *out)
{
    const struct moments *moments = tree->names.moments;
    const int64_t *times;
    size_t count;
    if (!place->is_snapshot || !moments)
        return;
    if (place->kind != PLACE_HISTORY) {
        moments->write_origin(moments->arg, place, out);
        return;
    }
    if (!moments_list(moments, place->environment, place->is_past ? place->at_ms : INT64_MAX,
                      &times, &count, NULL))
        return;
    struct place *newest = place_copy_at(place, times[0], COMPANION_NONE);
    buf_printf(out, "%zu moment%s since ", count, count == 1 ? "" : "s");
    instant_write_exact(out, times[count - 1]);
    buf_add_text(out, ", and each is read; the newest is ");
    if (newest)
        moments->write_origin(moments->arg, newest, out);
    out->failed = out->failed || !newest;
    place_destroy(newest);
}

/* False when memory ran out. */
static bool explain_find_words(struct explain_words *words, const struct tree *tree,
                               const struct place *place, const struct explanation *explanation)
{
    const struct price *price = &explanation->price;
    const struct cost *cost = &price->cost;
    double dollars = place->environment ? place->environment->price : MAP_PRICE;
    cost_write(cost, &words->cost);
    cost_write_exception(cost, &words->exception);
    cost_write_search(cost, &words->searched);
    cost_write_json(cost, &words->bound);
    cost_write_rcu(cost, dollars, &words->paid);
    cost_write_rcu_json(cost, &words->rcu);
    cost_write_dollars_json(cost, dollars, &words->dollars);
    near_miss_write(place, &words->hint);
    if (place->kind == PLACE_CHANGES) {
        buf_add_text(&words->hint, "while the file is open, further requests are sent: ");
        follow_write_cost(&words->hint);
    }
    if (place->kind == PLACE_LINK) {
        links_write(place, &tree->names, &words->target);
        if (!cost->is_free)
            cost_write(&price->target, &words->of_target);
        if (price->target_is_entry && !cost->is_free)
            buf_add_text(&words->of_target,
                         "; 1 more a page of up to 1 MB, only where its name is shortened");
    }
    if (!cost->is_free && (place->way.requests > 0 || place->way.pages > 0))
        cost_write(&place->way, &words->of_way);
    explain_write_origin(tree, place, &words->origin);
    if (price->plan)
        explain_add_plan(words, tree, place, explanation);
    else
        explain_add_table_reads(words, tree, place, cost->scans);
    if (place->is_recording && words->step_count > 0)
        buf_printf(&words->hint,
                   "%sthe recording may lack this: explain reads nothing, and only paths that "
                   "were read are in it",
                   words->hint.size > 0 ? "; " : "");
    if (price->plan && price->plan->search && !place->is_snapshot)
        buf_printf(&words->hint, "%sonly an AWS CLI of August 2026 or later knows search-vectors",
                   words->hint.size > 0 ? "; " : "");
    for (size_t i = 0; i < EXPLAIN_STEPS; i++)
        if (words->steps[i].failed)
            return false;
    return !words->cost.failed && !words->searched.failed && !words->exception.failed &&
           !words->bound.failed && !words->command.failed && !words->paid.failed &&
           !words->rcu.failed && !words->dollars.failed && !words->hint.failed &&
           !words->filter.failed && !words->target.failed && !words->of_target.failed &&
           !words->of_way.failed && !words->origin.failed;
}

static void explain_write_line(struct buf *out, const char *head, const struct buf *text)
{
    if (text->size)
        buf_printf(out, "%s%s\n", head, buf_text(text));
}

static void explain_write_text(struct buf *out, const struct place *place,
                               const struct explanation *explanation, struct span path,
                               const struct explain_words *words)
{
    const struct price *price = &explanation->price;
    const struct plan *plan = price->plan;
    buf_add_span(out, path);
    buf_add_char(out, '\n');
    for (size_t i = 0; i < place->bindings.count; i++) {
        buf_printf(out, "  %-16s ", place->bindings.items[i].param);
        json_write_string(out, place->bindings.items[i].value);
        buf_add_char(out, '\n');
    }
    explain_write_line(out, "note   ", &words->hint);
    if (words->filter.size && !price->cost.is_free)
        buf_add_text(out, "note   a filter does not reduce the cost: all items are read and "
                          "charged\n");
    for (size_t i = 0; i < words->step_count; i++)
        buf_printf(out, "reads  %zu. %s\n", i + 1, buf_text(&words->steps[i]));
    explain_write_line(out, "leads  ", &words->target);
    explain_write_line(out, "from   ", &words->origin);
    buf_printf(out, "cost   %s\n", buf_text(&words->cost));
    explain_write_line(out, "       of these for its target: ", &words->of_target);
    explain_write_line(out, "       of these for the links on the way: ", &words->of_way);
    explain_write_line(out, "       ", &words->exception);
    explain_write_line(out, "       ", &words->paid);
    explain_write_line(out, "       ", &words->searched);
    /* Less may be shown, or sent, than is charged. */
    bool shows_less = price->cost.filters || (plan && (plan->attribute.size > 0 || plan->counts));
    bool reads_items = place->kind != PLACE_FACT && place->kind != PLACE_CHANGES;
    if (words->step_count && reads_items && !price->cost.is_free)
        buf_printf(out, "       %s RCU for each started 4 KB that is read%s\n",
                   price->cost.consistent ? "1" : "0.5",
                   shows_less ? ", whether it is shown or not" : "");
    explain_write_line(out, "aws    ", &words->command);
}

static void explain_add_member(struct json_writer *json, const char *name, const struct buf *text)
{
    if (text->size)
        json_writer_add_string(json, name, buf_span(text));
    json->out->failed |= text->failed;
}

static void explain_add_steps(struct json_writer *json, const struct explain_words *words)
{
    json_writer_begin_array(json, "reads", JSON_SPACED);
    for (size_t i = 0; i < words->step_count; i++)
        json_writer_add_string(json, NULL, buf_span(&words->steps[i]));
    json_writer_end(json);
}

/* The equal command of the aws tools. A snapshot has no such command, and its moment is added. */
static void explain_add_source(struct json_writer *json, const struct place *place,
                               const struct explain_words *words)
{
    if (words->origin.size > 0)
        json_writer_add_string(json, "snapshot", buf_span(&words->origin));
    else if (!place->is_snapshot)
        json_writer_add_string(json, "aws", buf_span(&words->command));
}

static void explain_write_json(struct buf *out, const struct place *place, struct span path,
                               const struct explain_words *words)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_LINES);
    json_writer_add_string(&json, "path", path);
    json_writer_begin_object(&json, "says", JSON_SPACED);
    for (size_t i = 0; i < place->bindings.count; i++)
        json_writer_add_string(&json, place->bindings.items[i].param,
                               place->bindings.items[i].value);
    json_writer_end(&json);
    explain_add_member(&json, "note", &words->hint);
    explain_add_member(&json, "filter", &words->filter);
    explain_add_steps(&json, words);
    explain_add_member(&json, "target", &words->target);
    json_writer_add_string(&json, "cost", buf_span(&words->cost));
    json_writer_add_raw(&json, "bound", buf_span(&words->bound));
    json_writer_add_raw(&json, "units", buf_span(&words->rcu));
    json_writer_add_raw(&json, "dollars", buf_span(&words->dollars));
    explain_add_source(&json, place, words);
    json_writer_end(&json);
    buf_add_char(out, '\n');
}

bool explain_write(const struct tree *tree, const struct place *place, struct span path, bool json,
                   struct buf *out, struct error *err)
{
    CLEAN_UP(explain_clean_up) struct explanation explanation = {0};
    CLEAN_UP(explain_words_clean_up) struct explain_words words = {0};
    if (!explain_init(&explanation, tree, place, err))
        return false;
    if (!explain_find_words(&words, tree, place, &explanation))
        return error_no_memory(err);
    if (json)
        explain_write_json(out, place, path, &words);
    else
        explain_write_text(out, place, &explanation, path, &words);
    return !out->failed || error_no_memory(err);
}

bool explain_write_reads(const struct tree *tree, const struct place *place, struct buf *words,
                         struct buf *command, struct error *err)
{
    CLEAN_UP(explain_clean_up) struct explanation explanation = {0};
    CLEAN_UP(explain_words_clean_up) struct explain_words texts = {0};
    if (!explain_init(&explanation, tree, place, err))
        return false;
    explain_add_plan(&texts, tree, place, &explanation);
    for (size_t i = 0; i < texts.step_count; i++) {
        buf_add_text(words, i ? ", then " : "");
        buf_add_span(words, buf_span(&texts.steps[i]));
        words->failed |= texts.steps[i].failed;
    }
    buf_add_span(command, buf_span(&texts.command));
    return !(words->failed || command->failed || texts.command.failed) || error_no_memory(err);
}

/* @info of an item. */

static void explain_add_time(struct json_writer *json, const char *name, int64_t wall_ms)
{
    CLEAN_UP(buf_clean_up) struct buf when = {0};
    instant_write(&when, wall_ms);
    explain_add_member(json, name, &when);
}

/* Adds the requests that were throttled before the response, by reason; nothing if none were. */
static void explain_add_throttles(struct json_writer *json, const struct throttles *throttles)
{
    const struct throttle *each;
    uint64_t requests;
    if (!throttles)
        return;
    json_writer_begin_array(json, "throttled", JSON_LINES);
    for (size_t i = 0; (each = throttles_at(throttles, i, &requests)); i++) {
        CLEAN_UP(buf_clean_up) struct buf words = {0};
        if (throttle_is_known(each))
            throttle_write_words(each, &words);
        json_writer_begin_object(json, NULL, JSON_SPACED);
        json_writer_add_integer(json, "requests", (int64_t)requests);
        json_writer_add_text(json, "reason", each->reason);
        if (each->resource[0])
            json_writer_add_text(json, "resource", each->resource);
        explain_add_member(json, "why", &words);
        json_writer_end(json);
    }
    json_writer_end(json);
}

/* How fresh results of TABLE are, if its stream is followed. */
static void explain_add_present(struct json_writer *json, const struct tree *tree,
                                const struct place *place, const char *table)
{
    struct error ignored, why;
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    struct source_present present;
    struct source *source = tree->source(tree->source_arg, place, &ignored);
    if (!source || !source_read_present(source, table, &present))
        return;
    json_writer_begin_object(json, "live", JSON_SPACED);
    json_writer_add_text(json, "state", present.state);
    if (strcmp(present.state, "live") == 0 || strcmp(present.state, "lags") == 0)
        json_writer_add_integer(json, "lag_ms", present.lag_ms);
    if (present.assumption[0])
        json_writer_add_text(json, "assumption", present.assumption);
    if (present.why[0]) {
        tree->describe(tree->source_arg, place, &options);
        error_set(&why, ERROR_NO_STREAM, "%s", present.why);
        follow_add_options(&why, buf_text(&options));
        json_writer_add_text(json, "why", why.text);
    }
    json_writer_end(json);
}

/* The cost of a record of ORIGIN, and UNITS of RCU (< 0: not stated) for the query that found it.
 */
static void explain_add_capacity(struct json_writer *json, const struct record_origin *origin,
                                 double units)
{
    bool is_known = origin->capacity >= 0 && units >= 0;
    const struct spent spent = {.units = is_known ? origin->capacity + units : 0,
                                .doubted = origin->doubted};
    if (is_known || origin->doubted > 0)
        spent_write_members(&spent, "capacity", json);
    else
        json_writer_add_null(json, "capacity");
}

static bool explain_write_item_info(const struct tree *tree, const struct place *place,
                                    const struct record *record, const struct tree_found *found,
                                    const struct error *stale, struct buf *out)
{
    CLEAN_UP(explain_clean_up) struct explanation explanation = {0};
    CLEAN_UP(explain_words_clean_up) struct explain_words words = {0};
    CLEAN_UP(buf_clean_up) struct buf digest = {0};
    const struct record_origin *origin = record_origin(record);
    const struct map_index *index = place->route->file->index;
    struct version version;
    struct clock *clock = loop_clock(tree->loop);
    int64_t age_ms = clock->now_ms(clock) - origin->fetched_ms;
    if (!explain_init(&explanation, tree, place, NULL) ||
        !explain_find_words(&words, tree, place, &explanation) ||
        !item_version(record_item(record), &version))
        return false;
    const struct plan *plan = explanation.price.plan;
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_LINES);
    json_writer_add_text(&json, "table", plan->table_name);
    if (plan->query && index)
        json_writer_add_text(&json, "index", index->name);
    json_writer_begin_object(&json, "key", JSON_SPACED);
    for (size_t i = 0; i < place->table->key_count; i++) {
        const char *name = place->table->keys[i].attribute;
        struct json typed = item_attribute(record_item(record), span_text(name));
        json_writer_add_raw(&json, name,
                            json_present(typed) ? json_raw(typed) : SPAN_LITERAL("null"));
    }
    json_writer_end(&json);
    explain_add_steps(&json, &words);
    explain_add_source(&json, place, &words);
    explain_add_time(&json, "fetched", origin->fetched_wall_ms);
    json_writer_add_integer(&json, "age_ms", age_ms);
    explain_add_present(&json, tree, place, plan->table_name);
    explain_add_capacity(&json, origin, found->units);
    CLEAN_UP(throttles_clean_up) struct throttles *throttled = throttles_ref(found->throttled);
    throttles_join(&throttled, origin->throttled);
    explain_add_throttles(&json, throttled);
    digest_hex(&digest, version.bytes, VERSION_SIZE);
    explain_add_member(&json, "version", &digest);
    if (!place->is_snapshot)
        json_writer_add_text(&json, "request_id", origin->request_id);
    if (stale) {
        int64_t ttl_ms = place->route->file->ttl_ms;
        json_writer_begin_object(&json, "stale", JSON_SPACED);
        if (age_ms >= ttl_ms) /* if only the index's entry is stale, the time is not known */
            explain_add_time(&json, "since", origin->fetched_wall_ms + ttl_ms);
        json_writer_add_text(&json, "why", stale->text);
        json_writer_end(&json);
    }
    json_writer_end(&json);
    buf_add_char(out, '\n');
    return !out->failed;
}

/* @info of a version that is a deletion. */
static bool explain_write_deletion_info(const struct tree *tree, const struct place *place,
                                        struct buf *out)
{
    CLEAN_UP(explain_clean_up) struct explanation explanation = {0};
    CLEAN_UP(explain_words_clean_up) struct explain_words words = {0};
    if (!explain_init(&explanation, tree, place, NULL) ||
        !explain_find_words(&words, tree, place, &explanation))
        return false;
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_LINES);
    json_writer_add_text(&json, "table", explanation.price.plan->table_name);
    json_writer_add_bool(&json, "deleted", true);
    json_writer_add_text(&json, "deleted_why",
                         "the item exists at the moment before this one, and not at this one");
    explain_add_steps(&json, &words);
    explain_add_source(&json, place, &words);
    json_writer_end(&json);
    buf_add_char(out, '\n');
    return !out->failed;
}

/* @info of similar items. */

/* The read of the item whose vector was searched for. */
static void explain_add_subject(struct json_writer *json, const struct tree *tree,
                                const struct similar_found *found)
{
    const struct record_origin *origin = record_origin(found->subject);
    struct clock *clock = loop_clock(tree->loop);
    json_writer_begin_object(json, "item", JSON_SPACED);
    explain_add_time(json, "fetched", origin->fetched_wall_ms);
    json_writer_add_integer(json, "age_ms", clock->now_ms(clock) - origin->fetched_ms);
    explain_add_capacity(json, origin, found->subject_units);
    json_writer_end(json);
}

static void explain_add_results(struct json_writer *json, const struct tree *tree,
                                const struct place *place, const struct similar_result *result)
{
    json_writer_begin_array(json, "results", JSON_LINES);
    for (size_t i = 0; i < result->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        similar_write_name(place, &tree->names, i + 1, &result->hits[i], &name);
        json_writer_begin_object(json, NULL, JSON_SPACED);
        explain_add_member(json, "name", &name);
        json_writer_add_raw(json, "score", result->hits[i].score);
        json_writer_end(json);
    }
    json_writer_end(json);
}

static bool explain_write_similar_info(const struct tree *tree, const struct place *place,
                                       const struct similar_found *found, struct buf *out)
{
    CLEAN_UP(explain_clean_up) struct explanation explanation = {0};
    CLEAN_UP(explain_words_clean_up) struct explain_words words = {0};
    const struct similar_result *result = found->result;
    const struct map_vector *vector = place->vector;
    struct clock *clock = loop_clock(tree->loop);
    if (!explain_init(&explanation, tree, place, NULL) ||
        !explain_find_words(&words, tree, place, &explanation))
        return false;
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_LINES);
    json_writer_add_text(&json, "table", explanation.price.plan->table_name);
    json_writer_add_text(&json, "index", vector->name);
    json_writer_add_text(&json, "vector", vector->attribute);
    json_writer_add_integer(&json, "dimensions", vector->dimensions);
    json_writer_add_text(&json, "distance", vector->distance);
    json_writer_add_text(&json, "nearest",
                         strcmp(vector->distance, DISTANCE_DOT_PRODUCT) == 0 ? "greatest score"
                                                                             : "least score");
    if (vector->partition)
        json_writer_add_text(&json, "partition", vector->partition);
    explain_add_steps(&json, &words);
    json_writer_add_string(&json, "cost", buf_span(&words.cost));
    explain_add_source(&json, place, &words);
    explain_add_results(&json, tree, place, result);
    explain_add_subject(&json, tree, found);
    json_writer_add_integer(&json, "requests", result->requests);
    spent_write_members(&result->spent, "capacity", &json);
    explain_add_time(&json, "fetched", result->origin.fetched_wall_ms);
    json_writer_add_integer(&json, "age_ms", clock->now_ms(clock) - result->origin.fetched_ms);
    if (!place->is_snapshot)
        json_writer_add_text(&json, "request_id", result->origin.request_id);
    json_writer_end(&json);
    buf_add_char(out, '\n');
    return !out->failed;
}

/* @info of a listing. */

/* Adds the cost of FORM, a companion of the listing. "read" is what it took, if it was read lately,
 * or would take the same. */
static bool explain_add_form(struct json_writer *json, const struct tree *tree,
                             const struct place *form, const char *name,
                             const struct tree_list_stats *stats)
{
    CLEAN_UP(price_clean_up) struct price price = {0};
    CLEAN_UP(buf_clean_up) struct buf cost = {0};
    bool is_names = form->kind == PLACE_DIRECTORY;
    if (!price_init(&price, form, &tree->names, NULL))
        return false;
    if (is_names) { /* they need no contents */
        price.cost.batches = false;
        price.cost.rcu.record = 0;
    }
    cost_write(&price.cost, &cost);
    json_writer_begin_object(json, name, JSON_SPACED);
    explain_add_member(json, "cost", &cost);
    cost_write_rcu_json(&price.cost, json_writer_add_value(json, "units"));
    bool again = price.plan && price.plan->reads_again && !is_names;
    if (form->companion == COMPANION_COUNT || (again && !stats->has_records)) {
        json_writer_add_null(json, "read");
    } else {
        struct spent spent = stats->spent;
        if (again)
            spent_add(&spent, &stats->records.spent);
        json_writer_begin_object(json, "read", JSON_SPACED);
        json_writer_add_integer(json, "requests",
                                stats->requests + (again ? stats->records.requests : 0));
        spent_write_members(&spent, "capacity", json);
        json_writer_end(json);
    }
    json_writer_end(json);
    return true;
}

static bool explain_add_forms(struct json_writer *json, const struct tree *tree,
                              const struct place *place, const struct tree_list_stats *stats)
{
    static const struct {
        const char *name;
        enum companion companion;
    } forms[] = {
        {"names", COMPANION_NONE},     {"@jsonl", COMPANION_JSONL}, {"@csv", COMPANION_CSV},
        {"@table", COMPANION_TABLE},   {"@count", COMPANION_COUNT}, {"@summary", COMPANION_SUMMARY},
        {"@sqlite", COMPANION_SQLITE},
    };
    bool ok = true;
    json_writer_begin_object(json, "forms", JSON_LINES);
    for (size_t i = 0; ok && i < sizeof forms / sizeof forms[0]; i++) {
        struct place *form = place_copy_as(place, forms[i].companion);
        ok = form && explain_add_form(json, tree, form, forms[i].name, stats);
        place_destroy(form);
    }
    json_writer_end(json);
    return ok;
}

static bool explain_write_list_info(const struct tree *tree, const struct place *place,
                                    const struct tree_listing *listing,
                                    const struct error *left_out, struct buf *out)
{
    CLEAN_UP(explain_clean_up) struct explanation explanation = {0};
    CLEAN_UP(explain_words_clean_up) struct explain_words words = {0};
    CLEAN_UP(buf_clean_up) struct buf not_listed = {0};
    struct tree_list_stats stats = tree_list_stats(listing);
    struct clock *clock = loop_clock(tree->loop);
    struct error note;
    if (!explain_init(&explanation, tree, place, NULL) ||
        !explain_find_words(&words, tree, place, &explanation))
        return false;
    const struct plan *plan = explanation.price.plan;
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_LINES);
    json_writer_add_text(&json, "table", plan->table_name);
    if (plan->query->index)
        json_writer_add_text(&json, "index", plan->query->index);
    explain_add_steps(&json, &words);
    json_writer_add_string(&json, "cost", buf_span(&words.cost));
    if (!explain_add_forms(&json, tree, place, &stats))
        return false;
    explain_add_source(&json, place, &words);
    json_writer_add_integer(&json, "records", (int64_t)stats.entries);
    json_writer_add_integer(&json, "skipped", (int64_t)stats.skipped);
    struct place *counted = place_copy_as(place, COMPANION_COUNT);
    const struct plan *count = counted ? place_plan(counted, NULL) : NULL;
    out->failed = out->failed || !count;
    if (count && count->query->index && !count->reads_again)
        json_writer_add_text(&json, "count", "counted in the index");
    place_destroy(counted);
    if (tree_list_note(listing, &note))
        json_writer_add_text(&json, stats.skipped ? "skipped_why" : "note", note.text);
    if (left_out)
        buf_add_text(&not_listed, left_out->text);
    if (!tree_lists_all(tree, place, &note))
        buf_printf(&not_listed, "%s%s", not_listed.size ? "; " : "", note.text);
    explain_add_member(&json, "not_listed", &not_listed);
    json_writer_add_integer(&json, "pages", stats.pages);
    json_writer_add_integer(&json, "requests", stats.requests);
    spent_write_members(&stats.spent, "capacity", &json);
    explain_add_throttles(&json, stats.throttled);
    explain_add_time(&json, "fetched", stats.age.since_wall_ms);
    json_writer_add_integer(&json, "age_ms", clock->now_ms(clock) - stats.age.since_ms);
    json_writer_add_integer(&json, "took_ms", stats.age.took_ms);
    explain_add_present(&json, tree, place, plan->table_name);
    json_writer_end(&json);
    buf_add_char(out, '\n');
    return !out->failed;
}

const struct tree_texts describe_texts = {
    .write_readme = readme_write,
    .write_item_info = explain_write_item_info,
    .write_deletion_info = explain_write_deletion_info,
    .write_similar_info = explain_write_similar_info,
    .write_list_info = explain_write_list_info,
};
