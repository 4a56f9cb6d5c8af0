/* One option of the command line, and the table of all: what each is called, where it may stand,
 * what it takes, and where its value is kept. */
#ifndef DDBFS_FS_CLI_OPTION_H
#define DDBFS_FS_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

struct options;

/* What a word of the command line may be, for who completes it. */
enum word_kind {
    WORD_ANY,         /* nothing that is known */
    WORD_ONE_OF,      /* one of those that a list tells */
    WORD_FILE,        /* of this machine */
    WORD_FOLDER,      /* likewise */
    WORD_PATH,        /* of the tree */
    WORD_ENVIRONMENT, /* of the map */
    WORD_COMMAND,
    WORD_SHELL, /* that can be completed in */
    WORD_OPTION,
};

/* How a value is kept, where SET does not say. */
enum option_keeps {
    OPTION_FLAG,   /* a bool: it was given */
    OPTION_TEXT,   /* a text, which is not empty */
    OPTION_NUMBER, /* a uint32_t from 1 to MOST */
};

struct option {
    char letter;         /* 0: has none */
    bool asks;           /* of asking the service: may stand anywhere, but some ask nobody */
    bool inherited;      /* a command on a path below a mount goes by what the mount was given */
    bool optional;       /* the argument is a number, or is left out */
    enum word_kind kind; /* what completes the value, where ONE_OF does not */
    enum option_keeps keeps;
    uint32_t most;        /* of a number */
    const char *name;     /* NULL: has none */
    const char *argument; /* what stands for it in the help; NULL: takes none */
    const char *takes;    /* what the value may be; NULL: anything, or a number */
    const char *one_of;   /* instead: the words that it may be, with blanks between */
    bool (*set)(struct options *options, const char *value);
    size_t at;            /* without SET: where in struct options it is kept, as KEEPS says */
    const char *commands; /* where it may stand; NULL: anywhere */
    const char *initial;  /* the default, as text */
    const char *help;
};

/* A letter that another program's command of the same name takes. The last one is 0. */
struct refused_letter {
    char letter;
    const char *command;
    const char *why;
};

extern const struct refused_letter refused_letters[];
extern const struct option option_table[];
extern const size_t option_count;

/* Sets what OPTION is of OPTIONS to VALUE, which must outlive them; NULL where it takes none. False
 * when it can't be that. */
bool option_set(const struct option *option, struct options *options, const char *value);

/* Appends what its value may be. */
void option_write_values(const struct option *option, struct buf *out);

#endif
