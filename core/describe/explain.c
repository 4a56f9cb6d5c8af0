#include "core/describe/explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/crypto.h"
#include "core/base/instant.h"
#include "core/describe/equal_command.h"
#include "core/describe/price.h"
#include "core/read/fact.h"
#include "core/read/key_scan.h"
#include "core/read/links.h"
#include "core/read/near_miss.h"

/* A place's plan with all that is told of it. */
struct explanation {
    struct price price;
    struct read *items;      /* owned: the plan's read by key; NULL when it has none */
    const struct plan **own; /* owned: files that are records of the listing by other names */
    size_t own_count;
};

static void explain_explanation_clean_up(struct explanation *explanation)
{
    read_destroy(explanation->items);
    free(explanation->own);
    price_clean_up(&explanation->price);
}

/* A key of the right shape, for a Read whose key only the query will tell. */
static struct key explain_unknown_key(const struct model *table)
{
    struct key key = {.count = table->key_count};
    for (size_t i = 0; i < key.count; i++)
        key.attributes[i] = (struct key_attribute){span_text(table->keys[i].attribute),
                                                   {table->keys[i].type, span_text("…")}};
    return key;
}

static bool explain_explanation_init(struct explanation *explanation, const struct tree *tree,
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
        struct key unknown = explain_unknown_key(place->table);
        explanation->items = plan_items(plan, plan->reads_again ? &unknown : &plan->key, 1, err);
        if (!explanation->items)
            return false;
    }
    explanation->own = calloc(price->files.count + 1, sizeof *explanation->own);
    bool alone = place->kind == PLACE_LIST_FILE; /* which has them among its records */
    for (size_t i = 0; !alone && explanation->own && i < price->files.count; i++)
        if (declared_files_is_item(&price->files.items[i]))
            explanation->own[explanation->own_count++] = price->files.items[i].plan;
    return explanation->own || error_no_memory(err);
}

static void explain_write_param_lines(struct buf *out, const struct place *place)
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

/* The texts that both forms show. */
struct explain_words {
    struct buf steps[2];
    size_t step_count;
    struct buf cost, exception, bound;
    struct buf paid, rcu, dollars; /* in words, and as JSON */
    struct buf command;
    struct buf doubt;             /* about the path's values; mostly empty */
    struct buf target;            /* where a link leads */
    struct buf of_target, of_way; /* what of the cost is for that, and for links on the way */
    struct buf filter;            /* what is asked of records; mostly empty */
};

static void explain_words_clean_up(struct explain_words *words)
{
    buf_clean_up(&words->steps[0]);
    buf_clean_up(&words->steps[1]);
    buf_clean_up(&words->cost);
    buf_clean_up(&words->exception);
    buf_clean_up(&words->bound);
    buf_clean_up(&words->paid);
    buf_clean_up(&words->rcu);
    buf_clean_up(&words->dollars);
    buf_clean_up(&words->command);
    buf_clean_up(&words->doubt);
    buf_clean_up(&words->target);
    buf_clean_up(&words->of_target);
    buf_clean_up(&words->of_way);
    buf_clean_up(&words->filter);
}

/* Appends what READ asks, in words and as a command behind those before. */
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
        source->write_command(read, &how, &words->command);
    }
    step->failed = step->failed || !read || where.failed;
}

/* What is read at a place without a plan. */
static void explain_find_words_of_table(struct explain_words *words, const struct tree *tree,
                                        const struct place *place, bool scans)
{
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    const struct source_ops *source = tree->describe(tree->source_arg, place, &options);
    words->command.failed |= options.failed;
    for (size_t i = 0; place->kind == PLACE_FACT && i < fact_read_count(place->fact); i++) {
        struct read *read = fact_read(place->fact, i, place->table_name);
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

static void explain_find_price(struct explain_words *words, const struct place *place,
                               const struct cost *cost)
{
    double price = place->environment ? place->environment->price : MAP_PRICE;
    cost_write(cost, &words->cost);
    cost_write_exception(cost, &words->exception);
    cost_write_json(cost, &words->bound);
    cost_write_rcu(cost, price, &words->paid);
    cost_write_rcu_json(cost, &words->rcu);
    cost_write_dollars_json(cost, price, &words->dollars);
}

static void explain_find_words_of_links(struct explain_words *words, const struct tree *tree,
                                        const struct place *place, const struct price *price)
{
    if (place->kind == PLACE_LINK) {
        links_write(place, &tree->names, &words->target);
        cost_write(&price->target, &words->of_target);
        if (price->target_is_entry)
            buf_add_text(&words->of_target,
                         "; 1 more a page of up to 1 MB, only where its name is shortened");
    }
    if (place->way.requests > 0 || place->way.pages > 0)
        cost_write(&place->way, &words->of_way);
}

/* What is tested here, behind the step that gives it. */
static void explain_add_requested(struct explain_words *words, const struct plan *plan)
{
    struct buf *last = &words->steps[words->step_count - 1];
    if (!plan->selection)
        return;
    if (plan->selection->filter)
        cond_write_words(plan->selection->filter, &words->filter);
    if (plan->parts.early.child_count > 0) {
        buf_add_text(&words->steps[0], "; of these only those with ");
        cond_write_words(&plan->parts.early, &words->steps[0]);
    }
    if (plan->parts.late)
        buf_printf(last, "; of these only those with %s", buf_text(&words->filter));
    bool here = plan->parts.early.child_count > 0 || plan->parts.late;
    if (plan->selection->limit > 0 && (here || plan->query->limit != plan->selection->limit))
        buf_printf(last, ", at most %lu", (unsigned long)plan->selection->limit);
}

/* False when memory ran out. */
static bool explain_find_words(struct explain_words *words, const struct tree *tree,
                               const struct place *place, const struct explanation *explanation)
{
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    explain_find_price(words, place, &explanation->price.cost);
    near_miss_write(place, &words->doubt);
    explain_find_words_of_links(words, tree, place, &explanation->price);
    if (!explanation->price.plan)
        explain_find_words_of_table(words, tree, place, explanation->price.cost.scans);
    if (explanation->price.plan) {
        const struct source_ops *source = tree->describe(tree->source_arg, place, &options);
        if (explanation->price.plan->query)
            source->write_words(explanation->price.plan->query, KEYS_OF_READ,
                                &words->steps[words->step_count++]);
        if (explanation->price.plan->index_suffices)
            buf_add_text(&words->steps[0], explanation->price.plan->counts
                                               ? ", counted in the index"
                                               : ", which holds all columns");
        if (explanation->items) {
            bool each = explanation->price.plan->kind == PLAN_LIST;
            enum read_keys again = each ? KEYS_FROM_ANSWER : KEY_FROM_ANSWER;
            struct buf *step = &words->steps[words->step_count++];
            source->write_words(explanation->items,
                                explanation->price.plan->reads_again ? again : KEYS_OF_READ, step);
            bool late = explanation->price.plan->parts.late;
            buf_add_text(step, !each  ? ""
                               : late ? ", which are tested"
                                      : ", for contents and sizes");
        }
        explain_add_requested(words, explanation->price.plan);
        struct command_of command = {
            .plan = explanation->price.plan,
            .items = explanation->items,
            .source = source,
            .options = buf_text(&options),
            .own = explanation->own,
            .own_count = explanation->own_count,
        };
        command_write(&command, &words->command);
    }
    return !words->steps[0].failed && !words->steps[1].failed && !words->cost.failed &&
           !words->exception.failed && !words->bound.failed && !words->command.failed &&
           !words->paid.failed && !words->rcu.failed && !words->dollars.failed &&
           !words->doubt.failed && !words->filter.failed && !words->target.failed &&
           !words->of_target.failed && !words->of_way.failed && !options.failed;
}

/* Whether less is shown, or sent, than is read and paid for. */
static bool explain_saves_nothing(const struct explanation *explanation)
{
    const struct plan *plan = explanation->price.plan;
    return explanation->price.cost.filters || (plan && (plan->attribute.size > 0 || plan->counts));
}

static void explain_write_text(struct buf *out, const struct place *place,
                               const struct explanation *explanation, struct span path,
                               const struct explain_words *words)
{
    buf_add_span(out, path);
    buf_add_char(out, '\n');
    explain_write_param_lines(out, place);
    if (words->doubt.size)
        buf_printf(out, "note   %s\n", buf_text(&words->doubt));
    if (words->filter.size)
        buf_add_text(out,
                     "note   a filter saves nothing: what it leaves out is read, and paid for\n");
    for (size_t i = 0; i < words->step_count; i++)
        buf_printf(out, "reads  %zu. %s\n", i + 1, buf_text(&words->steps[i]));
    if (words->target.size)
        buf_printf(out, "leads  %s\n", buf_text(&words->target));
    buf_printf(out, "cost   %s\n", buf_text(&words->cost));
    if (words->of_target.size)
        buf_printf(out, "       of these for what it leads to: %s\n", buf_text(&words->of_target));
    if (words->of_way.size)
        buf_printf(out, "       of these for the links on the way: %s\n", buf_text(&words->of_way));
    if (words->exception.size)
        buf_printf(out, "       %s\n", buf_text(&words->exception));
    if (words->paid.size)
        buf_printf(out, "       %s\n", buf_text(&words->paid));
    if (words->step_count && place->kind != PLACE_FACT)
        buf_printf(out, "       %s read unit for each started 4 KB that is read%s\n",
                   explanation->price.cost.consistent ? "1" : "0.5",
                   explain_saves_nothing(explanation) ? ", be it shown or not" : "");
    if (words->command.size)
        buf_printf(out, "aws    %s\n", buf_text(&words->command));
}

static void explain_write_member(struct buf *out, const char *name, struct span text)
{
    buf_printf(out, ",\n  \"%s\": ", name);
    json_write_string(out, text);
}

static void explain_write_json(struct buf *out, const struct place *place, struct span path,
                               const struct explain_words *words)
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
    buf_add_char(out, '}');
    if (words->doubt.size)
        explain_write_member(out, "note", buf_span(&words->doubt));
    if (words->filter.size)
        explain_write_member(out, "filter", buf_span(&words->filter));
    buf_add_text(out, ",\n  \"reads\": [");
    for (size_t i = 0; i < words->step_count; i++) {
        buf_add_text(out, i ? ", " : "");
        json_write_string(out, buf_span(&words->steps[i]));
    }
    buf_add_char(out, ']');
    if (words->target.size)
        explain_write_member(out, "target", buf_span(&words->target));
    buf_add_text(out, ",\n  \"cost\": ");
    json_write_string(out, buf_span(&words->cost));
    buf_printf(out, ",\n  \"bound\": %s", buf_text(&words->bound));
    buf_printf(out, ",\n  \"units\": %s", buf_text(&words->rcu));
    buf_printf(out, ",\n  \"dollars\": %s", buf_text(&words->dollars));
    buf_add_text(out, ",\n  \"aws\": ");
    json_write_string(out, buf_span(&words->command));
    buf_add_text(out, "\n}\n");
}

bool explain_write(const struct tree *tree, const struct place *place, struct span path, bool json,
                   struct buf *out, struct error *err)
{
    CLEAN_UP(explain_explanation_clean_up) struct explanation explanation = {0};
    CLEAN_UP(explain_words_clean_up) struct explain_words words = {0};
    if (!explain_explanation_init(&explanation, tree, place, err))
        return false;
    if (!explain_find_words(&words, tree, place, &explanation))
        return error_no_memory(err);
    if (json)
        explain_write_json(out, place, path, &words);
    else
        explain_write_text(out, place, &explanation, path, &words);
    return !out->failed || error_no_memory(err);
}

static void explain_write_key(struct buf *out, const struct model *table, struct json item)
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

static void explain_write_origin(struct buf *out, const struct tree *tree,
                                 const struct record *record, double found_units)
{
    const struct record_origin *origin = record_origin(record);
    struct clock *clock = loop_clock(tree->loop);
    struct version version = record_version(record);
    CLEAN_UP(buf_clean_up) struct buf when = {0}, digest = {0};
    instant_write(&when, origin->fetched_wall_ms);
    digest_hex(&digest, version.bytes, VERSION_SIZE);
    out->failed = out->failed || when.failed || digest.failed;
    explain_write_member(out, "fetched", buf_span(&when));
    buf_printf(out, ",\n  \"age_ms\": %lld",
               (long long)(clock->now_ms(clock) - origin->fetched_ms));
    bool is_known = origin->capacity >= 0 && found_units >= 0;
    const struct spent spent = {is_known ? origin->capacity + found_units : 0, origin->doubted};
    buf_add_text(out, ",\n  ");
    if (is_known || origin->doubted > 0)
        spent_write_json(&spent, "capacity", out);
    else
        buf_add_text(out, "\"capacity\": null");
    explain_write_member(out, "version", buf_span(&digest));
    explain_write_member(out, "request_id", span_text(origin->request_id));
}

/* Since when it has been too old; where its index alone is, nobody can tell. */
static void explain_write_stale(struct buf *out, const struct tree *tree, const struct place *place,
                                const struct record *record, const struct error *stale)
{
    const struct record_origin *origin = record_origin(record);
    struct clock *clock = loop_clock(tree->loop);
    int64_t ttl_ms = place->route->file->ttl_ms;
    CLEAN_UP(buf_clean_up) struct buf since = {0};
    buf_add_text(out, ",\n  \"stale\": {");
    if (clock->now_ms(clock) - origin->fetched_ms >= ttl_ms) {
        instant_write(&since, origin->fetched_wall_ms + ttl_ms);
        buf_add_text(out, "\"since\": ");
        json_write_string(out, buf_span(&since));
        buf_add_text(out, ", ");
    }
    buf_add_text(out, "\"why\": ");
    json_write_string(out, span_text(stale->text));
    buf_add_char(out, '}');
    out->failed = out->failed || since.failed;
}

bool explain_write_info(const struct tree *tree, const struct place *place,
                        const struct record *record, double found_units, const struct error *stale,
                        struct buf *out)
{
    CLEAN_UP(explain_explanation_clean_up) struct explanation explanation = {0};
    CLEAN_UP(explain_words_clean_up) struct explain_words words = {0};
    const char *index = place->route->file->index ? place->route->file->index->name : NULL;
    if (!explain_explanation_init(&explanation, tree, place, NULL))
        return false;
    if (!explain_find_words(&words, tree, place, &explanation))
        return false;
    buf_add_text(out, "{\n  \"table\": ");
    json_write_string(out, span_text(explanation.price.plan->table_name));
    if (explanation.price.plan->query && index)
        explain_write_member(out, "index", span_text(index));
    explain_write_key(out, place->table, record_item(record));
    buf_add_text(out, ",\n  \"reads\": [");
    for (size_t i = 0; i < words.step_count; i++) {
        buf_add_text(out, i ? ", " : "");
        json_write_string(out, buf_span(&words.steps[i]));
    }
    buf_add_char(out, ']');
    explain_write_member(out, "aws", buf_span(&words.command));
    explain_write_origin(out, tree, record, found_units);
    if (stale)
        explain_write_stale(out, tree, place, record, stale);
    buf_add_text(out, "\n}\n");
    return !out->failed;
}

/* Which names of the directory the listing does not show. */
static void explain_write_not_listed(const struct tree *tree, const struct place *place,
                                     const struct error *left_out, struct buf *out)
{
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (left_out)
        buf_add_text(&text, left_out->text);
    if (!tree_lists_all(tree, place, &why))
        buf_printf(&text, "%s%s", text.size ? "; " : "", why.text);
    if (text.size > 0)
        explain_write_member(out, "not_listed", buf_span(&text));
    out->failed = out->failed || text.failed;
}

/* Where the listing's @count is made, if no item is read for it. */
static void explain_write_where_counted(const struct place *place, struct buf *out)
{
    struct place *counted = place_copy_as(place, COMPANION_COUNT);
    const struct plan *plan = counted ? place_plan(counted, NULL) : NULL;
    if (plan && plan->query->index && !plan->reads_again)
        explain_write_member(out, "count", SPAN_LITERAL("counted in the index"));
    out->failed = out->failed || !plan;
    place_destroy(counted);
}

/* What a form took that was read lately: its query, and its records where these are read again. */
static void explain_write_form_read(struct buf *out, const struct tree_list_stats *stats,
                                    bool is_known, bool has_records)
{
    struct spent spent = stats->spent;
    unsigned requests = stats->requests;
    buf_add_text(out, ", \"read\": ");
    if (!is_known) {
        buf_add_text(out, "null");
        return;
    }
    if (has_records) {
        spent_add(&spent, &stats->records.spent);
        requests += stats->records.requests;
    }
    buf_printf(out, "{\"requests\": %u, ", requests);
    spent_write_json(&spent, "capacity", out);
    buf_add_char(out, '}');
}

/* What each form of the listing at PLACE costs: names, and the files made of it. READ is what it
 * took, if it was read lately, or would not take anything else. */
static bool explain_write_forms(struct buf *out, const struct tree *tree, const struct place *place,
                                const struct tree_list_stats *stats)
{
    static const struct {
        const char *name;
        enum companion companion;
    } forms[] = {
        {"names", COMPANION_NONE},   {"@jsonl", COMPANION_JSONL}, {"@csv", COMPANION_CSV},
        {"@table", COMPANION_TABLE}, {"@count", COMPANION_COUNT}, {"@summary", COMPANION_SUMMARY},
    };
    buf_add_text(out, ",\n  \"forms\": {");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        CLEAN_UP(price_clean_up) struct price price = {0};
        CLEAN_UP(buf_clean_up) struct buf cost = {0};
        struct place *form = place_copy_as(place, forms[i].companion);
        if (!form || !price_init(&price, form, &tree->names, NULL)) {
            place_destroy(form);
            return false;
        }
        bool is_names = form->kind == PLACE_DIRECTORY;
        if (is_names) { /* contents are not read for them */
            price.cost.batches = false;
            price.cost.rcu.record = 0;
        }
        cost_write(&price.cost, &cost);
        buf_printf(out, "%s\n    \"%s\": {\"cost\": ", i ? "," : "", forms[i].name);
        json_write_string(out, buf_span(&cost));
        buf_add_text(out, ", \"units\": ");
        cost_write_rcu_json(&price.cost, out);
        bool again = price.plan && price.plan->reads_again && !is_names;
        bool is_known = form->companion != COMPANION_COUNT && (!again || stats->has_records);
        explain_write_form_read(out, stats, is_known, again);
        buf_add_char(out, '}');
        out->failed = out->failed || cost.failed;
        place_destroy(form);
    }
    buf_add_text(out, "\n  }");
    return true;
}

bool explain_write_list_info(const struct tree *tree, const struct place *place,
                             const struct tree_listing *listing, const struct error *left_out,
                             struct buf *out)
{
    CLEAN_UP(explain_explanation_clean_up) struct explanation explanation = {0};
    CLEAN_UP(explain_words_clean_up) struct explain_words words = {0};
    CLEAN_UP(buf_clean_up) struct buf when = {0};
    struct tree_list_stats stats = tree_list_stats(listing);
    struct clock *clock = loop_clock(tree->loop);
    struct error note;
    if (!explain_explanation_init(&explanation, tree, place, NULL) ||
        !explain_find_words(&words, tree, place, &explanation))
        return false;
    buf_add_text(out, "{\n  \"table\": ");
    json_write_string(out, span_text(explanation.price.plan->table_name));
    if (explanation.price.plan->query->index)
        explain_write_member(out, "index", span_text(explanation.price.plan->query->index));
    buf_add_text(out, ",\n  \"reads\": [");
    for (size_t i = 0; i < words.step_count; i++) {
        buf_add_text(out, i ? ", " : "");
        json_write_string(out, buf_span(&words.steps[i]));
    }
    buf_add_char(out, ']');
    explain_write_member(out, "cost", buf_span(&words.cost));
    if (!explain_write_forms(out, tree, place, &stats))
        return false;
    explain_write_member(out, "aws", buf_span(&words.command));
    buf_printf(out, ",\n  \"records\": %zu,\n  \"skipped\": %zu", stats.entries, stats.skipped);
    explain_write_where_counted(place, out);
    if (tree_list_note(listing, &note))
        explain_write_member(out, stats.skipped ? "skipped_why" : "note", span_text(note.text));
    explain_write_not_listed(tree, place, left_out, out);
    buf_printf(out, ",\n  \"pages\": %u,\n  \"requests\": %u,\n  ", stats.pages, stats.requests);
    spent_write_json(&stats.spent, "capacity", out);
    instant_write(&when, stats.age.since_wall_ms);
    explain_write_member(out, "fetched", buf_span(&when));
    buf_printf(out, ",\n  \"age_ms\": %lld,\n  \"took_ms\": %lld\n}\n",
               (long long)(clock->now_ms(clock) - stats.age.since_ms),
               (long long)stats.age.took_ms);
    return !out->failed && !when.failed;
}
