/* A spool: bytes in an unlinked temporary file of mode 0600. They are added in order, and read at
 * any offset. The file is freed with the last reference, or with the process. */
#ifndef DDBFS_CORE_BASE_SPOOL_H
#define DDBFS_CORE_BASE_SPOOL_H

#include <stdint.h>
#include <sys/types.h>

#include "core/base/crypto.h"
#include "core/base/error.h"
#include "core/base/span.h"

struct spool;

/* The most bytes that several spools have together, also those that are written. */
struct spool_limit;
struct spool_limit *spool_limit_new(uint64_t most); /* NULL without memory */
uint64_t spool_limit_most(const struct spool_limit *limit);
void spool_limit_unref(struct spool_limit *limit); /* NULL is fine; spools hold references */

/* An empty one, in FOLDER. LIMIT may be NULL: none. NULL with ERR filled. */
struct spool *spool_new(const char *folder, struct spool_limit *limit, struct error *err);
struct spool *spool_ref(struct spool *spool);
void spool_unref(struct spool *spool); /* NULL is fine */

/* Adds BYTES, before spool_end. False with ERR filled; then SPOOL can only be dropped. */
bool spool_add(struct spool *spool, struct span bytes, struct error *err);

/* All bytes have been added; their digest is known from here on. False without memory. */
bool spool_end(struct spool *spool);
const uint8_t *spool_digest(const struct spool *spool);

uint64_t spool_size(const struct spool *spool);

/* Copies up to SIZE bytes from OFFSET on; fewer only at the end. -1 with errno when the file can't
 * be read. */
ssize_t spool_read(const struct spool *spool, void *out, size_t size, uint64_t offset);

#endif
