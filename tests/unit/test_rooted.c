/* Names of files from the root on. */
#include "fs/mount/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/check.h"

static void a_name_gets_its_folder(void)
{
    CHECK(chdir("/proc") == 0);
    char *relative = start_absolute_path("self/../map.json"),
         *whole = start_absolute_path("/map.json");
    CHECK_TEXT(relative, "/proc/self/../map.json");
    CHECK_TEXT(whole, "/map.json");
    free(relative);
    free(whole);
}

static void check_variable(const char *name, const char *before, const char *after)
{
    setenv(name, before, 1);
    start_make_variables_absolute();
    CHECK_TEXT(getenv(name), after);
    unsetenv(name);
}

static void variables_that_name_files(void)
{
    static const char *const names[] = {
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_LOGIN_CACHE_DIRECTORY",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        "AWS_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
    };
    CHECK(chdir("/proc") == 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_variable(names[i], "x", "/proc/x");
        check_variable(names[i], "./a b/$X", "/proc/./a b/$X");
    }
}

static void all_else_stays(void)
{
    static const char *const values[] = {"", "/x", "~", "~/x", "~user/x", "$HOME/x", "${X}"};
    CHECK(chdir("/proc") == 0);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        check_variable("AWS_CONFIG_FILE", values[i], values[i]);
    check_variable("AWS_PROFILE", "x", "x");
    start_make_variables_absolute();
    CHECK(!getenv("AWS_CONFIG_FILE"));
}

static void without_a_folder_it_stays(void)
{
    char folder[] = "/tmp/rooted-XXXXXX";
    CHECK(mkdtemp(folder) && chdir(folder) == 0 && rmdir(folder) == 0);
    CHECK(!start_absolute_path("x"));
    check_variable("AWS_CONFIG_FILE", "x", "x");
    CHECK(chdir("/") == 0);
}

static const struct check_test tests[] = {
    {"a_name_gets_its_folder", a_name_gets_its_folder},
    {"variables_that_name_files", variables_that_name_files},
    {"all_else_stays", all_else_stays},
    {"without_a_folder_it_stays", without_a_folder_it_stays},
};

CHECK_MAIN(tests)
