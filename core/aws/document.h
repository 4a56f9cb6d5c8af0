/* The JSON documents of AWS's own tools and services: token caches, the output of a credential
 * process, responses of SSO, STS, containers and machines. cJSON reads and writes them, so that
 * unknown members survive; it does not read items and maps (docs/adr/0020). All memory is wiped
 * when it is freed. */
#ifndef DDBFS_CORE_AWS_DOCUMENT_H
#define DDBFS_CORE_AWS_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"

struct document; /* an object with all its members */

/* A new, empty object. NULL when memory ran out. */
struct document *document_new(void);

/* TEXT must be one JSON object. NULL with ERR filled (ERROR_BAD_ANSWER), which names the document
 * WHAT ("the response of the SSO portal") and quotes nothing of it. */
struct document *document_parse(struct span text, const char *what, struct error *err);
void document_free(struct document *document); /* NULL is fine */

/* For CLEAN_UP. */
void document_clean_up(struct document **document);

/* PATH is a member's name, case included, or names joined by dots, "a.b". Of members of one name
 * the last one counts, as in the AWS CLI. The text is borrowed; NULL without such a member, or if
 * it is no text. An empty text is a text. */
const char *document_text(const struct document *document, const char *path);

/* The same for a word of visible ASCII, as keys and tokens are; NULL for an empty text and any
 * other. Other bytes would break the head of a request. */
const char *document_word(const struct document *document, const char *path);

/* False, with OUT unchanged, without such a member, or if it is no whole number. */
bool document_number(const struct document *document, const char *path, int64_t *out);

/* Whether there is such a member; null counts as missing. */
bool document_has(const struct document *document, const char *path);

/* Sets or replaces a member. The part of PATH before its last dot must be an object, which
 * document_set_object makes; else the result is false. False when memory ran out, too. */
bool document_set_text(struct document *document, const char *path, const char *text);
/* Sets an empty object, unless NAME is an object already. */
bool document_set_object(struct document *document, const char *name);
/* Does nothing without such a member. */
void document_remove(struct document *document, const char *name);

/* Appends the document as JSON without blanks. Numbers have the digits that were read. */
void document_write(struct buf *out, const struct document *document);

#endif
