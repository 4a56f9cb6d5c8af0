/* Fuzzing of snapshot files with journals. An input is the size of the file in three bytes, the
 * file, and its journal. A reader changes, creates and removes nothing; a repair changes these two
 * alone. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/import/snapshot_check.h"
#include "core/import/snapshot_repair.h"
#include "core/snapshot/snapshot_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIZE_BYTES = 3, MOST_PAGES = 50 };
static const char diary[] = "dear diary";
static char folder[32], x_ddb[64], x_journal[64], x_diary[64];

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void remove_folder(void)
{
    unlink(x_ddb);
    unlink(x_journal);
    unlink(x_diary);
    rmdir(folder);
}

static void make_folder(void)
{
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz-XXXXXX" : "/tmp/fuzz-XXXXXX");
    require(mkdtemp(folder) && atexit(remove_folder) == 0);
    snprintf(x_ddb, sizeof x_ddb, "%s/x.ddb", folder);
    snprintf(x_journal, sizeof x_journal, "%s/x.ddb-journal", folder);
    snprintf(x_diary, sizeof x_diary, "%s/diary", folder);
}

static void write_file(const char *name, struct span content)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, content.data, content.size) == (ssize_t)content.size);
    close(fd);
}

static bool file_is(const char *name, struct span content)
{
    char *found = malloc(content.size + 1);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 || !found ? -1 : read(fd, found, content.size + 1);
    bool is_equal = size == (ssize_t)content.size && memcmp(found, content.data, content.size) == 0;
    if (fd >= 0)
        close(fd);
    free(found);
    return is_equal;
}

static int count_files(void)
{
    int count = 0;
    DIR *all = opendir(folder);
    require(all != NULL);
    while (readdir(all))
        count++;
    closedir(all);
    return count - 2;
}

static void require_fault(const struct error *err)
{
    require(err->kind != ERROR_NONE && err->text[0] != '\0' && err->kind != ERROR_NOT_FOUND);
}

/* All items of TABLE at its moment MOMENT, by a scan. */
static void scan(const struct snapshot_file *file, const struct snapshot_table *table,
                 const struct snapshot_moment *moment)
{
    struct snapshot_reader *reader = snapshot_reader_new();
    struct read *read = read_new(READ_SCAN, table->name, NULL);
    require(reader && read);
    struct snapshot_reading reading = {
        .read = read, .file = file, .table = table, .at_ms = moment->at_ms};
    bool more = true;
    for (int i = 0; more && i < MOST_PAGES; i++) {
        struct error err = {0};
        struct snapshot_page *page = snapshot_reader_read(reader, &reading, &err);
        more = page && page->more;
        if (!page)
            require_fault(&err);
        snapshot_page_destroy(page);
    }
    snapshot_reading_clean_up(&reading);
    snapshot_reader_destroy(reader);
    read_destroy(read);
}

static void report(void *arg, bool is_proven, const char *table, const char *text)
{
    (void)arg, (void)is_proven, (void)table;
    require(text[0] != '\0');
}

static void read_all(void)
{
    const struct snapshot_check_options options = {.file = x_ddb, .report = report};
    struct error err = {0};
    if (!snapshot_check(&options, &err))
        require_fault(&err);
    err = (struct error){0};
    struct snapshot_file *file = snapshot_file_read(x_ddb, DATABASE_READ, &err);
    if (!file)
        require_fault(&err);
    for (size_t i = 0; file && i < file->table_count; i++)
        scan(file, &file->tables[i], &file->tables[i].moments[0]);
    snapshot_file_unref(file);
}

static void repair(void)
{
    struct error err = {0};
    bool repaired;
    if (!snapshot_repair(x_ddb, &repaired, &err))
        require_fault(&err);
    else
        require(snapshot_repair(x_ddb, &repaired, &err) && !repaired);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SIZE_BYTES)
        return 0;
    if (!folder[0])
        make_folder();
    size_t wanted = (size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2];
    struct span rest = span_of((const char *)data + SIZE_BYTES, size - SIZE_BYTES);
    size_t file_size = wanted < rest.size ? wanted : rest.size;
    struct span file = span_of(rest.data, file_size), journal = span_from(rest, file_size);
    bool has_journal = journal.size > 0;
    write_file(x_ddb, file);
    write_file(x_diary, SPAN_LITERAL(diary));
    unlink(x_journal);
    if (has_journal)
        write_file(x_journal, journal);
    read_all();
    require(count_files() == 2 + has_journal && file_is(x_diary, SPAN_LITERAL(diary)));
    require(file_is(x_ddb, file) && (!has_journal || file_is(x_journal, journal)));
    repair();
    require(file_is(x_diary, SPAN_LITERAL(diary)) && access(x_ddb, F_OK) == 0);
    require(count_files() <= 2 + has_journal);
    return 0;
}
