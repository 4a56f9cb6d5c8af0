/* What went wrong, as one typed value: what kind, in which words, and what the service
 * said. Kinds are few, because each is something a user does another thing about. */
#ifndef DDBFS_CORE_BASE_ERROR_H
#define DDBFS_CORE_BASE_ERROR_H

#include <stdbool.h>

enum error_kind {
    ERROR_NONE = 0,
    ERROR_NOT_FOUND,      /* proven: no such item, or no such name */
    ERROR_NOT_LISTABLE,   /* a directory that no key path lists */
    ERROR_TOO_LARGE,      /* larger than was allowed */
    ERROR_LONG_NAME,      /* of a directory: it can be listed under no name that would open it */
    ERROR_IS_DIRECTORY,   /* a file was wanted */
    ERROR_NOT_DIRECTORY,  /* a directory was wanted */
    ERROR_LOOP,           /* a path that leads on and on by links */
    ERROR_AMBIGUOUS,      /* several records answer to one name */
    ERROR_INVALID,        /* a map, an option, a profile, or a request the service refuses */
    ERROR_DENIED,         /* no permission, bad signature, no credentials */
    ERROR_EXPIRED,        /* session or token expired */
    ERROR_THROTTLED,      /* past the retry budget; or more at once than there is room for here */
    ERROR_TOO_FAST,       /* more than may be read in a second */
    ERROR_SPENT,          /* more than who asks may read at all */
    ERROR_TIMED_OUT,      /* the deadline passed */
    ERROR_UNREACHABLE,    /* name resolution, no route */
    ERROR_REFUSED,        /* connection refused */
    ERROR_RESET,          /* connection lost */
    ERROR_TLS,            /* TLS failed, or the peer does not speak HTTP */
    ERROR_UNTRUSTED,      /* the peer's certificate is not trusted: trying again is no use */
    ERROR_NO_TABLE,       /* table or index missing */
    ERROR_BAD_ANSWER,     /* answer not understood, checksum wrong, too large */
    ERROR_SERVICE,        /* the service failed (5xx) past the retry budget */
    ERROR_NO_DESCRIPTORS, /* too many files are open in this process, or in the system */
    ERROR_NO_MEMORY,
};

/* Zeroed is "no error". Plain data: copy it freely. TEXT is one sentence without a final
 * stop that says what happened and what to do; it never holds a secret, and
 * nothing that a terminal would act on, whatever names and words of a peer it quotes. */
struct error {
    enum error_kind kind;
    bool authenticated;    /* of ERROR_DENIED: the service knows who asks, and says no to this */
    bool unsigned_yet;     /* of ERROR_TIMED_OUT: no credentials came, and so nothing was asked */
    int http_status;       /* 0 when no answer came */
    int ttl_left_ms;       /* of ERROR_NOT_FOUND: how long it may be believed; 0 when not known */
    const char *operation; /* what was asked of the service, such as "Query"; static, or NULL */
    char table[256];       /* of which table, and which of its indexes; "" when of none */
    char index[256];
    char code[64];       /* the service's error code, such as ResourceNotFoundException */
    char request_id[64]; /* the service's request id */
    char text[1400];
};

/* Fills ERR (which may be NULL) and returns false, so that `return error_set(…)` fails. All else
 * that ERR told is cleared. */
bool error_set(struct error *err, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends to ERR's text (ERR may be NULL), as far as there is room: what is cut off ends in "…". */
void error_add(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool error_no_memory(struct error *err);

/* A short stable word for logs and JSON: "not-found", "denied", … */
const char *error_word(enum error_kind kind);

/* Who can do something about it: "caller", who asks for something else; "human", who changes what
 * is outside; "retry": the same may be answered later. */
const char *error_fixable_by(enum error_kind kind);

/* What to do next, in one clause. */
const char *error_hint(const struct error *err);

/* Whether nobody could be asked: what was known before may hold still. Not where the service, or
 * whoever gives credentials, has said no. */
bool error_is_outage(const struct error *err);

/* Whether it is of who asked, and not of what was asked: another may be answered. */
bool error_is_of_caller(const struct error *err);

/* The errno that tells it to a program: each kind has its own. */
int error_errno(enum error_kind kind);

#endif
