/* A new file is removed by others only after its process has ended. */
#include "core/import/new_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/check.h"

enum { PROCESSES = 4, FILES_OF_EACH = 200 };

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(name, 0600) == 0);
}

static int count_files(void)
{
    int count = 0;
    DIR *all = opendir(".");
    CHECK(all != NULL);
    while (readdir(all))
        count++;
    closedir(all);
    return count - 2;
}

static char folder[64];

static void enter_folder(void)
{
    strcpy(folder, "/tmp/ddbfs-new-file-XXXXXX");
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
}

static void leave_folder(void)
{
    CHECK(chdir("/") == 0 && rmdir(folder) == 0);
}

/* As if the process of FILE were killed. */
static void kill_writer(struct new_file *file)
{
    free(file->name);
    file->name = NULL;
    new_file_clean_up(file);
}

static void only_files_without_a_writer_are_removed(void)
{
    struct error err = {0};
    enter_folder();
    struct new_file first, second, third;
    CHECK(new_file_create(&first, "x.ddb", &err));
    CHECK(new_file_create(&second, "y.ddb", &err));
    CHECK_INT(count_files(), 2);
    kill_writer(&first);
    CHECK(new_file_create(&third, "./z.ddb", &err));
    CHECK_INT(count_files(), 2);
    CHECK(access(second.name, F_OK) == 0 && access(third.name, F_OK) == 0);
    new_file_clean_up(&second);
    new_file_clean_up(&third);
    CHECK_INT(count_files(), 0);
    leave_folder();
}

/* Names and contents that an import does not make, and a link. */
static void other_files_stay(void)
{
    struct error err = {0};
    enter_folder();
    struct new_file file;
    write_file(".x.ddb.import-backup", "dear diary, of the user");
    write_file(".x.ddb.backup", "");
    write_file("x.ddb.import-abcdef", "");
    write_file(".x.ddb.import-abc-ef", "");
    write_file(".x.ddb.import-abcdef", "");
    CHECK(link(".x.ddb.import-abcdef", "other name") == 0);
    CHECK(symlink("x.ddb.import-abcdef", ".x.ddb.import-linked") == 0);
    int count = count_files();
    CHECK(new_file_create(&file, "x.ddb", &err));
    new_file_clean_up(&file);
    CHECK_INT(count_files(), count);
    CHECK(system("rm -f .x* *") == 0);
    leave_folder();
}

static void a_published_file_replaces_only_at_request(void)
{
    struct error err = {0};
    enter_folder();
    struct new_file file;
    CHECK(new_file_create(&file, "x.ddb", &err) && new_file_publish(&file, false, &err));
    new_file_clean_up(&file);
    CHECK(new_file_create(&file, "x.ddb", &err) && !new_file_publish(&file, false, &err));
    CHECK_TEXT(err.text, "x.ddb was made by another program meanwhile, and was not changed; name "
                         "another file, or replace it: --yes");
    CHECK(new_file_publish(&file, true, &err));
    new_file_clean_up(&file);
    CHECK_INT(count_files(), 1);
    CHECK(unlink("x.ddb") == 0);
    leave_folder();
}

/* Each start removes the files that were left, while others create theirs. */
static int create_often(void)
{
    struct error err = {0};
    for (int i = 0; i < FILES_OF_EACH; i++) {
        struct new_file file;
        if (!new_file_create(&file, "x.ddb", &err) || access(file.name, F_OK) != 0)
            return 1;
        if (i % 2)
            kill_writer(&file);
        else
            new_file_clean_up(&file);
    }
    return 0;
}

static void a_file_with_a_writer_is_never_removed(void)
{
    struct error err = {0};
    enter_folder();
    struct new_file file;
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            _exit(create_often());
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        CHECK(wait(&status) > 0 && status == 0);
    }
    CHECK(new_file_create(&file, "x.ddb", &err));
    CHECK_INT(count_files(), 1);
    new_file_clean_up(&file);
    leave_folder();
}

static const struct check_test tests[] = {
    {"only files without a writer are removed", only_files_without_a_writer_are_removed},
    {"other files stay", other_files_stay},
    {"a published file replaces only at request", a_published_file_replaces_only_at_request},
    {"a file with a writer is never removed", a_file_with_a_writer_is_never_removed},
};
CHECK_MAIN(tests)
