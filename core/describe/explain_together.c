#include "core/describe/explain_together.h"

#include <stdlib.h>

#include "core/describe/equal_command.h"
#include "core/json/writer.h"
#include "core/read/moments.h"
#include "core/source/read_words.h"

/* The items and their Read. */
struct explain_together {
    const struct tree *tree;
    const struct together_item *items;
    size_t count;
    struct key *keys;  /* owned; a key that a query finds has no attributes */
    size_t *part_of;   /* owned */
    struct read *read; /* owned */
    struct cost cost;  /* of all */
    struct buf command;
};

static void explain_together_clean_up(struct explain_together *all)
{
    free(all->keys);
    free(all->part_of);
    read_destroy(all->read);
    buf_clean_up(&all->command);
}

static const struct plan *explain_together_plan(const struct explain_together *all, size_t i)
{
    return place_plan(all->items[i].place, NULL);
}

/* The key of a part, from 1 on. */
static const struct key *explain_together_key(const struct explain_together *all, size_t part)
{
    size_t i = 0;
    while (all->part_of[i] != part)
        i++;
    return &all->keys[i];
}

/* The request, then each of its items, with BETWEEN in front of it. */
static void explain_together_write_reads(const struct explain_together *all, const char *between,
                                         struct buf *out)
{
    if (all->items[0].place->is_snapshot) {
        buf_add_text(out, "items of a snapshot, all of one moment");
        return;
    }
    read_write_words(all->read, KEYS_OF_READ, out);
    for (size_t part = 1; part <= all->read->part_count; part++) {
        const struct key *key = explain_together_key(all, part);
        buf_printf(out, "%s%zu. %s ", between, part, all->read->parts[part - 1]->table);
        buf_add_text(out, key->count > 0 ? "with " : "by the key that was found");
        key_write_words(key, out);
    }
}

static void explain_together_add_command(struct explain_together *all)
{
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    const struct tree *tree = all->tree;
    struct equal_command *commands = calloc(all->count, sizeof *commands);
    const struct source_ops *source =
        tree->describe(tree->source_arg, all->items[0].place, &options);
    for (size_t i = 0; commands && i < all->count; i++)
        commands[i] = (struct equal_command){
            .plan = explain_together_plan(all, i), .source = source, .options = buf_text(&options)};
    if (commands && source->write_command)
        equal_command_write_together(commands, all->part_of, all->count, all->read, &all->command);
    all->command.failed |= options.failed || !commands;
    free(commands);
}

/* The cost of the transaction, of the keys that are found before, and of links on the way. */
static void explain_together_add_cost(struct explain_together *all)
{
    size_t sure = 0;
    for (size_t part = 1; part <= all->read->part_count; part++)
        sure += explain_together_key(all, part)->count > 0;
    cost_of_together(all->read->part_count, sure, &all->cost);
    for (size_t i = 0; i < all->count; i++) {
        struct cost found;
        const struct place *place = all->items[i].place;
        plan_cost_of_key(explain_together_plan(all, i), &found);
        cost_add(&all->cost, &found);
        cost_add(&all->cost, &place->way);
        all->cost.described |= place->table_name != NULL;
    }
    if (all->items[0].place->is_snapshot)
        all->cost = (struct cost){.is_free = true};
}

static bool explain_together_init(struct explain_together *all, struct error *err)
{
    all->keys = calloc(all->count, sizeof *all->keys);
    all->part_of = calloc(all->count, sizeof *all->part_of);
    if (!all->keys || !all->part_of)
        return error_no_memory(err);
    for (size_t i = 0; i < all->count; i++) {
        const struct plan *plan = place_plan(all->items[i].place, err);
        if (!plan)
            return false;
        if (plan->kind == PLAN_KEY)
            all->keys[i] = plan->key;
    }
    all->read = together_make_read(all->items, all->keys, NULL, all->count, all->part_of, err);
    if (!all->read)
        return false;
    explain_together_add_cost(all);
    explain_together_add_command(all);
    return !all->command.failed || error_no_memory(err);
}

/* The texts about one item. An empty one is left out. */
struct explain_together_words {
    struct buf query;  /* which finds its key */
    struct buf note;   /* the parts of its way that are not of the moment */
    struct buf origin; /* its snapshot */
};

static void explain_together_clean_up_words(struct explain_together_words *words)
{
    buf_clean_up(&words->query);
    buf_clean_up(&words->note);
    buf_clean_up(&words->origin);
}

/* Marks OUT as failed if memory ran out. */
static void explain_together_find_words(const struct explain_together *all, size_t i,
                                        struct explain_together_words *words, struct buf *out)
{
    const struct place *place = all->items[i].place;
    const struct plan *plan = explain_together_plan(all, i);
    const struct moments *moments = all->tree->names.moments;
    if (plan->query)
        read_write_words(plan->query, KEYS_OF_READ, &words->query);
    together_note(place, &words->note);
    if (place->is_snapshot && moments)
        moments->write_origin(moments->arg, place, &words->origin);
    out->failed |= words->query.failed || words->note.failed || words->origin.failed;
}

static void explain_together_write_line(const char *head, const struct buf *text, struct buf *out)
{
    if (text->size)
        buf_printf(out, "%s%s\n", head, buf_text(text));
}

static void explain_together_write_item(const struct explain_together *all, size_t i,
                                        struct buf *out)
{
    CLEAN_UP(explain_together_clean_up_words) struct explain_together_words words = {0};
    const struct place *place = all->items[i].place;
    buf_printf(out, "%s\n", all->items[i].path);
    for (size_t k = 0; k < place->bindings.count; k++) {
        buf_printf(out, "  %-16s ", place->bindings.items[k].param);
        json_write_string(out, place->bindings.items[k].value);
        buf_add_char(out, '\n');
    }
    explain_together_find_words(all, i, &words, out);
    explain_together_write_line("first  ", &words.query, out);
    explain_together_write_line("note   ", &words.note, out);
    explain_together_write_line("from   ", &words.origin, out);
}

static double explain_together_price(const struct explain_together *all)
{
    const struct map_environment *environment = all->items[0].place->environment;
    return environment ? environment->price : MAP_PRICE;
}

static void explain_together_write_text(const struct explain_together *all, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf exception = {0}, paid = {0};
    for (size_t i = 0; i < all->count; i++)
        explain_together_write_item(all, i, out);
    buf_add_text(out, "together\nreads  ");
    explain_together_write_reads(all, "\n       ", out);
    buf_add_text(out, "\ncost   ");
    cost_write(&all->cost, out);
    buf_add_char(out, '\n');
    if (cost_write_exception(&all->cost, &exception))
        buf_printf(out, "       %s\n", buf_text(&exception));
    cost_write_rcu(&all->cost, explain_together_price(all), &paid);
    if (paid.size)
        buf_printf(out,
                   "       %s\n       2 RCU for each started 4 KB of an item, twice those of a "
                   "consistent read, whether it is shown or not; as many for an item that is not "
                   "found, and for each repetition after a conflict\n",
                   buf_text(&paid));
    if (all->command.size)
        buf_printf(out, "aws    %s\n", buf_text(&all->command));
    out->failed |= exception.failed || paid.failed;
}

static void explain_together_add_text(const char *name, const struct buf *text,
                                      struct json_writer *json)
{
    if (text->size)
        json_writer_add_string(json, name, buf_span(text));
}

static void explain_together_add_item(const struct explain_together *all, size_t i,
                                      struct json_writer *json)
{
    CLEAN_UP(explain_together_clean_up_words) struct explain_together_words words = {0};
    const struct place *place = all->items[i].place;
    json_writer_begin_object(json, NULL, JSON_LINES);
    json_writer_add_text(json, "path", all->items[i].path);
    json_writer_begin_object(json, "says", JSON_SPACED);
    for (size_t k = 0; k < place->bindings.count; k++)
        json_writer_add_string(json, place->bindings.items[k].param,
                               place->bindings.items[k].value);
    json_writer_end(json);
    explain_together_find_words(all, i, &words, json->out);
    explain_together_add_text("first", &words.query, json);
    explain_together_add_text("note", &words.note, json);
    explain_together_add_text("snapshot", &words.origin, json);
    json_writer_end(json);
}

static void explain_together_write_json(const struct explain_together *all, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf cost = {0}, reads = {0};
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_LINES);
    json_writer_begin_array(&json, "together", JSON_LINES);
    for (size_t i = 0; i < all->count; i++)
        explain_together_add_item(all, i, &json);
    json_writer_end(&json);
    json_writer_begin_array(&json, "reads", JSON_SPACED);
    explain_together_write_reads(all, "; ", &reads);
    json_writer_add_string(&json, NULL, buf_span(&reads));
    json_writer_end(&json);
    cost_write(&all->cost, &cost);
    json_writer_add_string(&json, "cost", buf_span(&cost));
    cost_write_json(&all->cost, json_writer_add_value(&json, "bound"));
    cost_write_rcu_json(&all->cost, json_writer_add_value(&json, "units"));
    cost_write_dollars_json(&all->cost, explain_together_price(all),
                            json_writer_add_value(&json, "dollars"));
    if (!all->items[0].place->is_snapshot)
        json_writer_add_string(&json, "aws", buf_span(&all->command));
    json_writer_end(&json);
    buf_add_char(out, '\n');
    out->failed |= cost.failed || reads.failed;
}

bool explain_together_write(const struct tree *tree, const struct together_item *items,
                            size_t count, bool json, struct buf *out, struct error *err)
{
    CLEAN_UP(explain_together_clean_up)
    struct explain_together all = {.tree = tree, .items = items, .count = count};
    if (!explain_together_init(&all, err))
        return false;
    if (json)
        explain_together_write_json(&all, out);
    else
        explain_together_write_text(&all, out);
    return !out->failed || error_no_memory(err);
}
