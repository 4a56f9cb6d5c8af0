/* "Did you mean": slips of the finger are found, and other words are not. */
#include "core/base/nearest.h"

#include "tests/unit/check.h"

/* What is said of WANTED, when there are these names. */
static void hint(const char *wanted, const char *const *names, struct buf *out)
{
    struct nearest nearest = nearest_to(span_text(wanted));
    for (; *names; names++)
        nearest_offer(&nearest, span_text(*names));
    nearest_write(&nearest, out);
}

static const char *const names[] = {"mount", "umount", "cat", "ls", "by-id", "by-index", "", NULL};

static void check_hint(const char *wanted, const char *expected)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    hint(wanted, names, &out);
    CHECK_TEXT(buf_text(&out), expected);
}

static void a_slip_is_found(void)
{
    check_hint("cta", " (did you mean \"cat\"?)");      /* swapped */
    check_hint("ca", " (did you mean \"cat\"?)");       /* dropped */
    check_hint("mounnt", " (did you mean \"mount\"?)"); /* added */
    check_hint("by-ix", " (did you mean \"by-id\"?)");  /* changed */
    check_hint("unmount", " (did you mean \"umount\"?)");
    check_hint("by_index", " (did you mean \"by-index\"?)");
}

static void the_nearest_of_several_is_told(void)
{
    check_hint("by-inde", " (did you mean \"by-index\"?)");
    check_hint("imount", " (did you mean \"mount\"?)"); /* as near as the other: the first */
}

static void another_word_is_none(void)
{
    check_hint("explain", "");
    check_hint("x", "");
    check_hint("", "");
    check_hint("bl", "");
}

static void what_is_too_long_is_not_looked_at(void)
{
    char wanted[100];
    memset(wanted, 'a', sizeof wanted - 1);
    wanted[sizeof wanted - 1] = '\0';
    const char *const same[] = {wanted, NULL};
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    hint(wanted, same, &out);
    CHECK_TEXT(buf_text(&out), "");
}

static const struct check_test tests[] = {
    {"a_slip_is_found", a_slip_is_found},
    {"the_nearest_of_several_is_told", the_nearest_of_several_is_told},
    {"another_word_is_none", another_word_is_none},
    {"what_is_too_long_is_not_looked_at", what_is_too_long_is_not_looked_at},
};

CHECK_MAIN(tests)
