/* Conditions on items. A source tests the same tree after reading; here it is tested on items from
 * elsewhere. Both must agree, so the tests here follow the service's documentation. */
#ifndef DDBFS_CORE_CONDITION_CONDITION_H
#define DDBFS_CORE_CONDITION_CONDITION_H

#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/item/value.h"
#include "core/json/json.h"

enum cond_op {
    /* The five that the condition on a key may be made of, too; they take one value, or two. */
    COND_EQ,
    COND_BEGINS,
    COND_BETWEEN, /* both ends included */
    COND_LT,
    COND_LE,
    COND_GT,
    COND_GE,

    /* Of filters alone. */
    COND_NE,       /* true of a missing attribute, and of one of another type */
    COND_CONTAINS, /* a substring, a member of a set, an element of a list */
    COND_IN,       /* equal to one of the list's values */
    COND_EXISTS,
    COND_MISSING, /* does not exist; a NULL does exist */

    /* Of conditions; ATTRIBUTE is then empty. */
    COND_AND,
    COND_OR,
    COND_NOT, /* of one child */
};

/* Sorts after every other text: where a range of all texts that begin alike ends. */
#define COND_LAST_CHARACTER "\xF4\x8F\xBF\xBF"

/* One step below an attribute: the member of a map, or the element of a list. */
struct cond_step {
    bool is_index;
    struct span name;
    uint32_t index;
};

/* Bounds of the service, and the depth of and, or and not, which bounds recursion here. */
enum { COND_MAX_LIST = 99, COND_MAX_STEPS = 31, COND_MAX_DEPTH = 8 };

/* All in it is borrowed, mostly from the arena that it was built in. */
struct cond {
    struct span attribute; /* top-level */
    enum cond_op op;
    struct value value;            /* the operand; the lower end of COND_BETWEEN */
    struct value upper;            /* of COND_BETWEEN */
    const struct cond_step *steps; /* below the attribute: .city, [0] */
    size_t step_count;
    const struct value *list; /* of COND_IN */
    size_t list_count;
    const struct cond *children; /* of COND_AND, COND_OR and COND_NOT */
    size_t child_count;
};

/* Copies FROM with all that it borrows into ARENA. False when memory ran out. */
bool cond_copy(const struct cond *from, struct arena *arena, struct cond *out);

/* Whether a scalar satisfies a comparison. One of another type satisfies COND_NE alone. */
bool cond_admits(const struct cond *cond, struct value value);

/* Whether a typed item satisfies the condition. An absent attribute satisfies only COND_NE and
 * COND_MISSING. If memory ran out, FAILED is set and the result is void. */
bool cond_holds(const struct cond *cond, struct json item, bool *failed);

/* Calls FN for the top-level attribute of each comparison, until FN returns false, which is then
 * the result. */
bool cond_each_attribute(const struct cond *cond, bool (*fn)(void *arg, struct span attribute),
                         void *arg);

/* "=", "begins with", "between", … */
const char *cond_word(enum cond_op op);

/* Appends the attribute with its steps, as in a map: address.city, tags[0], 'a.b'. */
void cond_write_path(const struct cond *cond, struct buf *out);

/* Appends the condition in words: attempts > 5 and (done = true or tags contains "x"). Long texts
 * are cut. */
void cond_write_words(const struct cond *cond, struct buf *out);

/* The same for COUNT conditions, joined by "and". */
void conds_write_words(const struct cond *conds, size_t count, struct buf *out);

/* Appends a text that is equal for two conditions only if they are equal. Equal numbers have one
 * spelling in it. */
void cond_write_identity(const struct cond *cond, struct buf *out);

/* The operands of a condition: paths to attributes, and values. */

/* The most bytes of a value in an error message. */
enum { OPERAND_MAX_SHOWN_BYTES = 200 };

/* A top-level attribute, and the steps below it. */
struct operand_path {
    const char *attribute;
    const struct cond_step *steps;
    size_t step_count;
};

/* Parses "address.city" or "tags[0]": each step is a name, or a number in square brackets behind a
 * name. A name in single quotes may hold dots and brackets; '' in it is one quote. OUT points into
 * ARENA. Returns NULL, or a phrase that names the mistake. */
const char *operand_parse_path(struct arena *arena, struct span text, struct operand_path *out);

/* Parses a single name, quoted or not, into OUT, a text of ARENA. */
const char *operand_parse_name(struct arena *arena, struct span text, const char **out);

/* Whether TEXT can be a value of TYPE. False with ERR filled: ERROR_INVALID; WHAT is the attribute
 * in the message. */
bool operand_check(const char *what, enum value_type type, struct span text, struct error *err);
/* The same for a key attribute, which is not empty and at most 2,048 bytes long. */
bool operand_check_key(const char *attribute, enum value_type type, struct span text,
                       struct error *err);

/* TEXT, which passed the check, as requests spell it, in ARENA: a number as JSON has it. */
struct span operand_copy(struct arena *arena, enum value_type type, struct span text);

#endif
