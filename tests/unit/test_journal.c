/* The journal: lines kept and said, repeats counted, and nothing that a reader could hold up. */
#include "fs/mount/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/check.h"
#include "tests/unit/virtual_clock.h"

enum { KEPT = 200, REPEAT_MS = 10000, MOST_ALIKE = 20 };

/* Standard error goes into a pipe while a scene is open. */
struct scene {
    struct virtual_clock clock;
    struct journal *journal;
    int saved, ends[2];
};

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){0};
    virtual_clock_init(&scene->clock, 0);
    scene->journal = journal_new(&scene->clock.clock, NULL);
    CHECK(scene->journal && pipe2(scene->ends, O_CLOEXEC) == 0);
    fcntl(scene->ends[0], F_SETFL, O_NONBLOCK);
    scene->saved = dup(STDERR_FILENO);
    dup2(scene->ends[1], STDERR_FILENO);
}

static void close_scene(struct scene *scene)
{
    dup2(scene->saved, STDERR_FILENO);
    close(scene->saved);
    close(scene->ends[0]);
    close(scene->ends[1]);
    journal_destroy(scene->journal);
}

/* What has been said since it was asked last. */
static const char *said(struct scene *scene)
{
    static char text[70000];
    ssize_t size = read(scene->ends[0], text, sizeof text - 1);
    text[size < 0 ? 0 : size] = '\0';
    return text;
}

static void write_line(struct scene *scene, const char *line)
{
    journal_write(scene->journal, LOG_LEVEL_WARNING, line);
}

static unsigned count_lines(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void a_line_is_said_and_kept(void)
{
    struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_scene(&scene);
    write_line(&scene, "hello");
    const char *text = said(&scene);
    journal_write_lines(scene.journal, &kept);
    close_scene(&scene);
    CHECK_TEXT(text, "ddbfs: hello\n");
    CHECK_TEXT(buf_text(&kept), "1970-01-01T00:00:00Z hello\n");
}

static void the_last_lines_are_kept_in_their_order(void)
{
    struct scene scene;
    char line[32];
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_scene(&scene);
    for (int i = 0; i < KEPT + 50; i++) {
        snprintf(line, sizeof line, "line %d.", i);
        write_line(&scene, line);
    }
    journal_write_lines(scene.journal, &kept);
    close_scene(&scene);
    CHECK_INT(count_lines(buf_text(&kept)), KEPT);
    CHECK(!strstr(buf_text(&kept), "line 49."));
    CHECK(strstr(buf_text(&kept), "line 50.") < strstr(buf_text(&kept), "line 249."));
}

static void a_repeat_is_counted_and_told_before_the_next_line(void)
{
    struct scene scene;
    open_scene(&scene);
    for (int i = 0; i < 5; i++)
        write_line(&scene, "same");
    const char *text = said(&scene);
    bool once = strcmp(text, "ddbfs: same\n") == 0;
    write_line(&scene, "other");
    text = said(&scene);
    close_scene(&scene);
    CHECK(once);
    CHECK_TEXT(text, "ddbfs: the last line was repeated 4 times\nddbfs: other\n");
}

static void a_repeat_is_said_again_after_a_while(void)
{
    struct scene scene;
    open_scene(&scene);
    write_line(&scene, "same");
    virtual_clock_pass(&scene.clock, REPEAT_MS - 1);
    write_line(&scene, "same");
    bool silent = count_lines(said(&scene)) == 1;
    virtual_clock_pass(&scene.clock, 1);
    write_line(&scene, "same");
    const char *text = said(&scene);
    close_scene(&scene);
    CHECK(silent);
    CHECK_TEXT(text, "ddbfs: the last line was repeated 1 time\nddbfs: same\n");
}

static void fail_at(struct scene *scene, int pid, int number)
{
    char path[32];
    struct error err;
    error_set(&err, ERROR_THROTTLED, "too much");
    snprintf(path, sizeof path, "/path-%d", number);
    journal_error(scene->journal, pid, span_text(path), EAGAIN, &err);
}

static void one_reason_is_said_of_each_path(void)
{
    struct scene scene;
    open_scene(&scene);
    for (int i = 0; i < 5; i++) {
        fail_at(&scene, 1, i);
        fail_at(&scene, 2, i);
    }
    write_line(&scene, "other");
    const char *text = said(&scene);
    close_scene(&scene);
    CHECK_INT(count_lines(text), 5 + 5 + 1);
    CHECK_HAS(text, "ddbfs: pid=1 errno=EAGAIN path=/path-0 fixable_by=retry: too much\n"
                    "ddbfs: the last line was repeated 1 time\n"
                    "ddbfs: pid=1 errno=EAGAIN path=/path-1 ");
}

static void one_reason_of_very_many_paths_floods_no_log(void)
{
    struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_scene(&scene);
    for (int i = 0; i < 10000; i++)
        fail_at(&scene, 1, i);
    virtual_clock_pass(&scene.clock, REPEAT_MS);
    fail_at(&scene, 1, 0);
    const char *text = said(&scene);
    journal_write_errors(scene.journal, &kept);
    close_scene(&scene);
    CHECK_INT(count_lines(text), MOST_ALIKE + 2);
    CHECK_HAS(
        text,
        "ddbfs: the last line was repeated 9980 times, 9980 of them for other paths, the last "
        "path=/path-9999\nddbfs: pid=1 errno=EAGAIN path=/path-0 ");
    CHECK_INT(count_lines(buf_text(&kept)), KEPT);
}

static void control_characters_can_not_forge_a_line(void)
{
    struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_scene(&scene);
    write_line(&scene, "a\nddbfs: forged\x1b[2J\x7f");
    const char *text = said(&scene);
    journal_write_lines(scene.journal, &kept);
    close_scene(&scene);
    CHECK_TEXT(text, "ddbfs: a%0Addbfs: forged%1B[2J%7F\n");
    CHECK_INT(count_lines(buf_text(&kept)), 1);
}

static void words_are_left_alone_and_what_turns_them_is_not(void)
{
    struct scene scene;
    open_scene(&scene);
    write_line(&scene, "é \xff\u202e");
    const char *text = said(&scene);
    close_scene(&scene);
    CHECK_TEXT(text, "ddbfs: é %FF%E2%80%AE\n");
}

static void an_error_tells_who_where_and_why(void)
{
    struct scene scene;
    struct error err;
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_scene(&scene);
    error_set(&err, ERROR_THROTTLED, "too much");
    strcpy(err.code, "ThrottlingException");
    strcpy(err.request_id, "R1");
    journal_error(scene.journal, 42, span_text("/m/a\nb"), EAGAIN, &err);
    const char *text = said(&scene);
    journal_write_errors(scene.journal, &kept);
    uint64_t count = journal_error_count(scene.journal);
    close_scene(&scene);
    CHECK_TEXT(text, "ddbfs: pid=42 errno=EAGAIN path=/m/a%0Ab code=ThrottlingException "
                     "request=R1 fixable_by=retry: too much\n");
    CHECK_HAS(buf_text(&kept), "pid=42 errno=EAGAIN path=/m/a%0Ab code=");
    CHECK_HAS(buf_text(&kept), "too much; hint: wait some seconds");
    CHECK_INT(count, 1);
}

static void a_name_can_not_forge_a_field(void)
{
    struct scene scene;
    struct error err;
    open_scene(&scene);
    error_set(&err, ERROR_INVALID, "no \"x request=R9\" here");
    strcpy(err.request_id, "R1 pid=7");
    journal_error(scene.journal, 1, span_text("/a request=x: \u2028pid=2"), EINVAL, &err);
    const char *text = said(&scene);
    close_scene(&scene);
    CHECK_TEXT(text, "ddbfs: pid=1 errno=EINVAL path=/a%20request=x:%20%E2%80%A8pid=2 "
                     "request=R1%20pid=7 fixable_by=caller: no \"x request=R9\" here\n");
}

static void errors_are_not_pushed_out_by_other_lines(void)
{
    struct scene scene;
    struct error err;
    char line[32];
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_scene(&scene);
    error_set(&err, ERROR_RESET, "lost");
    journal_error(scene.journal, 1, span_text("/x"), ECONNRESET, &err);
    for (int i = 0; i < 2 * KEPT; i++) {
        snprintf(line, sizeof line, "%d", i);
        write_line(&scene, line);
    }
    journal_write_errors(scene.journal, &kept);
    close_scene(&scene);
    CHECK_HAS(buf_text(&kept), "errno=ECONNRESET path=/x fixable_by=retry: lost");
}

/* The test hangs, and its time-out fails it, when a line waits for the reader of the pipe. */
static void a_reader_who_does_not_read_holds_up_nothing(void)
{
    struct scene scene;
    char line[1000];
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_scene(&scene);
    for (int i = 0; i < 1000; i++) {
        snprintf(line, sizeof line, "%900d", i);
        write_line(&scene, line);
    }
    journal_write_lines(scene.journal, &kept);
    close_scene(&scene);
    CHECK_HAS(buf_text(&kept), "999\n");
}

static void a_line_of_any_length_is_cut_and_not_waited_for(void)
{
    struct scene scene;
    char *line = malloc(100001);
    CHECK(line);
    memset(line, 'x', 100000);
    line[100000] = '\0';
    open_scene(&scene);
    write_line(&scene, line);
    size_t size = strlen(said(&scene));
    close_scene(&scene);
    free(line);
    CHECK(size > 1000 && size <= 4096);
}

static void a_reader_who_has_gone_is_no_harm(void)
{
    struct scene scene;
    open_scene(&scene);
    signal(SIGPIPE, SIG_IGN); /* as main does */
    close(scene.ends[0]);
    write_line(&scene, "hello");
    scene.ends[0] = open("/dev/null", O_RDONLY);
    close_scene(&scene);
}

static void in_the_background_lines_are_kept_as_well(void)
{
    struct virtual_clock clock;
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    virtual_clock_init(&clock, 0);
    struct journal *journal = journal_new(&clock.clock, "/nowhere");
    CHECK(journal);
    journal_write(journal, LOG_LEVEL_DEBUG, "to nobody in particular");
    journal_write_lines(journal, &kept);
    journal_destroy(journal);
    CHECK_HAS(buf_text(&kept), "to nobody in particular");
}

/* A log of the scene's own, in a folder that goes with it. */
struct log_scene {
    struct virtual_clock clock;
    char folder[32], path[64];
    struct journal *journal;
    int daemon; /* what the log's daemon would read from; -1: there is none */
};

static int listen_at(const char *path, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
    strcpy(address.sun_path, path);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(type == SOCK_DGRAM || listen(fd, 1) == 0);
    return fd;
}

static void open_log(struct log_scene *scene, int type)
{
    *scene = (struct log_scene){.folder = "/tmp/test-journal-XXXXXX", .daemon = -1};
    virtual_clock_init(&scene->clock, 0);
    CHECK(mkdtemp(scene->folder));
    snprintf(scene->path, sizeof scene->path, "%s/log", scene->folder);
    if (type)
        scene->daemon = listen_at(scene->path, type);
    scene->journal = journal_new(&scene->clock.clock, scene->path);
    CHECK(scene->journal);
}

static void stop_daemon(struct log_scene *scene)
{
    if (scene->daemon >= 0)
        close(scene->daemon);
    scene->daemon = -1;
    unlink(scene->path);
}

static void close_log(struct log_scene *scene)
{
    stop_daemon(scene);
    rmdir(scene->folder);
    journal_destroy(scene->journal);
}

/* The next line that the log has got, from where the text begins; "" when there is none. */
static const char *logged(int daemon)
{
    static char text[9000];
    ssize_t size = read(daemon, text, sizeof text - 1);
    text[size < 0 ? 0 : size] = '\0';
    const char *colon = strstr(text, "]: ");
    return colon ? colon + 3 : "";
}

static void number_lines(struct log_scene *scene, int from, int to)
{
    char line[32];
    for (int i = from; i < to; i++) {
        snprintf(line, sizeof line, "line %d.", i);
        journal_write(scene->journal, LOG_LEVEL_WARNING, line);
    }
}

static void a_line_goes_to_the_log_as_rfc_3164_has_it(void)
{
    struct log_scene scene;
    char text[256] = "", expected[64];
    setenv("TZ", "UTC", 1);
    open_log(&scene, SOCK_DGRAM);
    journal_write(scene.journal, LOG_LEVEL_ERROR, "hello");
    CHECK(read(scene.daemon, text, sizeof text - 1) > 0);
    close_log(&scene);
    snprintf(expected, sizeof expected, "<27>Jan  1 00:00:00 ddbfs[%d]: hello", (int)getpid());
    CHECK_TEXT(text, expected);
}

static void a_stream_is_taken_as_well(void)
{
    struct log_scene scene;
    open_log(&scene, SOCK_STREAM);
    journal_write(scene.journal, LOG_LEVEL_ERROR, "hello");
    int connection = accept(scene.daemon, NULL, NULL);
    CHECK_TEXT(logged(connection), "hello");
    close(connection);
    uint64_t dropped = journal_dropped_count(scene.journal);
    close_log(&scene);
    CHECK_INT(dropped, 0);
}

/* The test hangs, and its time-out fails it, when a line waits for the log's daemon. */
static void a_log_that_is_not_read_holds_up_nothing(void)
{
    struct log_scene scene;
    unsigned count = 0;
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_log(&scene, SOCK_DGRAM);
    number_lines(&scene, 0, 5000);
    journal_write_lines(scene.journal, &kept);
    uint64_t dropped = journal_dropped_count(scene.journal);
    while (logged(scene.daemon)[0])
        count++;
    close_log(&scene);
    CHECK_HAS(buf_text(&kept), "line 4999.");
    CHECK(dropped > 0);
    CHECK_INT(count + dropped, 5000);
}

static void lines_that_were_dropped_are_counted_in_their_place(void)
{
    struct log_scene scene;
    char expected[96];
    open_log(&scene, SOCK_DGRAM);
    number_lines(&scene, 0, 5000);
    snprintf(expected, sizeof expected, "%d lines are missing here: the log did not accept them",
             (int)journal_dropped_count(scene.journal));
    while (logged(scene.daemon)[0]) {
    }
    number_lines(&scene, 5000, 5002);
    CHECK_TEXT(logged(scene.daemon), expected);
    CHECK_TEXT(logged(scene.daemon), "line 5000.");
    CHECK_TEXT(logged(scene.daemon), "line 5001.");
    close_log(&scene);
}

static void a_log_that_comes_back_is_found_again(void)
{
    struct log_scene scene;
    open_log(&scene, SOCK_DGRAM);
    number_lines(&scene, 0, 1);
    CHECK_TEXT(logged(scene.daemon), "line 0.");
    stop_daemon(&scene);
    number_lines(&scene, 1, 3);
    scene.daemon = listen_at(scene.path, SOCK_DGRAM);
    number_lines(&scene, 3, 4);
    CHECK_TEXT(logged(scene.daemon), "2 lines are missing here: the log did not accept them");
    CHECK_TEXT(logged(scene.daemon), "line 3.");
    close_log(&scene);
}

static void a_log_that_was_restarted_between_two_lines_gets_the_second(void)
{
    struct log_scene scene;
    open_log(&scene, SOCK_DGRAM);
    number_lines(&scene, 0, 1);
    stop_daemon(&scene);
    scene.daemon = listen_at(scene.path, SOCK_DGRAM);
    number_lines(&scene, 1, 2);
    CHECK_TEXT(logged(scene.daemon), "line 1.");
    uint64_t dropped = journal_dropped_count(scene.journal);
    close_log(&scene);
    CHECK_INT(dropped, 0);
}

static void without_a_log_lines_are_kept_and_counted(void)
{
    struct log_scene scene;
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_log(&scene, 0);
    number_lines(&scene, 0, 3);
    journal_write_lines(scene.journal, &kept);
    uint64_t dropped = journal_dropped_count(scene.journal);
    close_log(&scene);
    CHECK_INT(count_lines(buf_text(&kept)), 3);
    CHECK_INT(dropped, 3);
}

static const struct check_test tests[] = {
    {"a_line_is_said_and_kept", a_line_is_said_and_kept},
    {"the_last_lines_are_kept_in_their_order", the_last_lines_are_kept_in_their_order},
    {"a_repeat_is_counted_and_told_before_the_next_line",
     a_repeat_is_counted_and_told_before_the_next_line},
    {"a_repeat_is_said_again_after_a_while", a_repeat_is_said_again_after_a_while},
    {"one_reason_is_said_of_each_path", one_reason_is_said_of_each_path},
    {"one_reason_of_very_many_paths_floods_no_log", one_reason_of_very_many_paths_floods_no_log},
    {"control_characters_can_not_forge_a_line", control_characters_can_not_forge_a_line},
    {"words_are_left_alone_and_what_turns_them_is_not",
     words_are_left_alone_and_what_turns_them_is_not},
    {"an_error_tells_who_where_and_why", an_error_tells_who_where_and_why},
    {"a_name_can_not_forge_a_field", a_name_can_not_forge_a_field},
    {"errors_are_not_pushed_out_by_other_lines", errors_are_not_pushed_out_by_other_lines},
    {"a_reader_who_does_not_read_holds_up_nothing", a_reader_who_does_not_read_holds_up_nothing},
    {"a_line_of_any_length_is_cut_and_not_waited_for",
     a_line_of_any_length_is_cut_and_not_waited_for},
    {"a_reader_who_has_gone_is_no_harm", a_reader_who_has_gone_is_no_harm},
    {"in_the_background_lines_are_kept_as_well", in_the_background_lines_are_kept_as_well},
    {"a_line_goes_to_the_log_as_rfc_3164_has_it", a_line_goes_to_the_log_as_rfc_3164_has_it},
    {"a_stream_is_taken_as_well", a_stream_is_taken_as_well},
    {"a_log_that_is_not_read_holds_up_nothing", a_log_that_is_not_read_holds_up_nothing},
    {"lines_that_were_dropped_are_counted_in_their_place",
     lines_that_were_dropped_are_counted_in_their_place},
    {"a_log_that_comes_back_is_found_again", a_log_that_comes_back_is_found_again},
    {"a_log_that_was_restarted_between_two_lines_gets_the_second",
     a_log_that_was_restarted_between_two_lines_gets_the_second},
    {"without_a_log_lines_are_kept_and_counted", without_a_log_lines_are_kept_and_counted},
};

CHECK_MAIN(tests)
