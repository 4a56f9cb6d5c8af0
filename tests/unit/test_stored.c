/* Files of AWS's tools: read bounded, written in one step, and the cache of roles made of both. */
#include "core/aws/stored.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/aws/cli_cache.h"
#include "tests/unit/check.h"

#define WALL_MS 1792000000000
#define HOUR_MS 3600000

struct place {
    char folder[64];
    char path[128]; /* in a folder that is not there yet */
    struct error err;
};

static void name_file(const struct place *place, const char *name, char path[128])
{
    int size = snprintf(path, 128, "%.60s/%s", place->folder, name);
    CHECK(size > 0 && size < 128);
}

static void open_place(struct place *place)
{
    *place = (struct place){.folder = "/tmp/ddbfs-stored-XXXXXX"};
    CHECK(mkdtemp(place->folder));
    name_file(place, "a/b/file.json", place->path);
    setenv("HOME", place->folder, 1);
}

static void place_clean_up(struct place *place)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", place->folder);
    CHECK_INT(system(command), 0);
}

static void check_read(struct place *place, const char *path, const char *want)
{
    CLEAN_UP(buf_clean_up_secret) struct buf out = {0};
    CHECK_INT(stored_read(path, &out, &place->err), STORED_READ);
    CHECK_TEXT(buf_text(&out), want);
}

static void check_failed(struct place *place, const char *path, const char *why)
{
    CLEAN_UP(buf_clean_up_secret) struct buf out = {0};
    CHECK_INT(stored_read(path, &out, &place->err), STORED_FAILED);
    CHECK_INT(place->err.kind, ERROR_DENIED);
    CHECK_HAS(place->err.text, path);
    CHECK_HAS(place->err.text, why);
}

static unsigned mode_of(const char *path)
{
    struct stat stat_now;
    CHECK_INT(stat(path, &stat_now), 0);
    return stat_now.st_mode & 07777;
}

static void written_and_read(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    char folder[128];
    open_place(&place);
    umask(0);
    CHECK(stored_write(place.path, span_text("{\"a\":1}"), &place.err));
    check_read(&place, place.path, "{\"a\":1}");
    CHECK_INT(mode_of(place.path), 0600);
    name_file(&place, "a", folder);
    CHECK_INT(mode_of(folder), 0700);
    name_file(&place, "a/b", folder);
    CHECK_INT(mode_of(folder), 0700);
    CHECK(chmod(place.path, 0644) == 0 && stored_write(place.path, span_text(""), &place.err));
    check_read(&place, place.path, "");
    CHECK_INT(mode_of(place.path), 0600);
}

static void what_is_not_there(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    char below[128];
    open_place(&place);
    CHECK_INT(stored_read(place.path, &out, &place.err), STORED_ABSENT);
    CHECK(stored_write(place.path, span_text("x"), &place.err));
    name_file(&place, "a/b/file.json/below", below);
    CHECK_INT(stored_read(below, &out, &place.err), STORED_ABSENT);
}

/* What could keep the loop waiting, or fill the memory. */
static void what_is_no_small_file(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    char path[128];
    open_place(&place);
    check_failed(&place, place.folder, "no regular file");
    name_file(&place, "fifo", path);
    CHECK_INT(mkfifo(path, 0600), 0);
    check_failed(&place, path, "no regular file");
    check_failed(&place, "/dev/zero", "no regular file");
    name_file(&place, "large", path);
    CHECK(stored_write(path, span_text(""), &place.err));
    CHECK_INT(truncate(path, 1024 * 1024), 0);
    CLEAN_UP(buf_clean_up_secret) struct buf out = {0};
    CHECK_INT(stored_read(path, &out, &place.err), STORED_READ);
    CHECK_INT(truncate(path, 1024 * 1024 + 1), 0);
    check_failed(&place, path, "larger than 1 MB");
    name_file(&place, "circle", path);
    CHECK_INT(symlink(path, path), 0);
    check_failed(&place, path, "symbolic links");
}

/* Nothing is left behind of a file that can't be written. */
static void what_cannot_be_written(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    char path[128];
    open_place(&place);
    CHECK(stored_write(place.path, span_text("x"), &place.err));
    name_file(&place, "a/b", path); /* a folder stands there */
    CHECK(!stored_write(path, span_text("y"), &place.err));
    CHECK_INT(place.err.kind, ERROR_DENIED);
    CHECK_HAS(place.err.text, path);
    name_file(&place, "a/b/file.json/c", path);
    CHECK(!stored_write(path, span_text("y"), &place.err));
    snprintf(path, sizeof path, "test $(ls %s/a | wc -l) = 1", place.folder);
    CHECK_INT(system(path), 0);
}

/* Another process writes all the time; each read is of one whole file. */
static void a_reader_meanwhile(void)
{
    enum { READS = 300, SIZE = 20000 };
    static char one[SIZE + 1], other[SIZE + 1];
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place);
    memset(one, '1', SIZE);
    memset(other, '2', SIZE / 2);
    CHECK(stored_write(place.path, span_text(one), &place.err));
    pid_t child = fork();
    if (child == 0)
        for (;;) {
            stored_write(place.path, span_text(other), NULL);
            stored_write(place.path, span_text(one), NULL);
        }
    CHECK(child > 0);
    size_t torn = 0;
    for (int i = 0; i < READS; i++) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        enum stored_found found = stored_read(place.path, &out, NULL);
        torn += found != STORED_READ ||
                (strcmp(buf_text(&out), one) != 0 && strcmp(buf_text(&out), other) != 0);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_INT(torn, 0);
}

static void check_path(const char *given, const char *want)
{
    char *path = stored_path(given);
    CHECK(path);
    CHECK_TEXT(path, want);
    free(path);
}

static void paths(void)
{
    setenv("HOME", "/home/u", 1);
    setenv("CACHES", "/c", 1);
    unsetenv("NO_SUCH");
    check_path("~/.aws/x", "/home/u/.aws/x");
    check_path("~", "/home/u");
    check_path("~nobody-is-called-so/x", "~nobody-is-called-so/x");
    check_path("~root/x", "/root/x");
    setenv("TILDE", "~", 1);
    check_path("$TILDE/x", "/home/u/x");
    check_path("~$CACHES", "/home/u/c");
    check_path("/a/~/b", "/a/~/b");
    check_path("$CACHES/x${CACHES}y", "/c/x/cy");
    check_path("$NO_SUCH/${NO_SUCH}/$/${", "$NO_SUCH/${NO_SUCH}/$/${");
    check_path("", "");
    setenv("HOME", "/", 1);
    check_path("~", "/");
    check_path("~/x", "/x");
    setenv("HOME", "", 1);
    check_path("~/x", "/x");
    setenv("HOME", "/home/u", 1);
}

/* The role cache. The digest is Python's. */

static void names_of_roles(void)
{
    setenv("HOME", "/home/u", 1);
    char *path = cli_cache_path(SPAN_LITERAL(
        "{\"accountId\":\"123456789012\",\"roleName\":\"Reader\",\"sessionName\":\"corp\"}"));
    CHECK_TEXT(path, "/home/u/.aws/cli/cache/e916525d47e3ac474990796ecd6fd8a0bde18c3d.json");
    free(path);
}

static void check_role(const char *path, const char *text, bool want)
{
    struct credentials credentials = {0};
    CHECK(stored_write(path, span_text(text), NULL));
    bool found = cli_cache_read(path, WALL_MS, &credentials);
    credentials_clean_up(&credentials);
    if (found != want)
        CHECK_FAIL("<%s> is %s", text, found ? "taken" : "not taken");
}

/* WALL_MS is 2026-10-14T17:46:40Z. */
static void roles_that_are_kept(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place);
    char id[] = "ASIA", secret[] = "s", token[] = "t", account[] = "123456789012";
    struct credentials given = {id, secret, token, account, WALL_MS + HOUR_MS, NULL, NULL};
    struct credentials got = {0};
    CHECK(!cli_cache_read(place.path, WALL_MS, &got));
    cli_cache_write(place.path, &given, "sso", NULL);
    check_read(&place, place.path,
               "{\"ProviderType\":\"sso\",\"Credentials\":{\"AccessKeyId\":\"ASIA\","
               "\"SecretAccessKey\":\"s\",\"SessionToken\":\"t\","
               "\"Expiration\":\"2026-10-14T18:46:40Z\",\"AccountId\":\"123456789012\"}}");
    CHECK(cli_cache_read(place.path, WALL_MS, &got));
    CHECK_TEXT(got.access_key_id, "ASIA");
    CHECK_TEXT(got.secret_access_key, "s");
    CHECK_TEXT(got.session_token, "t");
    CHECK_TEXT(got.account_id, account);
    CHECK_INT(got.expires_wall_ms, WALL_MS + HOUR_MS);
    credentials_clean_up(&got);
    CHECK(cli_cache_read(place.path, WALL_MS + HOUR_MS - 15 * 60000, &got));
    credentials_clean_up(&got);
    CHECK(!cli_cache_read(place.path, WALL_MS + HOUR_MS - 15 * 60000 + 1, &got));
}

#define KEYS                                                                                       \
    "{\"Credentials\":{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"S\",\"SessionToken\":\"T\""

static void broken_roles_are_none(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    open_place(&place);
    check_role(place.path, KEYS ",\"Expiration\":\"2026-10-14T18:46:40UTC\"}}", true);
    check_role(place.path, KEYS ",\"Expiration\":\"2026-10-14T20:46:40+02:00\"}}", true);
    check_role(place.path, KEYS ",\"Expiration\":\"2026-10-14T17:56:40Z\"}}", false);
    check_role(place.path, KEYS ",\"Expiration\":\"soon\"}}", false);
    check_role(place.path, KEYS ",\"Expiration\":1792000000}}", false);
    check_role(place.path, KEYS "}}", false);
    check_role(place.path, KEYS ",\"Expiration\":\"2026-10-14T18:4", false);
    check_role(place.path, "{\"Credentials\":[]}", false);
    check_role(place.path, "[]", false);
    check_role(place.path, "", false);
    check_role(place.path,
               "{\"Credentials\":{\"AccessKeyId\":\"A\",\"SessionToken\":\"T\","
               "\"Expiration\":\"2026-10-14T18:46:40Z\"}}",
               false);
}

static const struct check_test tests[] = {
    {"written and read", written_and_read},
    {"what is not there", what_is_not_there},
    {"what is no small file", what_is_no_small_file},
    {"what cannot be written", what_cannot_be_written},
    {"a reader meanwhile", a_reader_meanwhile},
    {"paths", paths},
    {"names of roles", names_of_roles},
    {"roles that are kept", roles_that_are_kept},
    {"broken roles are none", broken_roles_are_none},
};
CHECK_MAIN(tests)
