/* Vector indexes: the items whose vectors are nearest to a given one. */
#ifndef DDBFS_TESTS_SIM_SIM_VECTORS_H
#define DDBFS_TESTS_SIM_SIM_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim_tables.h"

enum sim_distance { SIM_COSINE, SIM_EUCLIDEAN, SIM_DOT_PRODUCT };

/* A vector index of a table. */
struct sim_vector {
    const struct sim_table *table;
    char *name;            /* owned */
    const char *attribute; /* static */
    unsigned dimensions;
    enum sim_distance distance;
    const char *partition; /* the attribute by which it is divided, the table's hash key; NULL:
                            * none. Borrowed from the table */
    bool projects_all;
    int64_t ready_ms; /* searches are refused before */
};

enum { SIM_MOST_VECTORS = 2 }; /* of one table */

/* The vector indexes of TABLE, drawn at the first call; most tables have none. */
size_t sim_vectors_of(const struct sim_table *table, const struct sim_vector **out);

/* For the writers of items: draws an attribute with a vector for an item of TABLE, mostly of the
 * right dimensions. False: the item gets none. The caller owns OUT's memory. */
bool sim_vectors_draw(struct sim_dice *dice, const struct sim_table *table,
                      struct sim_attribute *out);

/* Members of DescribeTable (struct sim_mood). */
void sim_vectors_describe(struct sim_text *out, const struct sim_table *table);

/* The score of VERSION for the vector of LIKE, an L of N. False: the index does not have it. */
bool sim_vectors_score(const struct sim_vector *vector, const struct sim_value *like,
                       const struct sim_version *version, double *score);

/* Executes SearchVectors at this moment. SEARCH_BYTES: what it consumes. */
void sim_vectors_answer(const struct sim_json *request, struct sim_dice *dice,
                        struct sim_outcome *out, uint64_t *search_bytes);

#endif
