/* Faults that the simulator injects, and the errors that they may cause. */
#ifndef DDBFS_TESTS_SIM_SIM_CAUSES_H
#define DDBFS_TESTS_SIM_SIM_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

enum sim_fault {
    SIM_FAULT_THROTTLE,     /* ProvisionedThroughputExceeded, ThrottlingException, with reasons */
    SIM_FAULT_SERVER_ERROR, /* 500, 502, 503 */
    SIM_FAULT_RESET_BEFORE, /* the request was not processed */
    SIM_FAULT_RESET_AFTER,  /* it was, and its response was lost */
    SIM_FAULT_LATE,         /* the response takes seconds */
    SIM_FAULT_NO_ANSWER,    /* no response ever */
    SIM_FAULT_CHECKSUM,     /* a wrong x-amz-crc32 */
    SIM_FAULT_TRUNCATED,    /* a body without its end */
    SIM_FAULT_EXPIRED,      /* ExpiredTokenException */
    SIM_FAULT_DENIED,       /* AccessDeniedException */
    SIM_FAULT_SKEW,         /* the machine's date is wrong */
    SIM_FAULT_UNREACHABLE,  /* no connection */
    SIM_FAULT_EMPTY_PAGE,   /* a page without items and with a LastEvaluatedKey; no error */
    SIM_FAULT_SHORT_PAGE,   /* a page that ends early; no error */
    SIM_FAULT_UNPROCESSED,  /* a batch in part; no error unless it repeats */
    SIM_FAULT_MEMORY,       /* an allocation of the program fails */
    SIM_FAULT_SPOOL,        /* a write to a temporary file fails */
    SIM_FAULT_INTERRUPT,    /* a signal to a waiting program */
    SIM_FAULT_CAP,          /* --max-rcu is used up */
    SIM_FAULT_UNMOUNT,      /* the mount ends */
    SIM_FAULT_NOTIFY,       /* the kernel refuses a notification */
    SIM_FAULT_STREAM,       /* shards expire or trim */
    SIM_FAULT_LIE,          /* a response that is not true, with a right checksum */
    SIM_FAULTS
};

const char *sim_fault_name(enum sim_fault fault);

/* A time span in which a fault may strike. PER_MILLE of the requests that it concerns are hit. */
struct sim_spell {
    unsigned number; /* in the plan of the life, for the shrinker */
    enum sim_fault fault;
    int64_t from_ms, until_ms;
    unsigned per_mille;
};

/* Draws the spells of this life from its seed: many lives have none, some have few, and few are
 * storms. Numbers begin at FIRST_NUMBER; returns the next one. */
unsigned sim_causes_plan(unsigned first_number, int64_t life_ms);

/* Whether FAULT strikes now. Each call draws. DETAIL is told in the story. Cheap while no spell of
 * FAULT holds. */
bool sim_causes_strike(enum sim_fault fault, const char *detail);
/* The same with a NUMBER for the dice, which does not depend on what was drawn before. */
bool sim_causes_strike_at(enum sim_fault fault, uint64_t number, const char *detail);
/* Whether FAULT has struck or was noted at any time of the life. */
bool sim_causes_had(enum sim_fault fault);
/* Whether a spell of FAULT holds now; draws nothing. */
bool sim_causes_is_under(enum sim_fault fault);

/* One attempt of a request, as its sender sees it. */
struct sim_attempt {
    uint64_t request;      /* the target and the body: retries have the same */
    uint64_t resource;     /* of the budget of retries: a table */
    const char *operation; /* static; "" if it is not known */
    enum sim_fault fault;  /* that ended it; SIM_FAULTS: it succeeded, or was refused by right */
    int error;             /* the errno that docs/errors.md names for it; 0: success */
    bool is_of_identity;   /* to a service that issues credentials: all who need them fail */
    bool is_final;         /* no retry helps: denied access, a response that is not understood */
    int64_t sent_ms, ended_ms;
    int64_t retry_after_ms; /* that the service demands */
};
void sim_causes_note_attempt(const struct sim_attempt *attempt);
/* How often it was called with KEY before: a number for dice that other actions do not move. */
uint64_t sim_causes_count(uint64_t key);

/* Notes a cause that something else than a spell had. */
void sim_causes_note(enum sim_fault fault, const char *detail);

/* Notes that a look-up of a name begins, for which others have waited since SINCE_MS. Its caller
 * gets their failure (ADR 13). */
void sim_causes_note_queue(int64_t since_ms);

/* Whether the errno ERROR of an operation between two times has a cause that was injected. The
 * time before FROM_MS counts, too, as long as the program may reuse a failure or retry
 * (REACH_MS). */
bool sim_causes_explain(int error, int64_t from_ms, int64_t until_ms, int64_t reach_ms);
/* Whether FAULT struck or was noted between two times. */
bool sim_causes_struck(enum sim_fault fault, int64_t from_ms, int64_t until_ms);
/* Whether any fault struck in the time; pages and batches that are cut short are none. */
bool sim_causes_any(int64_t from_ms, int64_t until_ms);
/* Likewise, also pages that were cut, which are no errors but more requests. */
bool sim_causes_any_page(int64_t from_ms, int64_t until_ms);

#endif
