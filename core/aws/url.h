/* The address of a server, as a user writes it: http(s)://host[:port][/path]. */
#ifndef DDBFS_CORE_AWS_URL_H
#define DDBFS_CORE_AWS_URL_H

#include "core/base/buf.h"

/* Its parts, pointing into what was parsed. */
struct aws_url {
    bool tls;
    struct span host; /* with its brackets, if it is an IPv6 address */
    unsigned port;    /* the scheme's own when none was given */
    struct span path; /* from its first slash on; empty when there is none */
};

/* False for anything else. No user's name, query or fragment is taken: none of them means anything
 * to a service of AWS, and a password has no place there. */
bool aws_url_parse(struct span text, struct aws_url *url);

/* Appends TEXT, an address or what somebody took for one, as it may be told: "https://…@host/" for
 * one with a user's name and a password, wherever they end. */
void aws_url_write_shown(struct buf *out, struct span text);

/* What libcurl will send as the Host header: the port only when it is not the scheme's own. */
void aws_url_write_host(struct buf *out, const struct aws_url *url);

/* The path as a signature has it: without empty and dot segments, and encoded once more. */
void aws_url_write_signed_path(struct buf *out, struct span path);

/* Appends TEXT as a value in a query or a form: all but letters, digits and -._~ as %XX. */
void aws_url_encode(struct buf *out, struct span text);

/* Whether TEXT can be one label of a host's name. */
bool aws_url_is_label(struct span text);

#endif
