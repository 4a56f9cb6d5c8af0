/* Expressions of DynamoDB: key conditions, filters and projections, with their names and values. */
#ifndef DDBFS_TESTS_SIM_SIM_EXPRESSIONS_H
#define DDBFS_TESTS_SIM_SIM_EXPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/sim/sim_tables.h"

enum sim_node_kind {
    SIM_NODE_AND,
    SIM_NODE_OR,
    SIM_NODE_NOT,
    SIM_NODE_EQUAL,
    SIM_NODE_NOT_EQUAL,
    SIM_NODE_LESS,
    SIM_NODE_AT_MOST,
    SIM_NODE_GREATER,
    SIM_NODE_AT_LEAST,
    SIM_NODE_BETWEEN,
    SIM_NODE_IN,
    SIM_NODE_EXISTS,
    SIM_NODE_NOT_EXISTS,
    SIM_NODE_TYPE,
    SIM_NODE_BEGINS,
    SIM_NODE_CONTAINS,
    SIM_NODE_PATH,
    SIM_NODE_VALUE,
    SIM_NODE_SIZE
};

/* A node of an expression; others are numbers of nodes. */
struct sim_node {
    enum sim_node_kind kind;
    bool in_brackets;
    int parts[3]; /* operands; -1: none. Of SIM_NODE_IN the first is compared with a chain */
    int next;     /* in the chain of SIM_NODE_IN; -1: the last one */
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
    struct sim_node *nodes;
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
const char *sim_expressions_top(const struct sim_expressions *of, const struct sim_node *path);

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
