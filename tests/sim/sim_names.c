/* Names and keys (docs/semantics.md, "Names" and "Probes"; docs/internals/names.md). */
#include <string.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_model.h"

struct sim_slice sim_slice_of(const char *text)
{
    return (struct sim_slice){text, strlen(text)};
}

bool sim_slice_equal(struct sim_slice a, struct sim_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

int sim_slice_compare(struct sim_slice a, struct sim_slice b)
{
    size_t least = a.size < b.size ? a.size : b.size;
    int order = least ? memcmp(a.bytes, b.bytes, least) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

bool sim_slice_begins(struct sim_slice slice, struct sim_slice with)
{
    return slice.size >= with.size && memcmp(slice.bytes, with.bytes, with.size) == 0;
}

/* The character at BYTES, and its length; -1, and 1: it is not UTF-8. */
static int32_t sim_name_read_character(const unsigned char *bytes, size_t size, size_t *length)
{
    static const struct {
        unsigned char mask, lead;
        unsigned length;
        int32_t least;
    } forms[] = {
        {0x80, 0, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    *length = 1;
    for (size_t f = 0; f < 4; f++) {
        if ((bytes[0] & forms[f].mask) != forms[f].lead || forms[f].length > size)
            continue;
        int32_t code = bytes[0] & (unsigned char)~forms[f].mask;
        for (size_t i = 1; i < forms[f].length; i++) {
            if ((bytes[i] & 0xc0) != 0x80)
                return -1;
            code = code << 6 | (bytes[i] & 0x3f);
        }
        if (code < forms[f].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return -1;
        *length = forms[f].length;
        return code;
    }
    return -1;
}

/* Control characters, marks of text direction, line and paragraph separators, the byte order mark.
 */
static bool sim_name_is_unsafe(int32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/* Appends VALUE, with escapes. STOP is the first character of the text behind the part; 0: none. */
static void sim_name_write_part(struct sim_text *out, struct sim_slice value, char stop,
                                bool is_begin)
{
    for (size_t i = 0; i < value.size;) {
        const unsigned char *at = (const unsigned char *)value.bytes + i;
        size_t length;
        int32_t code = sim_name_read_character(at, value.size - i, &length);
        bool is_plain = code >= 0 && !sim_name_is_unsafe(code) && code != '%' && code != '/' &&
                        !(stop && code == (unsigned char)stop) &&
                        !(is_begin && i == 0 && code == '.');
        if (is_plain)
            sim_text_add(out, at, length);
        for (size_t b = 0; b < length && !is_plain; b++)
            sim_text_printf(out, "%%%02X", at[b]);
        i += length;
    }
}

static const char *const probes[] = {
    "4913",        "AACS",        "BDMV",        "CVS",
    "HEAD",        "RCS",         "SCCS",        "System Volume Information",
    "Thumbs.db",   "VIDEO_TS",    "_FOSSIL_",    "_darcs",
    "autorun.inf", "desktop.ini", "ehthumbs.db", "lost+found",
    "package.json"};

bool sim_name_is_probe(struct sim_slice name)
{
    if (name.size && (name.bytes[0] == '.' || name.bytes[name.size - 1] == '~'))
        return true;
    for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
        if (sim_slice_equal(name, sim_slice_of(probes[i])))
            return true;
    return false;
}

/* Whether NAME ends like a companion, or nearly so. */
static bool sim_name_has_ending(struct sim_slice name)
{
    static const char *const endings[] = {"@typed",   "@info",   "@links",  "@history",
                                          "@similar", "@jsonl",  "@count",  "@csv",
                                          "@table",   "@sqlite", "@summary"};
    for (size_t i = 0; i < name.size; i++) {
        struct sim_slice rest = {name.bytes + i, name.size - i};
        if (rest.bytes[0] != '@')
            continue;
        if (rest.size == 1)
            return true;
        for (size_t e = 0; e < sizeof(endings) / sizeof(endings[0]); e++)
            if (sim_slice_begins(rest, sim_slice_of(endings[e])))
                return true;
    }
    return false;
}

/* Whether the model does not know which byte is escaped besides: the name would have another
 * meaning (a probe, README, the ending of a companion, a placeholder), or is too long. */
static bool sim_name_is_special(struct sim_slice name)
{
    return name.size > 220 || sim_name_is_probe(name) ||
           sim_slice_equal(name, sim_slice_of("README")) || sim_name_has_ending(name) ||
           (name.size && name.bytes[0] == '{');
}

static bool sim_name_write_format(struct sim_text *out, const struct sim_key_format *format,
                                  const struct sim_bindings *parts, size_t begin)
{
    for (unsigned i = 0; i < format->count; i++) {
        const struct sim_piece *piece = &format->pieces[i];
        if (!piece->is_part) {
            sim_text_puts(out, piece->text);
            continue;
        }
        const struct sim_slice *value = sim_bindings_get(parts, piece->text);
        if (!value)
            return false;
        char stop = i + 1 < format->count ? format->pieces[i + 1].text[0] : 0;
        sim_name_write_part(out, *value, stop, out->size == begin);
    }
    return true;
}

bool sim_name_write(struct sim_text *out, const struct sim_model_table *table,
                    const struct sim_pattern *pattern, int kind, const struct sim_bindings *parts)
{
    size_t begin = out->size;
    const struct sim_key_format *name = &pattern->names[kind];
    /* A rank is in front of a leading dot. */
    if (!name->count ||
        !sim_name_write_format(out, name, parts, pattern->has_rank ? SIZE_MAX : begin))
        return false;
    if (out->size == begin)
        sim_text_puts(out, "%");
    bool is_plain = !sim_name_is_special((struct sim_slice){out->bytes + begin, out->size - begin});
    if (!pattern->attribute)
        sim_text_puts(out, sim_life_options()->suffix);
    struct sim_slice whole = {out->bytes + begin, out->size - begin};
    return is_plain && !sim_name_is_special(whole) && !sim_name_is_taken(table, pattern, whole);
}

bool sim_step_write(struct sim_text *out, const struct sim_key_format *step,
                    const struct sim_bindings *parts)
{
    size_t begin = out->size;
    if (!sim_name_write_format(out, step, parts, begin))
        return false;
    if (out->size == begin)
        sim_text_puts(out, "%");
    if (step->count == 1 && !step->pieces[0].is_part)
        return true;
    return !sim_name_is_special((struct sim_slice){out->bytes + begin, out->size - begin});
}

static int sim_name_hex_digit(char c)
{
    static const char digits[] = "0123456789ABCDEFabcdef";
    const char *found = c ? strchr(digits, c) : NULL;
    if (!found)
        return -1;
    long at = found - digits;
    return (int)(at < 16 ? at : at - 6);
}

bool sim_name_decode(struct sim_text *out, struct sim_slice name)
{
    if (sim_slice_equal(name, sim_slice_of("%")))
        return true;
    for (size_t i = 0; i < name.size; i++) {
        if (name.bytes[i] != '%') {
            sim_text_add(out, name.bytes + i, 1);
            continue;
        }
        if (i + 2 >= name.size)
            return false;
        int high = sim_name_hex_digit(name.bytes[i + 1]),
            low = sim_name_hex_digit(name.bytes[i + 2]);
        if (high < 0 || low < 0)
            return false;
        char byte = (char)(high << 4 | low);
        sim_text_add(out, &byte, 1);
        i += 2;
    }
    return true;
}
