#include "fs/cli/sql_explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/printable.h"
#include "core/base/quantity.h"
#include "core/describe/explain.h"
#include "core/json/writer.h"

struct sql_explanation {
    const struct tree *tree;
    const struct options *options;
    struct buf text; /* owned: of all steps */
    size_t steps;
    struct cost cost;                          /* of the steps with a known number of lookups */
    struct buf others;                         /* owned: the numbers of the others, "2 and 3" */
    double price;                              /* of the last step */
    void (*note)(void *arg, const char *text); /* of sql_explain_note */
    void *note_arg;
    struct error *err;
};

static void sql_explanation_clean_up(struct sql_explanation *explanation)
{
    buf_clean_up(&explanation->text);
    buf_clean_up(&explanation->others);
}

/* The Scan of a table, and the description that states its size. */
static struct cost sql_explain_scan_cost(const struct tree *tree)
{
    struct cost cost = {.requests = 1, .scans = 1, .rcu = {.least = cost_bound_item(0, false)}};
    if (tree->names.scan)
        cost.rcu.scan = cost_bound_scan(tree->names.scan->bytes, 1);
    return cost;
}

/* Adds the cost of STEP to the total. */
static void sql_explain_add_cost(struct sql_explanation *explanation, const struct sql_step *step)
{
    const struct plan *plan = step->place ? place_plan(step->place, NULL) : NULL;
    struct cost scan = sql_explain_scan_cost(explanation->tree);
    const struct cost *cost = step->is_scan ? &scan : plan ? &plan->cost : NULL;
    if ((!cost && !step->per_row) || step->directory->is_snapshot)
        return;
    explanation->price =
        step->directory->environment ? step->directory->environment->price : MAP_PRICE;
    if (step->per_row && !step->is_scan) {
        buf_printf(&explanation->others, "%s%zu", explanation->others.size ? " and " : "",
                   explanation->steps);
        return;
    }
    for (uint64_t i = 0; i < (step->lookups > 0 ? step->lookups : 1); i++)
        cost_add(&explanation->cost, cost);
}

/* Whether the number of requests is known. */
static bool sql_explain_is_bounded(const struct sql_explanation *explanation)
{
    const struct cost *cost = &explanation->cost;
    return explanation->others.size == 0 && !cost->pages && !cost->passes_over && !cost->ties &&
           !cost->batches && !cost->tables && !cost->scans;
}

/* Appends the number of lookups; nothing for one. */
static void sql_explain_write_times(const struct sql_step *step, struct buf *out)
{
    if (step->lookups > 1)
        buf_printf(out, "%llu lookups", (unsigned long long)step->lookups);
    if (step->per_row)
        buf_printf(out, "%sfor each value that other steps find; equal lookups are sent once",
                   step->lookups > 1 ? " " : "");
}

/* Appends the Reads of STEP in words, and the equal command. */
static bool sql_explain_write_reads(const struct tree *tree, const struct sql_step *step,
                                    struct buf *words, struct buf *command, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf options = {0};
    if (step->place)
        return explain_write_reads(tree, step->place, words, command, err);
    if (!step->is_scan) {
        buf_add_text(words, step->per_row ? "by keys that depend on rows of other steps"
                                          : "nothing: no row can match");
        return !words->failed || error_no_memory(err);
    }
    char *name = place_table_name(step->directory);
    struct read *read = name ? read_new(READ_SCAN, name, NULL) : NULL;
    const struct source_ops *source = tree->describe(tree->source_arg, step->directory, &options);
    struct source_command how = {.options = buf_text(&options), .choose = ".[]", .flags = "-c"};
    bool ok = read && !options.failed;
    if (ok)
        source->write_words(read, KEYS_OF_READ, words);
    if (ok && source->write_command)
        source->write_command(read, &how, command);
    read_destroy(read);
    free(name);
    return (ok && !words->failed && !command->failed) || error_no_memory(err);
}

/* A step without a place. */
static bool sql_explain_add_bare(struct sql_explanation *explanation, const struct sql_step *step,
                                 const char *head)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0}, command = {0}, cost = {0}, rcu = {0};
    struct buf *out = &explanation->text;
    struct cost scan = sql_explain_scan_cost(explanation->tree);
    scan.is_free = step->directory->is_snapshot;
    if (!sql_explain_write_reads(explanation->tree, step, &words, &command, explanation->err))
        return false;
    buf_printf(out, "%s\nreads  %s%s\n", head, step->is_scan ? "1. " : "", buf_text(&words));
    if (!step->is_scan)
        return true;
    cost_write(&scan, &cost);
    buf_printf(out, "cost   %s\n", buf_text(&cost));
    if (!scan.is_free)
        cost_write_rcu(&scan, explanation->price, &rcu);
    if (rcu.size > 0)
        buf_printf(out, "       %s\n", buf_text(&rcu));
    if (command.size > 0)
        buf_printf(out, "aws    %s\n", buf_text(&command));
    out->failed |= cost.failed || rcu.failed;
    return true;
}

static bool sql_explain_add_text(struct sql_explanation *explanation, const struct sql_step *step,
                                 const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf times = {0}, head = {0};
    struct buf *out = &explanation->text;
    buf_printf(&head, "%zu. %s", explanation->steps, name);
    if (!(step->place ? explain_write(explanation->tree, step->place, buf_span(&head), false, out,
                                      explanation->err)
                      : sql_explain_add_bare(explanation, step, buf_text(&head))))
        return false;
    sql_explain_write_times(step, &times);
    if (times.size > 0)
        buf_printf(out, "times  %s\n", buf_text(&times));
    return true;
}

/* Joins the lines of JSON, whose strings have no line ends. */
static void sql_explain_join_lines(struct span json, struct buf *out)
{
    for (size_t i = 0; i < json.size; i++) {
        if (json.data[i] != '\n') {
            buf_add_char(out, json.data[i]);
            continue;
        }
        while (i + 1 < json.size && json.data[i + 1] == ' ')
            i++;
        bool is_edge = i + 1 >= json.size || json.data[i + 1] == '}' ||
                       (out->size > 0 && out->data[out->size - 1] == '{');
        buf_add_text(out, is_edge ? "" : " ");
    }
}

static bool sql_explain_add_json(struct sql_explanation *explanation, const struct sql_step *step,
                                 const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf lines = {0}, read = {0}, words = {0}, command = {0};
    struct json_writer json = json_writer_to(&explanation->text);
    if (step->place && !explain_write(explanation->tree, step->place, span_text(name), true, &lines,
                                      explanation->err))
        return false;
    if (!step->place &&
        !sql_explain_write_reads(explanation->tree, step, &words, &command, explanation->err))
        return false;
    sql_explain_join_lines(buf_span(&lines), &read);
    explanation->text.failed |= lines.failed || read.failed;
    json_writer_begin_object(&json, NULL, JSON_SPACED);
    json_writer_add_integer(&json, "step", (int64_t)explanation->steps);
    json_writer_add_text(&json, "table", step->table);
    if (step->alias[0])
        json_writer_add_text(&json, "alias", step->alias);
    if (step->lookups > 0)
        json_writer_add_integer(&json, "lookups", (int64_t)step->lookups);
    json_writer_add_bool(&json, "per_row", step->per_row);
    if (step->place)
        json_writer_add_raw(&json, "read", buf_span(&read));
    else
        json_writer_add_string(&json, "read", buf_span(&words));
    if (command.size > 0)
        json_writer_add_string(&json, "aws", buf_span(&command));
    json_writer_end(&json);
    buf_add_char(&explanation->text, '\n');
    return true;
}

static bool sql_explain_add_step(void *arg, const struct sql_step *step)
{
    struct sql_explanation *explanation = arg;
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    explanation->steps++;
    buf_printf(&name, "%s%s%s", step->table, step->alias[0] ? " " : "", step->alias);
    sql_explain_add_cost(explanation, step);
    return explanation->options->json ? sql_explain_add_json(explanation, step, buf_text(&name))
                                      : sql_explain_add_text(explanation, step, buf_text(&name));
}

static void sql_explain_add_json_total(struct sql_explanation *explanation)
{
    struct json_writer json = json_writer_to(&explanation->text);
    json_writer_begin_object(&json, NULL, JSON_SPACED);
    json_writer_begin_object(&json, "total", JSON_SPACED);
    if (sql_explain_is_bounded(explanation)) {
        json_writer_add_integer(&json, "requests", explanation->cost.requests);
        decimal_write(explanation->cost.rcu.most, json_writer_add_value(&json, "rcu"));
    } else {
        json_writer_add_null(&json, "requests");
        json_writer_add_null(&json, "rcu");
        cost_write_json(&explanation->cost, json_writer_add_value(&json, "bound"));
        cost_write_rcu_json(&explanation->cost, json_writer_add_value(&json, "units"));
        json_writer_add_bool(&json, "per_row", explanation->others.size > 0);
    }
    json_writer_end(&json);
    json_writer_end(&json);
    buf_add_char(&explanation->text, '\n');
}

/* The bounds of the steps whose number of lookups is known, and which others there are. */
static void sql_explain_add_open_total(const struct sql_explanation *explanation, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf exception = {0};
    const struct cost *cost = &explanation->cost;
    bool any = cost->requests || cost->pages || cost->passes_over || cost->scans;
    if (any) {
        cost_write(cost, out);
        buf_add_text(out, "\n       ");
        if (cost_write_exception(cost, &exception))
            buf_printf(out, "%s\n       ", buf_text(&exception));
        cost_write_rcu(cost, explanation->price, out);
        buf_add_text(out, "\n       ");
    }
    if (explanation->others.size > 0)
        buf_printf(out, "%sthe cost of step %s for each value; ", any ? "and " : "",
                   buf_text(&explanation->others));
    buf_add_text(out, "the sum is not known before the rows are read; --max-rcu limits it\n");
    out->failed |= exception.failed;
}

static void sql_explain_add_total(struct sql_explanation *explanation)
{
    struct buf *out = &explanation->text;
    const struct cost *cost = &explanation->cost;
    buf_add_text(out, "total  ");
    if (!sql_explain_is_bounded(explanation)) {
        sql_explain_add_open_total(explanation, out);
        return;
    }
    if (cost->requests == 0) {
        buf_add_text(out, "no request\n");
        return;
    }
    buf_printf(out, "at most %u request%s", cost->requests, cost->requests == 1 ? "" : "s");
    if (cost->rcu.most > 0) {
        buf_add_text(out, ", ");
        decimal_write(cost->rcu.most, out);
        buf_add_text(out, " RCU: about ");
        cost_write_dollars(cost->rcu.most, explanation->price, out);
        buf_add_text(out, " on demand");
    }
    buf_add_char(out, '\n');
}

bool sql_explain_print(const struct tree *tree, struct sql_statement *statement,
                       const struct options *options, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    CLEAN_UP(sql_explanation_clean_up)
    struct sql_explanation explanation = {
        .tree = tree, .options = options, .price = MAP_PRICE, .err = err};
    bool ok = sql_statement_explain(statement, sql_explain_add_step, &explanation, err);
    if (ok && options->json)
        sql_explain_add_json_total(&explanation);
    else if (ok)
        sql_explain_add_total(&explanation);
    if (ok && options->json)
        json_add_printable(&safe, buf_span(&explanation.text));
    else if (ok)
        printable_add_lines(&safe, buf_span(&explanation.text));
    if (ok && (explanation.text.failed || explanation.others.failed || safe.failed))
        ok = error_no_memory(err);
    if (ok)
        fwrite(safe.data, 1, safe.size, stdout);
    return ok;
}

static bool sql_explain_note_step(void *arg, const struct sql_step *step)
{
    struct sql_explanation *explanation = arg;
    CLEAN_UP(buf_clean_up) struct buf words = {0}, command = {0}, times = {0}, line = {0};
    if (!sql_explain_write_reads(explanation->tree, step, &words, &command, explanation->err))
        return false;
    sql_explain_write_times(step, &times);
    buf_printf(&line, "step %zu, %s%s%s: %s%s%s", ++explanation->steps, step->table,
               step->alias[0] ? " " : "", step->alias, buf_text(&words), times.size ? "; " : "",
               buf_text(&times));
    if (line.failed || times.failed)
        return error_no_memory(explanation->err);
    explanation->note(explanation->note_arg, buf_text(&line));
    if (command.size > 0)
        explanation->note(explanation->note_arg, buf_text(&command));
    return true;
}

bool sql_explain_note(const struct tree *tree, struct sql_statement *statement,
                      void (*fn)(void *arg, const char *text), void *arg, struct error *err)
{
    struct sql_explanation explanation = {.tree = tree, .note = fn, .note_arg = arg, .err = err};
    return sql_statement_explain(statement, sql_explain_note_step, &explanation, err);
}
