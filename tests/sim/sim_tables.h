/* The operations of DynamoDB on tables and items, without HTTP: a parsed request becomes the body
 * of a response, or an error as the service would return it. The rules are those of the AWS
 * documentation.
 */
#ifndef DDBFS_TESTS_SIM_SIM_TABLES_H
#define DDBFS_TESTS_SIM_SIM_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim_history.h"
#include "tests/sim/sim_text.h"

/* Of all names of resources in a life. */
#define SIM_REGION "us-east-1"
#define SIM_ACCOUNT "123456789012"

/* What the service decides about one request. Zeros: it answers in full. */
struct sim_mood {
    struct sim_dice *dice; /* draws the lags of replicas; never NULL */
    /* A page of Query and Scan ends after so many items that were read (before the filter), with a
     * LastEvaluatedKey, even if they are the last ones; 0: only Limit, 1 MB and the end end it. */
    size_t cut_after;
    /* A page of Query and Scan has no items, but a LastEvaluatedKey, if there is a legal key in
     * front of the next item; otherwise nothing happens. */
    bool is_empty;
    /* BatchGetItem leaves so many keys unprocessed, but reads at least one. */
    size_t unprocessed;
    /* TransactGetItems is cancelled by a concurrent write. */
    bool is_cancelled;
    /* The life mounts with --allow-scan: otherwise a Scan is a defect of the program. */
    bool may_scan;
    /* Called with an item of a page of an index, once the page is written: a writer changes the
     * item before the program reads it again. NULL: none does. */
    void (*was_read)(struct sim_dice *dice, struct sim_item *item);
    /* DescribeTable calls it within the object "Table", behind a comma-free end: it appends
     * members, each with a comma in front (,"VectorIndexes":[…]). May be NULL. */
    void (*describe_more)(struct sim_text *out, const struct sim_table *table);
};

enum { SIM_MOST_CHARGES = 128 };

/* Units that a request consumed. */
struct sim_charge {
    const struct sim_table *table;
    int index; /* -1: the table itself */
    uint64_t half_units;
};

struct sim_outcome {
    /* NULL: success. Otherwise the error's code without a name space: "ValidationException",
     * "ResourceNotFoundException", "TransactionCanceledException", … */
    const char *code;
    char *message; /* owned; NULL on success */
    /* The service would refuse this request whatever the tables hold: the program has written a
     * wrong request. (A ResourceNotFoundException alone is not wrong.) */
    bool is_wrong;
    /* The body of the response; of an error the object with __type and message, too. */
    struct sim_text body;
    struct sim_charge charges[SIM_MOST_CHARGES]; /* none for errors; one per table and index */
    size_t charge_count;
    uint64_t half_units; /* their sum */
    size_t items;        /* in the response */
};

/* Executes OPERATION ("GetItem", …) at this moment of the history. OUT is to be cleaned up in each
 * case. False: the operation is not one of these: GetItem, BatchGetItem, Query, Scan,
 * TransactGetItems, DescribeTable, ListTables, DescribeTimeToLive, DescribeContinuousBackups,
 * ListBackups, ListExports. */
bool sim_tables_answer(const char *operation, const struct sim_json *request,
                       const struct sim_mood *mood, struct sim_outcome *out);
void sim_outcome_clean_up(struct sim_outcome *outcome);

/* The table that a request names by its name or its ARN; NULL: there is none. */
struct sim_table *sim_tables_find(const char *name_or_arn);

/* Names of resources: of a table, and of its stream. */
void sim_tables_write_arn(struct sim_text *out, const struct sim_table *table);
void sim_tables_write_stream_arn(struct sim_text *out, const struct sim_table *table);

/* The item with all its attributes as typed JSON, {"pk":{"S":"x"},…}. */
void sim_tables_write_item(struct sim_text *out, const struct sim_version *version);
/* Its key attributes of the table alone. */
void sim_tables_write_key(struct sim_text *out, const struct sim_version *version);

#endif
