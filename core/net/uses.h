/* Uses: when each open connection carried something last, so that one which may have died unnoticed
 * is not trusted. Connections are known by their local ports. */
#ifndef DDBFS_CORE_NET_USES_H
#define DDBFS_CORE_NET_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct use;

/* {0} is one that is to be initialized. */
struct uses {
    struct use *items; /* owned */
    size_t count;
};

/* Of at most COUNT connections at once; false when memory ran out. */
bool uses_init(struct uses *uses, size_t count);
void uses_clean_up(struct uses *uses);

/* The connection carries something at NOW_MS. Returns when it did before; 0 when it is not known.
 */
int64_t uses_note(struct uses *uses, int local_port, int64_t now_ms);

#endif
