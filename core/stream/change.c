#include "core/stream/change.h"

#include "core/base/ascii.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * 1000 };

const char *change_word(enum change_kind kind)
{
    static const char *const words[] = {
        [CHANGE_INSERT] = "INSERT", [CHANGE_MODIFY] = "MODIFY", [CHANGE_REMOVE] = "REMOVE"};
    return words[kind];
}

static bool change_read_kind(struct json name, enum change_kind *out)
{
    for (int i = CHANGE_INSERT; i <= CHANGE_REMOVE; i++)
        if (json_string_is(name, span_text(change_word((enum change_kind)i)))) {
            *out = (enum change_kind)i;
            return true;
        }
    return false;
}

/* Whether the service itself made the change, which it does for expired items alone. Its names
 * begin with a capital, those of some other servers do not. */
static bool change_is_of_service(struct json record)
{
    struct json identity = json_member(record, "userIdentity");
    struct json type = json_member(identity, "Type"), id = json_member(identity, "PrincipalId");
    if (!json_present(type))
        type = json_member(identity, "type");
    if (!json_present(id))
        id = json_member(identity, "principalId");
    return json_string_is(type, SPAN_LITERAL("Service")) &&
           json_string_is(id, SPAN_LITERAL("dynamodb.amazonaws.com"));
}

bool change_read_time(struct json value, int64_t *out_ms)
{
    double seconds;
    if (!json_read_double(value, &seconds) || seconds < 0 || seconds > 1e11)
        return false;
    *out_ms = (int64_t)(seconds * 1000);
    return true;
}

/* Absent, or an object. */
static bool change_read_image(struct json images, const char *name, struct json *out)
{
    *out = json_member(images, name);
    return !json_present(*out) || json_is(*out, JSON_OBJECT);
}

bool change_read(struct json record, struct change *out, struct error *err)
{
    struct json content = json_member(record, "dynamodb");
    *out = (struct change){.record = record, .keys = json_member(content, "Keys")};
    if (!change_read_kind(json_member(record, "eventName"), &out->kind) ||
        !json_is(out->keys, JSON_OBJECT) ||
        !json_plain_string(json_member(content, "SequenceNumber"), &out->sequence) ||
        !change_read_time(json_member(content, "ApproximateCreationDateTime"), &out->at_ms) ||
        !change_read_image(content, "OldImage", &out->before) ||
        !change_read_image(content, "NewImage", &out->after))
        return error_set(err, ERROR_BAD_ANSWER,
                         "a record of a stream has no kind, key, number or time; look for a proxy "
                         "that changes responses");
    out->is_expired = out->kind == CHANGE_REMOVE && change_is_of_service(record);
    return true;
}

bool change_may_follow(const struct change *change, int64_t ms)
{
    bool is_minute = change->at_ms % MINUTE_MS == 0, is_second = change->at_ms % SECOND_MS == 0;
    int64_t rounded_ms = is_minute ? MINUTE_MS : is_second ? SECOND_MS : 1;
    return change->at_ms + rounded_ms > ms;
}

static bool change_is_integer(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!ascii_is_digit(text.data[i]))
            return false;
    return text.size > 0;
}

static struct span change_without_zeros(struct span text)
{
    while (text.size > 1 && text.data[0] == '0')
        text = span_from(text, 1);
    return text;
}

int change_order(struct span a, struct span b)
{
    if (!change_is_integer(a) || !change_is_integer(b))
        return !span_equal(a, b);
    a = change_without_zeros(a);
    b = change_without_zeros(b);
    return a.size != b.size ? (a.size > b.size) - (a.size < b.size) : span_compare(a, b);
}
