/* A value as SQLite stores it: an attribute of an item in LIST@sqlite and in `ddbfs sql`. */
#ifndef DDBFS_CORE_OUTPUT_SQL_VALUE_H
#define DDBFS_CORE_OUTPUT_SQL_VALUE_H

#include "core/base/buf.h"
#include "core/base/span.h"
#include "core/json/json.h"

enum sql_value_type { SQL_NULL, SQL_INTEGER, SQL_REAL, SQL_TEXT, SQL_BLOB };

/* The type of the attribute that a value comes from: SQLite has INTEGER and TEXT for several. */
enum sql_attribute {
    SQL_OF_NONE, /* of none: a literal or a result; or the type is lost */
    SQL_OF_S,
    SQL_OF_N,
    SQL_OF_B,
    SQL_OF_BOOL,
    SQL_OF_M,
    SQL_OF_L,           /* without an element of type B */
    SQL_OF_L_OF_BINARY, /* without an element of type S */
    SQL_OF_L_OF_BOTH,
    SQL_OF_SS,
    SQL_OF_NS,
    SQL_OF_BS,
    SQL_OF_COUNT,
    SQL_OF_LITERAL = SQL_OF_COUNT, /* a text of the statement */
};

struct sql_value {
    enum sql_value_type type;
    enum sql_attribute attribute;
    int64_t integer;   /* of SQL_INTEGER */
    double real;       /* of SQL_REAL */
    struct span bytes; /* of SQL_TEXT and SQL_BLOB; borrowed */
};

/* Reads an attribute's typed value. N is an INTEGER if it fits, a REAL if the shortest decimal of
 * that REAL is the same number, else a TEXT with all digits; S is a TEXT, B a BLOB, BOOL 0 or 1,
 * NULL is NULL; maps, lists and sets are TEXTs of compact JSON, as in LIST@jsonl; of a MASKED one
 * the mask. An absent value is NULL. Bytes are appended to STORAGE, and OUT points into it: valid
 * until STORAGE changes next. False when TYPED is no value, or STORAGE failed. */
bool sql_value_read(struct json typed, bool masked, struct buf *storage, struct sql_value *out);

/* The same of a number's TEXT. A number that the service does not have (see number_fault) is a
 * TEXT, which borrows it. */
struct sql_value sql_value_of_number(struct span text);

/* Appends the number VALUE, an INTEGER, a finite REAL or a TEXT of digits: of a REAL the shortest
 * decimal. */
void sql_value_write_number(const struct sql_value *value, struct buf *out);

/* The order of SQLite, without affinity and with binary collation: NULL, numbers, texts, BLOBs. */
int sql_value_compare(const struct sql_value *a, const struct sql_value *b);

#endif
