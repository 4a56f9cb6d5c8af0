/* The operands of a condition: paths to attributes, and values, parsed and checked. */
#ifndef DDBFS_CORE_CONDITION_OPERAND_H
#define DDBFS_CORE_CONDITION_OPERAND_H

#include "core/base/error.h"
#include "core/condition/condition.h"

/* Bytes of a value that an error message shows. */
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

/* Whether TEXT can be a value of TYPE. False with ERR filled: ERROR_INVALID; WHAT names the
 * attribute in its message. */
bool operand_check(const char *what, enum value_type type, struct span text, struct error *err);
/* The same for a key attribute, which is not empty and at most 2,048 bytes long. */
bool operand_check_key(const char *attribute, enum value_type type, struct span text,
                       struct error *err);

/* TEXT, which passed the check, as requests spell it, in ARENA: a number as JSON has it. */
struct span operand_copy(struct arena *arena, enum value_type type, struct span text);

#endif
