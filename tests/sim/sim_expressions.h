/* Expressions of DynamoDB: key conditions, filters and projections, with their names and values. */
#ifndef DDBFS_TESTS_SIM_SIM_EXPRESSIONS_H
#define DDBFS_TESTS_SIM_SIM_EXPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/sim/sim_tables.h"

enum sim_term_kind {
    SIM_TERM_AND,
    SIM_TERM_OR,
    SIM_TERM_NOT,
    SIM_TERM_EQUAL,
    SIM_TERM_NOT_EQUAL,
    SIM_TERM_LESS,
    SIM_TERM_AT_MOST,
    SIM_TERM_GREATER,
    SIM_TERM_AT_LEAST,
    SIM_TERM_BETWEEN,
    SIM_TERM_IN,
    SIM_TERM_EXISTS,
    SIM_TERM_NOT_EXISTS,
    SIM_TERM_TYPE,
    SIM_TERM_BEGINS,
    SIM_TERM_CONTAINS,
    SIM_TERM_PATH,
    SIM_TERM_VALUE,
    SIM_TERM_SIZE
};

/* A node of an expression; others are numbers of nodes. */
struct sim_term {
    enum sim_term_kind kind;
    bool in_brackets;
    int parts[3]; /* operands; -1: none. Of SIM_TERM_IN the first is compared with a chain */
    int next;     /* in the chain of SIM_TERM_IN; -1: the last one */
    unsigned step, step_count;     /* of a path */
    const struct sim_value *value; /* of a value; borrowed from the expressions */
};

/* A step of a path: a name, or an index of a list. */
struct sim_step {
    const char *name; /* NULL: an index */
    size_t index;
};

/* A name or a value that the request defines. */
struct sim_alias {
    const char *alias; /* borrowed from the request; "#n", ":v" */
    const char *name;  /* of a name; borrowed likewise */
    struct sim_value value;
    bool used;
};

struct sim_expressions {
    struct sim_outcome *out; /* borrowed; errors are put here */
    struct sim_alias *names, *values;
    size_t name_count, value_count;
    struct sim_term *nodes;
    size_t node_count, node_room;
    struct sim_step *steps;
    size_t step_count, step_room;
    char **words; /* names without alias; owned */
    size_t word_count;
    size_t operators;
    bool any; /* the request has an expression */
};

/* Fails the outcome with a ValidationException: the request is wrong. Returns false. */
bool sim_outcome_refuse(struct sim_outcome *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads the names and values of REQUEST, which must outlive the expressions. False: OUT is an
 * error. To be ended in each case. */
bool sim_expressions_begin(struct sim_expressions *of, const struct sim_json *request,
                           struct sim_outcome *out);
void sim_expressions_end(struct sim_expressions *of);

/* Parses the condition in member MEMBER of the request. *ROOT is -1 if there is none. */
bool sim_expressions_read_condition(struct sim_expressions *of, const struct sim_json *request,
                                    const char *member, int *root);
/* Parses a ProjectionExpression: paths are nodes *FIRST to *FIRST + *COUNT - 1. */
bool sim_expressions_read_projection(struct sim_expressions *of, const struct sim_json *request,
                                     size_t *first, size_t *count);
/* Each name and value must have been used. */
bool sim_expressions_check_used(struct sim_expressions *of);

/* The first name of a path node. */
const char *sim_expressions_top(const struct sim_expressions *of, const struct sim_term *path);

/* Whether VERSION, as INDEX shows it (-1: the table), fulfils the condition; -1: there is none. */
bool sim_expressions_match(const struct sim_expressions *of, int root,
                           const struct sim_version *version, int index);

/* Calls FN for each path of the condition; false stops, and is returned. */
bool sim_expressions_each_path(const struct sim_expressions *of, int root,
                               bool (*fn)(void *arg, const char *top), void *arg);

/* Appends the item as INDEX shows it, with the paths FIRST to FIRST + COUNT - 1 alone; COUNT 0:
 * all. */
void sim_expressions_write_item(const struct sim_expressions *of, size_t first, size_t count,
                                const struct sim_version *version, int index, struct sim_text *out);

/* Whether the AWS documentation lists it as reserved. */
bool sim_word_is_reserved(const char *word);

#endif
