/* Errors, as one typed value: a kind, a sentence, and the words of the service. The kinds are few:
 * each has its own remedy. */
#ifndef DDBFS_CORE_BASE_ERROR_H
#define DDBFS_CORE_BASE_ERROR_H

#include <stdbool.h>

#include "core/base/throttle.h"

enum error_kind {
    ERROR_NONE = 0,
    ERROR_NOT_FOUND,      /* proven: no such item, or no such name */
    ERROR_NOT_LISTABLE,   /* a directory that no key path lists */
    ERROR_TOO_LARGE,      /* beyond a limit of size */
    ERROR_LONG_NAME,      /* of a directory: no name of valid length would open it */
    ERROR_IS_DIRECTORY,   /* not a file */
    ERROR_NOT_DIRECTORY,  /* not a directory */
    ERROR_LOOP,           /* a path of too many links */
    ERROR_AMBIGUOUS,      /* several items match one name */
    ERROR_INVALID,        /* a map, an option, a profile, or a request that the service refuses */
    ERROR_DENIED,         /* no permission, bad signature, no credentials */
    ERROR_EXPIRED,        /* session or token expired */
    ERROR_THROTTLED,      /* past the retry budget; or too many requests at once in this process */
    ERROR_TOO_FAST,       /* beyond the limit of a second */
    ERROR_SPENT,          /* beyond the limit of the caller */
    ERROR_TIMED_OUT,      /* the deadline passed */
    ERROR_UNREACHABLE,    /* name resolution, no route */
    ERROR_REFUSED,        /* connection refused */
    ERROR_RESET,          /* connection lost */
    ERROR_TLS,            /* TLS failed, or the peer does not speak HTTP */
    ERROR_UNTRUSTED,      /* the peer's certificate is not trusted; a retry does not help */
    ERROR_NO_TABLE,       /* table or index not found */
    ERROR_NO_STREAM,      /* the table has no stream, or the stream was disabled */
    ERROR_NOT_STORED,     /* a snapshot or a recording does not have it; it may exist elsewhere */
    ERROR_REPLACED,       /* an open file was replaced, removed or changed by another program */
    ERROR_BAD_ANSWER,     /* a response that is not understood, damaged or too large */
    ERROR_SERVICE,        /* the service failed (5xx) past the retry budget */
    ERROR_INTERRUPTED,    /* the user ended it */
    ERROR_NO_SPACE,       /* a temporary file can't be written */
    ERROR_NO_DESCRIPTORS, /* too many open files in this process or in the system */
    ERROR_NO_MEMORY,
};

/* Of the limits of a table or an index three at most hold at the same time. */
enum { ERROR_MOST_THROTTLES = 3 };

/* Zeroed is "no error". Plain data: copy it freely. TEXT is a sentence without a final stop: what
 * failed, why, what to do. It never holds a secret or a character that a terminal acts on. */
struct error {
    enum error_kind kind;
    bool authenticated;    /* of ERROR_DENIED: the identity is known, and lacks the permission */
    bool unsigned_yet;     /* of ERROR_TIMED_OUT: no credentials came, and no request was sent */
    int http_status;       /* 0 without a response */
    int ttl_left_ms;       /* of ERROR_NOT_FOUND: how long it is valid; 0: not known */
    unsigned part;         /* of a request for several items: the number of the item that failed,
                            * from 1 on; 0: not known, or all */
    const char *operation; /* of the request, such as "Query"; static, or NULL */
    char table[256];       /* of the request; "" without one */
    char index[256];
    char code[64];         /* the service's error code, such as ResourceNotFoundException */
    char request_id[64];   /* the service's request id */
    size_t throttle_count; /* of ERROR_THROTTLED by the service: at least one */
    struct throttle throttles[ERROR_MOST_THROTTLES];
    char text[1400];
};

/* Fills ERR (may be NULL), clears its other members, and returns false, for `return error_set(…)`.
 */
bool error_set(struct error *err, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends to ERR's text (ERR may be NULL). A text that is too long is cut. */
void error_add(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool error_no_memory(struct error *err);

/* Whether the service stated reasons for a throttled request. Otherwise the only one is ERR's code.
 * ERR may be NULL, as below. */
bool error_states_throttles(const struct error *err);
/* Appends these reasons, with commas between them. */
void error_write_throttles(const struct error *err, struct buf *out);

/* A short stable word for logs and JSON: "not-found", "denied", … */
const char *error_word(enum error_kind kind);

/* The party that can fix it: "caller", with another request; "human", outside of the program;
 * "retry": the same request may succeed later. */
const char *error_fixable_by(enum error_kind kind);

/* The next step, in one clause. */
const char *error_hint(const struct error *err);

/* Whether no service could be reached: earlier responses may still be valid. False if the service,
 * or a provider of credentials, refused. */
bool error_is_outage(const struct error *err);

/* Whether a request about a table or its stream will fail again until a person changes something.
 * It is false for credentials: a program that goes on for hours waits for a person to sign in. */
bool error_is_refusal(const struct error *err);

/* Whether it concerns the payer and not the request: the same request of another payer may succeed.
 */
bool error_is_of_caller(const struct error *err);

/* The errno of the kind. */
int error_errno(enum error_kind kind);

#endif
