/* The least that a query of a snapshot costs: SQLite's rows, copied and not looked at.
 * Usage: plain_rows FILE SQL TIMES. Prints nanoseconds a run, and the rows of one. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/database.h"

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    CLEAN_UP(buf_clean_up) struct buf rows = {0};
    struct database *database = argc > 3 ? database_open(argv[1], DATABASE_READ, &err) : NULL;
    struct statement *statement = database ? database_prepare(database, argv[2], &err) : NULL;
    long times = argc > 3 ? strtol(argv[3], NULL, 10) : 0, count = 0;
    enum statement_step step = STATEMENT_FAILED;
    long long from_ns = now_ns();
    for (long i = 0; statement && i < times; i++) {
        buf_truncate(&rows, 0);
        count = 0;
        while ((step = statement_step(statement, &err)) == STATEMENT_ROW) {
            buf_add_span(&rows, statement_text(statement, 0));
            count++;
        }
        statement_reset(statement);
    }
    long long took_ns = now_ns() - from_ns;
    statement_end(statement);
    database_close(database);
    if (step != STATEMENT_DONE || rows.failed) {
        fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    printf("%lld %ld\n", took_ns / times, count);
    return EXIT_SUCCESS;
}
