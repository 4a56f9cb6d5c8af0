/* A directory while it is compared with another: its records one by one, and then what else is in
 * it. For who has nothing else to do meanwhile: it runs the loop. */
#ifndef DDBFS_FS_CLI_DIFF_DIFF_SIDE_H
#define DDBFS_FS_CLI_DIFF_DIFF_SIDE_H

#include "fs/cli/app.h"

/* Something in it; all in it is borrowed. */
struct diff_side_entry {
    struct span name;
    struct span item;    /* of a record: its typed JSON */
    struct value order;  /* of a record: where it stands, if the side has an order */
    struct span content; /* of another file, if TOLD */
    bool told;
    bool directory;
    bool placeholder; /* for names that are not listed */
    bool secret;
};

struct diff_side_entries {
    struct diff_side_entry *items; /* owned */
    size_t count, capacity;
    struct arena arena; /* owns what they borrow */
};

struct diff_side {
    struct app *app;
    const char *path;          /* borrowed */
    const struct place *place; /* borrowed */
    const struct plan *plan;   /* of its listing: PLACE's, or NULL */
    struct span order; /* the attribute by whose order records come and are named; empty: none */
    struct buf prefix; /* owned: what stands there before all that names say */
    bool all_begin_so; /* and the records of the listing all have that there */
    bool stripped;     /* places are told without it */
    struct tree_listing *listing;
    struct diff_side_entries records; /* of the page in hand */
    struct diff_side_entries others;  /* all that is no record, as far as it has come */
    size_t next;                      /* of the records */
    bool waiting, more;
    bool any;         /* a record has come */
    struct error why; /* how it ended, if not well */
};

/* Begins the side; PATH and PLACE must stay. False with ERR filled. To be cleaned up in either
 * case. */
bool diff_side_init(struct diff_side *side, struct app *app, const char *path,
                    const struct place *place, struct error *err);
void diff_side_clean_up(struct diff_side *side);

/* Whether both sides come in one order, in which the same name stands at the same place. Once,
 * before any entry is looked at. */
bool diff_side_align(struct diff_side *a, struct diff_side *b);

/* The record that is next, good until diff_side_take; NULL when there is none, or none comes any
 * more, as WHY says. */
const struct diff_side_entry *diff_side_peek(struct diff_side *side);
void diff_side_take(struct diff_side *side);

/* Whether it ended before all that it has was told. Not because of a name that is too long to be
 * told. */
bool diff_side_is_cut(const struct diff_side *side);

#endif
