/* ddbfs completion SHELL [-- WORD…]: the script by which a shell completes ddbfs' command lines,
 * and what that asks ddbfs for each of them. */
#include "fs/cli/completion_command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/shell.h"
#include "fs/cli/command.h"
#include "fs/cli/path_completion.h"

static const struct shell {
    const char *name;
    const char *script;
} shells[] = {
    {"bash", completion_bash},
    {"zsh", completion_zsh},
    {"fish", completion_fish},
};

enum { SHELLS = sizeof shells / sizeof shells[0] };

/* What stands at the end of a line, and what it may become. */
struct completion {
    const char *typed; /* of the last word */
    size_t from;       /* where what is completed begins in it */
    size_t kept;       /* bytes of a word that the shell is not told, as it has them */
    struct buf words;  /* owned: a line each */
};

static void completion_command_add_line(struct completion *line, struct span word, const char *help)
{
    buf_add_span(&line->words, span_from(word, line->kept < word.size ? line->kept : word.size));
    if (help)
        buf_printf(&line->words, "\t%s", help);
    buf_add_char(&line->words, '\n');
}

static void completion_command_add_word(void *arg, const char *word, const char *help)
{
    struct completion *line = arg;
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    if (!span_starts(span_text(word), span_text(line->typed + line->from)))
        return;
    buf_add_span(&whole, span_of(line->typed, line->from));
    buf_add_text(&whole, word);
    completion_command_add_line(line, buf_span(&whole), help);
}

static void completion_command_add_list(struct completion *line, const char *list)
{
    while (*list) {
        CLEAN_UP(buf_clean_up) struct buf word = {0};
        size_t size = strcspn(list, " ");
        buf_add(&word, list, size);
        completion_command_add_word(line, buf_text(&word), NULL);
        list += size + (list[size] == ' ');
    }
}

static void completion_command_add_commands(struct completion *line)
{
    for (const struct command *each = commands; each->name; each++)
        if (command_is_offered(each))
            completion_command_add_word(line, each->name, each->help);
}

static void completion_command_add_shells(struct completion *line)
{
    for (size_t i = 0; i < SHELLS; i++)
        completion_command_add_word(line, shells[i].name, NULL);
}

static void completion_command_add_environments(struct completion *line, const struct map *map)
{
    for (const struct map_environment *each = map->environments; each; each = each->next) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        format_write(&each->name, &name);
        completion_command_add_word(line, buf_text(&name), NULL);
    }
}

static void completion_command_add_path(void *arg, struct span word)
{
    struct completion *line = arg;
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    buf_add_span(&whole, span_of(line->typed, line->from));
    buf_add_span(&whole, word);
    completion_command_add_line(line, buf_span(&whole), NULL);
}

/* What is typed already stands among the words that may not be all, so that no shell takes the
 * beginning that these have in common for that of all. */
static void completion_command_add_paths(struct completion *line, struct app *app)
{
    bool cut = path_words(app, line->typed + line->from, completion_command_add_path, line);
    if (cut && line->words.size > 0)
        completion_command_add_line(line, span_text(line->typed),
                                    "and more; type more of the name");
}

/* By the map that the line itself would go by. */
static void completion_command_add_of_map(struct completion *line, enum word_kind kind,
                                          const struct options *options)
{
    struct app app;
    if (app_init_any(&app, options, COMMAND_CACHE_BYTES)) {
        if (kind == WORD_ENVIRONMENT)
            completion_command_add_environments(line, app.map);
        else
            completion_command_add_paths(line, &app);
    }
    app_clean_up(&app);
}

/* Options of the line itself, as far as it has been typed. False when there is something wrong with
 * them, and so nothing to go by. */
static bool completion_command_read_options(struct options *options, int argc, char **argv)
{
    options_init(options);
    options->unattended = true;
    if (options_parse(options, argc, argv) < 0)
        return false;
    int64_t most_ms = PATH_COMPLETION_WAIT_MS;
    options->timeout_ms = options->timeout_ms < most_ms ? options->timeout_ms : most_ms;
    options->scan_limited = false;
    return true;
}

/* ARGV without the last word, nor an option before it that waits for its value. */
static void completion_command_add_by_map(struct completion *line,
                                          const struct options_typed *typed, enum word_kind kind,
                                          int argc, char **argv)
{
    struct options options;
    int before = argc - (typed->is_value && typed->from == 0 ? 2 : 1);
    if (completion_command_read_options(&options, before, argv))
        completion_command_add_of_map(line, kind, &options);
}

static enum word_kind completion_command_kind_of(const struct options_typed *typed)
{
    const struct command *command = typed->command ? command_find(typed->command) : NULL;
    if (typed->is_value || typed->kind != WORD_ANY)
        return typed->kind;
    if (!typed->command)
        return WORD_COMMAND;
    return !command ? WORD_ANY : typed->operands == 0 ? command->first : command->others;
}

/* How the shell is told what kind of words follow. */
static const char *completion_command_word_for(enum word_kind kind)
{
    return kind == WORD_FILE     ? "files"
           : kind == WORD_FOLDER ? "folders"
           : kind == WORD_PATH   ? "paths"
                                 : "words";
}

/* A word that would end a line of the answer is none that could be completed. */
static bool completion_command_holds_control(const char *word)
{
    for (; *word; word++)
        if ((unsigned char)*word < ' ' || *word == 0x7f)
            return true;
    return false;
}

/* ARGV is the line, from its program to the word that is being typed. */
static void completion_command_complete(struct completion *line, int argc, char **argv)
{
    struct options_typed typed;
    options_find_typed(argc, argv, &typed);
    enum word_kind kind = argc > 1 && !completion_command_holds_control(argv[argc - 1])
                              ? completion_command_kind_of(&typed)
                              : WORD_ANY;
    line->typed = argv[argc - 1];
    line->from = typed.from;
    if (kind == WORD_OPTION)
        options_each(typed.command, completion_command_add_word, line);
    else if (kind == WORD_ONE_OF)
        completion_command_add_list(line, typed.list);
    else if (kind == WORD_COMMAND)
        completion_command_add_commands(line);
    else if (kind == WORD_SHELL)
        completion_command_add_shells(line);
    else if (kind == WORD_PATH || kind == WORD_ENVIRONMENT)
        completion_command_add_by_map(line, &typed, kind, argc, argv);
    printf("%s\n", completion_command_word_for(kind));
    fwrite(buf_text(&line->words), 1, line->words.size, stdout);
    buf_clean_up(&line->words);
}

/* bash tells the line as it is, up to where it is being typed, and what its words end at. */
static void completion_command_complete_line(struct completion *line, const char *text,
                                             const char *breaks)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    size_t count;
    shell_split_typed(&words, span_text(text), breaks, &count, &line->kept);
    char **argv = words.failed ? NULL : calloc(count, sizeof *argv);
    for (size_t i = 0, at = 0; argv && i < count; at += strlen(words.data + at) + 1, i++)
        argv[i] = words.data + at;
    if (argv)
        completion_command_complete(line, (int)count, argv);
    free(argv);
}

/* Nobody wants to read between the characters that are being typed why there is nothing to
 * complete. */
static void completion_command_be_silent(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    if (nowhere > STDERR_FILENO)
        close(nowhere);
}

static int completion_command_answer(const char *shell, int argc, char **argv)
{
    struct completion line = {0};
    completion_command_be_silent();
    if (strcmp(shell, "bash") != 0)
        completion_command_complete(&line, argc, argv);
    else if (argc == 3)
        completion_command_complete_line(&line, argv[1], argv[2]);
    return EXIT_SUCCESS;
}

int completion_command(const struct options *options, int argc, char **argv)
{
    const struct shell *shell = NULL;
    (void)options;
    for (size_t i = 0; i < SHELLS && argc > 0; i++)
        if (strcmp(argv[0], shells[i].name) == 0)
            shell = &shells[i];
    if (!shell)
        return app_usage("completion needs a shell: bash, zsh or fish", "completion");
    if (argc > 1)
        return completion_command_answer(shell->name, argc, argv);
    fputs(shell->script, stdout);
    return EXIT_SUCCESS;
}
