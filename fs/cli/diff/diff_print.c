#include "fs/cli/diff/diff_print.h"

#include <stdio.h>

#include "core/base/printable.h"
#include "core/base/shell.h"
#include "core/base/unified.h"
#include "core/item/difference.h"
#include "core/item/typed.h"
#include "core/json/writer.h"
#include "core/read/file.h"

/* Two items that are compared. */
struct diff_pair {
    struct diff_print *print;
    const struct diff_print_item *before, *now;
    const char *of;     /* "description"; NULL: items */
    struct buf notes;   /* differences that a unified diff does not show */
    struct span secret; /* the last one that differed */
    size_t count;
};

void diff_print_add_path(struct buf *out, const char *folder, struct span name)
{
    buf_add_text(out, folder);
    buf_add_text(out, span_ends(span_text(folder), SPAN_LITERAL("/")) ? "" : "/");
    buf_add_span(out, name);
}

static void diff_print_bytes(const struct buf *text)
{
    fwrite(buf_text(text), 1, text->size, stdout);
}

static void diff_print_add_printable(struct buf *out, const char *path)
{
    printable_add(out, span_text(path), "");
}

/* Leaves the object open. A path may be NULL. */
static void diff_print_begin_object(struct json_writer *json, enum difference_kind kind,
                                    const char *before_path, const char *now_path)
{
    json_writer_begin_object(json, NULL, JSON_TIGHT);
    json_writer_add_text(json, "kind", difference_word(kind));
    if (before_path)
        json_writer_add_text(json, "a", before_path);
    if (now_path)
        json_writer_add_text(json, "b", now_path);
}

static void diff_print_end_object(struct json_writer *json)
{
    CLEAN_UP(buf_clean_up_secret) struct buf line = {0};
    json_writer_end(json);
    json_add_printable(&line, buf_span(json->out));
    buf_add_char(&line, '\n');
    diff_print_bytes(&line);
}

void diff_print_only(struct diff_print *print, const char *folder, struct span name, bool directory,
                     bool first)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0}, line = {0};
    print->count++;
    if (print->app->options->json) {
        struct json_writer json = json_writer_to(&line);
        diff_print_add_path(&path, folder, name);
        diff_print_begin_object(&json, first ? DIFFERENCE_REMOVED : DIFFERENCE_ADDED,
                                first ? buf_text(&path) : NULL, first ? NULL : buf_text(&path));
        json_writer_add_text(&json, "type", directory ? "directory" : "file");
        diff_print_end_object(&json);
        return;
    }
    buf_add_text(&line, "Only in ");
    diff_print_add_printable(&line, folder);
    buf_add_text(&line, ": ");
    printable_add(&line, name, "");
    buf_add_text(&line, directory ? "/\n" : "\n");
    diff_print_bytes(&line);
}

/* Prints the unified diff of two texts, which may be equal. A terminal gets no control characters;
 * other readers get each byte. */
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
    if (out.size == head)
        return;
    diff_print_bytes(&out);
}

/* Whether TYPED is the mask that a recording has for a secret. */
static bool diff_print_is_mask(struct json typed)
{
    return json_string_is(json_member(typed, "S"), SPAN_LITERAL(RECORD_MASK));
}

static void diff_print_count_mask(struct diff_print *print, const char *path)
{
    if (print->masked++ == 0)
        buf_add_text(&print->masked_path, path);
}

void diff_print_end(struct diff_print *print)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_text(&text, "has a secret that is masked in a recording and was not compared");
    if (print->masked > 1)
        buf_printf(&text, ", like %zu more", print->masked - 1);
    if (print->masked > 0)
        app_note(print->app, LOG_LEVEL_WARNING, buf_text(&print->masked_path), buf_text(&text));
    buf_clean_up(&print->masked_path);
}

void diff_print_files(struct diff_print *print, const struct diff_print_file *before,
                      const struct diff_print_file *now, bool listed)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    bool secret = before->secret || now->secret;
    bool hidden = secret && !print->app->options->show_secrets;
    if (secret &&
        (span_is(before->text, RECORD_MASK "\n") || span_is(now->text, RECORD_MASK "\n"))) {
        diff_print_count_mask(print, before->path);
        return;
    }
    if (span_equal(before->text, now->text))
        return;
    print->count++;
    if (print->app->options->json) {
        struct json_writer json = json_writer_to(&line);
        diff_print_begin_object(&json, DIFFERENCE_CHANGED, before->path, now->path);
        json_writer_add_text(&json, "type", "file");
        if (hidden)
            json_writer_add_bool(&json, "secret", true);
        diff_print_end_object(&json);
    } else if (hidden) {
        buf_add_text(&line, "Files ");
        diff_print_add_printable(&line, before->path);
        buf_add_text(&line, " and ");
        diff_print_add_printable(&line, now->path);
        buf_add_text(&line, " differ, and are secret: --show-secrets shows them\n");
        diff_print_bytes(&line);
    } else {
        diff_print_unified(before->path, before->text, now->path, now->text, listed);
    }
}

static bool diff_print_value(struct json_writer *json, const char *member, struct json value)
{
    return !json_present(value) ||
           item_write_typed_value(value, json_writer_add_value(json, member));
}

static bool diff_print_object(struct diff_pair *pair, const struct difference *difference,
                              bool secret)
{
    CLEAN_UP(buf_clean_up_secret) struct buf line = {0};
    struct json_writer json = json_writer_to(&line);
    bool ok = true;
    diff_print_begin_object(&json, difference->kind, pair->before->path, pair->now->path);
    if (pair->of)
        json_writer_add_text(&json, "of", pair->of);
    json_writer_add_raw(&json, "attribute", difference->path);
    if (secret)
        json_writer_add_bool(&json, "secret", true);
    else
        ok = diff_print_value(&json, "old", difference->before) &&
             diff_print_value(&json, "new", difference->now);
    ok = ok && !line.failed;
    if (ok)
        diff_print_end_object(&json);
    return ok;
}

/* Notes a masked value, and two types that are printed alike. */
static void diff_print_note(struct diff_pair *pair, const struct difference *difference,
                            bool secret)
{
    enum typed_tag before = typed_open(difference->before).tag;
    enum typed_tag now = typed_open(difference->now).tag;
    if (difference->kind != DIFFERENCE_CHANGED || (!secret && before == now))
        return;
    buf_add_text(&pair->notes, pair->of ? "Descriptions " : "Items ");
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

static bool diff_print_difference(struct diff_pair *pair, const struct difference *difference,
                                  bool secret)
{
    pair->count++;
    if (pair->print->app->options->json)
        return diff_print_object(pair, difference, secret);
    diff_print_note(pair, difference, secret);
    return !pair->notes.failed;
}

/* Two masks are equal, whatever they hide. */
static void diff_print_count_equal_masks(struct diff_pair *pair, struct json before,
                                         struct json now)
{
    const struct model *table = pair->of ? NULL : pair->before->table;
    for (size_t i = 0; table && i < table->secret_count; i++)
        if (diff_print_is_mask(json_member(before, table->secrets[i])) &&
            diff_print_is_mask(json_member(now, table->secrets[i])))
            diff_print_count_mask(pair->print, pair->before->path);
}

/* A secret attribute is one difference, without the path inside. */
static bool diff_print_take_difference(void *arg, const struct difference *difference)
{
    struct diff_pair *pair = arg;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    struct difference whole = *difference;
    bool declared = !pair->of && (model_is_secret(pair->before->table, difference->attribute) ||
                                  model_is_secret(pair->now->table, difference->attribute));
    bool secret = declared && !pair->print->app->options->show_secrets;
    if (declared &&
        (diff_print_is_mask(difference->before) || diff_print_is_mask(difference->now))) {
        diff_print_count_mask(pair->print, pair->before->path);
        return true;
    }
    if (!secret)
        return diff_print_difference(pair, difference, false);
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
    return !path.failed && diff_print_difference(pair, &whole, true);
}

/* Writes ITEM as `ddbfs cat` prints it. */
static bool diff_print_write_item(const struct diff_print *print,
                                  const struct diff_print_item *item, struct json value,
                                  struct buf *out)
{
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    struct record_view view = {.compact = print->app->options->compact};
    if (item->table)
        file_view(&print->app->tree, item->table, first, &view);
    return (item->typed ? item_write_typed : item_write)(value, &view, out);
}

/* An item without ignored attributes. */
struct diff_parsed {
    struct json_doc doc;
    struct buf text; /* owned: of the document, if an attribute is ignored */
};

static void diff_parsed_clean_up(struct diff_parsed *parsed)
{
    json_clean_up(&parsed->doc);
    buf_clean_up_secret(&parsed->text);
}

static bool diff_parsed_init(struct diff_parsed *parsed, struct span item,
                             const char *const *ignored, size_t count)
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

/* False if an item is invalid, or memory ran out. */
static bool diff_print_compare(struct diff_pair *pair, bool listed)
{
    CLEAN_UP(diff_parsed_clean_up) struct diff_parsed before = {0}, now = {0};
    CLEAN_UP(buf_clean_up_secret) struct buf before_text = {0}, now_text = {0};
    const struct options *options = pair->print->app->options;
    size_t ignored = pair->of ? 0 : options->ignored_count;
    if (!diff_parsed_init(&before, pair->before->item, options->ignored, ignored) ||
        !diff_parsed_init(&now, pair->now->item, options->ignored, ignored))
        return false;
    struct json one = json_root(&before.doc), other = json_root(&now.doc);
    bool ok = difference_find(one, other, diff_print_take_difference, pair);
    diff_print_count_equal_masks(pair, one, other);
    pair->print->count += pair->count;
    if (ok && pair->count > 0 && !options->json) {
        ok = diff_print_write_item(pair->print, pair->before, one, &before_text) &&
             diff_print_write_item(pair->print, pair->now, other, &now_text);
        if (ok)
            diff_print_unified(pair->before->path, buf_span(&before_text), pair->now->path,
                               buf_span(&now_text), listed);
        if (ok)
            diff_print_bytes(&pair->notes);
    }
    buf_clean_up(&pair->notes);
    return ok;
}

static void diff_print_fail(struct diff_pair *pair)
{
    struct error why;
    error_set(&why, ERROR_BAD_ANSWER,
              "can't be compared with %s: one is not a DynamoDB item, or memory ran out",
              pair->now->path);
    app_report_error(pair->print->app, pair->before->path, &why);
}

void diff_print_items(struct diff_print *print, const struct diff_print_item *before,
                      const struct diff_print_item *now, bool listed)
{
    struct diff_pair pair = {.print = print, .before = before, .now = now};
    if (!diff_print_compare(&pair, listed))
        diff_print_fail(&pair);
}

/* A description becomes a typed item. Lists without an order become maps and sets. */

/* Members of the one table, with any prefix: "TableArn", "ItemCount". */
static const char *const diff_own_endings[] = {
    "Arn",    "Id",        "DateTime",
    "Status", "Count",     "SizeBytes",
    "Label",  "TableName", "NumberOfDecreasesToday",
};

static bool diff_description_is_own(struct json name)
{
    struct span text;
    for (size_t i = 0; i < sizeof diff_own_endings / sizeof diff_own_endings[0]; i++)
        if (json_plain_string(name, &text) && span_ends(text, span_text(diff_own_endings[i])))
            return true;
    return false;
}

static void diff_description_write_value(struct json value, struct buf *out);

/* Omits the member OMITTED, which is the key of the object; NULL: none. */
static void diff_description_write_members(struct json object, const char *omitted, struct buf *out)
{
    bool first = true;
    struct json value;
    buf_add_char(out, '{');
    for (struct json name = json_first(object); json_present(name); name = json_next(value)) {
        value = json_next(name);
        if (diff_description_is_own(name) || (omitted && json_string_is(name, span_text(omitted))))
            continue;
        buf_add_text(out, first ? "" : ",");
        buf_add_span(out, json_raw(name));
        buf_add_char(out, ':');
        diff_description_write_value(value, out);
        first = false;
    }
    buf_add_char(out, '}');
}

/* The member that identifies an element of a list without an order; NULL: the order matters. */
static const char *diff_description_key(struct json element)
{
    if (json_present(json_member(element, "IndexName")))
        return "IndexName";
    if (json_present(json_member(element, "RegionName")))
        return "RegionName";
    return json_present(json_member(element, "AttributeType")) ? "AttributeName" : NULL;
}

static void diff_description_write_array(struct json list, struct buf *out)
{
    struct json first = json_first(list);
    const char *key = diff_description_key(first), *comma = "";
    if (!key && json_is(first, JSON_STRING)) { /* projected attributes */
        buf_add_text(out, "{\"SS\":");
        buf_add_span(out, json_raw(list));
        buf_add_char(out, '}');
        return;
    }
    buf_add_text(out, key ? "{\"M\":{" : "{\"L\":[");
    for (struct json each = first; json_present(each); each = json_next(each)) {
        buf_add_text(out, comma);
        comma = ",";
        if (!key) {
            diff_description_write_value(each, out);
            continue;
        }
        buf_add_span(out, json_raw(json_member(each, key)));
        buf_add_text(out, ":{\"M\":");
        diff_description_write_members(each, key, out);
        buf_add_char(out, '}');
    }
    buf_add_text(out, key ? "}}" : "]}");
}

static void diff_description_write_value(struct json value, struct buf *out)
{
    switch (json_type(value)) {
    case JSON_OBJECT:
        buf_add_text(out, "{\"M\":");
        diff_description_write_members(value, NULL, out);
        buf_add_char(out, '}');
        break;
    case JSON_ARRAY:
        diff_description_write_array(value, out);
        break;
    case JSON_STRING:
        buf_add_text(out, "{\"S\":");
        buf_add_span(out, json_raw(value));
        buf_add_char(out, '}');
        break;
    case JSON_NUMBER:
        buf_add_text(out, "{\"N\":\"");
        buf_add_span(out, json_raw(value));
        buf_add_text(out, "\"}");
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        buf_printf(out, "{\"BOOL\":%s}", json_is(value, JSON_TRUE) ? "true" : "false");
        break;
    case JSON_NULL:
        buf_add_text(out, "{\"NULL\":true}");
        break;
    }
}

static bool diff_description_write(struct span schema, struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!json_parse(&doc, schema, JSON_STRICT, NULL))
        return false;
    diff_description_write_members(json_root(&doc), NULL, out);
    return !out->failed;
}

void diff_print_descriptions(struct diff_print *print, const struct diff_print_file *before,
                             const struct diff_print_file *now, bool listed)
{
    CLEAN_UP(buf_clean_up) struct buf one = {0}, other = {0};
    bool ok =
        diff_description_write(before->text, &one) && diff_description_write(now->text, &other);
    struct diff_print_item first = {before->path, NULL, buf_span(&one), false};
    struct diff_print_item second = {now->path, NULL, buf_span(&other), false};
    struct diff_pair pair = {.print = print, .before = &first, .now = &second, .of = "description"};
    if (!ok || !diff_print_compare(&pair, listed))
        diff_print_fail(&pair);
}

void diff_print_report_mask(struct diff_print *print, const char *path)
{
    struct error why;
    error_set(&why, ERROR_DENIED,
              "is secret and masked; compare it with --show-secrets, or compare the items to see "
              "whether it differs");
    app_report_error(print->app, path, &why);
}
