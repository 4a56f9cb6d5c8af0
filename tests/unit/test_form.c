/* Forms of a listing: records go in one by one, one file comes out. */
#include "core/form/form.h"

#include "tests/unit/check.h"

static const char *const key_names[] = {"pk", "sk"};
static const char *const secret_names[] = {"token"};
static const struct record_view view = {key_names, 2, secret_names, 1, false};

static void form_clean_up(struct form **form)
{
    form_destroy(*form);
}

static bool add(struct form *form, const char *item, struct buf *out, struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    if (!json_parse(&doc, span_text(item), JSON_STRICT, NULL))
        CHECK_FAIL("no JSON: %s", item);
    return form_add(form, json_root(&doc), out, err);
}

/* Whether the records of ITEMS, which ends in NULL, become WANT. */
static bool shows(const struct form_setting *setting, const char *const *items, const char *want)
{
    CLEAN_UP(form_clean_up) struct form *form = form_new(setting);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    bool ok = form != NULL;
    for (; ok && *items; items++)
        ok = add(form, *items, &out, &err);
    ok = ok && form_end(form, &out, &err) && form_memory(form) > 0;
    bool equal = ok && span_is(buf_span(&out), want);
    if (!equal)
        printf("# %s\n# shown as <%s>\n", err.text, buf_text(&out));
    return equal;
}

#define ITEMS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_ITEMS ((const char *const[]){NULL})

static const struct form_setting jsonl = {.kind = FORM_JSONL, .view = &view};
static const struct form_setting count = {.kind = FORM_COUNT, .view = &view};

static void a_record_is_a_line(void)
{
    CHECK(shows(&jsonl,
                ITEMS("{\"a\":{\"S\":\"x\\ny\"},\"sk\":{\"N\":\"1\"},\"pk\":{\"S\":\"p\"}}",
                      "{\"token\":{\"S\":\"hush\"},\"pk\":{\"S\":\"q\"}}", "{}"),
                "{\"pk\":\"p\",\"sk\":1,\"a\":\"x\\ny\"}\n"
                "{\"pk\":\"q\",\"token\":\"********\"}\n{}\n"));
}

static void no_record_is_no_line(void)
{
    CHECK(shows(&jsonl, NO_ITEMS, ""));
}

static void a_line_is_told_at_once(void)
{
    CLEAN_UP(form_clean_up) struct form *form = form_new(&jsonl);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    CHECK(add(form, "{\"a\":{\"BOOL\":true}}", &out, &err));
    CHECK_TEXT(buf_text(&out), "{\"a\":true}\n");
}

static void what_is_no_item_is_refused_whole(void)
{
    CLEAN_UP(form_clean_up) struct form *form = form_new(&jsonl);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    buf_add_text(&out, "kept");
    CHECK(!add(form, "{\"a\":{\"S\":\"x\"},\"bad\":{\"Q\":1}}", &out, &err));
    CHECK_INT(err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(err.text, "\"bad\"");
    CHECK_TEXT(buf_text(&out), "kept");
}

static void a_count_is_a_number(void)
{
    CHECK(shows(&count, NO_ITEMS, "0\n"));
    CHECK(shows(&count, ITEMS("{}", "{\"pk\":{\"S\":\"a\"}}", "{}"), "3\n"));
}

static void a_setting_is_copied(void)
{
    char name[] = "hide";
    const char *names[] = {name};
    struct record_view short_lived = {.secret = names, .secret_count = 1};
    struct form_setting setting = {.kind = FORM_JSONL, .view = &short_lived};
    CLEAN_UP(form_clean_up) struct form *form = form_new(&setting);
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct error err = {0};
    memset(name, 'x', sizeof name - 1);
    memset(names, 0, sizeof names);
    memset(&short_lived, 0, sizeof short_lived);
    CHECK(add(form, "{\"hide\":{\"S\":\"me\"}}", &out, &err));
    CHECK_TEXT(buf_text(&out), "{\"hide\":\"********\"}\n");
}

static void nothing_is_destroyed_in_peace(void)
{
    form_destroy(NULL);
}

static const struct check_test tests[] = {
    {"a record is a line", a_record_is_a_line},
    {"no record is no line", no_record_is_no_line},
    {"a line is told at once", a_line_is_told_at_once},
    {"what is no item is refused whole", what_is_no_item_is_refused_whole},
    {"a count is a number", a_count_is_a_number},
    {"a setting is copied", a_setting_is_copied},
    {"nothing is destroyed in peace", nothing_is_destroyed_in_peace},
};

CHECK_MAIN(tests)
