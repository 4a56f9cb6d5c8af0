#include "fs/cli/options.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/nearest.h"
#include "core/base/printable.h"

void options_init(struct options *options)
{
    *options = (struct options){.sample = OPTIONS_SAMPLE};
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].initial)
            option_set(&option_table[i], options, option_table[i].initial);
    memset(options->given, 0, sizeof options->given);
    options->scan_limited = false;
    options->confirm_given = false;
}

static bool options_has_word(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = size > 0 ? strstr(list, word) : NULL; at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
            return true;
    return false;
}

/* The option with this long NAME, or, where that is empty, with this LETTER: the one of COMMAND
 * (NULL: not known), else the one of all commands, else any. */
static const struct option *options_find(struct span name, char letter, const char *command)
{
    const struct option *found = NULL;
    for (size_t i = 0; i < option_count; i++) {
        const struct option *each = &option_table[i];
        if (name.size > 0 ? !each->name || !span_is(name, each->name)
                          : !letter || each->letter != letter)
            continue;
        if (command && each->commands && options_has_word(each->commands, command))
            return each;
        if (!found || !each->commands)
            found = each;
    }
    return found;
}

/* Refers to the help of COMMAND, or, if no option is its alone, to that of ddbfs. False. */
static bool options_fail(const char *word, const char *why, const char *command)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    bool known = false;
    for (size_t i = 0; command && !known && i < option_count; i++)
        known = option_table[i].commands && options_has_word(option_table[i].commands, command);
    printable_add(&safe, span_text(word), "");
    fprintf(stderr, "ddbfs: %s %s; see ddbfs %s%s--help\n", buf_text(&safe), why,
            known ? command : "", known ? " " : "");
    return false;
}

/* The words of a command line while its options are taken out. */
struct option_words {
    int argc;
    char **argv;
    int at;
    int count;           /* of words that are no options, with the command */
    const char *command; /* or NULL */
    struct options *options;
};

static bool options_goes_with(const struct option *option, const char *command)
{
    return !option->commands || (command && options_has_word(option->commands, command));
}

static bool options_fail_unknown(const char *word, const char *command)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct nearest nearest = nearest_to(span_of(word, strcspn(word, "=")));
    for (size_t i = 0; i < option_count; i++) {
        if (!option_table[i].name || (command && !options_goes_with(&option_table[i], command)))
            continue;
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        buf_printf(&name, "--%s", option_table[i].name);
        nearest_offer(&nearest, arena_copy(&arena, buf_span(&name)));
    }
    buf_add_text(&text, "is no option");
    nearest_write(&nearest, &text);
    return options_fail(word, buf_text(&text), command);
}

/* The message has the letter alone: WORD may have several. */
static bool options_fail_letter(char letter, const char *command)
{
    char word[] = {'-', letter, '\0'};
    for (const struct refused_letter *each = refused_letters; each->letter; each++)
        if (each->letter == letter && command && strcmp(each->command, command) == 0)
            return options_fail(word, each->why, command);
    return options_fail(word, "is no option", command);
}

static bool options_apply(const struct option_words *words, const struct option *option,
                          const char *word, const char *value)
{
    CLEAN_UP(buf_clean_up) struct buf takes = {0};
    if (!options_goes_with(option, words->command))
        return options_fail(word, "does not go with this command", words->command);
    if (!option->argument && value)
        return options_fail(word, "takes no value", words->command);
    if (option->argument && !option->optional && !value)
        return options_fail(word, "needs a value", words->command);
    if (option_set(option, words->options, value))
        return true;
    buf_add_text(&takes, "takes ");
    option_write_values(option, &takes);
    if (value && value[0])
        buf_printf(&takes, ", and not \"%s\"", value);
    return options_fail(word, buf_text(&takes), words->command);
}

/* Whether WORD, NULL for none, has digits alone. */
static bool options_may_be_number(const char *word)
{
    return word && word[0] && word[strspn(word, "0123456789")] == '\0';
}

/* Takes the next word, NULL at the end. */
static const char *options_take_word(struct option_words *words)
{
    return words->at + 1 == words->argc ? NULL : words->argv[++words->at];
}

static bool options_parse_long(struct option_words *words)
{
    const char *word = words->argv[words->at];
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    const struct option *option =
        size > 2 ? options_find(span_of(word + 2, size - 2), '\0', words->command) : NULL;
    const char *value = equals ? equals + 1 : NULL;
    if (!option)
        return options_fail_unknown(word, words->command);
    const char *next = words->at + 1 < words->argc ? words->argv[words->at + 1] : NULL;
    if (option->argument && !value && (!option->optional || options_may_be_number(next)))
        value = options_take_word(words);
    return options_apply(words, option, word, value);
}

/* Several letters may follow one dash; the rest of the word, or the next, is the value of one that
 * takes a value. Before the command, the letter of an option of all commands is that option. */
static bool options_parse_letters(struct option_words *words)
{
    const char *word = words->argv[words->at];
    for (const char *letter = word + 1; *letter; letter++) {
        const struct option *option = options_find(span_text(""), *letter, NULL);
        if (words->count > 0 || !option || option->commands)
            option = options_find(span_text(""), *letter, words->command);
        if (!option)
            return options_fail_letter(*letter, words->command);
        const char *value = !option->argument ? NULL
                            : letter[1]       ? letter + 1
                                              : options_take_word(words);
        if (!options_apply(words, option, word, value))
            return false;
        if (option->argument)
            return true;
    }
    return true;
}

static bool options_is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* The option WORD of COMMAND (NULL: not known), if NEXT, the word behind it or NULL, is its value.
 */
static const struct option *options_find_awaiting(const char *word, const char *next,
                                                  const char *command)
{
    const struct option *option = NULL;
    if (word[1] == '-')
        option = word[2] ? options_find(span_text(word + 2), '\0', command) : NULL;
    else if (strlen(word) == 2)
        option = options_find(span_text(""), word[1], command);
    bool takes = option && option->argument && (!option->optional || options_may_be_number(next));
    return takes ? option : NULL;
}

/* The first word that is neither an option nor an option's value. */
static const char *options_find_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
        if (!options_is_option(argv[i]))
            return argv[i];
        i += options_find_awaiting(argv[i], i + 1 < argc ? argv[i + 1] : NULL, NULL) ? 1 : 0;
    }
    return NULL;
}

bool options_check(const struct options *options)
{
    const char *aws = options->profile        ? "does not go with --profile: no server is used"
                      : options->region       ? "does not go with --region: no server is used"
                      : options->endpoint_url ? "does not go with --endpoint-url: no server is used"
                                              : NULL;
    if (options->no_map && options->map)
        return options_fail("--no-map", "does not go with --map", NULL);
    if (options->csv && (options->json || options->explain))
        return options_fail("--csv",
                            options->json ? "does not go with --json: choose one"
                                          : "does not go with --explain: use --json",
                            "sql");
    if (options->record && options->snapshot_count)
        return options_fail("--record", "does not go with --snapshot: that is a file already",
                            NULL);
    if (options->live && options->snapshot_count)
        return options_fail("--live", "does not go with --snapshot: a snapshot does not change",
                            NULL);
    return !options->snapshot_count || !aws || options_fail("--snapshot", aws, NULL);
}

int options_parse(struct options *options, int argc, char **argv)
{
    struct option_words words = {argc, argv, 1, 0, options_find_command(argc, argv), options};
    bool ended = false;
    for (; words.at < argc; words.at++) {
        char *word = argv[words.at];
        if (!ended && strcmp(word, "--") == 0)
            ended = true;
        else if (ended || !options_is_option(word))
            argv[words.count++] = word;
        else if (word[1] == '-' ? !options_parse_long(&words) : !options_parse_letters(&words))
            return -1;
    }
    return options_check(options) ? words.count : -1;
}

static void options_set_typed_value(const struct option *option, size_t from,
                                    struct options_typed *out)
{
    out->kind = option->one_of ? WORD_ONE_OF : option->kind;
    out->list = option->one_of;
    out->is_value = true;
    out->from = from;
}

void options_find_typed(int argc, char **argv, struct options_typed *out)
{
    *out = (struct options_typed){.command = options_find_command(argc - 1, argv)};
    bool ended = false;
    size_t words = 0;
    for (int i = 1; i < argc - 1; i++) {
        if (ended || !options_is_option(argv[i])) {
            words++;
            continue;
        }
        const struct option *option = options_find_awaiting(argv[i], argv[i + 1], out->command);
        ended = strcmp(argv[i], "--") == 0;
        if (option && ++i == argc - 1)
            options_set_typed_value(option, 0, out);
    }
    out->operands = words > 0 ? words - 1 : 0;
    const char *last = argv[argc - 1];
    if (ended || out->is_value || last[0] != '-')
        return;
    size_t name = strcspn(last, "=");
    const struct option *option = NULL;
    if (last[1] == '-' && last[name] == '=' && name > 2)
        option = options_find(span_of(last + 2, name - 2), '\0', out->command);
    out->kind = WORD_OPTION;
    if (option && option->argument)
        options_set_typed_value(option, name + 1, out);
}

void options_each(const char *command, options_word_fn *fn, void *arg)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        CLEAN_UP(buf_clean_up) struct buf word = {0};
        if (!options_goes_with(option, command))
            continue;
        if (option->name)
            buf_printf(&word, "--%s", option->name);
        else
            buf_printf(&word, "-%c", option->letter);
        fn(arg, buf_text(&word), option->help);
    }
}

void options_offer(struct nearest *nearest)
{
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].name && options_goes_with(&option_table[i], "mount"))
            nearest_offer(nearest, span_text(option_table[i].name));
}

bool options_given(const struct options *options, struct span name)
{
    for (size_t i = 0; i < option_count; i++)
        if (options->given[i] && option_table[i].name && span_is(name, option_table[i].name))
            return true;
    return false;
}

bool options_inherits(struct span name)
{
    const struct option *option = name.size > 0 ? options_find(name, '\0', NULL) : NULL;
    return option && option->inherited;
}

void options_each_inherited(const struct options *options, options_given_fn *fn, void *arg)
{
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].inherited && options->given[i])
            fn(arg, option_table[i].name, option_table[i].argument ? options->given[i] : NULL);
}

enum options_outcome options_set(struct options *options, struct span name, const char *value)
{
    const struct option *option = name.size > 0 ? options_find(name, '\0', NULL) : NULL;
    if (!option || !options_goes_with(option, "mount"))
        return OPTIONS_UNKNOWN;
    if (!option->argument != !value)
        return OPTIONS_WRONG;
    return option_set(option, options, value) ? OPTIONS_SET : OPTIONS_WRONG;
}

void options_print_row(FILE *out, int indent, const char *left, const char *text)
{
    int at = fprintf(out, "  %-*s", indent - 3, left);
    for (int size; *text; text += size, text += *text == ' ') {
        size = (int)strcspn(text, " ");
        if (at + 1 + size > OPTIONS_LINE)
            at = fprintf(out, "\n%*s", indent - 1, "") - 1;
        at += fprintf(out, " %.*s", size, text);
    }
    fputc('\n', out);
}

/* Without COMMAND (NULL) its commands are named. COMMAND may use the letter for another option. */
static void options_print(FILE *out, const struct option *option, const char *command)
{
    CLEAN_UP(buf_clean_up) struct buf left = {0}, text = {0};
    if (option->letter &&
        (!command || options_find(span_text(""), option->letter, command) == option))
        buf_printf(&left, "-%c%s", option->letter, option->name ? ", " : "");
    if (option->name)
        buf_printf(&left, "--%s", option->name);
    if (option->argument)
        buf_printf(&left, option->optional ? "[=%s]" : " %s", option->argument);
    buf_add_text(&text, option->help);
    if (option->initial && option->initial[0])
        buf_printf(&text, " (default: %s)", option->initial);
    if (option->commands && !command)
        buf_printf(&text, " [%s]", option->commands);
    options_print_row(out, OPTIONS_INDENT, buf_text(&left), buf_text(&text));
}

/* Those of COMMAND, or (NULL) of some commands, except those that only WITHOUT has. */
static void options_print_own(FILE *out, const char *command, const char *without)
{
    bool any = false;
    for (size_t i = 0; i < option_count; i++) {
        const struct option *each = &option_table[i];
        if (!each->commands || (command ? !options_has_word(each->commands, command)
                                        : without && strcmp(each->commands, without) == 0))
            continue;
        if (!any)
            fprintf(out, "\noptions of %s\n", command ? command : "some commands");
        any = true;
        options_print(out, each, command);
    }
}

void options_print_help(FILE *out, const char *command, const char *without)
{
    /* These send no request, so they need no map, profile or time limit. */
    static const char local[] = "umount refresh status log top completion help";
    if (command)
        options_print_own(out, command, NULL);
    fputs("\noptions of all commands\n", out);
    for (size_t i = 0; i < option_count; i++) {
        const struct option *each = &option_table[i];
        if (!each->commands && !(command && each->of_requests && options_has_word(local, command)))
            options_print(out, each, command);
    }
    if (!command)
        options_print_own(out, NULL, without);
}
