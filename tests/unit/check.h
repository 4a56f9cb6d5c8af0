/* A unit test program: small functions, run one after the other, reported as TAP. A check that
 * fails prints where and what, ends its test function, and lets the others run. */
#ifndef DDBFS_TESTS_UNIT_CHECK_H
#define DDBFS_TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/span.h"

struct check_test {
    const char *name;
    void (*run)(void);
};

/* Weak: one for all files of a test program. */
__attribute__((weak)) jmp_buf check_out;
static const char *check_only; /* argv[1]: run this test alone */

#define CHECK_FAIL(...)                                                                            \
    do {                                                                                           \
        printf("# %s:%d: ", __FILE__, __LINE__);                                                   \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        longjmp(check_out, 1);                                                                     \
    } while (0)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            CHECK_FAIL("%s", #condition);                                                          \
    } while (0)

#define CHECK_INT(got, want)                                                                       \
    do {                                                                                           \
        long long check_got = (long long)(got), check_want = (long long)(want);                    \
        if (check_got != check_want)                                                               \
            CHECK_FAIL("%s is %lld, not %lld", #got, check_got, check_want);                       \
    } while (0)

#define CHECK_SPAN(got, want)                                                                      \
    do {                                                                                           \
        struct span check_got = (got), check_want = (want);                                        \
        if (!span_equal(check_got, check_want))                                                    \
            CHECK_FAIL("%s is <%.*s>, not <%.*s>", #got, (int)check_got.size, check_got.data,      \
                       (int)check_want.size, check_want.data);                                     \
    } while (0)

#define CHECK_TEXT(got, want) CHECK_SPAN(span_text(got), span_text(want))

/* The number of cases of a random test: ALL of `tests/run.sh --long`, or a quarter. */
static inline unsigned check_cases(unsigned all)
{
    return getenv("DDBFS_LONG") ? all : (all + 3) / 4;
}

/* TEXT has PART in it. */
#define CHECK_HAS(text, part)                                                                      \
    do {                                                                                           \
        const char *check_text = (text);                                                           \
        if (!strstr(check_text, (part)))                                                           \
            CHECK_FAIL("%s is <%s>, without <%s>", #text, check_text, (part));                     \
    } while (0)

static inline int check_main(const struct check_test *tests, size_t count, int argc, char **argv)
{
    volatile int failed = 0;
    check_only = argc > 1 ? argv[1] : NULL;
    printf("1..%zu\n", check_only ? (size_t)1 : count);
    for (size_t i = 0, n = 1; i < count; i++) {
        if (check_only && strcmp(check_only, tests[i].name) != 0)
            continue;
        bool ok = false;
        if (setjmp(check_out) == 0) {
            tests[i].run();
            ok = true;
        } else {
            failed++;
        }
        printf("%s %zu - %s\n", ok ? "ok" : "not ok", n++, tests[i].name);
        fflush(stdout);
    }
    return failed ? 1 : 0;
}

#define CHECK_MAIN(tests)                                                                          \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return check_main(tests, sizeof(tests) / sizeof((tests)[0]), argc, argv);                  \
    }

#endif
