#include "fs/cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/nearest.h"
#include "core/base/printable.h"
#include "core/map/name.h"

/* Of each path, for `check --sample`. */
enum { SAMPLE_RECORDS = 10 };

struct option {
    char letter;          /* 0: has none */
    bool asks;            /* of asking the service: may stand anywhere, but some ask nobody */
    bool optional;        /* the argument stands behind an equals sign, or is left out */
    enum word_kind kind;  /* what completes the value, where ONE_OF does not */
    const char *name;     /* NULL: has none */
    const char *argument; /* what stands for it in the help; NULL: takes none */
    const char *takes;    /* what the value may be; NULL: anything */
    const char *one_of;   /* instead: the words that it may be, with blanks between */
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

/* A suffix is part of names: nothing that a name would escape, that marks a companion, or that
 * programs try by themselves. */
static bool set_suffix(struct options *options, const char *value)
{
    options->suffix = value;
    return strlen(value) <= 16 && !strchr(value, '@') && name_can_hold(span_text(value)) &&
           name_ending(span_text(value)) == strlen(value);
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

static bool set_columns(struct options *options, const char *value)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct span *names;
    size_t count;
    options->columns = value;
    return names_find_columns(span_text(value), &arena, &names, &count, NULL) && count > 0;
}

static bool set_count(struct options *options, const char *value)
{
    (void)value;
    options->count = true;
    return true;
}

static bool set_where(struct options *options, const char *value)
{
    options->where = value;
    return value[strspn(value, " \t\r\n")] != '\0';
}

static bool set_limit(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->limit = (uint32_t)number;
    return value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= 100000000;
}

static bool set_ignore(struct options *options, const char *value)
{
    unsigned most = sizeof options->ignored / sizeof options->ignored[0];
    if (options->ignored_count == most)
        return false;
    options->ignored[options->ignored_count++] = value;
    return value[0] != '\0';
}

static bool set_confirm_above(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->confirm_above = (uint32_t)number;
    options->confirm_given = true;
    return value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= 1000000000;
}

static bool set_environment(struct options *options, const char *value)
{
    options->environment = value;
    return value[0] != '\0';
}

static bool set_whoami(struct options *options, const char *value)
{
    (void)value;
    options->whoami = true;
    return true;
}

static bool set_offline(struct options *options, const char *value)
{
    (void)value;
    options->offline = true;
    return true;
}

/* NULL: as many as by default. */
static bool set_sample(struct options *options, const char *value)
{
    char *end = NULL;
    unsigned long number = value ? strtoul(value, &end, 10) : SAMPLE_RECORDS;
    options->sampled = true;
    options->sample = (uint32_t)number;
    return !value || (value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= 100);
}

/* A path, or how many records of each table. */
static bool set_map_sample(struct options *options, const char *value)
{
    char *end = NULL;
    unsigned long number = strtoul(value, &end, 10);
    unsigned most = sizeof options->sample_paths / sizeof options->sample_paths[0];
    if (value[0] == '/' && options->sample_path_count < most) {
        options->sample_paths[options->sample_path_count++] = value;
        return true;
    }
    options->sample_records = (uint32_t)number;
    return value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= 1000;
}

static bool set_yes(struct options *options, const char *value)
{
    (void)value;
    options->yes = true;
    return true;
}

static bool set_from(struct options *options, const char *value)
{
    options->from = value;
    return value[0];
}

static bool set_ledger(struct options *options, const char *value)
{
    options->ledger = value;
    return value[0];
}

static bool set_foreground(struct options *options, const char *value)
{
    (void)value;
    options->foreground = true;
    return true;
}

static bool set_follow(struct options *options, const char *value)
{
    (void)value;
    options->follow = true;
    return true;
}

static bool set_lines(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->lines = (uint32_t)number;
    return value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= 100000000;
}

static bool set_times(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->times = (uint32_t)number;
    return value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= 100000000;
}

static bool set_errors(struct options *options, const char *value)
{
    (void)value;
    options->errors = true;
    return true;
}

bool options_add_mount(struct options *options, const char *value)
{
    size_t room = sizeof options->fuse_options / sizeof options->fuse_options[0];
    if (options->fuse_option_count == room)
        return false;
    options->fuse_options[options->fuse_option_count++] = value;
    return true;
}

/* A number of bytes, with K, M or G behind it or not. */
static bool read_bytes(const char *value, uint64_t *out)
{
    char *end;
    unsigned long long number = strtoull(value, &end, 10);
    const char *units = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (value[0] < '0' || value[0] > '9' || (*end && (!unit || end[1])) || number > 1ULL << 33)
        return false;
    *out = number << shift;
    return true;
}

static bool set_cache_size(struct options *options, const char *value)
{
    return read_bytes(value, &options->cache_bytes) && options->cache_bytes >= 1 << 20;
}

static bool set_hedge(struct options *options, const char *value)
{
    options->hedge = strcmp(value, "yes") == 0;
    return options->hedge || strcmp(value, "no") == 0;
}

static bool set_allow_scan(struct options *options, const char *value)
{
    (void)value;
    options->allow_scan = true;
    return true;
}

/* A number of items, and the size stays; or both. */
static bool set_scan_limit(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->scan_limited = true;
    options->scan_limits.items = number;
    return value[0] >= '1' && value[0] <= '9' && number <= 100000000 &&
           (*end == '\0' || (*end == ',' && read_bytes(end + 1, &options->scan_limits.bytes) &&
                             options->scan_limits.bytes > 0));
}

static bool set_tables(struct options *options, const char *value)
{
    (void)value;
    options->tables = true;
    return true;
}

static bool set_max_entries(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->max_entries = (uint32_t)number;
    return value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= 100000000;
}

/* Read units, which come in halves. */
static bool read_units(const char *value, double *out)
{
    char *end;
    *out = strtod(value, &end);
    return value[0] >= '0' && value[0] <= '9' && *end == '\0' && *out >= 0.5 && *out <= 1e9;
}

static bool set_max_rcu(struct options *options, const char *value)
{
    return read_units(value, &options->max_rcu);
}

static bool set_max_rcu_per_process(struct options *options, const char *value)
{
    return read_units(value, &options->max_rcu_per_process);
}

/* Up to a year. */
static bool set_both_ends(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    bool no = strcmp(value, "no") == 0;
    options->both_ends_ms = no ? -1 : (int64_t)number;
    return no || (value[0] >= '0' && value[0] <= '9' && *end == '\0' && number <= 60000);
}

static bool set_stale_if_error(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->stale_ms = (int64_t)number * 1000;
    return value[0] >= '0' && value[0] <= '9' && *end == '\0' && number <= 366UL * 86400;
}

static const struct option table[] = {
    {.name = "map",
     .asks = true,
     .argument = "FILE",
     .takes = "the name of a file",
     .kind = WORD_FILE,
     .set = set_map,
     .help = "the map; else $DDBFS_MAP, $XDG_CONFIG_HOME/ddbfs/map.json, /etc/ddbfs/map.json"},
    {.name = "profile",
     .asks = true,
     .argument = "NAME",
     .takes = "the name of a profile",
     .set = set_profile,
     .help = "the AWS profile, instead of the map's; turns credentials in the environment off"},
    {.name = "region",
     .asks = true,
     .argument = "NAME",
     .takes = "the name of a region",
     .set = set_region,
     .help = "the AWS region, instead of the map's"},
    {.name = "endpoint-url",
     .asks = true,
     .argument = "URL",
     .takes = "http://… or https://…",
     .set = set_endpoint_url,
     .help = "ask this server, instead of the region's"},
    {.name = "suffix",
     .asks = true,
     .argument = "TEXT",
     .takes = "at most 16 bytes, without /, %, @, control characters and a ~ at the end",
     .set = set_suffix,
     .initial = "",
     .help = "end every record's name with TEXT, such as .json"},
    {.name = "format",
     .asks = true,
     .argument = "HOW",
     .one_of = "pretty compact",
     .set = set_format,
     .initial = "pretty",
     .help = "records as pretty or compact JSON"},
    {.name = "show-secrets",
     .asks = true,
     .set = set_show_secrets,
     .help = "show attributes that the map calls secret"},
    {.name = "timeout",
     .asks = true,
     .argument = "SECONDS",
     .takes = "0.1 to 3600",
     .set = set_timeout,
     .initial = "10",
     .help = "how long an answer may take, retries included"},
    {.letter = 'v',
     .name = "verbose",
     .asks = true,
     .set = set_verbose,
     .help = "say each request on standard error"},
    {.letter = 'l', .set = set_long, .commands = "ls", .help = "with mode, size and date"},
    {.name = "columns",
     .argument = "NAMES",
     .takes = "attributes with a comma between them (%2C in a name is one of its own)",
     .set = set_columns,
     .commands = "ls",
     .help = "beside each record of a listing these attributes of it, aligned"},
    {.name = "count",
     .set = set_count,
     .commands = "ls",
     .help = "how many records a listing has (of those that answer the filter)"},
    {.name = "where",
     .argument = "FILTER",
     .takes = "a filter, such as 'status = \"FAILED\" and attempt > 2'",
     .set = set_where,
     .commands = "ls cat explain",
     .help = "of a listing, only the records that answer FILTER"},
    {.name = "limit",
     .argument = "N",
     .takes = "1 to 100000000",
     .set = set_limit,
     .commands = "ls cat explain",
     .help = "of a listing, the first N records (of those that answer the filter)"},
    {.name = "ignore",
     .argument = "ATTRIBUTE",
     .takes = "the name of an attribute, or names with dots between them, up to 64 times",
     .set = set_ignore,
     .commands = "diff",
     .help = "of records, not this attribute: updated_at, or config.at in a map"},
    {.name = "confirm-above",
     .argument = "UNITS",
     .takes = "1 to 1000000000",
     .set = set_confirm_above,
     .commands = "ls cat",
     .initial = "1000",
     .help = "ask at a terminal before a filter or a count takes more read units"},
    {.name = "json",
     .set = set_json,
     .commands = "cat ls diff explain check policy config",
     .help = "errors, listings, differences and findings as JSON, for programs"},
    {.name = "env",
     .argument = "NAME",
     .takes = "the name of an environment",
     .kind = WORD_ENVIRONMENT,
     .set = set_environment,
     .commands = "policy config",
     .help = "of this environment alone"},
    {.name = "whoami",
     .set = set_whoami,
     .commands = "config",
     .help = "ask STS, too, whose the credentials are"},
    {.name = "offline",
     .set = set_offline,
     .commands = "check",
     .help = "look at the map alone, not at tables"},
    {.name = "sample",
     .argument = "N",
     .optional = true,
     .takes = "1 to 100",
     .set = set_sample,
     .commands = "check",
     .help = "compare the map with N records of each path, or 10"},
    {.name = "sample",
     .argument = "PATH|N",
     .takes = "a path, up to 64 times, or how many records of each table, 1 to 1000",
     .kind = WORD_PATH,
     .set = set_map_sample,
     .commands = "map init",
     .help = "learn key formats from the records of a path, or from N of each table"},
    {.name = "yes",
     .set = set_yes,
     .commands = "map init",
     .help = "do not ask before more than a page is read, or a map is written"},
    {.name = "from",
     .argument = "FILE",
     .takes = "a file",
     .kind = WORD_FILE,
     .set = set_from,
     .commands = "map init",
     .help = "import a model that was written for another tool"},
    {.letter = 'f',
     .name = "foreground",
     .set = set_foreground,
     .commands = "mount",
     .help = "stay in front, log to standard error"},
    {.letter = 'o',
     .argument = "OPTIONS",
     .takes = "at most eight times",
     .set = options_add_mount,
     .commands = "mount",
     .help = "options of mount(8) and FUSE"},
    {.letter = 'f',
     .name = "follow",
     .set = set_follow,
     .commands = "log",
     .help = "go on with what the mount says next"},
    {.letter = 'n',
     .name = "lines",
     .argument = "N",
     .takes = "1 to 100000000",
     .set = set_lines,
     .commands = "log",
     .help = "the last N lines alone"},
    {.letter = 'n',
     .argument = "N",
     .takes = "1 to 100000000",
     .set = set_times,
     .commands = "top",
     .help = "N times, and end; once where standard output is no terminal"},
    {.name = "errors", .set = set_errors, .commands = "log", .help = "failures alone"},
    {.name = "cache-size",
     .argument = "BYTES",
     .takes = "1M or more, with K, M or G behind it or not",
     .set = set_cache_size,
     .commands = "mount diff",
     .initial = "256M",
     .help = "memory for what was read"},
    {.name = "ledger",
     .argument = "FILE",
     .takes = "the name of a file",
     .kind = WORD_FILE,
     .set = set_ledger,
     .commands = "mount",
     .help = "add a line to FILE for each question: who asked for what, and what it took"},
    {.name = "max-entries",
     .argument = "N",
     .takes = "1 to 100000000",
     .set = set_max_entries,
     .commands = "mount",
     .initial = "1000000",
     .help = "how many entries a listing may have"},
    {.name = "max-rcu",
     .argument = "N",
     .takes = "0.5 to 1000000000",
     .set = set_max_rcu,
     .commands = "mount",
     .help = "read units that may be read in a second; beyond it EDQUOT"},
    {.name = "max-rcu-per-process",
     .argument = "N",
     .takes = "0.5 to 1000000000",
     .set = set_max_rcu_per_process,
     .commands = "mount",
     .help = "read units that a program, with all it starts, may read; beyond it EDQUOT"},
    {.name = "stale-if-error",
     .argument = "SECONDS",
     .takes = "0 to 31622400",
     .set = set_stale_if_error,
     .commands = "mount",
     .initial = "0",
     .help = "in an outage, show what is older than its ttl by so much"},
    {.name = "both-ends",
     .argument = "MS",
     .takes = "no, or 0 to 60000 milliseconds",
     .set = set_both_ends,
     .commands = "mount ls cat",
     .initial = "3",
     .help = "read whole listings from both ends where a page takes as long; no: never"},
    {.name = "hedge",
     .argument = "HOW",
     .one_of = "yes no",
     .set = set_hedge,
     .commands = "mount",
     .initial = "yes",
     .help = "ask for a record again whose answer is late"},
    {.name = "allow-scan",
     .set = set_allow_scan,
     .commands = "mount ls cat diff explain policy map init",
     .help = "list the partition keys of small tables without a map, by a Scan"},
    {.name = "scan-limit",
     .argument = "LIMIT",
     .takes = "N or N,BYTES: 1 to 100000000 items, and bytes with K, M or G behind them or not",
     .set = set_scan_limit,
     .commands = "mount ls cat diff explain",
     .initial = "10000,50M",
     .help = "of how many items, or bytes, a table may be that is scanned"},
    {.name = "tables",
     .set = set_tables,
     .commands = "policy",
     .help = "with what tables/ needs, for tables that have no map"},
    {.letter = 'h', .name = "help", .set = set_help, .help = "print this"},
    {.name = "version", .set = set_version, .help = "print the version"},
};

enum { COUNT = sizeof table / sizeof table[0] };

void options_init(struct options *options)
{
    *options = (struct options){.sample = SAMPLE_RECORDS};
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].initial)
            table[i].set(options, table[i].initial);
    options->scan_limited = false;
    options->confirm_given = false;
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

/* The option of that name that goes with COMMAND (NULL: not known); else one of that name. */
static const struct option *find_long(const char *text, size_t size, const char *command)
{
    const struct option *found = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        if (!table[i].name || strlen(table[i].name) != size ||
            strncmp(table[i].name, text, size) != 0)
            continue;
        if (command && table[i].commands && has_word(table[i].commands, command))
            return &table[i];
        found = found ? found : &table[i];
    }
    return found;
}

/* The same for a letter. */
static const struct option *find_letter(char letter, const char *command)
{
    const struct option *found = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        if (!table[i].letter || table[i].letter != letter)
            continue;
        if (command && table[i].commands && has_word(table[i].commands, command))
            return &table[i];
        found = found ? found : &table[i];
    }
    return found;
}

static bool complain(const char *word, const char *why)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add(&safe, span_text(word), "");
    fprintf(stderr, "ddbfs: %s %s; see ddbfs --help\n", buf_text(&safe), why);
    return false;
}

/* The words of a command line while its options are taken out. */
struct words {
    int argc;
    char **argv;
    int at;
    const char *command; /* NULL while it is being looked for */
    struct options *options;
};

/* Names the long option that WORD is nearest to. */
static bool unknown(const char *word)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct nearest nearest = nearest_to(span_of(word, strcspn(word, "=")));
    struct buf names[COUNT] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        if (!table[i].name)
            continue;
        buf_printf(&names[i], "--%s", table[i].name);
        nearest_offer(&nearest, buf_span(&names[i]));
    }
    buf_add_text(&text, "is no option");
    nearest_write(&nearest, &text);
    for (size_t i = 0; i < COUNT; i++)
        buf_clean_up(&names[i]);
    return complain(word, buf_text(&text));
}

static bool may_stand(const struct words *words, const struct option *option, const char *word)
{
    if (!option)
        return unknown(word);
    if (option->commands && (!words->command || !has_word(option->commands, words->command)))
        return complain(word, "does not go with this command");
    return true;
}

static bool apply(const struct words *words, const struct option *option, const char *word,
                  const char *value)
{
    CLEAN_UP(buf_clean_up) struct buf takes = {0};
    if (option->set(words->options, value))
        return true;
    for (const char *at = option->one_of; at && *at; at++)
        *at == ' ' ? buf_add_text(&takes, " or ") : buf_add_char(&takes, *at);
    fprintf(stderr, "ddbfs: %s takes %s; see ddbfs --help\n", word,
            option->one_of ? buf_text(&takes) : option->takes);
    return false;
}

/* The value of an option that needs one: VALUE, or else the next word. */
static const char *value_of(struct words *words, const char *value)
{
    if (value || words->at + 1 == words->argc)
        return value;
    return words->argv[++words->at];
}

static bool parse_long(struct words *words)
{
    const char *word = words->argv[words->at];
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    const struct option *option = find_long(word + 2, size - 2, words->command);
    const char *value = equals ? equals + 1 : NULL;
    if (!may_stand(words, option, word))
        return false;
    if (!option->argument && equals)
        return complain(word, "takes no value");
    if (option->argument && !option->optional && !(value = value_of(words, value)))
        return complain(word, "needs a value");
    return apply(words, option, word, value);
}

/* Several letters may follow one dash; the rest of the word, or the next, is the value of one that
 * takes a value. */
static bool parse_letters(struct words *words)
{
    const char *word = words->argv[words->at];
    for (const char *letter = word + 1; *letter; letter++) {
        const struct option *option = find_letter(*letter, words->command);
        const char *value = NULL;
        if (!may_stand(words, option, word))
            return false;
        if (option->argument && !(value = value_of(words, letter[1] ? letter + 1 : NULL)))
            return complain(word, "needs a value");
        if (!apply(words, option, word, value))
            return false;
        if (option->argument)
            return true;
    }
    return true;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* The option whose value is the word after WORD, where it goes with COMMAND (NULL: not known). */
static const struct option *awaits(const char *word, const char *command)
{
    const struct option *option = NULL;
    if (word[1] == '-')
        option = find_long(word + 2, strlen(word) - 2, command);
    else if (strlen(word) == 2)
        option = find_letter(word[1], command);
    return option && option->argument && !option->optional ? option : NULL;
}

/* The first word that is neither an option nor an option's value. */
static const char *find_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
        if (!is_option(argv[i]))
            return argv[i];
        i += awaits(argv[i], NULL) ? 1 : 0;
    }
    return NULL;
}

int options_parse(struct options *options, int argc, char **argv)
{
    struct words words = {argc, argv, 1, find_command(argc, argv), options};
    int kept = 0;
    bool ended = false;
    for (; words.at < argc; words.at++) {
        char *word = argv[words.at];
        if (!ended && strcmp(word, "--") == 0)
            ended = true;
        else if (ended || !is_option(word))
            argv[kept++] = word;
        else if (word[1] == '-' ? !parse_long(&words) : !parse_letters(&words))
            return -1;
    }
    return kept;
}

static void look_at_value(const struct option *option, size_t from, struct options_typed *out)
{
    out->kind = option->one_of ? WORD_ONE_OF : option->kind;
    out->list = option->one_of;
    out->is_value = true;
    out->from = from;
}

/* The last word, before which no option has been left without its value. */
static void look_at_last(const char *word, struct options_typed *out)
{
    size_t name = strcspn(word, "=");
    const struct option *option = NULL;
    if (word[0] != '-')
        return;
    if (word[1] == '-' && word[name] == '=')
        option = find_long(word + 2, name - 2, out->command);
    out->kind = WORD_OPTION;
    if (option && option->argument)
        look_at_value(option, name + 1, out);
}

void options_look(int argc, char **argv, struct options_typed *out)
{
    *out = (struct options_typed){.command = find_command(argc - 1, argv)};
    bool ended = false;
    size_t words = 0;
    for (int i = 1; i < argc - 1; i++) {
        if (ended || !is_option(argv[i])) {
            words++;
            continue;
        }
        const struct option *option = awaits(argv[i], out->command);
        ended = strcmp(argv[i], "--") == 0;
        if (option && ++i == argc - 1)
            look_at_value(option, 0, out);
    }
    out->operands = words > 0 ? words - 1 : 0;
    if (!ended && !out->is_value)
        look_at_last(argv[argc - 1], out);
}

void options_each(const char *command, options_word_fn *fn, void *arg)
{
    for (size_t i = 0; i < COUNT; i++) {
        const struct option *option = &table[i];
        CLEAN_UP(buf_clean_up) struct buf word = {0};
        if (option->commands && (!command || !has_word(option->commands, command)))
            continue;
        if (option->name)
            buf_printf(&word, "--%s", option->name);
        else
            buf_printf(&word, "-%c", option->letter);
        fn(arg, buf_text(&word), option->help);
    }
}

static bool goes_with_mount(const struct option *option)
{
    return option->name && (!option->commands || has_word(option->commands, "mount"));
}

void options_offer(struct nearest *nearest)
{
    for (size_t i = 0; i < COUNT; i++)
        if (goes_with_mount(&table[i]))
            nearest_offer(nearest, span_text(table[i].name));
}

enum options_outcome options_set(struct options *options, struct span name, const char *value)
{
    const struct option *option = find_long(name.data, name.size, NULL);
    if (!option || !goes_with_mount(option))
        return OPTIONS_UNKNOWN;
    if (!option->argument != !value)
        return OPTIONS_WRONG;
    return option->set(options, value) ? OPTIONS_SET : OPTIONS_WRONG;
}

static void print_option(FILE *out, const struct option *option, bool tell_commands)
{
    CLEAN_UP(buf_clean_up) struct buf left = {0};
    if (option->letter)
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
static const char ask_nobody[] = "umount refresh log top completion help";

/* Whether it goes with COMMAND, or (NULL) with others than WITHOUT alone, and with no others. */
static bool is_own(const struct option *option, const char *command, const char *without)
{
    if (!option->commands)
        return false;
    return command ? has_word(option->commands, command)
                   : !without || strcmp(option->commands, without) != 0;
}

static bool is_common(const struct option *option, const char *command)
{
    return !option->commands && !(command && option->asks && has_word(ask_nobody, command));
}

static void print_own(FILE *out, const char *command, const char *without)
{
    const char *title = command ? "\noptions of its own\n" : "\noptions of some commands\n";
    for (size_t i = 0; i < COUNT; i++) {
        if (!is_own(&table[i], command, without))
            continue;
        fputs(title, out);
        title = "";
        print_option(out, &table[i], !command);
    }
}

void options_print_help(FILE *out, const char *command, const char *without)
{
    if (command)
        print_own(out, command, NULL);
    fputs("\noptions of all commands\n", out);
    for (size_t i = 0; i < COUNT; i++)
        if (is_common(&table[i], command))
            print_option(out, &table[i], false);
    if (!command)
        print_own(out, NULL, without);
}
