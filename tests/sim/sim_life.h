/* One life: its plan of actions, its actors, its end. */
#ifndef DDBFS_TESTS_SIM_SIM_LIFE_H
#define DDBFS_TESTS_SIM_SIM_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_action_kind {
    SIM_ACT_CAT,
    SIM_ACT_LS,
    SIM_ACT_LS_LONG,
    SIM_ACT_GREP,
    SIM_ACT_FIND,
    SIM_ACT_HEAD,
    SIM_ACT_STAT,
    SIM_ACT_COMPANION,
    SIM_ACT_LINK,
    SIM_ACT_PROBE,
    SIM_ACT_CONTROL,
    SIM_ACT_REFRESH,
    SIM_ACT_TWO_READERS, /* two programs read one directory at the same time */
    SIM_ACT_SIGNAL,      /* an impatient program: a signal some time after its start */
    SIM_ACT_SHRINK,      /* the kernel's memory pressure */
    SIM_ACT_WRITE,       /* a writer changes items (sim_history_write_one) */
    SIM_ACT_STORM,       /* many readers of one path */
    SIM_ACT_RELOAD,      /* SIGHUP with another map */
    SIM_ACT_TOUCH,       /* an attempt to write to the mount */
    SIM_ACT_HOLD,        /* a file that is open while its item changes */
    SIM_ACT_TAIL,        /* changes.jsonl of a table is followed */
    SIM_ACT_UNMOUNT,     /* the mount ends while programs use it */
    SIM_ACT_KINDS
};

struct sim_action {
    unsigned number;
    enum sim_action_kind kind;
    int64_t at_ms;
    uint64_t seed; /* of its own dice */
};

/* The options of the mount of this life, drawn from the seed: the product gets them as words of its
 * command line, and the oracles read them here. */
struct sim_life_options {
    int64_t timeout_ms;         /* --timeout; default 10,000 */
    uint64_t cache_bytes;       /* --cache-size; default 256 MB */
    double max_rcu;             /* --max-rcu; 0: none */
    double max_rcu_per_process; /* --max-rcu-per-process; 0: none */
    int64_t stale_ms;           /* --stale-if-error; 0: never */
    uint32_t max_entries;       /* --max-entries; default 1,000,000 */
    int64_t parallel_ms;        /* --parallel; default 3; -1: no */
    uint64_t spool_bytes;       /* --spool-size; 0: not given */
    bool no_spool;              /* --spool no */
    bool live;                  /* --live */
    bool show_secrets;          /* --show-secrets */
    bool is_compact;            /* --format compact */
    bool no_hedge;              /* --hedge no */
    bool allow_scan;            /* --allow-scan */
    uint64_t scan_limit;        /* --scan-limit, items; 0: not given */
    bool is_quiet;              /* -o unlistable=quiet */
    bool allow_other;           /* -o allow_other */
    bool has_ledger;            /* --ledger SCRATCH/ledger.jsonl */
    bool records;               /* --record SCRATCH/recording.ddb */
    bool is_snapshot;   /* --snapshot SCRATCH/snapshot.ddb: nothing changes, and no request is
                         * sent */
    bool is_replay;     /* --snapshot SCRATCH/recording.ddb, which another mount of the same
                         * tables has recorded: what it did not read is ENODATA */
    const char *suffix; /* --suffix; "" without */
    unsigned umask;     /* -o umask=; 0 without */
};

/* Drawn at the first call. */
const struct sim_life_options *sim_life_options(void);

/* The options as words for `ddbfs mount`, without the map and the mountpoint; files are below
 * SCRATCH. The words live as long as the life. */
const char *const *sim_life_words(const char *scratch, unsigned *count);

/* This process is the mount whose recording a later one replays: no faults, and nothing changes. */
void sim_life_begin_recording(void);
bool sim_life_is_recording(void);

/* Whether items never change in this life. */
bool sim_life_is_frozen(void);

/* Whether writers of this life make items large. */
bool sim_life_is_fat(void);

/* Whether all pages of this life have few items: each listing has many pages. */
bool sim_life_cuts_pages(void);

/* Makes the files that the mount of this life needs: a snapshot of the tables. Before the mount. */
void sim_life_prepare(const char *scratch);

/* Writes the map file of the life, SCRATCH/map.json, for `--map` and for a reload. */
void sim_life_write_map(const char *text);

/* Appends the bytes of SCRATCH/NAME, which the program has written. */
struct sim_text;
void sim_life_read_file(const char *name, struct sim_text *out);

/* About how long the life lasts. */
int64_t sim_life_span_ms(void);

/* Draws the plan of SETTINGS.actions actions from the seed; numbers begin at FIRST_NUMBER. */
struct sim_action *sim_life_plan(unsigned first_number, unsigned *count);

/* Starts the actors: each action runs on a fiber at its time. The life ends when all have ended. */
void sim_actors_start(const struct sim_action *actions, unsigned count);
bool sim_actors_have_ended(void);

/* The oracles after the last action: books, counts, files of /.ddbfs. Runs on a fiber while the
 * mount is live; the kernel has forgotten everything afterwards. */
void sim_life_check_end(void);

/* System calls that actors have done, for the figures. COLD ones waited for a response of the
 * service: virtual time passed in them. */
struct sim_life_counts {
    uint64_t operations, cold, actions;
    uint64_t failures; /* with an errno that the service or the network causes */
};
struct sim_life_counts sim_life_count(void);

#endif
