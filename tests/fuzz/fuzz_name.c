/* Fuzzing of names: any key has one legal name that leads back to it, no two keys share one, and
 * any text is either a name or refused. */
#include <stdint.h>
#include <stdlib.h>

#include "core/base/escape.h"
#include "core/base/printable.h"
#include "core/base/utf8.h"
#include "core/map/companion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_legal(struct span name, size_t limit)
{
    require(name.size > 0 && name.size <= limit && name.data[0] != '.');
    for (size_t at = 0; at < name.size;) {
        size_t step = utf8_length(span_from(name, at));
        unsigned char c = (unsigned char)name.data[at];
        bool safe;
        printable_first(span_from(name, at), &safe);
        require(step > 0 && safe && c != '/');
        at += step;
    }
}

static void encode(struct span key, size_t limit, struct buf *name)
{
    escape_add_value(name, key, span_text(""), NULL);
    require(name->size <= limit || escape_shorten(name, limit, ESCAPE_MARK_FILE));
    require_legal(buf_span(name), limit);
}

/* A shortened name shows a true beginning of the key; any other decodes to the whole. */
static void require_way_back(struct span key, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf decoded = {0};
    struct span prefix = name;
    enum escape_mark mark;
    bool shortened = escape_is_shortened(name, &mark, &prefix);
    if (shortened && prefix.size == 0)
        return;
    require(escape_decode(prefix, &decoded));
    require(shortened ? span_starts(key, buf_span(&decoded)) : span_equal(key, buf_span(&decoded)));
}

static void use_key(struct span key, size_t limit)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    encode(key, limit, &name);
    require_way_back(key, buf_span(&name));
}

static void use_two_keys(struct span one, struct span other)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    CLEAN_UP(buf_clean_up) struct buf other_name = {0};
    encode(one, NAME_LIMIT, &name);
    encode(other, NAME_LIMIT, &other_name);
    require(span_equal(one, other) == span_equal(buf_span(&name), buf_span(&other_name)));
}

static void use_text(struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct span prefix, columns, name = text;
    enum escape_mark mark;
    (void)escape_is_shortened(text, &mark, &prefix);
    (void)companion_split(&name, &columns);
    require(escape_decode(text, &out) || out.size == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_of((const char *)data, size);
    use_key(text, NAME_LIMIT);
    use_key(text, 64);
    use_two_keys(span_of(text.data, size / 2), span_from(text, size / 2));
    use_text(text);
    return 0;
}
