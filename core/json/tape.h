/* The tape, written by core/json/parse.c and read by core/json/json.h. A container's tokens follow
 * it without a gap. Each token has the next one of its container, so a value is skipped in one
 * step. */
#ifndef DDBFS_CORE_JSON_TAPE_H
#define DDBFS_CORE_JSON_TAPE_H

#include <stdint.h>

/* The type is not stored: the first byte of the text has it. */
struct json_token {
    uint32_t offset;
    uint32_t size;
    uint32_t next;  /* the token that follows in the same container; 0 for the last one */
    uint32_t count; /* elements or members; for a string, whether it has escapes */
};

#endif
