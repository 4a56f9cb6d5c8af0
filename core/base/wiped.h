/* Memory that is wiped when it is freed, for libraries that hold secrets. The functions have the
 * contracts of malloc and the others; only wiped_free frees their memory. */
#ifndef DDBFS_CORE_BASE_WIPED_H
#define DDBFS_CORE_BASE_WIPED_H

#include <stddef.h>

void *wiped_alloc(size_t size);
void *wiped_zeroed(size_t count, size_t size);
void *wiped_realloc(void *memory, size_t size);
char *wiped_strdup(const char *text);
void wiped_free(void *memory);
/* How many allocations of the process have failed. */
unsigned wiped_failed_allocs(void);

#endif
