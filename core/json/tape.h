/* The tape itself: what core/json/parse.c writes and core/json/json.c reads. A container's tokens
 * follow it without a gap, and every token knows the next one of its own container, so a value
 * is skipped in one step. */
#ifndef DDBFS_CORE_JSON_TAPE_H
#define DDBFS_CORE_JSON_TAPE_H

#include <stdint.h>

/* The type is not kept: the first byte of the text says it. */
struct json_token {
    uint32_t offset;
    uint32_t size;
    uint32_t next;  /* the token that follows in the same container; 0 for the last one */
    uint32_t count; /* elements or members; for a string, whether it has escapes */
};

#endif
