/* Memory that runs out: the n-th allocation of a program fails, in the library's objects too. For a
 * program that is linked with --wrap for each function here, as tests/unit/meson.build does it. */
#ifndef DDBFS_TESTS_UNIT_OOM_H
#define DDBFS_TESTS_UNIT_OOM_H

#include "tests/unit/check.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_reallocarray(void *memory, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);

/* Which allocation fails: the one that brings LEFT to 0, and with FOR_GOOD all after it. */
static struct {
    bool armed;
    bool paused; /* while the fake source works on its own account */
    bool for_good;
    unsigned long left;
    bool hit;
} fault;

static bool fails(void)
{
    if (!fault.armed || fault.paused || (fault.hit && !fault.for_good))
        return false;
    if (!fault.hit && --fault.left > 0)
        return false;
    fault.hit = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

void *__wrap_reallocarray(void *memory, size_t count, size_t size)
{
    return fails() ? NULL : __real_reallocarray(memory, count, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
    return fails() ? NULL : __real_strndup(text, size);
}

static void arm(unsigned long n, bool for_good)
{
    fault.left = n;
    fault.for_good = for_good;
    fault.hit = false;
    fault.armed = true;
}

/* Whether the fault came in time. */
static bool disarm(void)
{
    fault.armed = false;
    return fault.hit;
}

/* Does the work once with the fault; true when the fault was met. */
typedef bool attempt_fn(unsigned long n, bool for_good);

/* Each allocation fails alone. That all from one on fail is tried at each fourth, or with --long at
 * each. */
static void try_all(attempt_fn *attempt)
{
    for (int for_good = 0; for_good < 2; for_good++) {
        unsigned long n = 1, step = for_good && !getenv("DDBFS_LONG") ? 4 : 1;
        while (attempt(n, for_good))
            n += step;
        CHECK(n > 3);
        printf("# %lu allocations\n", n - 1);
    }
}

#endif
