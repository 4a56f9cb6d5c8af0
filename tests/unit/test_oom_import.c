/* Memory that runs out during an import: it ends with an error and leaves nothing, or it is right.
 */
#include "core/import/snapshot_import.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/crypto.h"
#include "core/import/key_description.h"
#include "core/import/snapshot_check.h"
#include "core/item/value.h"
#include "tests/unit/oom.h"

#define ARN "arn:aws:dynamodb:x:1:table/Things"
#define SUMMARY                                                                                    \
    "{\"exportArn\":\"" ARN "/export/1\",\"tableArn\":\"" ARN                                      \
    "\",\"itemCount\":2,\"outputFormat\":\"DYNAMODB_JSON\",\"manifestFilesS3Key\":"                \
    "\"AWSDynamoDB/1/manifest-files.json\","
#define OLD "{\"pk\":{\"S\":\"\\u00e9\"},\"sk\":{\"B\":\"AAE=\"},\"n\":{\"N\":\"1.5\"}}"
#define NEW                                                                                        \
    "{\"pk\":{\"S\":\"\\u00e9\"},\"sk\":{\"B\":\"AAE=\"},\"m\":{\"M\":{\"a\":{\"SS\":[\"b\"]}}}}"
#define KEYS "{\"pk\":{\"S\":\"\\u00e9\"},\"sk\":{\"B\":\"AAE=\"}}"
#define OTHER "{\"pk\":{\"S\":\"b\"}, \"sk\":{\"B\":\"AA==\"}}"

static char folder[64];

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void write_export(const char *name, const char *summary, const char *lines)
{
    CHECK(mkdir(name, 0700) == 0 && chdir(name) == 0 && mkdir("data", 0700) == 0);
    write_file("manifest-summary.json", summary);
    uint8_t md5[DIGEST_MD5_SIZE];
    CLEAN_UP(buf_clean_up) struct buf files = {0};
    struct digest *digest = digest_begin_md5();
    CHECK(digest && digest_add(digest, span_text(lines)) && digest_end(digest, md5));
    digest_free(digest);
    buf_add_text(&files, "{\"itemCount\":2,\"md5Checksum\":\"");
    base64_write(&files, span_of((const char *)md5, sizeof md5));
    buf_add_text(&files, "\",\"dataFileS3Key\":\"AWSDynamoDB/1/data/x\"}\n");
    write_file("manifest-files.json", buf_text(&files));
    write_file("data/x", lines);
    CHECK(chdir("..") == 0);
}

static void make_exports(void)
{
    strcpy(folder, "/tmp/ddbfs-oom-XXXXXX");
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    write_export("full", SUMMARY "\"exportTime\":\"2026-11-01T00:00:00Z\"}",
                 "{\"Item\":" OLD "}\n{\"Item\":" OTHER "}\n");
    write_export("more",
                 SUMMARY "\"exportType\":\"INCREMENTAL_EXPORT\",\"outputView\":"
                         "\"NEW_AND_OLD_IMAGES\",\"exportFromTime\":\"2026-11-01T00:00:00Z\","
                         "\"exportToTime\":\"2026-11-02T00:00:00Z\"}",
                 "{\"Keys\":" KEYS ",\"NewImage\":" NEW ",\"OldImage\":" OLD "}\n"
                 "{\"Keys\":" OTHER ",\"OldImage\":" OTHER "}\n");
}

static bool describe(void *arg, const char *table, struct buf *description, struct buf *expiry,
                     struct error *err)
{
    (void)arg, (void)expiry;
    return key_description_of_keys("pk:S,sk:B", table, description, err);
}

static bool proceed(void *arg)
{
    (void)arg;
    return true;
}

static bool import_both(struct error *err)
{
    struct import_progress progress = {0};
    struct import_result result = {0};
    struct import_source sources[] = {{.folder = input_folder_open("full", err)}, {0}};
    if (sources[0].folder)
        sources[1].folder = input_folder_open("more", err);
    const struct import_options options = {.file = "x.ddb",
                                           .sources = sources,
                                           .source_count = 2,
                                           .describe = describe,
                                           .proceed = proceed,
                                           .progress = &progress};
    bool ok = sources[1].folder && snapshot_import(&options, &result, err);
    import_result_clean_up(&result);
    for (int i = 0; i < 2; i++)
        input_folder_close(sources[i].folder);
    return ok;
}

static int count_files(void)
{
    int count = 0;
    DIR *stream = opendir(".");
    CHECK(stream != NULL);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2;
}

static void count_fact(void *arg, bool is_proven, const char *table, const char *text)
{
    (void)table, (void)text;
    *(int *)arg += is_proven ? 1 : 1000;
}

static bool attempt_import(unsigned long n, bool for_good)
{
    struct error err = {0};
    arm(n, for_good);
    bool ok = import_both(&err);
    bool hit = disarm();
    int facts = 0;
    const struct snapshot_check_options check = {"x.ddb", count_fact, &facts};
    CHECK_INT(count_files(), ok ? 3 : 2);
    if (!ok)
        CHECK_INT(err.kind, ERROR_NO_MEMORY);
    else
        CHECK(snapshot_check(&check, NULL) && facts == 3 && unlink("x.ddb") == 0);
    return hit;
}

static void an_import(void)
{
    make_exports();
    try_all(attempt_import);
    static const char *const files[] = {"manifest-summary.json", "manifest-files.json", "data/x"};
    for (int i = 0; i < 2; i++) {
        CHECK(chdir(i ? "more" : "full") == 0);
        for (size_t j = 0; j < 3; j++)
            CHECK(unlink(files[j]) == 0);
        CHECK(rmdir("data") == 0 && chdir("..") == 0);
    }
    CHECK(rmdir("full") == 0 && rmdir("more") == 0 && rmdir(folder) == 0);
}

static const struct check_test tests[] = {{"an import", an_import}};
CHECK_MAIN(tests)
