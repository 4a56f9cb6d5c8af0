/* The table of options, which the command line, the help and `-o` of mounts use. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/map/companion.h"
#include "fs/cli/options.h"

#define FLAG(member) .type = OPTION_FLAG, .at = offsetof(struct options, member)
#define TEXT(member) .type = OPTION_TEXT, .at = offsetof(struct options, member)
#define NUMBER(member, up_to)                                                                      \
    .type = OPTION_NUMBER, .at = offsetof(struct options, member), .most = (up_to)

/* A suffix is part of names. It must not contain a character that names escape, "@", or an ending
 * that programs probe. */
static bool option_set_suffix(struct options *options, const char *value)
{
    options->suffix = value;
    return strlen(value) <= 16 && !strchr(value, '@') && escape_is_unneeded(span_text(value)) &&
           companion_find_ending(span_text(value)) == strlen(value);
}

static bool option_set_format(struct options *options, const char *value)
{
    options->compact = strcmp(value, "compact") == 0;
    return options->compact || strcmp(value, "pretty") == 0;
}

static bool option_set_timeout(struct options *options, const char *value)
{
    char *end;
    double seconds = strtod(value, &end);
    if (end == value || *end != '\0' || !(seconds >= 0.1 && seconds <= 3600))
        return false;
    options->timeout_ms = (int64_t)(seconds * 1000);
    return true;
}

static bool option_set_verbose(struct options *options, const char *value)
{
    (void)value;
    options->verbose++;
    return true;
}

static bool option_set_columns(struct options *options, const char *value)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct span *names;
    size_t count;
    options->columns = value;
    return names_find_columns(span_text(value), &arena, &names, &count, NULL) && count > 0;
}

static bool option_set_where(struct options *options, const char *value)
{
    options->where = value;
    return value[strspn(value, " \t\r\n")] != '\0';
}

static bool option_set_ignore(struct options *options, const char *value)
{
    unsigned most = sizeof options->ignored / sizeof options->ignored[0];
    if (options->ignored_count == most)
        return false;
    options->ignored[options->ignored_count++] = value;
    return value[0] != '\0';
}

static bool option_set_confirm_above(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->confirm_above = (uint32_t)number;
    options->confirm_given = true;
    return value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= 1000000000;
}

/* NULL: the default. */
static bool option_set_sample(struct options *options, const char *value)
{
    char *end = NULL;
    unsigned long number = value ? strtoul(value, &end, 10) : OPTIONS_SAMPLE;
    options->sampled = true;
    options->sample = (uint32_t)number;
    return !value || (value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= 100);
}

/* A path, or a number of items. */
static bool option_set_map_sample(struct options *options, const char *value)
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

bool options_add_mount(struct options *options, const char *value)
{
    size_t room = sizeof options->fuse_options / sizeof options->fuse_options[0];
    if (options->fuse_option_count == room)
        return false;
    options->fuse_options[options->fuse_option_count++] = value;
    return true;
}

bool options_add_snapshot(struct options *options, const char *value)
{
    if (options->snapshot_count == OPTIONS_SNAPSHOTS || value[0] == '\0')
        return false;
    options->snapshots[options->snapshot_count++] = value;
    return true;
}

const char *options_snapshot_variable(const struct options *options)
{
    const char *value = getenv("DDBFS_SNAPSHOT");
    bool other = options->snapshot_count || options->ignores_snapshot_variable ||
                 options->profile || options->region || options->endpoint_url;
    return value && value[0] && !other ? value : NULL;
}

/* A number, with or without K, M or G. */
static bool option_parse_bytes(const char *value, uint64_t *out)
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

static bool option_set_cache_size(struct options *options, const char *value)
{
    return option_parse_bytes(value, &options->cache_bytes) && options->cache_bytes >= 1 << 20;
}

static bool option_set_spool_size(struct options *options, const char *value)
{
    return option_parse_bytes(value, &options->spool_bytes) && options->spool_bytes >= 1 << 20;
}

/* The fewest bytes are those of one search. */
static bool option_set_max_search_bytes(struct options *options, const char *value)
{
    return option_parse_bytes(value, &options->max_search_bytes) &&
           options->max_search_bytes >= 1024;
}

static bool option_set_hedge(struct options *options, const char *value)
{
    options->hedge = strcmp(value, "yes") == 0;
    return options->hedge || strcmp(value, "no") == 0;
}

/* ITEMS, which leaves the bytes at the default, or ITEMS,BYTES. */
static bool option_set_scan_limit(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->scan_limited = true;
    options->scan_limits.items = number;
    return value[0] >= '1' && value[0] <= '9' && number <= 100000000 &&
           (*end == '\0' ||
            (*end == ',' && option_parse_bytes(end + 1, &options->scan_limits.bytes) &&
             options->scan_limits.bytes > 0));
}

/* DynamoDB charges halves of an RCU. */
static bool option_parse_rcu(const char *value, double *out)
{
    char *end;
    *out = strtod(value, &end);
    return value[0] >= '0' && value[0] <= '9' && *end == '\0' && *out >= 0.5 && *out <= 1e9;
}

static bool option_set_max_rcu(struct options *options, const char *value)
{
    return option_parse_rcu(value, &options->max_rcu);
}

static bool option_set_max_rcu_per_process(struct options *options, const char *value)
{
    return option_parse_rcu(value, &options->max_rcu_per_process);
}

static bool option_set_parallel(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    bool no = strcmp(value, "no") == 0;
    options->parallel_ms = no ? -1 : (int64_t)number;
    return no || (value[0] >= '0' && value[0] <= '9' && *end == '\0' && number <= 60000);
}

static bool option_set_stale_if_error(struct options *options, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    options->stale_ms = (int64_t)number * 1000;
    return value[0] >= '0' && value[0] <= '9' && *end == '\0' && number <= 366UL * 86400;
}

static bool option_set_moment(struct options *options, const char *value)
{
    options->moment = instant_parse(span_text(value));
    options->moment_text = value;
    return options->moment.known;
}

/* insert,modify,remove,expired. */
static bool option_set_kind(struct options *options, const char *value)
{
    static const char *const words[] = {"insert", "modify", "remove", "expired"};
    for (const char *at = value;; at++) {
        size_t size = strcspn(at, ","), i = 0;
        while (i < 4 && !span_is(span_of(at, size), words[i]))
            i++;
        if (i == 4)
            return false;
        options->kinds |= 1u << i;
        at += size;
        if (*at == '\0')
            return true;
    }
}

/* A stream has the changes of the last 24 hours. */
enum { SINCE_MOST_HOURS = 24 };

/* 90s, 30m or 2h ago, or a time. */
static bool option_set_since(struct options *options, const char *value)
{
    char *unit;
    unsigned long number = strtoul(value, &unit, 10);
    int64_t ms = *unit == 's' ? 1000 : *unit == 'm' ? 60 * 1000 : *unit == 'h' ? 3600 * 1000 : 0;
    if (value[0] >= '1' && value[0] <= '9' && ms > 0 && unit[1] == '\0') {
        options->ago_ms = (int64_t)number * ms;
        return number <= (unsigned long)SINCE_MOST_HOURS * 3600 &&
               options->ago_ms <= (int64_t)SINCE_MOST_HOURS * 3600 * 1000;
    }
    options->since = instant_parse_first(span_text(value));
    return options->since.known;
}

const struct option option_table[] = {
    {.name = "map",
     .of_requests = true,
     .argument = "FILE",
     .takes = "the name of a file",
     .kind = WORD_FILE,
     TEXT(map),
     .help =
         "the map file; default: $DDBFS_MAP, $XDG_CONFIG_HOME/ddbfs/map.json, /etc/ddbfs/map.json"},
    {.name = "no-map",
     FLAG(no_map),
     .commands = "mount ls cat diff explain sql tail",
     .help = "use no map, only /tables"},
    {.name = "profile",
     .of_requests = true,
     .inherited = true,
     .argument = "NAME",
     .takes = "the name of a profile",
     TEXT(profile),
     .help = "the AWS profile, instead of the map's and of credentials in the environment"},
    {.name = "region",
     .of_requests = true,
     .inherited = true,
     .argument = "NAME",
     .takes = "the name of a region",
     TEXT(region),
     .help = "the AWS region, instead of the map's"},
    {.name = "endpoint-url",
     .of_requests = true,
     .inherited = true,
     .argument = "URL",
     .takes = "http://… or https://…",
     TEXT(endpoint_url),
     .help = "send requests to this server, instead of the region's"},
    {.name = "snapshot",
     .of_requests = true,
     .argument = "FILE",
     .takes = "a file, up to 64 times, or a folder",
     .kind = WORD_FILE,
     .set = options_add_snapshot,
     .help = "read this snapshot instead of DynamoDB, or each in a folder; default: "
             "$DDBFS_SNAPSHOT"},
    {.name = "suffix",
     .of_requests = true,
     .inherited = true,
     .argument = "TEXT",
     .takes = "at most 16 bytes, without /, %, @, control characters, and ~ at the end",
     .set = option_set_suffix,
     .initial = "",
     .help = "end each item's name with TEXT, such as .json"},
    {.name = "format",
     .of_requests = true,
     .inherited = true,
     .argument = "HOW",
     .one_of = "pretty compact",
     .set = option_set_format,
     .initial = "pretty",
     .help = "print items as pretty or compact JSON"},
    {.name = "show-secrets",
     .of_requests = true,
     .inherited = true,
     FLAG(show_secrets),
     .help = "show attributes that the map declares secret"},
    {.name = "timeout",
     .of_requests = true,
     .argument = "SECONDS",
     .takes = "0.1 to 3600",
     .set = option_set_timeout,
     .initial = "10",
     .help = "the time limit of a response, retries included"},
    {.letter = 'v',
     .name = "verbose",
     .of_requests = true,
     .set = option_set_verbose,
     .help = "print each request on standard error"},
    {.letter = 'l', FLAG(list_long), .commands = "ls", .help = "print mode, size and date"},
    {.letter = 'h',
     FLAG(human),
     .commands = "ls",
     .help = "with -l, print sizes such as 1.2K and 34M"},
    {.letter = 't',
     FLAG(by_date),
     .commands = "ls",
     .help = "sort by date, newest first, after the whole directory is read"},
    {.letter = 'r',
     FLAG(reversed),
     .commands = "ls",
     .help = "reverse the order, after the whole directory is read"},
    {.letter = 'a', FLAG(list_all), .commands = "ls", .help = "list all entries, as without it"},
    {.letter = '1', FLAG(one_a_line), .commands = "ls", .help = "one name per line, as without it"},
    {.name = "columns",
     .argument = "NAMES",
     .takes = "attributes, separated by commas (%2C is a comma in a name)",
     .set = option_set_columns,
     .commands = "ls",
     .help = "list the items of a listing with these attributes, in aligned columns"},
    {.name = "count",
     FLAG(count),
     .commands = "ls",
     .help = "print the number of items of a listing (with --where, of those that match)"},
    {.name = "where",
     .argument = "FILTER",
     .takes = "a filter, such as 'status = \"FAILED\" and attempt > 2'",
     .set = option_set_where,
     .commands = "ls cat explain",
     .help = "only the items of a listing that match FILTER"},
    {.name = "limit",
     .argument = "N",
     NUMBER(limit, 100000000),
     .commands = "ls cat explain",
     .help = "only the first N items of a listing (with --where, of those that match)"},
    {.name = "where",
     .argument = "FILTER",
     .takes = "a filter, such as 'status = \"FAILED\" and attempt > 2'",
     .set = option_set_where,
     .commands = "tail",
     .help = "only changes after which the item matches FILTER; for a removal, before which"},
    {.name = "limit",
     .argument = "N",
     NUMBER(limit, 100000000),
     .commands = "tail",
     .help = "end after N changes"},
    {.name = "kind",
     .argument = "KINDS",
     .takes = "insert, modify, remove or expired, or several with commas",
     .set = option_set_kind,
     .commands = "tail",
     .help = "only changes of these kinds: insert, modify, remove, or expired alone"},
    {.name = "since",
     .argument = "TIME",
     .takes = "a time of the last 24 hours: 90s, 30m or 2h ago, or in UTC such as 2026-11-19T10:15",
     .set = option_set_since,
     .commands = "tail",
     .help = "begin with the changes since then (UTC), instead of now"},
    {.name = "oldest",
     FLAG(oldest),
     .commands = "tail",
     .help = "begin with the oldest change that the stream has, of up to 24 hours ago"},
    {.name = "fetch",
     FLAG(fetch),
     .commands = "tail",
     .help = "read each changed item, where the stream has no new images"},
    {.name = "together",
     FLAG(together),
     .commands = "cat diff explain",
     .help = "read all items at one moment, up to 100 of one account and region, or none"},
    {.name = "ignore",
     .argument = "ATTRIBUTE",
     .takes = "an attribute, or names separated by dots, up to 64 times",
     .set = option_set_ignore,
     .commands = "diff",
     .help = "do not compare this attribute, such as updated_at, or config.at in a map"},
    {.name = "confirm-above",
     .argument = "UNITS",
     .takes = "1 to 1000000000",
     .set = option_set_confirm_above,
     .commands = "ls cat sql",
     .initial = "1000",
     .help =
         "require a confirmation at a terminal before a filter, a count or a statement consumes "
         "more RCU"},
    {.name = "json",
     FLAG(json),
     .commands = "cat ls diff explain check policy config status import sql tail",
     .help = "print results and errors as JSON, for programs"},
    {.name = "csv", FLAG(csv), .commands = "sql", .help = "print CSV with a header"},
    {.name = "explain",
     FLAG(explain),
     .commands = "sql",
     .help = "print how each table is read and the most that it costs, and send nothing"},
    {.name = "env",
     .argument = "NAME",
     .takes = "the name of an environment",
     .kind = WORD_ENVIRONMENT,
     TEXT(environment),
     .commands = "policy config",
     .help = "only this environment"},
    {.name = "whoami",
     FLAG(whoami),
     .commands = "config",
     .help = "also print the identity of the credentials, from STS"},
    {.name = "offline",
     FLAG(offline),
     .commands = "check",
     .help = "check the map file alone, without requests"},
    {.name = "sample",
     .argument = "N",
     .optional = true,
     .takes = "1 to 100",
     .set = option_set_sample,
     .commands = "check",
     .help = "compare the map with N items of each path; without N, with 10"},
    {.name = "sample",
     .argument = "PATH|N",
     .takes = "a path, up to 64 times, or a number of items of each table, 1 to 1000",
     .kind = WORD_PATH,
     .set = option_set_map_sample,
     .commands = "map init",
     .help = "learn key formats from the items of a path, or from N items of each table"},
    {.name = "yes",
     FLAG(yes),
     .commands = "map init",
     .help = "read more than a page, and write the map, without a confirmation"},
    {.name = "yes", FLAG(yes), .commands = "import", .help = "replace the snapshot if it exists"},
    {.name = "onto",
     .argument = "FILE",
     .takes = "the name of a snapshot",
     .kind = WORD_FILE,
     TEXT(onto),
     .commands = "import",
     .help = "add increments, or another table, to this snapshot"},
    {.name = "repair",
     .argument = "FILE",
     .takes = "the name of a snapshot",
     .kind = WORD_FILE,
     TEXT(repair),
     .commands = "import",
     .help = "roll back the change of a killed import or recording in this file"},
    {.name = "describe",
     .argument = "FILE",
     .takes = "a file with the output of aws dynamodb describe-table, or live",
     .kind = WORD_FILE,
     TEXT(describe),
     .commands = "import",
     .help = "the keys and indexes of the table; live: those of the live table"},
    {.name = "keys",
     .argument = "KEYS",
     .takes = "names and types of the keys: pk:S or pk:S,sk:N",
     TEXT(keys),
     .commands = "import",
     .help = "the keys of the table, which then has no indexes"},
    {.name = "table",
     .argument = "NAME",
     .takes = "the name of a table",
     TEXT(table),
     .commands = "import",
     .help = "the table's name in the snapshot, instead of that of the export or the description"},
    {.name = "at",
     .argument = "TIME",
     .takes = "a date or a time of the calendar, such as 2026-11-01 or 2026-11-01T06:00:00Z",
     .set = option_set_moment,
     .commands = "import",
     .help = "the moment of items that come without a manifest; default: the file's time"},
    {.name = "from",
     .argument = "FILE",
     .takes = "a file",
     .kind = WORD_FILE,
     TEXT(from),
     .commands = "map init",
     .help = "import a model of another tool"},
    {.letter = 'f',
     .name = "foreground",
     FLAG(foreground),
     .commands = "mount",
     .help = "run in the foreground, and log to standard error"},
    {.letter = 'o',
     .argument = "OPTIONS",
     .takes = "at most eight times",
     .set = options_add_mount,
     .commands = "mount",
     .help = "options of mount(8) and FUSE"},
    {.letter = 'f',
     .name = "follow",
     FLAG(follow),
     .commands = "log",
     .help = "print new lines as the mount writes them"},
    {.letter = 'n',
     .name = "lines",
     .argument = "N",
     NUMBER(lines, 100000000),
     .commands = "log",
     .help = "only the last N lines"},
    {.letter = 'n',
     .argument = "N",
     NUMBER(times, 100000000),
     .commands = "top",
     .help = "print N times, then exit; without a terminal, the default is once"},
    {.name = "errors", FLAG(errors), .commands = "log", .help = "only failures"},
    {.name = "cache-size",
     .argument = "BYTES",
     .takes = "1M or more, with or without K, M or G",
     .set = option_set_cache_size,
     .commands = "mount diff sql",
     .initial = "256M",
     .help = "the memory for results"},
    {.name = "ledger",
     .argument = "FILE",
     .takes = "the name of a file",
     .kind = WORD_FILE,
     TEXT(ledger),
     .commands = "mount",
     .help = "add a line to FILE for each access: its process, path, requests and RCU"},
    {.name = "record",
     .argument = "FILE",
     .takes = "the name of a file",
     .kind = WORD_FILE,
     TEXT(record),
     .commands = "mount ls cat diff sql",
     .help = "store each response in FILE, a new file or a recording, for mount --snapshot"},
    {.name = "spool",
     .argument = "DIR",
     .takes = "the name of a folder, or no",
     .kind = WORD_FOLDER,
     TEXT(spool),
     .commands = "mount",
     .help = "a folder for files of listings too large for memory; no: they fail with EFBIG"},
    {.name = "spool-size",
     .argument = "BYTES",
     .takes = "1M or more, with or without K, M or G",
     .set = option_set_spool_size,
     .commands = "mount",
     .help = "the disk space of these files together; default 8G, or half of the free space"},
    {.name = "max-entries",
     .argument = "N",
     NUMBER(max_entries, 100000000),
     .commands = "mount ls cat diff sql tail",
     .initial = "1000000",
     .help = "the most entries of a listing, and the most items that are read for one"},
    {.name = "max-rcu",
     .argument = "N",
     .takes = "0.5 to 1000000000",
     .set = option_set_max_rcu,
     .commands = "mount",
     .help = "the most RCU in a second; further reads fail with EDQUOT"},
    {.name = "max-rcu",
     .argument = "N",
     .takes = "0.5 to 1000000000",
     .set = option_set_max_rcu,
     .commands = "sql",
     .help = "the most RCU of a statement, which then ends with an error"},
    {.name = "max-rcu-per-process",
     .argument = "N",
     .takes = "0.5 to 1000000000",
     .set = option_set_max_rcu_per_process,
     .commands = "mount",
     .help = "the most RCU of a program and its children; further reads fail with EDQUOT"},
    {.name = "max-search-bytes",
     .argument = "SIZE",
     .takes = "1024 or more, with or without K, M or G",
     .set = option_set_max_search_bytes,
     .commands = "mount",
     .help = "the most bytes of searches in a second; further ones fail with EDQUOT"},
    {.name = "live",
     FLAG(live),
     .commands = "mount policy",
     .help = "follow the streams of the tables that are read: results are used again until their "
             "items change (policy: with the permissions for it)"},
    {.name = "stale-if-error",
     .argument = "SECONDS",
     .takes = "0 to 31622400",
     .set = option_set_stale_if_error,
     .commands = "mount",
     .initial = "0",
     .help = "in an outage, show results that are older than their ttl by at most this"},
    {.name = "parallel",
     .argument = "MS",
     .takes = "no, or 0 to 60000 milliseconds",
     .set = option_set_parallel,
     .commands = "mount ls cat sql",
     .initial = "3",
     .help = "read several parts of a whole listing at the same time if a page takes this long; "
             "no: never"},
    {.name = "hedge",
     .argument = "HOW",
     .one_of = "yes no",
     .set = option_set_hedge,
     .commands = "mount",
     .initial = "yes",
     .help = "send a second request if the response for an item is late"},
    {.name = "allow-scan",
     .inherited = true,
     FLAG(allow_scan),
     .commands = "mount ls cat diff explain policy map init sql",
     .help = "scan small tables: for the partition keys of one without a map, and for a "
             "statement of sql without a way to its rows"},
    {.name = "scan-limit",
     .inherited = true,
     .argument = "LIMIT",
     .takes = "N or N,BYTES: 1 to 100000000 items, and bytes with or without K, M or G",
     .set = option_set_scan_limit,
     .commands = "mount ls cat diff explain sql",
     .initial = "10000,50M",
     .help = "the largest table that may be scanned, in items, or in items and bytes"},
    {.name = "tables",
     FLAG(tables),
     .commands = "policy",
     .help = "include the permissions that tables/ needs, for tables without a map"},
    {.name = "similar",
     FLAG(similar),
     .commands = "policy",
     .help = "include the permission to search the vector indexes of the map's tables"},
    {.letter = 'h', .name = "help", FLAG(help), .help = "print this help"},
    {.name = "version", FLAG(version), .help = "print the version"},
};

const struct refused_letter refused_letters[] = {
    {'R', "ls",
     "is no option of ls: each directory would cost a listing; to list a part of the tree, mount "
     "it and run: find MOUNTPOINT/PATH"},
    {0},
};

const size_t option_count = sizeof option_table / sizeof option_table[0];
_Static_assert(sizeof option_table / sizeof option_table[0] <= OPTIONS_MOST, "struct options");

bool option_set(const struct option *option, struct options *options, const char *value)
{
    void *member = (char *)options + option->at;
    unsigned long number;
    char *end;
    options->given[option - option_table] = value ? value : "";
    if (option->set)
        return option->set(options, value);
    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)member = true;
        return true;
    case OPTION_TEXT:
        *(const char **)member = value;
        return value[0] != '\0';
    case OPTION_NUMBER:
        if (!value)
            return false;
        number = strtoul(value, &end, 10);
        *(uint32_t *)member = (uint32_t)number;
        return value[0] >= '1' && value[0] <= '9' && *end == '\0' && number <= option->most;
    }
    return false;
}

void option_write_values(const struct option *option, struct buf *out)
{
    for (const char *at = option->one_of; at && *at; at++)
        *at == ' ' ? buf_add_text(out, " or ") : buf_add_char(out, *at);
    if (option->one_of)
        return;
    if (!option->takes)
        buf_printf(out, "1 to %lu", (unsigned long)option->most);
    else
        buf_add_text(out, option->takes);
}
