/* Fuzzing of whole exports: any folder of files is a snapshot in which no fault is found, or has an
 * error, and then nothing is left. A second folder of the same input is a window behind the first.
 *
 * Each file begins with a line of its name behind the byte 1E: "a/…" is of the first folder, "b/…"
 * of the second one. CHECKSUM in a list of files is replaced by the checksum of the next data file,
 * or of the last one: no input would get past a wrong one. */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/crypto.h"
#include "core/import/key_description.h"
#include "core/import/snapshot_check.h"
#include "core/import/snapshot_import.h"
#include "core/item/value.h"
#include "tests/fuzz/memory_input.h"

enum { MOST_FILES = 16, FOLDERS = 2, NAME_BEGIN = 0x1e };

struct exported {
    struct memory_folder folder;
    const char *names[MOST_FILES];
    struct span contents[MOST_FILES];
    size_t count;
    struct buf list; /* manifest-files.json with its checksums */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static char own_folder[] = "/tmp/ddbfs-fuzz-XXXXXX";

static void remove_folder(void)
{
    rmdir(own_folder);
}

/* A folder of this process alone, which ends with it. */
static void make_folder(void)
{
    static bool is_there;
    if (!is_there)
        require(mkdtemp(own_folder) && atexit(remove_folder) == 0);
    is_there = true;
}

static size_t count_files(void)
{
    size_t count = 0;
    DIR *stream = opendir(own_folder);
    require(stream != NULL);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2;
}

/* The files of INPUT, in the folders that their names state. */
static void split_files(struct span input, struct arena *arena, struct exported folders[FOLDERS])
{
    while (input.size > 0) {
        const char *end = memchr(input.data + 1, NAME_BEGIN, input.size - 1);
        struct span file = span_of(input.data, end ? (size_t)(end - input.data) : input.size);
        const char *line = memchr(file.data, '\n', file.size);
        size_t which = file.size > 3 && file.data[1] == 'b';
        struct exported *to = &folders[which];
        if (line && line >= file.data + 3 && to->count < MOST_FILES) {
            to->names[to->count] =
                arena_text(arena, span_of(file.data + 3, (size_t)(line - file.data) - 3));
            to->contents[to->count++] = span_from(file, (size_t)(line + 1 - file.data));
        }
        input = span_from(input, file.size);
    }
}

static void add_checksum(struct span content, struct buf *out)
{
    uint8_t found[DIGEST_MD5_SIZE];
    struct digest *digest = digest_begin_md5();
    require(digest && digest_add(digest, content) && digest_end(digest, found));
    base64_write(out, span_of((const char *)found, sizeof found));
    digest_free(digest);
}

/* Replaces each placeholder of the list of files by the checksum of the next data file. */
static void fill_checksums(struct exported *of)
{
    const struct span placeholder = SPAN_LITERAL("CHECKSUM");
    struct span content = span_text("");
    size_t list = 0, file = 0;
    while (list < of->count && strcmp(of->names[list], "manifest-files.json") != 0)
        list++;
    if (list == of->count)
        return;
    for (struct span left = of->contents[list]; left.size > 0;) {
        if (!span_starts(left, placeholder)) {
            buf_add_char(&of->list, left.data[0]);
            left = span_from(left, 1);
            continue;
        }
        while (file < of->count && strncmp(of->names[file], "data/", 5) != 0)
            file++;
        content = file < of->count ? of->contents[file++] : content;
        add_checksum(content, &of->list);
        left = span_from(left, placeholder.size);
    }
    of->contents[list] = buf_span(&of->list);
}

static bool describe(void *arg, const char *table, struct buf *description, struct buf *expiry,
                     struct error *err)
{
    (void)arg, (void)expiry;
    return key_description_of_keys("pk:S,sk:N", table, description, err);
}

static bool proceed(void *arg)
{
    (void)arg;
    return true;
}

static void fail_on_fault(void *arg, bool is_proven, const char *table, const char *text)
{
    (void)arg, (void)table, (void)text;
    require(is_proven);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(import_result_clean_up) struct import_result result = {0};
    struct exported folders[FOLDERS] = {0};
    struct import_source sources[FOLDERS] = {0};
    struct import_progress progress = {0};
    struct error err = {0};
    CLEAN_UP(buf_clean_up) struct buf file = {0};
    make_folder();
    buf_printf(&file, "%s/x.ddb", own_folder);
    split_files(span_of((const char *)data, size), &arena, folders);
    for (size_t i = 0; i < FOLDERS; i++) {
        fill_checksums(&folders[i]);
        memory_folder_init(&folders[i].folder, folders[i].names, folders[i].contents,
                           folders[i].count);
        sources[i].folder = &folders[i].folder.base;
    }
    const struct import_options options = {.file = buf_text(&file),
                                           .sources = sources,
                                           .source_count = folders[1].count ? 2 : 1,
                                           .describe = describe,
                                           .proceed = proceed,
                                           .progress = &progress};
    if (snapshot_import(&options, &result, &err)) {
        const struct snapshot_check_options check = {buf_text(&file), fail_on_fault, NULL};
        require(err.kind == ERROR_NONE && count_files() == 1);
        require(snapshot_check(&check, &err));
        unlink(buf_text(&file));
    } else {
        require(err.kind != ERROR_NONE && err.kind != ERROR_NO_MEMORY && err.text[0]);
    }
    require(count_files() == 0);
    for (size_t i = 0; i < FOLDERS; i++)
        buf_clean_up(&folders[i].list);
    return 0;
}
