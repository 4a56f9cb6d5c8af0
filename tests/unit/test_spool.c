/* Temporary files: bytes come back from any offset, and each failure has its errno and its reason.
 */
#include "core/base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/check.h"

static struct spool *made(void)
{
    struct error err = {0};
    struct spool *spool = spool_new("/tmp", NULL, &err);
    CHECK(spool && err.kind == ERROR_NONE);
    return spool;
}

static void check_read(const struct spool *spool, size_t size, uint64_t offset, const char *want)
{
    char bytes[64] = {0};
    CHECK_INT(spool_read(spool, bytes, size, offset), (int)strlen(want));
    CHECK_TEXT(bytes, want);
}

static void parts_are_one_file(void)
{
    uint8_t digest[DIGEST_SIZE];
    struct spool *spool = made();
    CHECK(spool_add(spool, SPAN_LITERAL("abc"), NULL) && spool_add(spool, span_text(""), NULL) &&
          spool_add(spool, SPAN_LITERAL("defg"), NULL) && spool_end(spool));
    CHECK_INT(spool_size(spool), 7);
    check_read(spool, 7, 0, "abcdefg");
    check_read(spool, 60, 2, "cdefg");
    check_read(spool, 2, 4, "ef");
    check_read(spool, 9, 7, "");
    check_read(spool, 9, UINT64_MAX, "");
    CHECK(digest_sha256(SPAN_LITERAL("abcdefg"), digest));
    CHECK(memcmp(digest, spool_digest(spool), sizeof digest) == 0);
    spool_unref(spool);
}

static void the_last_reference_frees_it(void)
{
    struct spool *spool = made();
    CHECK(spool_add(spool, SPAN_LITERAL("x"), NULL) && spool_end(spool));
    CHECK(spool_ref(spool) == spool);
    spool_unref(spool);
    check_read(spool, 1, 0, "x");
    spool_unref(spool);
    spool_unref(NULL);
}

static void a_limit_is_shared_and_given_back(void)
{
    struct error err = {0};
    struct spool_limit *limit = spool_limit_new(10);
    CHECK(limit && spool_limit_most(limit) == 10);
    struct spool *a = spool_new("/tmp", limit, &err), *b = spool_new("/tmp", limit, &err);
    CHECK(a && b && spool_add(a, SPAN_LITERAL("123456"), &err));
    CHECK(spool_add(b, SPAN_LITERAL("1234"), &err) && !spool_add(b, SPAN_LITERAL("5"), &err));
    CHECK_INT(err.kind, ERROR_NO_SPACE);
    CHECK_HAS(err.text, "the temporary files in /tmp would be larger than ");
    CHECK_HAS(err.text, "raise the limit: --spool-size");
    spool_unref(a);
    spool_limit_unref(limit);
    struct spool *c = spool_ref(b);
    CHECK(spool_add(c, SPAN_LITERAL("123456"), &err) && !spool_add(c, SPAN_LITERAL("1"), &err));
    spool_unref(b);
    spool_unref(c);
}

static void check_refused(const char *folder, enum error_kind kind, const char *why)
{
    struct error err = {0};
    CHECK(!spool_new(folder, NULL, &err));
    CHECK_INT(err.kind, kind);
    CHECK(strstr(err.text, folder) && strstr(err.text, why));
}

static void a_folder_that_cannot_be_written_has_a_reason(void)
{
    check_refused("/nowhere/at/all", ERROR_NO_SPACE, "No such file");
    check_refused("/proc/self", ERROR_NO_SPACE, "exists and can be written: --spool");
}

static void a_limit_of_open_files_has_its_own_kind(void)
{
    struct rlimit old, none;
    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    none = (struct rlimit){0, old.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    check_refused("/tmp", ERROR_NO_DESCRIPTORS, "limit of open files");
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
}

static void a_file_that_may_not_grow_has_a_reason(void)
{
    struct error err = {0};
    struct rlimit old, few;
    struct spool *spool = made();
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    few = (struct rlimit){4, old.rlim_max};
    CHECK(setrlimit(RLIMIT_FSIZE, &few) == 0);
    bool ok = spool_add(spool, SPAN_LITERAL("12345678"), &err);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK(!ok);
    CHECK_INT(err.kind, ERROR_NO_SPACE);
    CHECK(strstr(err.text, "File too large") && strstr(err.text, "beyond 1 KB"));
    spool_unref(spool);
}

static const struct check_test tests[] = {
    {"a limit is shared and given back", a_limit_is_shared_and_given_back},
    {"parts are one file", parts_are_one_file},
    {"the last reference frees it", the_last_reference_frees_it},
    {"a folder that cannot be written has a reason", a_folder_that_cannot_be_written_has_a_reason},
    {"a limit of open files has its own kind", a_limit_of_open_files_has_its_own_kind},
    {"a file that may not grow has a reason", a_file_that_may_not_grow_has_a_reason},
};
CHECK_MAIN(tests)
