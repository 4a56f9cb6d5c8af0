/* The journal: lines kept and said, repeats counted, and nothing that a reader could hold up. */
#include "fs/mount/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/check.h"
#include "tests/unit/virtual_clock.h"

enum { KEPT = 200, REPEAT_MS = 10000 };

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
    scene->journal = journal_new(&scene->clock.clock, true);
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
    journal_show_lines(scene.journal, &kept);
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
    journal_show_lines(scene.journal, &kept);
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
    CHECK_TEXT(text, "ddbfs: the last line 4 times more\nddbfs: other\n");
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
    CHECK_TEXT(text, "ddbfs: the last line 1 times more\nddbfs: same\n");
}

static void control_characters_can_not_forge_a_line(void)
{
    struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf kept = {0};
    open_scene(&scene);
    write_line(&scene, "a\nddbfs: forged\x1b[2J\x7f");
    const char *text = said(&scene);
    journal_show_lines(scene.journal, &kept);
    close_scene(&scene);
    CHECK_TEXT(text, "ddbfs: a?ddbfs: forged?[2J?\n");
    CHECK_INT(count_lines(buf_text(&kept)), 1);
}

static void other_bytes_of_a_name_are_left_alone(void)
{
    struct scene scene;
    open_scene(&scene);
    write_line(&scene, "é \xff");
    const char *text = said(&scene);
    close_scene(&scene);
    CHECK_TEXT(text, "ddbfs: é \xff\n");
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
    journal_show_errors(scene.journal, &kept);
    uint64_t count = journal_error_count(scene.journal);
    close_scene(&scene);
    CHECK_TEXT(text, "ddbfs: pid=42 EAGAIN /m/a?b: too much (ThrottlingException) request=R1\n");
    CHECK_HAS(buf_text(&kept), "pid=42 EAGAIN /m/a?b: too much");
    CHECK_INT(count, 1);
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
    journal_show_errors(scene.journal, &kept);
    close_scene(&scene);
    CHECK_HAS(buf_text(&kept), "ECONNRESET /x: lost");
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
    journal_show_lines(scene.journal, &kept);
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
    struct journal *journal = journal_new(&clock.clock, false);
    CHECK(journal);
    journal_write(journal, LOG_LEVEL_DEBUG, "to nobody in particular");
    journal_show_lines(journal, &kept);
    journal_destroy(journal);
    CHECK_HAS(buf_text(&kept), "to nobody in particular");
}

static const struct check_test tests[] = {
    {"a_line_is_said_and_kept", a_line_is_said_and_kept},
    {"the_last_lines_are_kept_in_their_order", the_last_lines_are_kept_in_their_order},
    {"a_repeat_is_counted_and_told_before_the_next_line",
     a_repeat_is_counted_and_told_before_the_next_line},
    {"a_repeat_is_said_again_after_a_while", a_repeat_is_said_again_after_a_while},
    {"control_characters_can_not_forge_a_line", control_characters_can_not_forge_a_line},
    {"other_bytes_of_a_name_are_left_alone", other_bytes_of_a_name_are_left_alone},
    {"an_error_tells_who_where_and_why", an_error_tells_who_where_and_why},
    {"errors_are_not_pushed_out_by_other_lines", errors_are_not_pushed_out_by_other_lines},
    {"a_reader_who_does_not_read_holds_up_nothing", a_reader_who_does_not_read_holds_up_nothing},
    {"a_line_of_any_length_is_cut_and_not_waited_for",
     a_line_of_any_length_is_cut_and_not_waited_for},
    {"a_reader_who_has_gone_is_no_harm", a_reader_who_has_gone_is_no_harm},
    {"in_the_background_lines_are_kept_as_well", in_the_background_lines_are_kept_as_well},
};

CHECK_MAIN(tests)
