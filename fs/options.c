#include "fs/options.h"

#include <stdlib.h>
#include <string.h>

struct option {
    char letter;          /* 0: has none */
    const char *name;     /* NULL: has none */
    const char *argument; /* what stands for it in the help; NULL: takes none */
    bool (*set)(struct options *options, const char *value);
    const char *commands; /* where it may stand; NULL: anywhere */
    const char *initial;  /* the default, as text */
    const char *help;
};

static bool set_map(struct options *options, const char *value)
{
    options->map = value;
    return value[0] != '\0';
}

static bool set_profile(struct options *options, const char *value)
{
    options->profile = value;
    return value[0] != '\0';
}

static bool set_region(struct options *options, const char *value)
{
    options->region = value;
    return value[0] != '\0';
}

static bool set_endpoint_url(struct options *options, const char *value)
{
    options->endpoint_url = value;
    return value[0] != '\0';
}

/* A suffix is part of names: nothing that ends a name or marks a companion. */
static bool set_suffix(struct options *options, const char *value)
{
    options->suffix = value;
    return strlen(value) <= 16 && strpbrk(value, "/%@") == NULL;
}

static bool set_format(struct options *options, const char *value)
{
    options->compact = strcmp(value, "compact") == 0;
    return options->compact || strcmp(value, "pretty") == 0;
}

static bool set_show_secrets(struct options *options, const char *value)
{
    (void)value;
    options->show_secrets = true;
    return true;
}

static bool set_timeout(struct options *options, const char *value)
{
    char *end;
    double seconds = strtod(value, &end);
    if (end == value || *end != '\0' || !(seconds >= 0.1 && seconds <= 3600))
        return false;
    options->timeout_ms = (int64_t)(seconds * 1000);
    return true;
}

static bool set_verbose(struct options *options, const char *value)
{
    (void)value;
    options->verbose++;
    return true;
}

static bool set_help(struct options *options, const char *value)
{
    (void)value;
    options->help = true;
    return true;
}

static bool set_version(struct options *options, const char *value)
{
    (void)value;
    options->version = true;
    return true;
}

static bool set_long(struct options *options, const char *value)
{
    (void)value;
    options->list_long = true;
    return true;
}

static bool set_json(struct options *options, const char *value)
{
    (void)value;
    options->json = true;
    return true;
}

static bool set_offline(struct options *options, const char *value)
{
    (void)value;
    options->offline = true;
    return true;
}

static const struct option table[] = {
    {0, "map", "FILE", set_map, NULL, NULL,
     "the map; else $DDBFS_MAP, $XDG_CONFIG_HOME/ddbfs/map.json, /etc/ddbfs/map.json"},
    {0, "profile", "NAME", set_profile, NULL, NULL,
     "the AWS profile, instead of the map's; turns credentials in the environment off"},
    {0, "region", "NAME", set_region, NULL, NULL, "the AWS region, instead of the map's"},
    {0, "endpoint-url", "URL", set_endpoint_url, NULL, NULL,
     "ask this server, instead of the region's"},
    {0, "suffix", "TEXT", set_suffix, NULL, "", "end every record's name with TEXT, such as .json"},
    {0, "format", "HOW", set_format, NULL, "pretty", "records as pretty or compact JSON"},
    {0, "show-secrets", NULL, set_show_secrets, NULL, NULL,
     "show attributes that the map calls secret"},
    {0, "timeout", "SECONDS", set_timeout, NULL, "10",
     "how long an answer may take, retries included"},
    {'v', "verbose", NULL, set_verbose, NULL, NULL, "say each request on standard error"},
    {'l', NULL, NULL, set_long, "ls", NULL, "with mode, size and date"},
    {0, "json", NULL, set_json, "ls explain check", NULL, "as JSON, for programs"},
    {0, "offline", NULL, set_offline, "check", NULL, "look at the map alone, not at tables"},
    {'h', "help", NULL, set_help, NULL, NULL, "print this"},
    {0, "version", NULL, set_version, NULL, NULL, "print the version"},
};

enum { COUNT = sizeof table / sizeof table[0] };

void options_init(struct options *options)
{
    *options = (struct options){0};
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].initial)
            table[i].set(options, table[i].initial);
}

/* Whether WORD is one of the words of LIST. */
static bool has_word(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
            return true;
    return false;
}

static const struct option *find_long(const char *text, size_t size)
{
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].name && strlen(table[i].name) == size &&
            strncmp(table[i].name, text, size) == 0)
            return &table[i];
    return NULL;
}

static const struct option *find_letter(char letter)
{
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].letter && table[i].letter == letter)
            return &table[i];
    return NULL;
}

static bool complain(const char *word, const char *why)
{
    fprintf(stderr, "ddbfs: %s %s; see ddbfs --help\n", word, why);
    return false;
}

static bool may_stand(const struct option *option, const char *command, const char *word)
{
    if (!option)
        return complain(word, "is no option");
    if (option->commands && (!command || !has_word(option->commands, command)))
        return complain(word, "does not go with this command");
    return true;
}

static bool apply(struct options *options, const struct option *option, const char *word,
                  const char *value)
{
    return option->set(options, value) || complain(word, "has a value that it can't have");
}

static bool parse_long(struct options *options, const char *command, int argc, char **argv, int *at)
{
    const char *word = argv[*at];
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    const struct option *option = find_long(word + 2, size - 2);
    if (!may_stand(option, command, word))
        return false;
    if (!option->argument && equals)
        return complain(word, "takes no value");
    const char *value = equals ? equals + 1 : NULL;
    if (option->argument && !value) {
        if (*at + 1 == argc)
            return complain(word, "needs a value");
        value = argv[++*at];
    }
    return apply(options, option, word, value);
}

/* Letters take no values, so several may follow one dash. */
static bool parse_letters(struct options *options, const char *command, const char *word)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const struct option *option = find_letter(*letter);
        if (!may_stand(option, command, word) || !apply(options, option, word, NULL))
            return false;
    }
    return true;
}

bool options_parse(struct options *options, const char *command, int argc, char **argv, int *at)
{
    for (; *at < argc; ++*at) {
        const char *word = argv[*at];
        if (word[0] != '-' || word[1] == '\0')
            return true;
        if (strcmp(word, "--") == 0) {
            ++*at;
            return true;
        }
        bool ok = word[1] == '-' ? parse_long(options, command, argc, argv, at)
                                 : parse_letters(options, command, word);
        if (!ok)
            return false;
    }
    return true;
}

static void print_option(FILE *out, const struct option *option)
{
    char left[48];
    int size = 0;
    if (option->letter)
        size = snprintf(left, sizeof left, "-%c%s", option->letter, option->name ? ", " : "");
    if (option->name)
        snprintf(left + size, sizeof left - (size_t)size, "--%s%s%s", option->name,
                 option->argument ? " " : "", option->argument ? option->argument : "");
    fprintf(out, "  %-22s %s", left, option->help);
    if (option->initial && option->initial[0])
        fprintf(out, " (%s)", option->initial);
    if (option->commands)
        fprintf(out, " [%s]", option->commands);
    fputc('\n', out);
}

void options_print_help(FILE *out)
{
    for (size_t i = 0; i < COUNT; i++)
        print_option(out, &table[i]);
}
