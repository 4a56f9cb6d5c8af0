/* Proofs that whoever asks with a token has the key it was given for (DPoP, RFC 9449). */
#ifndef DDBFS_CORE_AWS_DPOP_H
#define DDBFS_CORE_AWS_DPOP_H

#include <stdint.h>

#include "core/base/buf.h"

/* Appends a proof for one POST to URL at WALL_MS, signed with the key whose PEM is KEY. False when
 * KEY is no key of P-256, or OpenSSL or memory failed. */
bool dpop_write(struct buf *out, struct span key, const char *url, int64_t wall_ms);

#endif
