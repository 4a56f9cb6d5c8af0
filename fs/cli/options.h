/* The options of one command line: parsed, completed, and printed as help. */
#ifndef DDBFS_FS_CLI_OPTIONS_H
#define DDBFS_FS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/instant.h"
#include "core/base/nearest.h"
#include "core/name/names.h"

/* The table, in option_table.c: names, values, commands, help, and where a value is stored. */

struct options;

/* How a word of the command line is completed. */
enum word_kind {
    WORD_ANY,    /* not */
    WORD_ONE_OF, /* from a list */
    WORD_FILE,   /* of this machine */
    WORD_FOLDER, /* of this machine */
    WORD_PATH,   /* of the tree */
    WORD_ENVIRONMENT,
    WORD_COMMAND,
    WORD_SHELL,
    WORD_OPTION,
};

/* The type of the member AT, where SET is NULL. */
enum option_type {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char *, not empty */
    OPTION_NUMBER, /* uint32_t, from 1 to MOST */
};

struct option {
    char letter;      /* 0: none */
    bool of_requests; /* of all commands that send requests; others accept it without an effect */
    bool inherited;   /* a path below a mount is read with the mount's value */
    bool optional;    /* the argument is a number, and may be absent */
    enum word_kind kind; /* completes the value, unless ONE_OF does */
    enum option_type type;
    uint32_t most;        /* of a number */
    const char *name;     /* NULL: none */
    const char *argument; /* its name in the help; NULL: takes none */
    const char *takes;    /* the values, in words; NULL: any, or a number */
    const char *one_of;   /* the values, separated by blanks; or NULL */
    bool (*set)(struct options *options, const char *value);
    size_t at;            /* without SET: the offset in struct options */
    const char *commands; /* separated by blanks; NULL: all */
    const char *initial;  /* the default, as text */
    const char *help;     /* ASCII */
};

/* A letter that another program's command of the same name accepts. The last one is 0. */
struct refused_letter {
    char letter;
    const char *command;
    const char *why;
};

extern const struct refused_letter refused_letters[];
extern const struct option option_table[];
extern const size_t option_count;

/* Sets the member of OPTION to VALUE, which must outlive OPTIONS; NULL for an option without an
 * argument. False if the value is wrong. */
bool option_set(const struct option *option, struct options *options, const char *value);

/* Appends the values of OPTION, in words. */
void option_write_values(const struct option *option, struct buf *out);

enum {
    OPTIONS_SAMPLE = 10, /* items of each path, for `check --sample` without a number */
    OPTIONS_MOST = 80,   /* rows of the table */
    OPTIONS_SNAPSHOTS = 64,
    OPTIONS_LINE = 80,   /* columns of the help, and */
    OPTIONS_INDENT = 28, /* of its left side */
};

enum { TAIL_KIND_EXPIRED = 1u << 3 };

struct options {
    const char *given[OPTIONS_MOST]; /* by row: the value, "" of a flag; NULL: not given */
    const char *map;
    const char *profile;
    const char *region;
    const char *endpoint_url;
    const char *suffix;
    const char *environment;      /* of the map; NULL: all */
    const char *ledger;           /* of `mount`: a file; NULL: none */
    const char *record;           /* a recording to write; NULL: none */
    const char *spool;            /* of `mount`: a folder, or "no"; NULL: the default */
    uint64_t spool_bytes;         /* of `mount`: all files there; 0: the default */
    const char *from;             /* of `map`: a model to import */
    const char *onto;             /* of `import`: a snapshot to extend; NULL: a new one */
    const char *repair;           /* of `import`: a snapshot to repair; NULL: none */
    const char *table;            /* of `import`: the table's name in the snapshot, or NULL */
    const char *describe;         /* of `import`: a description of the table, "live", or NULL */
    const char *keys;             /* of `import`: its keys, such as pk:S,sk:N; or NULL */
    const char *columns;          /* of `ls`: attributes, as typed; NULL: none */
    const char *where;            /* a filter of a listing's items; NULL: none */
    const char *sample_paths[64]; /* of `map` */
    const char *fuse_options[8];  /* each as -o was given */
    const char *ignored[64];      /* of `diff`: attributes that may differ */
    struct instant moment;        /* of `import`: the moment of the items; or unknown */
    const char *moment_text;      /* of MOMENT, as it was given */
    const char *snapshots[OPTIONS_SNAPSHOTS]; /* files, or one folder; instead of DynamoDB */
    const char *map_folder; /* that names of files in the map are relative to; NULL: the map's */
    const char *map_text;   /* the text of MAP, which is read instead of the file; NULL: none */
    struct scan_limits scan_limits;
    double max_rcu;             /* per second; of `sql` in all; 0: unlimited */
    double max_rcu_per_process; /* in all; 0: unlimited */
    uint64_t max_search_bytes;  /* per second; 0: those of MAX_RCU */
    uint64_t cache_bytes;
    int64_t timeout_ms;
    int64_t parallel_ms;     /* listings with pages this slow are read in ranges; -1: none */
    unsigned kinds;          /* of `tail`: 1 << enum change_kind, TAIL_KIND_EXPIRED; 0: all */
    int64_t stale_ms;        /* 0: expired results are never shown */
    uint32_t sample;         /* items of each path */
    uint32_t sample_records; /* of `map`: items of each table; 0: none */
    uint32_t max_entries;
    uint32_t lines;         /* of `log`: the last ones; 0: all */
    uint32_t times;         /* of `top`: frames; 0: unlimited */
    uint32_t confirm_above; /* RCU of a listing without a confirmation */
    uint32_t limit;         /* of a listing's items, or of the changes of `tail`; 0: all */
    int64_t ago_ms;         /* of `tail`: changes since this long ago; 0: not given */
    struct instant since;   /* of `tail`: changes since then; or unknown */
    unsigned sample_path_count;
    unsigned fuse_option_count;
    unsigned ignored_count;
    unsigned snapshot_count;
    unsigned verbose;
    bool no_map; /* no map is searched */
    bool live;   /* of `mount`: streams are followed */
    bool compact;
    bool show_secrets;
    bool help;
    bool version;
    bool list_long; /* this and the next four are letters of `ls` */
    bool human;     /* sizes with units */
    bool by_date;   /* newest first */
    bool reversed;
    bool list_all;   /* without an effect */
    bool one_a_line; /* without an effect */
    bool count;
    bool confirm_given; /* --confirm-above was given */
    bool json;
    bool csv; /* this and the next one are of `sql` */
    bool explain;
    bool together; /* of `cat`, `diff` and `explain`: items of one moment */
    bool whoami;
    bool offline;
    bool sampled; /* --sample was given */
    bool yes;
    bool foreground;
    bool follow;
    bool fetch;  /* this and the next one are of `tail` */
    bool oldest; /* from the oldest change that the stream has */
    bool errors;
    bool allow_scan;
    bool hedge;
    bool scan_limited;              /* --scan-limit was given */
    bool tables;                    /* --tables was given */
    bool similar;                   /* of policy */
    bool unattended;                /* no code may be requested at the terminal */
    bool map_is_stored;             /* MAP_TEXT comes from a snapshot */
    bool snapshots_are_past;        /* beside paths of the present */
    bool ignores_snapshot_variable; /* paths are below a mount, whose snapshots are read, or none;
                                     * or an import reads the service */
};

/* The last word of a command line, which is still being typed. */
struct options_typed {
    const char *command; /* NULL: none before */
    size_t operands;     /* words between the command and the last word that are no options */
    enum word_kind kind; /* WORD_OPTION, the kind of an option's value, or WORD_ANY */
    bool is_value;       /* of an option */
    const char *list;    /* of WORD_ONE_OF: words separated by blanks */
    size_t from;         /* the offset of the value in the word: behind "--name=", or 0 */
};

/* Sets the defaults. */
void options_init(struct options *options);

/* Parses the options of ARGV up to a word "--". The other words, the command first, move to the
 * front of ARGV, and their number is returned; -1 after a message on standard error. */
int options_parse(struct options *options, int argc, char **argv);

/* False, after a message on standard error, if the options contradict each other. */
bool options_check(const struct options *options);

/* Sets one option of `mount` by its long name, as written behind -o. VALUE (NULL: absent) must
 * outlive OPTIONS. */
enum options_outcome { OPTIONS_SET, OPTIONS_WRONG, OPTIONS_UNKNOWN };
enum options_outcome options_set(struct options *options, struct span name, const char *value);

/* Adds a snapshot file, as --snapshot does; VALUE must outlive OPTIONS. False if there are too
 * many, or VALUE is empty. */
bool options_add_snapshot(struct options *options, const char *value);

/* The value of DDBFS_SNAPSHOT. NULL if it is not set, if the source is given by options or is that
 * of a mount. */
const char *options_snapshot_variable(const struct options *options);

/* Whether the option NAME was given. */
bool options_given(const struct options *options, struct span name);

/* Whether NAME is that of an option that commands take from a mount. */
bool options_inherits(struct span name);

/* Calls FN for each inherited option that was given; VALUE is NULL for one without an argument. */
typedef void options_given_fn(void *arg, const char *name, const char *value);
void options_each_inherited(const struct options *options, options_given_fn *fn, void *arg);

/* Fills OUT for the last word of ARGV, which is not changed. */
void options_find_typed(int argc, char **argv, struct options_typed *out);

/* Calls FN for each option of COMMAND (NULL: those of all commands), with its dashes. */
typedef void options_word_fn(void *arg, const char *word, const char *help);
void options_each(const char *command, options_word_fn *fn, void *arg);

/* Offers the names that options_set accepts. */
void options_offer(struct nearest *nearest);

/* As -o VALUE does. False if there are too many. */
bool options_add_mount(struct options *options, const char *value);

/* Prints the options of COMMAND, its own first, each with its help. For NULL: all options, except
 * those of the command WITHOUT alone (NULL: no exception). */
void options_print_help(FILE *out, const char *command, const char *without);

/* Prints LEFT, and the ASCII TEXT from the column INDENT on, wrapped at OPTIONS_LINE. */
void options_print_row(FILE *out, int indent, const char *left, const char *text);

#endif
