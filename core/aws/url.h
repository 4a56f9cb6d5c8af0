/* The address of a server, as a user writes it: http(s)://host[:port][/path]. */
#ifndef DDBFS_CORE_AWS_URL_H
#define DDBFS_CORE_AWS_URL_H

#include "core/base/buf.h"

/* Its parts, which point into the parsed text. */
struct aws_url {
    bool tls;
    struct span host; /* with its brackets, if it is an IPv6 address */
    unsigned port;    /* the scheme's own by default */
    struct span path; /* from its first slash on; empty without one */
};

/* False for any other text. A user's name, a query or a fragment makes a text invalid: they have no
 * meaning to a service of AWS, and a password does not belong there. */
bool aws_url_parse(struct span text, struct aws_url *url);

/* Appends TEXT, an address or any other text, without a user's name and password, wherever they
 * end: "https://…@host/". */
void aws_url_write_shown(struct buf *out, struct span text);

/* Appends the Host header of libcurl: the port only if it is not the scheme's own. */
void aws_url_write_host(struct buf *out, const struct aws_url *url);

/* Appends the path of a signature: without empty and dot segments, and encoded once more. */
void aws_url_write_signed_path(struct buf *out, struct span path);

/* Appends TEXT as a value of a query or a form: all but letters, digits and -._~ as %XX. */
void aws_url_encode(struct buf *out, struct span text);

/* Whether TEXT can be one label of a host's name. */
bool aws_url_is_label(struct span text);

#endif
