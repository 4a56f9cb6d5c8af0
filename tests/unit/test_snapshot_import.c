/* Imports that end at any of their steps: the file is as it was before, and nothing is beside it.
 */
#include "core/import/snapshot_import.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/import/key_description.h"
#include "core/import/snapshot_check.h"
#include "tests/unit/check.h"

enum { ITEMS = 1500 };

static char folder[64];

/* One import, which is stopped at its call number STOP_AT; 0: never. */
struct trial {
    unsigned calls, stop_at;
    unsigned late_calls; /* since all items were read */
    struct import_progress progress;
};

static bool trial_describe(void *arg, const char *table, struct buf *description,
                           struct buf *expiry, struct error *err)
{
    (void)arg, (void)expiry;
    return key_description_of_keys("id:N", table, description, err);
}

static bool trial_proceed(void *arg)
{
    struct trial *trial = arg;
    trial->calls++;
    trial->late_calls += trial->progress.is_indexing;
    return trial->stop_at == 0 || trial->calls < trial->stop_at;
}

static bool run_import(struct trial *trial, const char *table, bool onto, struct error *err)
{
    struct import_result result = {0};
    struct import_source source = {.stream = input_open("items", err)};
    const struct import_options options = {.file = "x.ddb",
                                           .onto = onto,
                                           .replaces = true,
                                           .sources = &source,
                                           .source_count = 1,
                                           .table = table,
                                           .describe = trial_describe,
                                           .proceed = trial_proceed,
                                           .arg = trial,
                                           .progress = &trial->progress};
    bool ok = snapshot_import(&options, &result, err);
    import_result_clean_up(&result);
    input_close(source.stream);
    return ok;
}

static void make_folder(void)
{
    strcpy(folder, "/tmp/ddbfs-import-XXXXXX");
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    FILE *items = fopen("items", "we");
    CHECK(items != NULL);
    for (int i = 0; i < ITEMS; i++)
        fprintf(items, "{\"id\":{\"N\":\"%d\"}}\n", i * 7919 % ITEMS);
    CHECK(fclose(items) == 0);
}

/* The number of files in the folder. */
static int count_files(void)
{
    int count = 0;
    DIR *stream = opendir(".");
    CHECK(stream != NULL);
    for (struct dirent *entry; (entry = readdir(stream));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return count;
}

static void remove_folder(void)
{
    unlink("x.ddb");
    CHECK(unlink("items") == 0 && rmdir(folder) == 0);
}

static void note_fault(void *arg, bool is_proven, const char *table, const char *text)
{
    (void)table, (void)text;
    *(int *)arg += is_proven ? 1 : 1000;
}

/* The facts that are proven of the file. */
static int count_facts(void)
{
    int facts = 0;
    const struct snapshot_check_options options = {"x.ddb", note_fault, &facts};
    CHECK(snapshot_check(&options, NULL));
    return facts;
}

static void a_stopped_import_leaves_nothing(void)
{
    struct trial whole = {0};
    struct error err = {0};
    make_folder();
    CHECK(run_import(&whole, "Things", false, &err));
    CHECK(whole.late_calls > 1 && whole.calls > ITEMS / 64); /* the last call precedes the commit */
    CHECK(unlink("x.ddb") == 0);
    for (unsigned stop_at = 1; stop_at <= whole.calls; stop_at++) {
        struct trial trial = {.stop_at = stop_at};
        CHECK(!run_import(&trial, "Things", false, &err));
        CHECK_HAS(err.text, "the import was interrupted; x.ddb is as it was before");
        CHECK_INT(count_files(), 1);
    }
    remove_folder();
}

static void a_stopped_addition_is_undone(void)
{
    struct trial whole = {0};
    struct error err = {0};
    make_folder();
    CHECK(run_import(&whole, "Things", false, &err));
    for (unsigned stop_at = 1; stop_at <= whole.calls; stop_at += 5) {
        struct trial trial = {.stop_at = stop_at};
        CHECK(!run_import(&trial, "Others", true, &err));
        CHECK_INT(count_files(), 2);
        CHECK_INT(count_facts(), 3);
    }
    CHECK(run_import(&(struct trial){0}, "Others", true, &err));
    CHECK_INT(count_facts(), 5);
    remove_folder();
}

static const struct check_test tests[] = {
    {"a stopped import leaves nothing", a_stopped_import_leaves_nothing},
    {"a stopped addition is undone", a_stopped_addition_is_undone},
};
CHECK_MAIN(tests)
