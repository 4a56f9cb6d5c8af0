#include "fs/cli/diff/diff_print.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "core/base/shell.h"
#include "core/base/unified.h"
#include "core/item/difference.h"
#include "core/item/typed.h"
#include "core/item/without.h"
#include "core/read/file.h"
#include "fs/cli/diff/diff_table.h"

void diff_print_add_path(struct buf *out, const char *folder, struct span name)
{
    buf_add_text(out, folder);
    buf_add_text(out, span_ends(span_text(folder), SPAN_LITERAL("/")) ? "" : "/");
    buf_add_span(out, name);
}

static bool diff_print_is_for_programs(const struct diff_print *contrast)
{
    return contrast->app->options->json;
}

static void diff_print_print(const struct buf *text)
{
    fwrite(buf_text(text), 1, text->size, stdout);
}

static void diff_print_add_printable(struct buf *out, const char *path)
{
    printable_add(out, span_text(path), "");
}

/* {"kind":KIND,"a":PATH,"b":PATH, with the brace left open; a path may be NULL. */
static void diff_print_begin_object(struct buf *out, enum difference_kind kind,
                                    const char *before_path, const char *now_path)
{
    buf_printf(out, "{\"kind\":\"%s\"", difference_word(kind));
    if (before_path) {
        buf_add_text(out, ",\"a\":");
        json_write_string(out, span_text(before_path));
    }
    if (now_path) {
        buf_add_text(out, ",\"b\":");
        json_write_string(out, span_text(now_path));
    }
}

static void diff_print_end_object(struct buf *object)
{
    CLEAN_UP(buf_clean_up_secret) struct buf line = {0};
    buf_add_text(object, "}\n");
    json_add_printable(&line, buf_span(object));
    diff_print_print(&line);
}

void diff_print_only(struct diff_print *contrast, const char *folder, struct span name,
                     bool directory, bool first)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0}, line = {0};
    contrast->said++;
    if (diff_print_is_for_programs(contrast)) {
        diff_print_add_path(&path, folder, name);
        diff_print_begin_object(&line, first ? DIFFERENCE_REMOVED : DIFFERENCE_ADDED,
                                first ? buf_text(&path) : NULL, first ? NULL : buf_text(&path));
        buf_printf(&line, ",\"type\":\"%s\"", directory ? "directory" : "file");
        diff_print_end_object(&line);
        return;
    }
    buf_add_text(&line, "Only in ");
    diff_print_add_printable(&line, folder);
    buf_add_text(&line, ": ");
    printable_add(&line, name, "");
    buf_add_text(&line, directory ? "/\n" : "\n");
    diff_print_print(&line);
}

/* A terminal must not obey what a record holds; other readers get each byte. */
static void diff_print_text(const struct buf *text)
{
    CLEAN_UP(buf_clean_up_secret) struct buf shown = {0};
    if (!isatty(STDOUT_FILENO)) {
        diff_print_print(text);
        return;
    }
    printable_add_lines(&shown, buf_span(text));
    diff_print_print(&shown);
}

/* The unified diff of two texts, which may be the same. */
static void diff_print_unified(const char *before_path, struct span before, const char *now_path,
                               struct span now, bool listed)
{
    CLEAN_UP(buf_clean_up) struct buf before_label = {0}, now_label = {0};
    CLEAN_UP(buf_clean_up_secret) struct buf out = {0};
    if (listed) {
        buf_add_text(&out, "ddbfs diff ");
        shell_word(&out, span_text(before_path));
        buf_add_char(&out, ' ');
        shell_word(&out, span_text(now_path));
        buf_add_char(&out, '\n');
    }
    size_t head = out.size;
    diff_print_add_printable(&before_label, before_path);
    diff_print_add_printable(&now_label, now_path);
    struct unified_text a = {buf_span(&before_label), before}, b = {buf_span(&now_label), now};
    unified_write(&out, &a, &b);
    if (out.size > head)
        diff_print_text(&out);
}

void diff_print_files(struct diff_print *contrast, const struct diff_print_file *before,
                      const struct diff_print_file *now, bool listed)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    bool hidden = before->secret || now->secret;
    if (span_equal(before->text, now->text))
        return;
    contrast->said++;
    if (diff_print_is_for_programs(contrast)) {
        diff_print_begin_object(&line, DIFFERENCE_CHANGED, before->path, now->path);
        buf_add_text(&line, hidden ? ",\"type\":\"file\",\"secret\":true" : ",\"type\":\"file\"");
        diff_print_end_object(&line);
    } else if (hidden) {
        buf_add_text(&line, "Files ");
        diff_print_add_printable(&line, before->path);
        buf_add_text(&line, " and ");
        diff_print_add_printable(&line, now->path);
        buf_add_text(&line, " differ, and are secret: --show-secrets shows them\n");
        diff_print_print(&line);
    } else {
        diff_print_unified(before->path, before->text, now->path, now->text, listed);
    }
}

/* Two records while they are compared. */
struct pair {
    struct diff_print *contrast;
    const struct diff_print_record *before, *now;
    struct json items[2]; /* of both, as far as they are compared */
    const char *of;       /* what the differences are of, if not of records; else NULL */
    struct buf notes;     /* what a unified diff does not show */
    struct span secret;   /* the last one that differed */
    size_t found;
};

static bool diff_print_is_secret(const struct pair *pair, struct span attribute)
{
    if (pair->contrast->app->options->show_secrets || pair->of)
        return false;
    return model_is_secret(pair->before->table, attribute) ||
           model_is_secret(pair->now->table, attribute);
}

static bool diff_print_add_value(struct buf *out, const char *member, struct json value)
{
    if (!json_present(value))
        return true;
    buf_printf(out, ",\"%s\":", member);
    return item_write_typed_value(value, out);
}

static bool diff_print_report_program(struct pair *pair, const struct difference *difference,
                                      bool secret)
{
    CLEAN_UP(buf_clean_up_secret) struct buf line = {0};
    bool ok = true;
    diff_print_begin_object(&line, difference->kind, pair->before->path, pair->now->path);
    if (pair->of)
        buf_printf(&line, ",\"of\":\"%s\"", pair->of);
    buf_add_text(&line, ",\"attribute\":");
    buf_add_span(&line, difference->path);
    if (secret)
        buf_add_text(&line, ",\"secret\":true");
    else
        ok = diff_print_add_value(&line, "old", difference->before) &&
             diff_print_add_value(&line, "new", difference->now);
    if (ok && !line.failed)
        diff_print_end_object(&line);
    return ok && !line.failed;
}

/* What a masked value hides, and what two types that are written alike do. */
static void diff_print_note(struct pair *pair, const struct difference *difference, bool secret)
{
    enum typed_tag before = typed_open(difference->before).tag;
    enum typed_tag now = typed_open(difference->now).tag;
    if (difference->kind != DIFFERENCE_CHANGED || (!secret && before == now))
        return;
    buf_add_text(&pair->notes, pair->of ? "Descriptions " : "Records ");
    diff_print_add_printable(&pair->notes, pair->before->path);
    buf_add_text(&pair->notes, " and ");
    diff_print_add_printable(&pair->notes, pair->now->path);
    buf_add_text(&pair->notes, " differ in ");
    printable_add(&pair->notes, difference->name, "");
    if (secret)
        buf_add_text(&pair->notes, ", a secret: --show-secrets shows it\n");
    else
        buf_printf(&pair->notes, ", of type %s and %s\n", typed_tag_name(before),
                   typed_tag_name(now));
}

static bool diff_print_report(struct pair *pair, const struct difference *difference, bool secret)
{
    pair->found++;
    if (diff_print_is_for_programs(pair->contrast))
        return diff_print_report_program(pair, difference, secret);
    diff_print_note(pair, difference, secret);
    return !pair->notes.failed;
}

/* What a secret is made of is not told, only that it is another. */
static bool diff_print_report_secret(struct pair *pair, const struct difference *difference)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct difference whole = *difference;
    if (span_equal(pair->secret, difference->attribute))
        return true;
    pair->secret = difference->attribute;
    if (!span_equal(difference->name, difference->attribute))
        whole.kind = DIFFERENCE_CHANGED;
    buf_add_char(&path, '[');
    json_write_string(&path, difference->attribute);
    buf_add_char(&path, ']');
    whole.path = buf_span(&path);
    whole.name = difference->attribute;
    return !path.failed && diff_print_report(pair, &whole, true);
}

static bool diff_print_take_difference(void *arg, const struct difference *difference)
{
    struct pair *pair = arg;
    if (diff_print_is_secret(pair, difference->attribute))
        return diff_print_report_secret(pair, difference);
    return diff_print_report(pair, difference, false);
}

static bool diff_print_write_text(const struct diff_print *contrast,
                                  const struct diff_print_record *record, struct json item,
                                  struct buf *out)
{
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    struct record_view view = {.compact = contrast->app->options->compact};
    if (record->table)
        file_view(&contrast->app->tree, record->table, first, &view);
    return (record->typed ? item_write_typed : item_write)(item, &view, out);
}

/* What `diff -u` would say of what `ddbfs cat` prints of the two, and what it would not see. */
static bool diff_print_show(struct pair *pair, bool listed)
{
    CLEAN_UP(buf_clean_up_secret) struct buf before = {0}, now = {0};
    if (!diff_print_write_text(pair->contrast, pair->before, pair->items[0], &before) ||
        !diff_print_write_text(pair->contrast, pair->now, pair->items[1], &now))
        return false;
    diff_print_unified(pair->before->path, buf_span(&before), pair->now->path, buf_span(&now),
                       listed);
    diff_print_print(&pair->notes);
    return true;
}

/* A record of a pair, taken apart, without what the user ignores. */
struct parsed {
    struct json_doc doc;
    struct buf text; /* of the document, where something is ignored; owned */
};

static void diff_print_parsed_clean_up(struct parsed *parsed)
{
    json_clean_up(&parsed->doc);
    buf_clean_up_secret(&parsed->text);
}

static bool diff_print_parse(struct parsed *parsed, struct span item, const char *const *ignored,
                             size_t count)
{
    CLEAN_UP(json_clean_up) struct json_doc whole = {0};
    if (count == 0)
        return json_parse(&parsed->doc, item, JSON_STRICT, NULL);
    if (!json_parse(&whole, item, JSON_STRICT, NULL))
        return false;
    item_write_without(json_root(&whole), ignored, count, &parsed->text);
    return !parsed->text.failed &&
           json_parse(&parsed->doc, buf_span(&parsed->text), JSON_STRICT, NULL);
}

/* False when memory ran out. */
static bool diff_print_compare(struct pair *pair, bool listed)
{
    CLEAN_UP(diff_print_parsed_clean_up) struct parsed before = {0}, now = {0};
    const struct options *options = pair->contrast->app->options;
    size_t ignored = pair->of ? 0 : options->ignored_count;
    if (!diff_print_parse(&before, pair->before->item, options->ignored, ignored) ||
        !diff_print_parse(&now, pair->now->item, options->ignored, ignored))
        return false;
    pair->items[0] = json_root(&before.doc);
    pair->items[1] = json_root(&now.doc);
    bool ok = difference_find(pair->items[0], pair->items[1], diff_print_take_difference, pair);
    pair->contrast->said += pair->found;
    if (ok && pair->found > 0 && !diff_print_is_for_programs(pair->contrast))
        ok = diff_print_show(pair, listed);
    buf_clean_up(&pair->notes);
    return ok;
}

static void diff_print_report_pair(struct pair *pair)
{
    struct error why;
    error_set(&why, ERROR_BAD_ANSWER,
              "can't be compared with %s: one is no item of DynamoDB's, or memory ran out",
              pair->now->path);
    app_report_error(pair->contrast->app, pair->before->path, &why);
}

void diff_print_records(struct diff_print *contrast, const struct diff_print_record *before,
                        const struct diff_print_record *now, bool listed)
{
    struct pair pair = {.contrast = contrast, .before = before, .now = now};
    if (!diff_print_compare(&pair, listed))
        diff_print_report_pair(&pair);
}

static bool diff_print_write_description(struct span schema, struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!json_parse(&doc, schema, JSON_STRICT, NULL))
        return false;
    diff_table_write(json_root(&doc), out);
    return !out->failed;
}

void diff_print_descriptions(struct diff_print *contrast, const struct diff_print_file *before,
                             const struct diff_print_file *now, bool listed)
{
    CLEAN_UP(buf_clean_up) struct buf one = {0}, other = {0};
    bool ok = diff_print_write_description(before->text, &one) &&
              diff_print_write_description(now->text, &other);
    struct diff_print_record first = {before->path, NULL, buf_span(&one), false};
    struct diff_print_record second = {now->path, NULL, buf_span(&other), false};
    struct pair pair = {
        .contrast = contrast, .before = &first, .now = &second, .of = "description"};
    if (!ok || !diff_print_compare(&pair, listed))
        diff_print_report_pair(&pair);
}

void diff_print_report_mask(struct diff_print *contrast, const char *path)
{
    struct error why;
    error_set(&why, ERROR_DENIED,
              "is secret, and masked: --show-secrets compares it; comparing the records tells "
              "whether it differs");
    app_report_error(contrast->app, path, &why);
}
