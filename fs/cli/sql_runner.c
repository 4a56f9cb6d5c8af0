#include "fs/cli/sql_runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/cli/screen.h"
#include "fs/cli/sql_explain.h"

/* The price of RCU, if it is the same in all environments; else 0. */
static double sql_runner_find_price(const struct map *map)
{
    const struct map_environment *each = map->environments;
    double price = each ? each->price : MAP_PRICE;
    for (; each; each = each->next)
        price = each->price == price ? price : 0;
    return price;
}

bool sql_runner_init(struct sql_runner *runner, struct app *app, bool (*goes_on)(void *arg),
                     void *arg)
{
    const struct options *options = app->options;
    struct error why;
    *runner = (struct sql_runner){.app = app,
                                  .tree = app->tree,
                                  .form = options->json  ? SQL_FORM_JSON
                                          : options->csv ? SQL_FORM_CSV
                                                         : SQL_FORM_TABLE};
    sql_budget_init(&runner->budget, options, app->loop, sql_runner_find_price(app->map));
    runner->tree.payer = &runner->budget.payer;
    const struct sql_options session = {.tree = &runner->tree,
                                        .memory = options->cache_bytes,
                                        .may_scan = options->allow_scan,
                                        .goes_on = goes_on,
                                        .arg = arg};
    runner->session = sql_session_new(&session, &why);
    if (!runner->session)
        app_report_error(app, NULL, &why);
    return runner->session;
}

void sql_runner_clean_up(struct sql_runner *runner)
{
    sql_session_destroy(runner->session);
    runner->session = NULL;
    sql_budget_end(&runner->budget);
}

/* One statement under way. */
struct sql_result {
    struct sql_output *output;
    bool any; /* a row has come */
    struct error why;
};

static bool sql_runner_take_row(void *arg, const struct sql_value *values)
{
    struct sql_result *result = arg;
    result->any = true;
    return sql_output_add(result->output, values, &result->why);
}

static struct sql_output *sql_runner_new_output(const struct sql_runner *runner,
                                                const struct sql_statement *statement)
{
    size_t count = sql_statement_columns(statement);
    struct span *names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = sql_statement_name(statement, i);
    struct sql_output *output =
        names ? sql_output_new(runner->form, names, count, runner->width) : NULL;
    free(names);
    return output;
}

/* Rows that came before an error are printed. A result without rows is then not: it would look
 * complete. */
static bool sql_runner_execute(struct sql_runner *runner, struct sql_statement *statement,
                               struct error *err)
{
    struct sql_result result = {.output = sql_runner_new_output(runner, statement)};
    if (!result.output)
        return error_no_memory(err);
    if (runner->form == SQL_FORM_TABLE && runner->count > 0)
        putchar('\n');
    bool ok = sql_statement_run(statement, sql_runner_take_row, &result, err);
    if (ok && result.why.kind != ERROR_NONE) {
        *err = result.why;
        ok = false;
    }
    if ((ok || result.any) && !ferror(stdout) && !sql_output_end(result.output, &result.why) &&
        ok) {
        *err = result.why;
        ok = false;
    }
    sql_output_destroy(result.output);
    return ok;
}

static void sql_runner_note_warning(void *arg, const char *text)
{
    const struct sql_runner *runner = arg;
    app_note(runner->app, LOG_LEVEL_WARNING, NULL, text);
}

static void sql_runner_note_line(void *arg, const char *text)
{
    const struct sql_runner *runner = arg;
    app_note(runner->app, LOG_LEVEL_INFO, NULL, text);
}

/* Notes how the first statement of TEXT is read. An error is that of the run, which reports it. */
static void sql_runner_note_steps(struct sql_runner *runner, struct span text)
{
    struct sql_statement *statement = NULL;
    struct error ignored;
    if (sql_prepare(runner->session, text, &statement, &text, &ignored) && statement)
        sql_explain_note(&runner->tree, statement, sql_runner_note_line, runner, &ignored);
    sql_statement_end(statement);
}

static void sql_runner_note_total(const struct sql_runner *runner)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    unsigned requests = runner->budget.requests;
    if (!runner->app->options->verbose)
        return;
    buf_printf(&text, "total: %u request%s, ", requests, requests == 1 ? "" : "s");
    spent_write(&runner->budget.spent, &text);
    app_note(runner->app, LOG_LEVEL_INFO, NULL, buf_text(&text));
}

static void sql_runner_report(const struct sql_runner *runner, const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf number = {0};
    buf_printf(&number, "statement %zu", runner->count + 1);
    app_report_error(runner->app, runner->is_numbered ? buf_text(&number) : NULL, err);
}

bool sql_runner_run(struct sql_runner *runner, struct span text, bool explains)
{
    runner->width = isatty(STDOUT_FILENO) ? screen_columns() : 0;
    for (bool ok = true; ok; runner->count += ok) {
        struct sql_statement *statement = NULL;
        struct span begin = text;
        struct error why = {0};
        sql_budget_begin(&runner->budget);
        ok = sql_prepare(runner->session, text, &statement, &text, &why);
        if (ok && !statement)
            return true;
        if (ok && !explains && runner->app->options->verbose)
            sql_runner_note_steps(runner, begin);
        if (ok && explains)
            ok = sql_explain_print(&runner->tree, statement, runner->app->options, &why);
        else if (ok)
            ok = sql_runner_execute(runner, statement, &why);
        if (statement && !explains) {
            sql_statement_warn(statement, sql_runner_note_warning, runner);
            sql_runner_note_total(runner);
        }
        sql_statement_end(statement);
        if (!ok && why.kind != ERROR_NONE)
            sql_runner_report(runner, &why);
        ok = ok && !ferror(stdout);
    }
    return false;
}
