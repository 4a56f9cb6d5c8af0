#include "fs/cli/sql_explain.h"

#include <stdio.h>

#include "core/base/printable.h"
#include "core/base/quantity.h"
#include "core/describe/explain.h"
#include "core/json/writer.h"

struct sql_explanation {
    const struct tree *tree;
    const struct options *options;
    struct buf text; /* owned: of all steps */
    size_t steps;
    bool is_bounded; /* all steps so far have a known number of requests */
    double requests, rcu;
    double price; /* of the last step */
    struct error *err;
};

/* Adds the cost of STEP to the total. */
static void sql_explain_add_cost(struct sql_explanation *explanation, const struct sql_step *step)
{
    const struct place *place = step->place;
    if (!place && !step->is_scan)
        return;
    const struct plan *plan = place ? place_plan(place, NULL) : NULL;
    const struct cost *cost = plan ? &plan->cost : NULL;
    if (place && place->is_snapshot)
        return;
    if (!cost || step->per_row || cost->pages || cost->passes_over || cost->ties || cost->batches ||
        cost->tables || cost->scans) {
        explanation->is_bounded = false;
        return;
    }
    double lookups = step->lookups > 0 ? (double)step->lookups : 1;
    explanation->requests += lookups * cost->requests;
    explanation->rcu += lookups * cost->rcu.most;
    explanation->price = place->environment ? place->environment->price : MAP_PRICE;
}

/* Appends the number of lookups; nothing for one. */
static void sql_explain_write_times(const struct sql_step *step, struct buf *out)
{
    if (step->lookups > 1)
        buf_printf(out, "%llu lookups", (unsigned long long)step->lookups);
    if (step->per_row)
        buf_printf(out, "%sfor each row of the steps before; equal lookups are sent once",
                   step->lookups > 1 ? " " : "");
}

static const char *sql_explain_read_of(const struct sql_step *step)
{
    return step->is_scan ? "Scan of the whole table" : "nothing: no row can match";
}

static bool sql_explain_add_text(struct sql_explanation *explanation, const struct sql_step *step,
                                 const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf times = {0}, head = {0};
    struct buf *out = &explanation->text;
    buf_printf(&head, "%zu. %s", explanation->steps, name);
    if (!step->place)
        buf_printf(out, "%s\nreads  %s\n", buf_text(&head), sql_explain_read_of(step));
    else if (!explain_write(explanation->tree, step->place, buf_span(&head), false, out,
                            explanation->err))
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
    CLEAN_UP(buf_clean_up) struct buf lines = {0}, read = {0};
    struct json_writer json = json_writer_to(&explanation->text);
    if (step->place && !explain_write(explanation->tree, step->place, span_text(name), true, &lines,
                                      explanation->err))
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
        json_writer_add_text(&json, "read", sql_explain_read_of(step));
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

static void sql_explain_add_total(struct sql_explanation *explanation)
{
    struct buf *out = &explanation->text;
    struct json_writer json = json_writer_to(out);
    if (explanation->options->json) {
        json_writer_begin_object(&json, NULL, JSON_SPACED);
        json_writer_begin_object(&json, "total", JSON_SPACED);
        if (explanation->is_bounded) {
            decimal_write(explanation->requests, json_writer_add_value(&json, "requests"));
            decimal_write(explanation->rcu, json_writer_add_value(&json, "rcu"));
        } else {
            json_writer_add_null(&json, "requests");
            json_writer_add_null(&json, "rcu");
        }
        json_writer_end(&json);
        json_writer_end(&json);
        buf_add_char(out, '\n');
        return;
    }
    if (!explanation->is_bounded) {
        buf_add_text(out, "total  not known before the rows are read; --max-rcu limits it\n");
        return;
    }
    if (explanation->requests == 0) {
        buf_add_text(out, "total  no request\n");
        return;
    }
    buf_add_text(out, "total  at most ");
    decimal_write(explanation->requests, out);
    buf_printf(out, " request%s", explanation->requests == 1 ? "" : "s");
    if (explanation->rcu > 0) {
        buf_add_text(out, ", ");
        decimal_write(explanation->rcu, out);
        buf_add_text(out, " RCU: about ");
        cost_write_dollars(explanation->rcu, explanation->price, out);
        buf_add_text(out, " on demand");
    }
    buf_add_char(out, '\n');
}

bool sql_explain_print(const struct tree *tree, struct sql_statement *statement,
                       const struct options *options, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    struct sql_explanation explanation = {
        .tree = tree, .options = options, .is_bounded = true, .err = err};
    bool ok = sql_statement_explain(statement, sql_explain_add_step, &explanation, err);
    if (ok)
        sql_explain_add_total(&explanation);
    if (ok && options->json)
        json_add_printable(&safe, buf_span(&explanation.text));
    else if (ok)
        printable_add_lines(&safe, buf_span(&explanation.text));
    if (ok && (explanation.text.failed || safe.failed))
        ok = error_no_memory(err);
    if (ok)
        fwrite(safe.data, 1, safe.size, stdout);
    buf_clean_up(&explanation.text);
    return ok;
}
