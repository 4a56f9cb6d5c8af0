/* The profile files of the AWS tools. */
#include "core/aws/profiles.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/check.h"

static void parse_as(struct profile_file *file, enum profile_dialect dialect, const char *text)
{
    struct error err = {0};
    if (!profile_parse(file, dialect, span_text(text), "file", &err))
        CHECK_FAIL("%s", err.text);
}

static void check_value(const struct profile_file *file, const char *profile, const char *key,
                        const char *want)
{
    struct span value = span_text("none");
    CHECK(profile_get(file, profile, key, &value));
    CHECK_SPAN(value, span_text(want));
}

static void check_one(const char *text, const char *want)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    parse_as(&file, PROFILE_CONFIG, text);
    check_value(&file, "default", "region", want);
}

static void check_malformed(enum profile_dialect dialect, const char *text, const char *where)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct error err = {0};
    CHECK(!profile_parse(&file, dialect, span_text(text), "some/file", &err));
    CHECK_INT(err.kind, ERROR_DENIED);
    CHECK_HAS(err.text, where);
}

static void profiles_of_the_config_file(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    parse_as(&file, PROFILE_CONFIG,
             "[default]\nregion = a\n[profile x]\nregion=b\n[profile \"a b\"]\nregion =c\n"
             "[profile 'q']\nregion= d\n[profile   y  ]\nregion = e\n[profile a\\ \"]\"b]\n"
             "region = f\n[profilex z]\nregion = g\n");
    check_value(&file, "default", "region", "a");
    check_value(&file, "x", "region", "b");
    check_value(&file, "a b", "region", "c");
    check_value(&file, "q", "region", "d");
    check_value(&file, "y", "region", "e");
    check_value(&file, "a ]b", "region", "f");
    check_value(&file, "z", "region", "g");
}

static void headers_that_name_no_profile(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    size_t at = 0;
    struct span name;
    parse_as(&file, PROFILE_CONFIG,
             "[profile a b]\n[profile \"c]\n[profile d\\]\n[ profile e]\n[ default]\n"
             "[profile\xc2\xa0"
             "f]\n[Profile g]\n[DEFAULT]\n");
    CHECK(!profile_next_name(&file, &at, &name));
}

static void of_sections_of_one_name_the_last_one_stands_alone(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct span value, key, name;
    size_t at = 0;
    parse_as(&file, PROFILE_CONFIG,
             "[default]\nregion = a\noutput = o\n[profile default]\nregion = b\n"
             "[sso-session s]\nx = 1\ny = 2\n[sso-session 's']\nx = 3\n"
             "[profile x]\nregion = c\n[profile \"x\"]\n");
    check_value(&file, "default", "region", "b");
    CHECK(!profile_get(&file, "default", "output", &value));
    CHECK(!profile_get(&file, "x", "region", &value));
    CHECK(profile_next(&file, "sso-session", "s", &at, &key, &value));
    CHECK_SPAN(value, span_text("3"));
    CHECK(!profile_next(&file, "sso-session", "s", &at, &key, &value));
    CHECK_SPAN(profile_header(&file, "x"), span_text("profile \"x\""));
    at = 0;
    CHECK(profile_next_name(&file, &at, &name) && span_is(name, "default"));
    CHECK(profile_next_name(&file, &at, &name) && span_is(name, "x"));
    CHECK(!profile_next_name(&file, &at, &name));
}

/* Python's own section: its keys are every section's. */
static void keys_of_DEFAULT_are_every_sections(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct span value, key;
    size_t at = 0;
    parse_as(&file, PROFILE_CREDENTIALS,
             "[DEFAULT]\nregion = a\ns3 =\n  k = v\n[x]\noutput = o\n[y]\nregion = b\ns3 = c\n"
             "[DEFAULT]\nmore = m\n");
    check_value(&file, "x", "region", "a");
    check_value(&file, "x", "more", "m");
    check_value(&file, "y", "region", "b");
    CHECK(profile_get_nested(&file, "profile", "x", "s3", "k", &value));
    CHECK(!profile_get_nested(&file, "profile", "y", "s3", "k", &value));
    CHECK(!profile_has(&file, "DEFAULT"));
    for (int i = 0; i < 3; i++)
        CHECK(profile_next(&file, "profile", "y", &at, &key, &value));
    CHECK_SPAN(key, span_text("more"));
    CHECK(!profile_next(&file, "profile", "y", &at, &key, &value));
    check_malformed(PROFILE_CONFIG, "[DEFAULT]\na = 1\n[x]\n[DEFAULT]\na = 2\n", "line 5:");
}

static void bare_names_are_none_in_the_config_file(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    parse_as(&file, PROFILE_CONFIG, "[x]\nregion = a\n[sso-session y]\nregion = b\n[profile]\n");
    CHECK(!profile_has(&file, "x"));
    CHECK(!profile_has(&file, "y"));
    CHECK(!profile_has(&file, ""));
}

static void bare_names_of_the_credentials_file(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    parse_as(&file, PROFILE_CREDENTIALS, "[default]\nk = 1\n[x]\nk = 2\n[a b]\nk = 3\n");
    check_value(&file, "default", "k", "1");
    check_value(&file, "x", "k", "2");
    check_value(&file, "a b", "k", "3");
}

static void comments_and_blanks(void)
{
    check_one("# c\n\n  ; c\n[default] # c\n # c\nregion = a\n", "a");
    check_one("[default]\nregion = a # c\n", "a # c");
    check_one("[default]\nregion = a\t; c\n", "a\t; c");
    check_one("[default]\nregion =\n", "");
    check_one("[default]\nregion = # c\n", "# c");
    check_one("[default] x ; y\nregion = 100%(a)s%%\n", "100%(a)s%%");
    check_one("[default]\nregion = \xc2\xa0\xe3\x80\x80"
              "a\xe2\x80\xa8\x1f\n",
              "a");
    check_one("[default]\nregion = a = b\n", "a = b");
    check_one("[default]\nregion: a\n", "a");
}

static void line_ends(void)
{
    check_one("[default]\r\nregion = a\r\n\r\n", "a");
    check_one("[default]\nregion = a", "a");
    check_one("[default]\rregion = a\r\r\nb = c\r", "a");
    check_one("[default]\nregion = a\vb\n", "a\vb");
}

static void key_names_have_no_case(void)
{
    check_one("[default]\nRegion = a\n", "a");
}

static void indented_sections(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    parse_as(&file, PROFILE_CONFIG, "[default]\n  region = a\n  output = b\n[profile x]\nk = c\n");
    check_value(&file, "default", "region", "a");
    check_value(&file, "default", "output", "b");
    check_value(&file, "x", "k", "c");
}

static void nested_keys_are_kept_apart(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct span value = span_text("none");
    parse_as(
        &file, PROFILE_CONFIG,
        "[default]\ns3 =\n  region = inner\n\n# c\n  max = 1\n    max = 2 # c\nregion = outer\n"
        "[services local]\ndynamodb =\n  endpoint_url = http://h:1\n");
    check_value(&file, "default", "region", "outer");
    CHECK(!profile_get(&file, "default", "max", &value));
    CHECK(profile_get_nested(&file, "profile", "default", "s3", "max", &value));
    CHECK_SPAN(value, span_text("2 # c"));
    CHECK(!profile_get_nested(&file, "profile", "default", "s3", "Max", &value));
    CHECK(profile_get_nested(&file, "profile", "default", "S3", "max", &value));
    CHECK(profile_get_nested(&file, "services", "local", "dynamodb", "endpoint_url", &value));
    CHECK_SPAN(value, span_text("http://h:1"));
}

/* Who asks for the key itself gets what is no region, no key and no address. */
static void a_key_with_nested_keys_has_their_lines(void)
{
    check_one("[default]\nregion =\n  a = b\n\n  c = d\n[x]\n", "\n  a = b\n\n  c = d");
}

static void a_value_may_go_on(void)
{
    check_one("[default]\nregion = a\n  b\noutput = c\n", "a\nb");
    check_one("[default]\nregion = a\n\n \t b\n# x\n  ; y\n  [profile z]\n\n\nc = d\n",
              "a\n\nb\n[profile z]");
    check_one("[default]\n  x = y\n    z\n  region = a\r\n   b # c\r\n", "a\nb # c");
}

static void absent_things(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct span value = span_text("none");
    parse_as(&file, PROFILE_CONFIG, "[default]\nregion = a\n[profile empty]\n");
    CHECK(!profile_get(&file, "default", "output", &value));
    CHECK(!profile_get(&file, "x", "region", &value));
    CHECK(!profile_get(&file, "default", "", &value));
    CHECK_SPAN(value, span_text("none"));
    CHECK(profile_has(&file, "empty"));
    CHECK(!profile_has(&file, "x"));
}

static void malformed_files_name_the_line(void)
{
    check_malformed(PROFILE_CONFIG, "[default]\nregion a\n", "some/file, line 2:");
    check_malformed(PROFILE_CONFIG, "region = a\n", "some/file, line 1:");
    check_malformed(PROFILE_CONFIG, "\n\n[default\n", "line 3:");
    check_malformed(PROFILE_CONFIG, "[]\n", "line 1:");
    check_malformed(PROFILE_CONFIG, "[default]\n[]\n", "line 2:");
    check_malformed(PROFILE_CONFIG, "\xef\xbb\xbf[default]\n",
                    "line 1: the file begins with a byte order mark");
    check_malformed(PROFILE_CONFIG, "[default]\ns3 =\n  a: b\n", "line 3:");
    check_malformed(PROFILE_CONFIG, "[default]\ns3 =\n  a = b\f c\n", "line 3:");
    check_malformed(PROFILE_CREDENTIALS, "[a]\n\n[b]\r[a]\n", "line 4:");
    check_malformed(PROFILE_CONFIG, "[default]\n= a\n", "line 2:");
    check_malformed(PROFILE_CONFIG, "[default]\ns3 =\n  nested\n", "line 3:");
    check_malformed(PROFILE_CONFIG, "[default]\n[default]\n", "line 2:");
    check_malformed(PROFILE_CONFIG, "[default]\na = 1\nA = 2\n", "line 3:");
}

static void errors_hold_no_secret(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct error err = {0};
    CHECK(!profile_parse(&file, PROFILE_CREDENTIALS, SPAN_LITERAL("[x]\nTopSecret\n"), "f", &err));
    CHECK(!strstr(err.text, "TopSecret"));
}

/* Files, in a folder of their own. */

struct folder {
    char path[64];
    struct buf config;
    struct buf credentials;
};

static void write_file(const struct buf *path, const char *text)
{
    FILE *file = fopen(buf_text(path), "w");
    CHECK(file);
    fputs(text, file);
    fclose(file);
}

static void open_folder(struct folder *folder)
{
    *folder = (struct folder){.path = "/tmp/ddbfs-profile-XXXXXX"};
    CHECK(mkdtemp(folder->path));
    buf_printf(&folder->config, "%s/config", folder->path);
    buf_printf(&folder->credentials, "%s/credentials", folder->path);
    setenv("AWS_CONFIG_FILE", buf_text(&folder->config), 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", buf_text(&folder->credentials), 1);
}

static void folder_clean_up(struct folder *folder)
{
    unlink(buf_text(&folder->config));
    unlink(buf_text(&folder->credentials));
    rmdir(buf_text(&folder->config));
    rmdir(folder->path);
    buf_clean_up(&folder->config);
    buf_clean_up(&folder->credentials);
    unsetenv("AWS_CONFIG_FILE");
    unsetenv("AWS_SHARED_CREDENTIALS_FILE");
}

static void missing_files_are_fine(void)
{
    CLEAN_UP(folder_clean_up) struct folder folder;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    open_folder(&folder);
    CHECK(profiles_load(&profiles, NULL));
    CHECK(!profiles_has(&profiles, "default"));
    CHECK_TEXT(profiles.config_path, buf_text(&folder.config));
}

static void credentials_go_over_config_key_by_key(void)
{
    CLEAN_UP(folder_clean_up) struct folder folder;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    CLEAN_UP(buf_clean_up) struct buf names = {0};
    struct span value = {0};
    open_folder(&folder);
    write_file(&folder.config, "[profile x]\na = 1\nb = 2\n[profile y]\n");
    write_file(&folder.credentials, "[x]\nb = 3\n[z]\n");
    CHECK(profiles_load(&profiles, NULL));
    CHECK(profiles_get(&profiles, "x", "a", &value));
    CHECK_SPAN(value, span_text("1"));
    CHECK(profiles_get(&profiles, "x", "b", &value));
    CHECK_SPAN(value, span_text("3"));
    profiles_names(&profiles, &names);
    CHECK_TEXT(buf_text(&names), "x, y, z");
}

static void tilde_is_the_home_directory(void)
{
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    const char *home = getenv("HOME");
    CLEAN_UP(buf_clean_up) struct buf old = {0};
    buf_add_text(&old, home ? home : "");
    setenv("HOME", "/nowhere", 1);
    setenv("AWS_CONFIG_FILE", "~/c", 1);
    bool ok = profiles_load(&profiles, NULL);
    setenv("HOME", buf_text(&old), 1);
    unsetenv("AWS_CONFIG_FILE");
    CHECK(ok);
    CHECK_TEXT(profiles.config_path, "/nowhere/c");
    CHECK_TEXT(profiles.credentials_path, "/nowhere/.aws/credentials");
}

static void an_empty_variable_names_no_file(void)
{
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    setenv("AWS_CONFIG_FILE", "", 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    bool ok = profiles_load(&profiles, NULL);
    unsetenv("AWS_CONFIG_FILE");
    unsetenv("AWS_SHARED_CREDENTIALS_FILE");
    CHECK(ok);
    CHECK_TEXT(profiles.config_path, "");
    CHECK_TEXT(profiles.credentials.instead, "no regular file");
}

static void directory_counts_as_missing(void)
{
    CLEAN_UP(folder_clean_up) struct folder folder;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    struct error err = {0};
    open_folder(&folder);
    CHECK_INT(mkdir(buf_text(&folder.config), 0700), 0);
    CHECK(profiles_load(&profiles, &err));
    CHECK_TEXT(profiles.config.instead, "a directory");
    CHECK(!profiles.credentials.instead);
}

/* Opening it waits for no writer: were it opened as a file is, this test would not end. */
static void a_pipe_counts_as_missing(void)
{
    CLEAN_UP(folder_clean_up) struct folder folder;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    open_folder(&folder);
    CHECK_INT(mkfifo(buf_text(&folder.config), 0600), 0);
    CHECK(profiles_load(&profiles, NULL));
    CHECK_TEXT(profiles.config.instead, "no regular file");
    CHECK(!profiles_has(&profiles, "default"));
}

/* A link to itself can't be read by root either. */
static void what_may_not_be_read_counts_as_missing_and_is_told(void)
{
    CLEAN_UP(folder_clean_up) struct folder folder;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    open_folder(&folder);
    write_file(&folder.credentials, "[x]\n");
    CHECK_INT(symlink(buf_text(&folder.config), buf_text(&folder.config)), 0);
    CHECK(profiles_load(&profiles, NULL));
    CHECK(profiles_has(&profiles, "x"));
    CHECK_INT(profiles.unreadable.kind, ERROR_DENIED);
    CHECK_HAS(profiles.unreadable.text, buf_text(&folder.config));
}

static void binary_file_is_an_error(void)
{
    check_malformed(PROFILE_CREDENTIALS, "[x]\nregion = \xff\n", "some/file, line 2:");
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct error err = {0};
    CHECK(!profile_parse(&file, PROFILE_CONFIG, span_of("[x]\n\0", 5), "some/file", &err));
    CHECK_HAS(err.text, "no text in UTF-8");
}

static void lines_are_counted(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct span value = span_text("");
    parse_as(&file, PROFILE_CREDENTIALS, "[x]\n\na = 1\nb = 2\n");
    CHECK(profile_get(&file, "x", "b", &value));
    CHECK_INT(profile_line(&file, value), 4);
}

static void malformed_file_is_named(void)
{
    CLEAN_UP(folder_clean_up) struct folder folder;
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    struct error err = {0};
    open_folder(&folder);
    write_file(&folder.credentials, "[x]\nb\n");
    CHECK(!profiles_load(&profiles, &err));
    CHECK_HAS(err.text, "/credentials, line 2:");
}

/* A file of COUNT sections, all of them keys too many for a linear look-up of each. */
static void write_sections(struct buf *out, int count)
{
    buf_truncate(out, 0);
    for (int i = 0; i < count; i++)
        buf_printf(out, "[p%d]\na=%d\n", i, i);
}

static void write_keys(struct buf *out, int count)
{
    buf_truncate(out, 0);
    buf_add_text(out, "[p0]\na=0\n");
    for (int i = 1; i < count; i++)
        buf_printf(out, "k%d=v\n", i);
}

/* How often a name was compared with another. */
static size_t comparisons(void (*write)(struct buf *out, int count), int count)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    write(&text, count);
    parse_as(&file, PROFILE_CREDENTIALS, buf_text(&text));
    check_value(&file, "p0", "a", "0");
    return file.ini.by_header.compared + file.ini.by_key.compared + file.by_name.compared;
}

/* Each is new, so that next to none is to be compared with another: only where two have one hash.
 */
static void many_sections_and_keys_are_not_compared_with_each_other(void)
{
    CHECK(comparisons(write_sections, 60000) < 600);
    CHECK(comparisons(write_keys, 60000) < 600);
}

static void every_section_of_many_is_found(void)
{
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    write_sections(&text, 5000);
    parse_as(&file, PROFILE_CREDENTIALS, buf_text(&text));
    for (int i = 0; i < 5000; i++) {
        char name[16], value[16];
        snprintf(name, sizeof name, "p%d", i);
        snprintf(value, sizeof value, "%d", i);
        check_value(&file, name, "A", value);
    }
    CHECK(!profile_has(&file, "p5000") && !profile_has(&file, "P0"));
}

static const struct check_test tests[] = {
    {"profiles of the config file", profiles_of_the_config_file},
    {"headers that name no profile", headers_that_name_no_profile},
    {"of sections of one name the last one stands alone",
     of_sections_of_one_name_the_last_one_stands_alone},
    {"keys of [DEFAULT] are every section's", keys_of_DEFAULT_are_every_sections},
    {"bare names are none in the config file", bare_names_are_none_in_the_config_file},
    {"bare names of the credentials file", bare_names_of_the_credentials_file},
    {"comments and blanks", comments_and_blanks},
    {"line ends", line_ends},
    {"key names have no case", key_names_have_no_case},
    {"indented sections", indented_sections},
    {"nested keys are kept apart", nested_keys_are_kept_apart},
    {"a key with nested keys has their lines", a_key_with_nested_keys_has_their_lines},
    {"a value may go on", a_value_may_go_on},
    {"absent things", absent_things},
    {"malformed files name the line", malformed_files_name_the_line},
    {"errors hold no secret", errors_hold_no_secret},
    {"missing files are fine", missing_files_are_fine},
    {"credentials go over config key by key", credentials_go_over_config_key_by_key},
    {"tilde is the home directory", tilde_is_the_home_directory},
    {"an empty variable names no file", an_empty_variable_names_no_file},
    {"directory counts as missing", directory_counts_as_missing},
    {"a pipe counts as missing", a_pipe_counts_as_missing},
    {"what may not be read counts as missing, and is told",
     what_may_not_be_read_counts_as_missing_and_is_told},
    {"binary file is an error", binary_file_is_an_error},
    {"lines are counted", lines_are_counted},
    {"a malformed file is named", malformed_file_is_named},
    {"many sections and keys are not compared with each other",
     many_sections_and_keys_are_not_compared_with_each_other},
    {"every section of many is found", every_section_of_many_is_found},
};
CHECK_MAIN(tests)
