/* The table of all options of the command line: names, values, commands, help, and where the value
 * is stored. */
#ifndef DDBFS_FS_CLI_OPTION_TABLE_H
#define DDBFS_FS_CLI_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

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

#endif
