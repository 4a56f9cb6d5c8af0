/* ddbfs completion SHELL: prints the completion script of a shell. With words behind SHELL, as that
 * script calls it: prints the words that may replace the last one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/shell.h"
#include "core/read/entries.h"
#include "core/read/resolve.h"
#include "fs/cli/command.h"

/* Built from the files beside this one. */
extern const char completion_bash[], completion_zsh[], completion_fish[];

static const struct shell {
    const char *name;
    const char *script;
} shells[] = {
    {"bash", completion_bash},
    {"zsh", completion_zsh},
    {"fish", completion_fish},
};

enum {
    SHELLS = sizeof shells / sizeof shells[0],
    COMPLETION_ITEMS = 100,     /* of a listing: its first page has no more */
    COMPLETION_PAGES = 2,       /* of other directories: the first may have the map's names alone */
    COMPLETION_LIMIT_MS = 2000, /* for all requests */
};

struct completion {
    const char *typed; /* the last word */
    size_t from;       /* the offset in it of the text that is completed */
    size_t hidden;     /* bytes at the beginning of words that bash does not expect */
    struct buf words;  /* owned: a line each */
};

static void completion_add_line(struct completion *line, struct span word, const char *help)
{
    buf_add_span(&line->words,
                 span_from(word, line->hidden < word.size ? line->hidden : word.size));
    if (help)
        buf_printf(&line->words, "\t%s", help);
    buf_add_char(&line->words, '\n');
}

static void completion_add_word(void *arg, const char *word, const char *help)
{
    struct completion *line = arg;
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    if (!span_starts(span_text(word), span_text(line->typed + line->from)))
        return;
    buf_add_span(&whole, span_of(line->typed, line->from));
    buf_add_text(&whole, word);
    completion_add_line(line, buf_span(&whole), help);
}

static void completion_add_list(struct completion *line, const char *list)
{
    while (*list) {
        CLEAN_UP(buf_clean_up) struct buf word = {0};
        size_t size = strcspn(list, " ");
        buf_add(&word, list, size);
        completion_add_word(line, buf_text(&word), NULL);
        list += size + (list[size] == ' ');
    }
}

/* The entries of one directory that begin with a name. */
struct completion_search {
    struct app *app;
    struct completion *out;
    struct span folder;                 /* as typed, with the last slash */
    struct span name;                   /* as typed, behind that */
    struct loop_timer *timer;           /* NULL after the time limit */
    struct place *place;                /* owned: found last; or NULL */
    struct tree_resolution *resolution; /* of that */
    struct entries declared;            /* the entries that the map declares */
    size_t entries;                     /* of the listing, so far */
    bool has_page;                      /* a page has arrived, */
    bool more;                          /* and there is another one */
    bool is_cut;                        /* entries may be absent */
};

static void completion_offer(struct completion_search *search, struct span name, bool directory)
{
    CLEAN_UP(buf_clean_up) struct buf word = {0};
    if (!span_starts(name, search->name))
        return;
    buf_add_span(&word, span_of(search->out->typed, search->out->from));
    buf_add_span(&word, search->folder);
    buf_add_span(&word, name);
    buf_add_text(&word, directory ? "/" : "");
    search->is_cut = search->is_cut || word.failed;
    if (!word.failed)
        completion_add_line(search->out, buf_span(&word), NULL);
}

static void completion_end_late(void *arg)
{
    struct completion_search *search = arg;
    search->timer = NULL;
    loop_stop(search->app->loop);
}

static void completion_take_place(void *arg, struct place *place, const struct error *err)
{
    struct completion_search *search = arg;
    (void)err;
    search->resolution = NULL;
    search->place = place;
    loop_stop(search->app->loop);
}

/* Sets the place of SEARCH to PATH; false if it does not exist, or is late. */
static bool completion_find(struct completion_search *search, struct span path)
{
    place_destroy(search->place);
    search->place = NULL;
    search->resolution =
        tree_resolve(&search->app->tree, NULL, path, completion_take_place, search);
    if (search->resolution && search->timer)
        loop_run(search->app->loop);
    tree_resolve_cancel(search->resolution);
    search->resolution = NULL;
    return search->place;
}

static void completion_take_entries(void *arg, const struct tree_entry *entries, size_t count,
                                    bool more, const struct error *err)
{
    struct completion_search *search = arg;
    for (size_t i = 0; i < count; i++)
        if (!entries_have(&search->declared, entries[i].name))
            completion_offer(search, entries[i].name, entries[i].directory);
    search->entries += count;
    search->has_page = true;
    search->more = more && !err;
    search->is_cut = search->is_cut || err;
    loop_stop(search->app->loop);
}

static void completion_list(struct completion_search *search, unsigned pages)
{
    struct tree_listing *listing =
        tree_list(&search->app->tree, search->place, false, completion_take_entries, search);
    search->more = listing;
    while (search->more && search->timer && pages-- > 0) {
        if (search->has_page)
            tree_list_more(listing);
        search->has_page = false;
        loop_run(search->app->loop);
    }
    search->is_cut = search->is_cut || search->more || !listing || !search->has_page;
    if (listing)
        tree_list_end(listing);
}

/* A request for items reads no more than are offered. */
static void completion_list_items(struct completion_search *search)
{
    struct error ignored;
    bool suffixed = search->app->options->suffix[0];
    const struct selection selection = {.limit = COMPLETION_ITEMS,
                                        .begins = suffixed ? span_text("") : search->name};
    if (place_select(search->place, &selection, false, &ignored))
        completion_list(search, 1);
    search->is_cut = search->is_cut || search->entries >= COMPLETION_ITEMS;
}

/* Whether the name may be that of an environment such as dev-{branch}, which ListTables finds. */
static bool completion_may_be_parametric(const struct completion_search *search)
{
    const struct map_environment *each = search->app->map->environments;
    for (; each; each = each->next) {
        struct span first = each->name.pieces[0].literal;
        if (!format_is_literal(&each->name) &&
            (span_starts(first, search->name) || span_starts(search->name, first)))
            return true;
    }
    return false;
}

/* Declared names are offered without a request, although a file may be not found. */
static void completion_list_directory(struct completion_search *search)
{
    const struct place *place = search->place;
    const struct place_options *names = &search->app->tree.names;
    entries_add_declared(&search->declared, place, names);
    entries_add_files(&search->declared, place, names);
    for (size_t i = 0; i < search->declared.count; i++)
        completion_offer(search, search->declared.items[i].name,
                         search->declared.items[i].directory);
    search->is_cut = search->is_cut || search->declared.failed;
    if (place_is_listing(place) && !place->route->list->groups)
        completion_list_items(search);
    else if (place_is_listing(place) || place->kind == PLACE_TABLES || place->kind == PLACE_ATTRS ||
             place->kind == PLACE_LINKS || place->kind == PLACE_TIMES ||
             place->kind == PLACE_HISTORY || (place->is_snapshot && place_key_step(place)) ||
             (place->kind == PLACE_ROOT && completion_may_be_parametric(search)))
        completion_list(search, COMPLETION_PAGES);
}

/* Offers STEM with ENDING if that is a name of its kind: PLACE_TIMES, or (IS_PAST false) any other.
 */
static void completion_try_ending(struct completion_search *search, struct span stem,
                                  const char *ending, bool is_past)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, path = {0};
    buf_add_span(&name, stem);
    buf_add_text(&name, ending);
    buf_add_span(&path, search->folder);
    buf_add_span(&path, buf_span(&name));
    if (!name.failed && !path.failed && completion_find(search, buf_span(&path)) &&
        (search->place->kind == PLACE_TIMES) == is_past)
        completion_offer(search, buf_span(&name), place_is_directory(search->place));
}

/* The tree knows the companions of a name without a request. */
static void completion_add_companions(struct completion_search *search)
{
    size_t at = search->name.size;
    while (at > 0 && search->name.data[at - 1] != '@')
        at--;
    at = at > 1 ? at - 1 : 0;
    struct span stem = span_of(search->name.data, at), ending = span_from(search->name, at);
    for (enum companion c = COMPANION_TYPED; at > 0 && c < COMPANION_END; c++)
        if (span_starts(span_text(companion_ending(c)), ending))
            completion_try_ending(search, stem, companion_ending(c), false);
    if (at > 0 && span_starts(SPAN_LITERAL(PLACE_TIMES_ENDING), ending))
        completion_try_ending(search, stem, PLACE_TIMES_ENDING, true);
}

/* Adds the paths that begin with the typed one, one step further, directories with a slash. At most
 * one page of a listing is requested, or two of tables. */
static void completion_add_paths(struct completion *out, struct app *app)
{
    const char *typed = out->typed + out->from, *slash = strrchr(typed, '/');
    struct span root = SPAN_LITERAL("/"); /* of an empty word */
    size_t folder = slash ? (size_t)(slash - typed) + 1 : 0;
    struct completion_search search = {.app = app,
                                       .out = out,
                                       .folder = typed[0] ? span_of(typed, folder) : root,
                                       .name = span_text(typed + folder)};
    search.timer = loop_add_timer(app->loop, COMPLETION_LIMIT_MS, completion_end_late, &search);
    app->tree.names.scan = NULL; /* a key press must not cause a Scan */
    if (completion_find(&search, search.folder))
        completion_list_directory(&search);
    completion_add_companions(&search);
    bool is_cut = search.is_cut || !search.timer;
    loop_remove_timer(search.timer);
    place_destroy(search.place);
    entries_clean_up(&search.declared);
    /* Among words that may be incomplete is the typed one: otherwise the shell would insert their
     * common beginning. */
    if (is_cut && out->words.size > 0)
        completion_add_line(out, span_text(out->typed), "and more; type more of the name");
}

/* With the map and the options of the line: ARGV without the last word, and without an option
 * before it whose value that word is. Adds nothing if these options are wrong. */
static void completion_add_of_map(struct completion *line, const struct options_typed *typed,
                                  enum word_kind kind, int argc, char **argv)
{
    struct app app;
    struct options options;
    int before = argc - (typed->is_value && typed->from == 0 ? 2 : 1);
    options_init(&options);
    options.unattended = true;
    if (options_parse(&options, before, argv) < 0)
        return;
    if (options.timeout_ms > COMPLETION_LIMIT_MS)
        options.timeout_ms = COMPLETION_LIMIT_MS;
    options.scan_limited = false;
    bool ready = app_init_any(&app, &options, COMMAND_CACHE_BYTES);
    const struct map_environment *each =
        ready && kind == WORD_ENVIRONMENT ? app.map->environments : NULL;
    for (; each; each = each->next) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        format_write(&each->name, &name);
        completion_add_word(line, buf_text(&name), NULL);
    }
    if (ready && kind == WORD_PATH)
        completion_add_paths(line, &app);
    app_clean_up(&app);
}

static enum word_kind completion_kind(const struct options_typed *typed)
{
    const struct command *command = typed->command ? command_find(typed->command) : NULL;
    if (typed->is_value || typed->kind != WORD_ANY)
        return typed->kind;
    if (!typed->command)
        return WORD_COMMAND;
    return !command ? WORD_ANY : typed->operands == 0 ? command->first : command->others;
}

/* ARGV is the line, from the program's name to the word that is being typed. The first line of
 * output is the kind of words that follow. */
static void completion_complete(struct completion *line, int argc, char **argv)
{
    struct options_typed typed;
    options_find_typed(argc, argv, &typed);
    enum word_kind kind = argc > 1 ? completion_kind(&typed) : WORD_ANY;
    line->typed = argv[argc - 1];
    line->from = typed.from;
    for (const char *at = line->typed; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            kind = WORD_ANY; /* a newline would end a line of output */
    if (kind == WORD_OPTION)
        options_each(typed.command, completion_add_word, line);
    else if (kind == WORD_ONE_OF)
        completion_add_list(line, typed.list);
    else if (kind == WORD_PATH || kind == WORD_ENVIRONMENT)
        completion_add_of_map(line, &typed, kind, argc, argv);
    for (const struct command *each = commands; kind == WORD_COMMAND && each->name; each++)
        if (command_is_offered(each))
            completion_add_word(line, each->name, each->help);
    for (size_t i = 0; kind == WORD_SHELL && i < SHELLS; i++)
        completion_add_word(line, shells[i].name, NULL);
    puts(kind == WORD_FILE     ? "files"
         : kind == WORD_FOLDER ? "folders"
         : kind == WORD_PATH   ? "paths"
                               : "words");
    fwrite(buf_text(&line->words), 1, line->words.size, stdout);
    buf_clean_up(&line->words);
}

/* bash passes the line as typed, up to the cursor, and the characters that end its words. */
static void completion_complete_line(struct completion *line, const char *text, const char *breaks)
{
    CLEAN_UP(buf_clean_up) struct buf words = {0};
    size_t count;
    shell_split_typed(&words, span_text(text), breaks, &count, &line->hidden);
    char **argv = words.failed ? NULL : calloc(count, sizeof *argv);
    for (size_t i = 0, at = 0; argv && i < count; at += strlen(words.data + at) + 1, i++)
        argv[i] = words.data + at;
    if (argv)
        completion_complete(line, (int)count, argv);
    free(argv);
}

int completion_command(const struct options *options, int argc, char **argv)
{
    const struct shell *shell = NULL;
    struct completion line = {0};
    (void)options;
    for (size_t i = 0; i < SHELLS && argc > 0; i++)
        if (strcmp(argv[0], shells[i].name) == 0)
            shell = &shells[i];
    if (!shell)
        return app_usage("completion needs a shell: bash, zsh or fish", "completion");
    if (argc == 1) {
        fputs(shell->script, stdout);
        return EXIT_SUCCESS;
    }
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); /* messages would disturb the prompt */
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    if (nowhere > STDERR_FILENO)
        close(nowhere);
    if (strcmp(shell->name, "bash") != 0)
        completion_complete(&line, argc, argv); /* the shell's name is in the program's place */
    else if (argc == 3)
        completion_complete_line(&line, argv[1], argv[2]);
    return EXIT_SUCCESS;
}
