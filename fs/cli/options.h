/* The command line's options, in one table: parser, help and manual agree because they are made
 * from it, or tested against it. */
#ifndef DDBFS_FS_CLI_OPTIONS_H
#define DDBFS_FS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/nearest.h"
#include "core/name/names.h"
#include "fs/cli/option.h"

/* Of each path, for `check --sample` without a number. */
enum { OPTIONS_SAMPLE = 10 };

enum { OPTIONS_MOST = 80 }; /* rows of the table */

struct options {
    const char *given[OPTIONS_MOST]; /* by row: the value, "" of a flag; NULL: not given */
    const char *map;
    const char *profile;
    const char *region;
    const char *endpoint_url;
    const char *suffix;
    const char *environment;      /* of the map; NULL: all */
    const char *ledger;           /* of `mount`: a file; NULL: none */
    const char *from;             /* of `map`: a model to import */
    const char *columns;          /* of `ls`: attributes, as typed; NULL: none */
    const char *where;            /* which records of a listing; NULL: all that it shows */
    const char *sample_paths[64]; /* of `map`: whose records it learns from */
    const char *fuse_options[8];  /* each as -o was given */
    const char *ignored[64];      /* of `diff`: attributes that may differ */
    struct scan_limits scan_limits;
    double max_rcu;             /* read units in a second; 0: as many as it takes */
    double max_rcu_per_process; /* likewise, in all */
    uint64_t cache_bytes;
    int64_t timeout_ms;
    int64_t both_ends_ms;    /* pages that take as long are read from both ends; -1: none are */
    int64_t stale_ms;        /* 0: what is too old is never shown */
    uint32_t sample;         /* records of each path */
    uint32_t sample_records; /* of `map`: of each table; 0: none */
    uint32_t max_entries;
    uint32_t lines;         /* of `log`: the last so many; 0: all */
    uint32_t times;         /* of `top`: so many looks; 0: as many as there is time for */
    uint32_t confirm_above; /* units that a listing may take before it is asked */
    uint32_t limit;         /* of a listing's records; 0: all */
    unsigned sample_path_count;
    unsigned fuse_option_count;
    unsigned ignored_count;
    unsigned verbose;
    bool no_map; /* no map is looked for */
    bool compact;
    bool show_secrets;
    bool help;
    bool version;
    bool list_long;
    bool human;      /* of `ls`: sizes in units */
    bool by_date;    /* likewise: the youngest first, */
    bool reversed;   /* and the last first */
    bool list_all;   /* likewise what nothing hides, */
    bool one_a_line; /* and as names are listed in any case */
    bool count;
    bool confirm_given; /* --confirm-above was */
    bool json;
    bool whoami;
    bool offline;
    bool sampled; /* --sample was given */
    bool yes;
    bool foreground;
    bool follow;
    bool errors;
    bool allow_scan;
    bool hedge;
    bool scan_limited; /* --scan-limit was given */
    bool tables;       /* --tables was given */
    bool unattended;   /* nobody is there who could be asked for a code */
};

/* What the last word of a command line may become, which is still being typed. */
struct options_typed {
    const char *command; /* NULL where there is none before */
    size_t operands;     /* words behind the command, and before the last, that are no options */
    enum word_kind kind; /* WORD_OPTION, what an option's value is, or WORD_ANY */
    bool is_value;       /* of an option */
    const char *list;    /* of WORD_ONE_OF: words with blanks between */
    size_t from;         /* where the value begins in the word: behind "--name=", or 0 */
};

/* The defaults. */
void options_init(struct options *options);

/* Takes the options out of ARGV, wherever they stand before a word "--". The other words, the
 * command first, move to the front of ARGV, and their number is returned; -1 after a message to
 * standard error. */
int options_parse(struct options *options, int argc, char **argv);

/* Whether the options can hold together; false after a message to standard error. */
bool options_agree(const struct options *options);

/* Sets one option by its long name, as it stands behind -o; VALUE (NULL: none was given) must
 * outlive OPTIONS. Only what goes with `mount` is known. */
enum options_outcome { OPTIONS_SET, OPTIONS_WRONG, OPTIONS_UNKNOWN };
enum options_outcome options_set(struct options *options, struct span name, const char *value);

/* Whether the option NAME was given. */
bool options_given(const struct options *options, struct span name);

/* Calls FN for each inherited option that was given; VALUE is NULL for one that takes none. */
typedef void options_given_fn(void *arg, const char *name, const char *value);
void options_each_inherited(const struct options *options, options_given_fn *fn, void *arg);

/* Looks at ARGV, in which the last word is being typed; nothing is changed. */
void options_look(int argc, char **argv, struct options_typed *out);

/* Calls FN for each option that may stand on a line of COMMAND (NULL: of any), with the dashes of
 * its longest form. */
typedef void options_word_fn(void *arg, const char *word, const char *help);
void options_each(const char *command, options_word_fn *fn, void *arg);

/* Takes the names that options_set knows into account. */
void options_offer(struct nearest *nearest);

/* As -o VALUE does. False when there are too many. */
bool options_add_mount(struct options *options, const char *value);

/* One line an option, under headings: of those that go with COMMAND, its own first, or of all
 * (NULL) but those of WITHOUT alone, a command that is not there (NULL: all are). */
void options_print_help(FILE *out, const char *command, const char *without);

#endif
