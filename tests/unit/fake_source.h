/* A source made of texts: it answers Reads from a list of typed items, in pages as large as a test
 * wants, fails when told to, and counts what it was asked. */
#ifndef DDBFS_TESTS_UNIT_FAKE_SOURCE_H
#define DDBFS_TESTS_UNIT_FAKE_SOURCE_H

#include "core/base/loop.h"
#include "core/source/source.h"

/* What an index holds is told apart from the table's own items, so that a test says itself what
 * the index projects. The list ends with {0}. */
struct fake_item {
    const char *table;
    const char *index; /* NULL: the table itself */
    const char *text;  /* {"pk":{"S":"…"},…} */
};

struct fake_source {
    struct source source; /* first: a pointer to it is a pointer to this */
    struct loop *loop;
    const struct fake_item *items; /* borrowed; a test may change it between questions */
    const char *const *tables;     /* of READ_TABLES; ends with NULL */
    const struct table_info *info; /* of READ_TABLE, whichever it is; NULL: there is none */
    const char *description;       /* of READ_TABLE and what else tells of a table; NULL: "{}" */
    const bool *gone;              /* which of ITEMS are not there at the moment; NULL: all are */
    size_t page_size;              /* items a page, before filters; 0: all in one */
    unsigned seed;                 /* by it pages of a query have 1 to PAGE_SIZE items, and come
                                    * after 1 to DELAY_MS; 0: all are alike */
    bool parts_with_pages;         /* of queries, telling where they end */
    struct error error;            /* told instead of page number FAIL_AT, when it has a kind */
    unsigned fail_at;              /* counts all pages of all calls, from 1 */
    unsigned fail_optional_at;     /* the same of optional Reads (once); 0: never */
    bool down;                     /* it is told instead of every page */
    int64_t delay_ms;              /* so much later each page comes */
    int64_t slow_first_ms;         /* the very first one; 0: as the others */
    bool is_serial;                /* one page at a time is under way, the others wait */
    unsigned serial_from;          /* … from the request behind this number on; 0: never */
    bool no_memory;                /* starts nothing */
    struct throttles *throttled;   /* borrowed: of each page of items; NULL: none */
    bool *busy;                    /* set while it works on its own account; may be NULL */

    unsigned started, ended;
    unsigned pages; /* answered so far, errors included */
    unsigned optional_pages;
    unsigned asked;
    int64_t busy_until_ms;
    unsigned held, most_held; /* pages that somebody keeps */
    unsigned keys;            /* asked for by READ_ITEMS, all together */
    char last[512];           /* the last Read in words */
    unsigned most_open;       /* calls under way at the same time */
};

void fake_source_init(struct fake_source *fake, struct loop *loop, const struct fake_item *items);

#endif
