/* Inputs: files, compressed files of several members, checksums, and each kind of damage. */
#include "core/import/input.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/check.h"

/* "hello" and "again" as gzip members, each with a line end. */
#define HELLO                                                                                      \
    SPAN_LITERAL("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xcb\x48"                                \
                 "\xcd\xc9\xc9\xe7\x02\x00\x20\x30\x3a\x36\x06\x00"                                \
                 "\x00\x00")
#define AGAIN                                                                                      \
    SPAN_LITERAL("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\x4c"                                \
                 "\x4f\xcc\xcc\xe3\x02\x00\xff\x19\x4f\x86\x06\x00"                                \
                 "\x00\x00")
#define HELLO_MD5 "sZRqySSS0jR8YjW00mERhA=="

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/ddbfs-inputs-XXXXXX");
    CHECK(mkdtemp(folder));
}

/* The only file of a test is x. */
static void remove_folder(void)
{
    CHECK(chdir(folder) == 0 && unlink("x") == 0 && rmdir(folder) == 0);
}

static void write_file(const char *name, struct span first, struct span second)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s/%s", folder, name);
    FILE *file = fopen(buf_text(&path), "we");
    CHECK(file && fwrite(first.data, 1, first.size, file) == first.size &&
          fwrite(second.data, 1, second.size, file) == second.size && fclose(file) == 0);
}

static struct input *opened(const char *name)
{
    struct error err = {0};
    struct input_folder *files = input_folder_open(folder, &err);
    struct input *input = files ? input_folder_open_file(files, name, &err) : NULL;
    CHECK_TEXT(err.text, "");
    input_folder_close(files);
    return input;
}

/* Reads "x" unpacked: WANT, or bytes that begin with WANT before an error that has WHY. */
static void check_unpacked(struct span first, struct span second, const char *want, const char *why)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    write_file("x", first, second);
    struct input *input = input_unpack(opened("x"), &err);
    CHECK(input_read_all(input, 1 << 20, &out, &err) == !why);
    CHECK(why ? span_starts(buf_span(&out), span_text(want)) : span_is(buf_span(&out), want));
    CHECK(strstr(err.text, why ? why : "") && (!why || strstr(err.text, folder)));
    if (!why)
        CHECK_INT(input->position, first.size + second.size);
    input_close(input);
}

static void members_are_one_stream(void)
{
    make_folder();
    check_unpacked(HELLO, span_text(""), "hello\n", NULL);
    check_unpacked(HELLO, AGAIN, "hello\nagain\n", NULL);
    check_unpacked(SPAN_LITERAL("plain"), SPAN_LITERAL(" text"), "plain text", NULL);
    check_unpacked(SPAN_LITERAL("x"), span_text(""), "x", NULL);
    check_unpacked(span_text(""), span_text(""), "", NULL);
    remove_folder();
}

static void damage_is_an_error(void)
{
    struct span hello = HELLO;
    make_folder();
    for (size_t size = 2; size < hello.size; size++)
        check_unpacked(AGAIN, span_of(hello.data, size), "again\n", "ends too early");
    check_unpacked(HELLO, SPAN_LITERAL("x"), "hello\n", "other bytes behind");
    check_unpacked(HELLO, SPAN_LITERAL("\0\0\0\0"), "hello\n", "other bytes behind");
    check_unpacked(SPAN_LITERAL("\x1f\x8b\x08\xff"), AGAIN, "", "damaged");
    remove_folder();
}

static void a_checksum_is_compared_at_the_end(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    make_folder();
    write_file("x", SPAN_LITERAL("hello\n"), span_text(""));
    struct input *input = input_verify(opened("x"), SPAN_LITERAL(HELLO_MD5), &err);
    CHECK(input_read_all(input, 6, &out, &err) && input_read(input, &out, &err));
    CHECK_TEXT(buf_text(&out), "hello\n");
    input_close(input);
    buf_truncate(&out, 0);
    write_file("x", SPAN_LITERAL("hello!"), span_text(""));
    input = input_verify(opened("x"), SPAN_LITERAL(HELLO_MD5), &err);
    CHECK(!input_read_all(input, 6, &out, &err) && strstr(err.text, HELLO_MD5));
    input_close(input);
    CHECK(!input_verify(opened("x"), SPAN_LITERAL("no checksum"), &err) &&
          strstr(err.text, "no checksum"));
    remove_folder();
}

static void a_missing_file_and_a_large_one(void)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    make_folder();
    struct input_folder *files = input_folder_open(folder, &err);
    CHECK(!input_folder_open_file(files, "none", &err) && err.kind == ERROR_NOT_FOUND);
    CHECK(!input_folder_open_file(files, ".", &err) && err.kind == ERROR_IS_DIRECTORY);
    input_folder_close(files);
    write_file("x", SPAN_LITERAL("hello"), span_text(""));
    struct input *input = opened("x");
    CHECK_INT(input->size, 5);
    CHECK(input->modified_ms > 0);
    CHECK(!input_read_all(input, 4, &out, &err) && err.kind == ERROR_TOO_LARGE);
    input_close(input);
    remove_folder();
}

static const struct check_test tests[] = {
    {"members are one stream", members_are_one_stream},
    {"damage is an error", damage_is_an_error},
    {"a checksum is compared at the end", a_checksum_is_compared_at_the_end},
    {"a missing file and a large one", a_missing_file_and_a_large_one},
};
CHECK_MAIN(tests)
