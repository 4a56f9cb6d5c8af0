#include "fs/cli/sql_prompt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/ascii.h"
#include "fs/cli/interrupt.h"
#include "fs/cli/line_editor.h"
#include "fs/cli/progress.h"
#include "fs/cli/sql_completion.h"
#include "fs/cli/sql_text.h"

struct sql_prompt {
    struct app *app;
    struct sql_runner runner;
    struct line_editor *editor;
    struct buf statement; /* its lines so far */
    bool is_stopping;     /* the statement under way */
    bool ends;
};

static const char sql_prompt_help[] =
    "SELECT …;           run a statement; it ends with a semicolon, also on a later line\n"
    ".tables             the tables of the map, in each environment\n"
    ".columns TABLE      the columns of a table; any other name is an attribute\n"
    ".explain STATEMENT  how each table is read, and the most that it costs; nothing is sent\n"
    ".help               this text\n"
    ".quit, exit, Ctrl-D the end\n"
    "Tab completes a word. Ctrl-C clears the line, or stops the statement. A line that begins\n"
    "with a blank is not stored in the history.\n";

/* The terminal has shown "^C": the message about that is a line of its own. */
static bool sql_prompt_goes_on(void *arg)
{
    struct sql_prompt *prompt = arg;
    bool goes_on = !interrupt_has_come();
    if (!goes_on && !prompt->is_stopping)
        fputc('\n', stderr);
    prompt->is_stopping = !goes_on;
    return goes_on;
}

/* The file of the history, in the user's folder for states. Its folders are created with the mode
 * that XDG requires. False if no variable names a folder. */
static bool sql_prompt_find_history(struct buf *out)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    CLEAN_UP(buf_clean_up) struct buf folder = {0};
    if (state && state[0])
        buf_printf(out, "%s/ddbfs/sql_history", state);
    else if (home && home[0])
        buf_printf(out, "%s/.local/state/ddbfs/sql_history", home);
    if (out->size == 0 || out->failed)
        return false;
    for (const char *at = strchr(out->data + 1, '/'); at; at = strchr(at + 1, '/')) {
        buf_truncate(&folder, 0);
        buf_add(&folder, out->data, (size_t)(at - out->data));
        mkdir(buf_text(&folder), 0700);
    }
    return true;
}

static size_t sql_prompt_complete(void *arg, struct span typed, struct buf *words)
{
    const struct sql_prompt *prompt = arg;
    return sql_completion_find(prompt->runner.session, buf_span(&prompt->statement), typed, words);
}

static void sql_prompt_execute(struct sql_prompt *prompt, struct span text, bool explains)
{
    struct app *app = prompt->app;
    interrupt_forget();
    app_show_progress(app);
    prompt->runner.count = 0;
    sql_runner_run(&prompt->runner, text, explains);
    fflush(stdout);
    progress_end(app->progress);
    app->progress = NULL;
    interrupt_forget(); /* it ended the statement */
    prompt->ends |= ferror(stdout) != 0;
}

static void sql_prompt_print_name(void *arg, const char *name)
{
    bool *any = arg;
    *any = true;
    puts(name);
}

static void sql_prompt_list_columns(const struct sql_prompt *prompt, const char *table)
{
    bool any = false;
    sql_session_each_column(prompt->runner.session, table, sql_prompt_print_name, &any);
    if (!any)
        app_fail(table, "no such table in the map; a table of the account is known after its first "
                        "statement");
}

/* A line is a command if it begins with a dot, or has one of these words alone. */
static bool sql_prompt_is_command(const char *line)
{
    static const char *const words[] = {"exit", "quit", "help"};
    size_t size = strcspn(line, " \t;");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == size && memcmp(line, words[i], size) == 0 &&
            line[size + strspn(line + size, " \t;")] == '\0')
            return true;
    return line[0] == '.';
}

/* LINE is a command. */
static void sql_prompt_obey(struct sql_prompt *prompt, const char *line)
{
    CLEAN_UP(buf_clean_up) struct buf word = {0}, rest = {0};
    size_t size = strcspn(line, " \t;");
    bool any = false;
    if (line[0] != '.')
        buf_add_char(&word, '.');
    buf_add(&word, line, size);
    line += size + strspn(line + size, " \t");
    size = strlen(line);
    while (size > 0 && strchr(" \t;", line[size - 1]))
        size--;
    buf_add(&rest, line, size);
    const char *name = buf_text(&word), *text = buf_text(&rest);
    if (strcmp(name, ".quit") == 0 || strcmp(name, ".exit") == 0)
        prompt->ends = true;
    else if (strcmp(name, ".help") == 0)
        fputs(sql_prompt_help, stdout);
    else if (strcmp(name, ".tables") == 0)
        sql_session_each_table(prompt->runner.session, sql_prompt_print_name, &any);
    else if (strcmp(name, ".columns") == 0 && text[0])
        sql_prompt_list_columns(prompt, text);
    else if (strcmp(name, ".explain") == 0 && text[0])
        sql_prompt_execute(prompt, span_text(text), true);
    else if (strcmp(name, ".columns") == 0 || strcmp(name, ".explain") == 0)
        app_fail(name, name[1] == 'c' ? "needs a table" : "needs a statement");
    else
        app_fail(name, "no such command; .help lists them");
    fflush(stdout);
}

/* A statement of several lines is one line of the history, if it has the same meaning so. */
static void sql_prompt_remember(const struct sql_prompt *prompt)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    struct span text = buf_span(&prompt->statement);
    bool has_lines = sql_text_scan(text).has_lines;
    if (text.data[0] == ' ')
        return;
    for (size_t i = 0; i < text.size; i++) {
        bool ends = text.data[i] == '\n';
        if (!ends)
            buf_add_char(&line, text.data[i]);
        else if (!has_lines && i + 1 < text.size)
            buf_add_char(&line, ' ');
        if (line.size > 0 && !line.failed && ends && (has_lines || i + 1 == text.size)) {
            line_editor_remember(prompt->editor, buf_text(&line));
            buf_truncate(&line, 0);
        }
    }
}

static void sql_prompt_take_line(struct sql_prompt *prompt, const struct buf *line)
{
    struct buf *statement = &prompt->statement;
    const char *text = buf_text(line);
    bool is_first = statement->size == 0;
    if (is_first && text[strspn(text, " \t")] == '\0')
        return;
    buf_add_span(statement, buf_span(line));
    buf_add_char(statement, '\n');
    if (is_first && sql_prompt_is_command(text)) {
        sql_prompt_remember(prompt);
        sql_prompt_obey(prompt, text);
        buf_truncate(statement, 0);
        return;
    }
    struct sql_text scan = sql_text_scan(buf_span(statement));
    if (!scan.is_ended)
        return;
    sql_prompt_remember(prompt);
    sql_prompt_execute(prompt, buf_span(statement), prompt->app->options->explain);
    buf_truncate(statement, 0);
}

static void sql_prompt_read(struct sql_prompt *prompt)
{
    fprintf(stderr, "ddbfs " DDBFS_VERSION ": SELECT over tables. .help prints help.\n");
    while (!prompt->ends) {
        CLEAN_UP(buf_clean_up) struct buf line = {0};
        enum line_end end = line_editor_read(
            prompt->editor, prompt->statement.size > 0 ? "   ...> " : "ddbfs> ", &line);
        if (end == LINE_INTERRUPTED)
            buf_truncate(&prompt->statement, 0);
        else if (end == LINE_CLOSED)
            prompt->ends = true;
        else
            sql_prompt_take_line(prompt, &line);
    }
}

int sql_prompt_run(struct app *app)
{
    struct sql_prompt prompt = {.app = app};
    CLEAN_UP(buf_clean_up) struct buf history = {0};
    bool has_history = sql_prompt_find_history(&history);
    struct error why;
    bool ready = sql_runner_init(&prompt.runner, app, sql_prompt_goes_on, &prompt);
    if (ready && !interrupt_begin()) {
        error_set(&why, ERROR_NO_DESCRIPTORS, "can't handle Ctrl-C: %s", strerror(errno));
        app_report_error(app, NULL, &why);
        ready = false;
    }
    if (ready) {
        prompt.editor =
            line_editor_new(has_history ? buf_text(&history) : NULL, sql_prompt_complete, &prompt);
        if (prompt.editor) {
            sql_prompt_read(&prompt);
            app->status = EXIT_SUCCESS; /* the user has seen the failures */
        } else {
            error_no_memory(&why);
            app_report_error(app, NULL, &why);
        }
        if (!line_editor_end(prompt.editor))
            app->status = app_fail(buf_text(&history), strerror(errno));
        interrupt_end();
    }
    sql_runner_clean_up(&prompt.runner);
    buf_clean_up(&prompt.statement);
    app_clean_up(app);
    return app->status;
}
