/* The JSON documents of AWS's own tools and services: token caches, the output of a credential
 * process, answers of SSO, STS, containers and machines. They are read and written by cJSON, so
 * that members one does not know survive; items and maps are not (docs/adr/0020). What is freed is
 * wiped. */
#ifndef DDBFS_CORE_AWS_DOCUMENT_H
#define DDBFS_CORE_AWS_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"

struct document; /* an object and all that is in it */

/* A new, empty object. NULL when memory ran out. */
struct document *document_new(void);

/* TEXT is one JSON object and nothing else. NULL with ERR filled (ERROR_BAD_ANSWER), which says
 * what is wrong with WHAT ("the answer of the SSO portal") and quotes nothing of it. */
struct document *document_parse(struct span text, const char *what, struct error *err);
void document_free(struct document *document); /* NULL is fine */

/* For CLEAN_UP. */
void document_clean_up(struct document **document);

/* PATH is a member's name, case included, or names joined by dots, "a.b". Of members of one name
 * the last one counts, as for the AWS CLI. The text is borrowed; NULL when there is none, or when
 * it is no text. An empty text is a text. */
const char *document_text(const struct document *document, const char *path);

/* The same where it is a word of visible ASCII, as keys and tokens are, and else NULL: what else
 * came along would break the head of a request. */
const char *document_word(const struct document *document, const char *path);

/* False, with OUT left alone, when there is none or when it is no whole number. */
bool document_number(const struct document *document, const char *path, int64_t *out);

/* Whether there is such a member, null excluded. */
bool document_has(const struct document *document, const char *path);

/* Sets a member of the object itself, or replaces it. An object in it is there after
 * document_set_object, and its members are set by document_set_text with a PATH. False when memory
 * ran out, or when what stands before the last dot is no object. */
bool document_set_text(struct document *document, const char *path, const char *text);
/* An empty object, unless there is an object already. */
bool document_set_object(struct document *document, const char *name);
/* Nothing happens when there is none. */
void document_remove(struct document *document, const char *name);

/* Appends the whole as JSON without blanks. Numbers stand there digit by digit as they were read.
 */
void document_write(struct buf *out, const struct document *document);

#endif
