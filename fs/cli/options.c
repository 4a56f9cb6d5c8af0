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
    memset(options->given, 0, sizeof options->given); /* defaults are not */
    options->scan_limited = false;
    options->confirm_given = false;
}

/* Whether WORD, which may be empty, is one of the words of LIST. */
static bool options_has_word(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = size > 0 ? strstr(list, word) : NULL; at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
            return true;
    return false;
}

/* The option of that name that goes with COMMAND (NULL: not known); else one of that name. */
static const struct option *options_find_long(const char *text, size_t size, const char *command)
{
    const struct option *found = NULL;
    for (size_t i = 0; i < option_count; i++) {
        if (!option_table[i].name || strlen(option_table[i].name) != size ||
            strncmp(option_table[i].name, text, size) != 0)
            continue;
        if (command && option_table[i].commands &&
            options_has_word(option_table[i].commands, command))
            return &option_table[i];
        found = found ? found : &option_table[i];
    }
    return found;
}

/* The same for a letter. */
static const struct option *options_find_letter_it(char letter, const char *command)
{
    const struct option *found = NULL;
    for (size_t i = 0; i < option_count; i++) {
        if (!option_table[i].letter || option_table[i].letter != letter)
            continue;
        if (command && option_table[i].commands &&
            options_has_word(option_table[i].commands, command))
            return &option_table[i];
        if (!found || !option_table[i].commands)
            found = &option_table[i];
    }
    return found;
}

/* Names the help of COMMAND, if that has options of its own. */
static bool options_report_error(const char *word, const char *why, const char *command)
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
    int kept;            /* how many are no options, the command among them */
    const char *command; /* NULL: there is none */
    struct options *options;
};

static bool options_goes_with(const struct option *option, const char *command)
{
    return !option->commands || (command && options_has_word(option->commands, command));
}

/* Names the long option of COMMAND that WORD is nearest to. */
static bool options_unknown(const char *word, const char *command)
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
    return options_report_error(word, buf_text(&text), command);
}

/* Names the letter alone, which may be one of several behind a dash. */
static bool options_refuse_letter(const struct option_words *words, char letter)
{
    char word[] = {'-', letter, '\0'};
    for (const struct refused_letter *each = refused_letters; each->letter; each++)
        if (each->letter == letter && words->command && strcmp(each->command, words->command) == 0)
            return options_report_error(word, each->why, words->command);
    return options_report_error(word, "is no option", words->command);
}

static bool options_may_stand(const struct option_words *words, const struct option *option,
                              const char *word)
{
    if (!option)
        return options_unknown(word, words->command);
    if (!options_goes_with(option, words->command))
        return options_report_error(word, "does not go with this command", words->command);
    return true;
}

static bool options_apply(const struct option_words *words, const struct option *option,
                          const char *word, const char *value)
{
    CLEAN_UP(buf_clean_up) struct buf takes = {0};
    if (option_set(option, words->options, value))
        return true;
    buf_add_text(&takes, "takes ");
    option_write_values(option, &takes);
    return options_report_error(word, buf_text(&takes), words->command);
}

/* Whether WORD, NULL for none, has digits alone. */
static bool options_may_be_number(const char *word)
{
    return word && word[0] && word[strspn(word, "0123456789")] == '\0';
}

/* The value of an option that needs one: VALUE, or else the next word. */
static const char *options_value_of(struct option_words *words, const char *value)
{
    if (value || words->at + 1 == words->argc)
        return value;
    return words->argv[++words->at];
}

static bool options_parse_long(struct option_words *words)
{
    const char *word = words->argv[words->at];
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    const struct option *option = options_find_long(word + 2, size - 2, words->command);
    const char *value = equals ? equals + 1 : NULL;
    if (!options_may_stand(words, option, word))
        return false;
    if (!option->argument && equals)
        return options_report_error(word, "takes no value", words->command);
    const char *next = words->at + 1 < words->argc ? words->argv[words->at + 1] : NULL;
    if (option->argument && (!option->optional || options_may_be_number(next)))
        value = options_value_of(words, value);
    if (option->argument && !option->optional && !value)
        return options_report_error(word, "needs a value", words->command);
    return options_apply(words, option, word, value);
}

/* Before the command a letter has the meaning that it has for all commands, if it has one. */
static const struct option *options_find_letter(const struct option_words *words, char letter)
{
    const struct option *general = words->kept == 0 ? options_find_letter_it(letter, NULL) : NULL;
    return general && !general->commands ? general : options_find_letter_it(letter, words->command);
}

/* Several letters may follow one dash; the rest of the word, or the next, is the value of one that
 * takes a value. */
static bool options_parse_letters(struct option_words *words)
{
    const char *word = words->argv[words->at];
    for (const char *letter = word + 1; *letter; letter++) {
        const struct option *option = options_find_letter(words, *letter);
        const char *value = NULL;
        if (!option)
            return options_refuse_letter(words, *letter);
        if (!options_may_stand(words, option, word))
            return false;
        if (option->argument && !(value = options_value_of(words, letter[1] ? letter + 1 : NULL)))
            return options_report_error(word, "needs a value", words->command);
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

/* The option whose value is NEXT, the word after WORD (NULL: there is none), where it goes with
 * COMMAND (NULL: not known). */
static const struct option *options_awaits(const char *word, const char *next, const char *command)
{
    const struct option *option = NULL;
    if (word[1] == '-')
        option = options_find_long(word + 2, strlen(word) - 2, command);
    else if (strlen(word) == 2)
        option = options_find_letter_it(word[1], command);
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
        i += options_awaits(argv[i], i + 1 < argc ? argv[i + 1] : NULL, NULL) ? 1 : 0;
    }
    return NULL;
}

bool options_agree(const struct options *options)
{
    return !options->no_map || !options->map ||
           options_report_error("--no-map", "does not go with a map that is named", NULL);
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
            argv[words.kept++] = word;
        else if (word[1] == '-' ? !options_parse_long(&words) : !options_parse_letters(&words))
            return -1;
    }
    return options_agree(options) ? words.kept : -1;
}

static void options_look_at_value(const struct option *option, size_t from,
                                  struct options_typed *out)
{
    out->kind = option->one_of ? WORD_ONE_OF : option->kind;
    out->list = option->one_of;
    out->is_value = true;
    out->from = from;
}

/* The last word, before which no option has been left without its value. */
static void options_look_at_last(const char *word, struct options_typed *out)
{
    size_t name = strcspn(word, "=");
    const struct option *option = NULL;
    if (word[0] != '-')
        return;
    if (word[1] == '-' && word[name] == '=')
        option = options_find_long(word + 2, name - 2, out->command);
    out->kind = WORD_OPTION;
    if (option && option->argument)
        options_look_at_value(option, name + 1, out);
}

void options_look(int argc, char **argv, struct options_typed *out)
{
    *out = (struct options_typed){.command = options_find_command(argc - 1, argv)};
    bool ended = false;
    size_t words = 0;
    for (int i = 1; i < argc - 1; i++) {
        if (ended || !options_is_option(argv[i])) {
            words++;
            continue;
        }
        const struct option *option = options_awaits(argv[i], argv[i + 1], out->command);
        ended = strcmp(argv[i], "--") == 0;
        if (option && ++i == argc - 1)
            options_look_at_value(option, 0, out);
    }
    out->operands = words > 0 ? words - 1 : 0;
    if (!ended && !out->is_value)
        options_look_at_last(argv[argc - 1], out);
}

void options_each(const char *command, options_word_fn *fn, void *arg)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        CLEAN_UP(buf_clean_up) struct buf word = {0};
        if (option->commands && (!command || !options_has_word(option->commands, command)))
            continue;
        if (option->name)
            buf_printf(&word, "--%s", option->name);
        else
            buf_printf(&word, "-%c", option->letter);
        fn(arg, buf_text(&word), option->help);
    }
}

static bool options_goes_with_mount(const struct option *option)
{
    return option->name && (!option->commands || options_has_word(option->commands, "mount"));
}

void options_offer(struct nearest *nearest)
{
    for (size_t i = 0; i < option_count; i++)
        if (options_goes_with_mount(&option_table[i]))
            nearest_offer(nearest, span_text(option_table[i].name));
}

bool options_given(const struct options *options, struct span name)
{
    for (size_t i = 0; i < option_count; i++)
        if (options->given[i] && option_table[i].name && span_is(name, option_table[i].name))
            return true;
    return false;
}

void options_each_inherited(const struct options *options, options_given_fn *fn, void *arg)
{
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].inherited && options->given[i])
            fn(arg, option_table[i].name, option_table[i].argument ? options->given[i] : NULL);
}

enum options_outcome options_set(struct options *options, struct span name, const char *value)
{
    const struct option *option = options_find_long(name.data, name.size, NULL);
    if (!option || !options_goes_with_mount(option))
        return OPTIONS_UNKNOWN;
    if (!option->argument != !value)
        return OPTIONS_WRONG;
    return option_set(option, options, value) ? OPTIONS_SET : OPTIONS_WRONG;
}

/* COMMAND, NULL for none, may take the letter for another option. */
static void options_print(FILE *out, const struct option *option, const char *command,
                          bool tell_commands)
{
    CLEAN_UP(buf_clean_up) struct buf left = {0};
    if (option->letter && (!command || options_find_letter_it(option->letter, command) == option))
        buf_printf(&left, "-%c%s", option->letter, option->name ? ", " : "");
    if (option->name)
        buf_printf(&left, "--%s", option->name);
    if (option->argument)
        buf_printf(&left, option->optional ? "[=%s]" : " %s", option->argument);
    fprintf(out, "  %-25s %s", buf_text(&left), option->help);
    if (option->initial && option->initial[0])
        fprintf(out, " (%s)", option->initial);
    if (option->commands && tell_commands)
        fprintf(out, " [%s]", option->commands);
    fputc('\n', out);
}

/* The commands that ask nobody, and so have no use for a map, a profile or a time-out. */
static const char ask_nobody[] = "umount refresh status log top completion help";

/* Whether it goes with COMMAND, or (NULL) with others than WITHOUT alone, and with no others. */
static bool options_is_own(const struct option *option, const char *command, const char *without)
{
    if (!option->commands)
        return false;
    return command ? options_has_word(option->commands, command)
                   : !without || strcmp(option->commands, without) != 0;
}

static bool options_is_common(const struct option *option, const char *command)
{
    return !option->commands && !(command && option->asks && options_has_word(ask_nobody, command));
}

static void options_print_own(FILE *out, const char *command, const char *without)
{
    const char *title = command ? "\noptions of its own\n" : "\noptions of some commands\n";
    for (size_t i = 0; i < option_count; i++) {
        if (!options_is_own(&option_table[i], command, without))
            continue;
        fputs(title, out);
        title = "";
        options_print(out, &option_table[i], command, !command);
    }
}

void options_print_help(FILE *out, const char *command, const char *without)
{
    if (command)
        options_print_own(out, command, NULL);
    fputs("\noptions of all commands\n", out);
    for (size_t i = 0; i < option_count; i++)
        if (options_is_common(&option_table[i], command))
            options_print(out, &option_table[i], command, false);
    if (!command)
        options_print_own(out, NULL, without);
}
