/* Parses INI text. */
#include "core/aws/ini.h"

#include <stdlib.h>
#include <strings.h>

#include "core/base/utf8.h"

/* The position in the text. */
struct ini_parser {
    struct ini *ini;
    const char *path;
    unsigned line;
    size_t section; /* INI_NONE before the first one */
    size_t key;     /* the last plain key of this section; INI_NONE before the first one */
    size_t indent;  /* of that key, in characters */
    size_t blanks;  /* the number of blank lines behind its value */
    struct error *err;
};

static bool ini_fail(const struct ini_parser *parser, const char *what)
{
    return error_set(parser->err, ERROR_DENIED, "%s, line %u: %s; correct the file", parser->path,
                     parser->line, what);
}

/* The size of the blank at the start of TEXT, or 0. As in Python, all blanks of Unicode count: text
 * that is copied from a web page may contain them. */
static size_t ini_blank_size(struct span text)
{
    const unsigned char *at = (const unsigned char *)text.data;
    if (text.size == 0)
        return 0;
    if (at[0] < 0x80)
        return at[0] == ' ' || (at[0] >= '\t' && at[0] <= '\r') || (at[0] >= 0x1c && at[0] <= 0x1f);
    if (text.size >= 2 && at[0] == 0xc2)
        return at[1] == 0x85 || at[1] == 0xa0 ? 2 : 0;
    if (text.size < 3 || at[0] < 0xe1 || at[0] > 0xe3)
        return 0;
    unsigned code = (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    return code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
                   code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000
               ? 3
               : 0;
}

/* BLANKS gets the number of blanks before the text. */
static struct span ini_trimmed_of(struct span text, size_t *blanks)
{
    size_t size;
    for (*blanks = 0; (size = ini_blank_size(text)) > 0; ++*blanks)
        text = span_from(text, size);
    do {
        size = 0;
        for (size_t last = 1; last <= 3 && last <= text.size && size == 0; last++)
            if (ini_blank_size(span_from(text, text.size - last)) == last)
                size = last;
        text.size -= size;
    } while (size > 0);
    return text;
}

static struct span ini_trimmed(struct span text)
{
    size_t blanks;
    return ini_trimmed_of(text, &blanks);
}

/* Lines. */

/* Removes a line from REST; the result is without its end: \n, \r\n or \r. */
static struct span ini_take_line(struct span *rest)
{
    size_t size = 0;
    while (size < rest->size && rest->data[size] != '\n' && rest->data[size] != '\r')
        size++;
    struct span line = span_of(rest->data, size);
    if (size < rest->size)
        size += span_starts(span_from(*rest, size), SPAN_LITERAL("\r\n")) ? 2 : 1;
    *rest = span_from(*rest, size);
    return line;
}

/* The same for lines within a nested value, where Python knows more line ends. */
static struct span ini_take_nested_line(struct span *rest)
{
    size_t size = 0, end = 0;
    for (; size < rest->size; size++) {
        struct span here = span_from(*rest, size);
        unsigned char byte = (unsigned char)here.data[0];
        end = byte == '\v' || byte == '\f' || (byte >= 0x1c && byte <= 0x1e) ? 1
              : span_starts(here, SPAN_LITERAL("\xc2\x85"))                  ? 2
              : span_starts(here, SPAN_LITERAL("\xe2\x80\xa8")) ||
                      span_starts(here, SPAN_LITERAL("\xe2\x80\xa9"))
                  ? 3
                  : 0;
        if (end > 0)
            break;
    }
    struct span line = span_of(rest->data, size);
    *rest = span_from(*rest, size + end);
    return line;
}

/* An error names the first line that is no text. */
static bool ini_check_text(struct ini_parser *parser)
{
    struct span text = buf_span(&parser->ini->text);
    parser->line = 1;
    if (span_starts(text, SPAN_LITERAL("\xef\xbb\xbf")))
        return ini_fail(parser,
                        "the file begins with a byte order mark, which the AWS CLI cannot read: "
                        "save it as UTF-8 without one");
    if (utf8_valid(text) && (text.size == 0 || !memchr(text.data, '\0', text.size)))
        return true;
    for (parser->line = 0; text.size > 0;) {
        struct span line = ini_take_line(&text);
        parser->line++;
        if (!utf8_valid(line) || (line.size > 0 && memchr(line.data, '\0', line.size)))
            return ini_fail(parser, "the line is no text in UTF-8");
    }
    return true;
}

/* The index. */

struct wanted_header {
    const struct ini *ini;
    struct span header;
};

static bool ini_is_header(const void *arg, uint32_t number)
{
    const struct wanted_header *wanted = arg;
    return span_equal(wanted->ini->sections[number].header, wanted->header);
}

struct wanted_key {
    const struct ini *ini;
    size_t section;
    struct span parent, name;
};

static bool ini_same_name(struct span a, struct span b)
{
    return a.size == b.size && (a.size == 0 || strncasecmp(a.data, b.data, a.size) == 0);
}

static bool ini_is_key(const void *arg, uint32_t number)
{
    const struct wanted_key *wanted = arg;
    const struct ini_key *key = &wanted->ini->keys[number];
    return key->section == wanted->section && ini_same_name(key->parent, wanted->parent) &&
           (key->parent.size ? span_equal(key->name, wanted->name)
                             : ini_same_name(key->name, wanted->name));
}

static uint32_t ini_hash_of_key(const struct wanted_key *key)
{
    uint32_t hash = slots_hash_number(slots_hash_start(), (uint32_t)key->section);
    return slots_hash_text(slots_hash_text(hash, key->parent), key->name);
}

/* Makes room for one more in an array of ITEMs; false when memory ran out. */
static bool ini_make_room(void **array, size_t count, size_t *capacity, size_t item)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : 32;
    void *grown = reallocarray(*array, wanted, item);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Sections. */

/* [DEFAULT] may occur several times, any other section once. */
static bool ini_begin_section(struct ini_parser *parser, struct span header)
{
    struct ini *ini = parser->ini;
    struct wanted_header wanted = {ini, header};
    bool is_defaults = span_is(header, "DEFAULT");
    void *sections = ini->sections;
    uint32_t before;
    parser->key = INI_NONE;
    parser->section = ini->defaults;
    if (is_defaults && ini->defaults != INI_NONE)
        return true;
    if (!ini_make_room(&sections, ini->section_count, &ini->section_capacity,
                       sizeof *ini->sections))
        return error_no_memory(parser->err);
    ini->sections = sections;
    ini->sections[ini->section_count] = (struct ini_section){header, parser->line};
    if (!slots_put(&ini->by_header, slots_hash_text(slots_hash_start(), header), ini_is_header,
                   &wanted, (uint32_t)ini->section_count, &before))
        return error_no_memory(parser->err);
    parser->section = ini->section_count++;
    if (is_defaults)
        ini->defaults = parser->section;
    return before == SLOTS_NONE || ini_fail(parser, "the section is a duplicate");
}

/* Keys. */

static bool ini_add_key(struct ini_parser *parser, struct span parent, struct span name,
                        struct span value, bool *was_there)
{
    struct ini *ini = parser->ini;
    struct wanted_key wanted = {ini, parser->section, parent, name};
    uint32_t before;
    void *keys = ini->keys;
    if (!ini_make_room(&keys, ini->key_count, &ini->key_capacity, sizeof *ini->keys))
        return error_no_memory(parser->err);
    ini->keys = keys;
    ini->keys[ini->key_count] = (struct ini_key){.section = parser->section,
                                                 .parent = parent,
                                                 .name = name,
                                                 .value = value,
                                                 .line = parser->line};
    if (!slots_put(&ini->by_key, ini_hash_of_key(&wanted), ini_is_key, &wanted,
                   (uint32_t)ini->key_count, &before))
        return error_no_memory(parser->err);
    *was_there = before != SLOTS_NONE;
    ini->key_count++;
    return true;
}

/* A colon is as good as an equals sign. A comment behind a value is part of the value. */
static bool ini_begin_key(struct ini_parser *parser, struct span line, size_t indent)
{
    size_t at = 0;
    bool was_there;
    if (parser->section == INI_NONE)
        return ini_fail(parser, "a key before the first [section]");
    while (at < line.size && line.data[at] != '=' && line.data[at] != ':')
        at++;
    struct span name = ini_trimmed(span_of(line.data, at));
    if (at == line.size || name.size == 0)
        return ini_fail(parser, "a [section] or key = value is expected");
    if (!ini_add_key(parser, span_text(""), name, ini_trimmed(span_from(line, at + 1)), &was_there))
        return false;
    if (was_there)
        return ini_fail(parser, "the section has the key already");
    parser->key = parser->ini->key_count - 1;
    parser->indent = indent;
    parser->blanks = 0;
    return true;
}

/* Appends LINE to a value that began in the key's own line. As in Python, the lines are joined
 * without the blanks around them, here in the text itself. The rest of the text is overwritten,
 * because it may be a part of a secret. */
static void ini_continue_value(struct ini_parser *parser, struct ini_key *key, struct span line)
{
    char *text = parser->ini->text.data;
    size_t end = (size_t)(key->value.data - text) + key->value.size;
    size_t from = (size_t)(line.data - text), old_end = from + line.size;
    memset(text + end, '\n', 1 + parser->blanks);
    end += 1 + parser->blanks;
    memmove(text + end, line.data, line.size);
    end += line.size;
    memset(text + end, ' ', old_end - end);
    key->value.size = end - (size_t)(key->value.data - text);
    parser->blanks = 0;
}

/* Nested keys need an equals sign; of duplicates the last one counts. */
static bool ini_add_nested(struct ini_parser *parser, struct span parent, struct span line)
{
    while (line.size > 0) {
        bool was_there;
        struct span part = ini_trimmed(ini_take_nested_line(&line));
        const char *equals = part.size ? memchr(part.data, '=', part.size) : NULL;
        if (part.size == 0)
            continue;
        if (!equals)
            return ini_fail(parser,
                            "key = value is expected in an indented line under a key without a "
                            "value");
        size_t at = (size_t)(equals - part.data);
        if (!ini_add_key(parser, parent, ini_trimmed(span_of(part.data, at)),
                         ini_trimmed(span_from(part, at + 1)), &was_there))
            return false;
    }
    return true;
}

/* A line that is indented deeper than the key above it belongs to that key, unless it is a comment.
 */
static bool ini_parse_line(struct ini_parser *parser, struct span raw)
{
    struct ini *ini = parser->ini;
    size_t indent;
    struct span line = ini_trimmed_of(raw, &indent);
    if (line.size == 0) {
        parser->blanks++;
        return true;
    }
    if (line.data[0] == '#' || line.data[0] == ';') {
        memset(ini->text.data + (line.data - ini->text.data), ' ', line.size);
        return true;
    }
    if (parser->key != INI_NONE && indent > parser->indent) {
        struct ini_key *key = &ini->keys[parser->key];
        if (key->value.size > 0 && !key->has_nested) {
            ini_continue_value(parser, key, line);
            return true;
        }
        key->has_nested = true;
        key->value.size = (size_t)(line.data + line.size - key->value.data);
        return ini_add_nested(parser, key->name, line);
    }
    /* The header is the text between the first bracket and the last one; text behind is ignored. */
    const char *end = line.data[0] == '[' ? memrchr(line.data, ']', line.size) : NULL;
    if (end && end >= line.data + 2)
        return ini_begin_section(parser, span_of(line.data + 1, (size_t)(end - line.data) - 1));
    return ini_begin_key(parser, line, indent);
}

bool ini_parse(struct ini *ini, const char *path, struct error *err)
{
    struct ini_parser parser = {
        .ini = ini, .path = path, .section = INI_NONE, .key = INI_NONE, .err = err};
    ini->defaults = INI_NONE;
    if (!ini_check_text(&parser))
        return false;
    parser.line = 0;
    for (struct span rest = buf_span(&ini->text); rest.size > 0;) {
        struct span line = ini_take_line(&rest);
        parser.line++;
        if (!ini_parse_line(&parser, line))
            return false;
    }
    return true;
}

void ini_clean_up(struct ini *ini)
{
    buf_clean_up_secret(&ini->text);
    free(ini->sections);
    free(ini->keys);
    slots_clean_up(&ini->by_header);
    slots_clean_up(&ini->by_key);
    *ini = (struct ini){0};
}

static const struct ini_key *ini_find_own(const struct ini *ini, size_t section, struct span parent,
                                          struct span name)
{
    struct wanted_key wanted = {ini, section, parent, name};
    uint32_t number = section == INI_NONE
                          ? SLOTS_NONE
                          : slots_find(&ini->by_key, ini_hash_of_key(&wanted), ini_is_key, &wanted);
    return number == SLOTS_NONE ? NULL : &ini->keys[number];
}

/* A key of the section hides the one of [DEFAULT] with all its nested keys. */
const struct ini_key *ini_find(const struct ini *ini, size_t section, struct span parent,
                               struct span name)
{
    struct span plain = parent.size ? parent : name;
    bool own = ini_find_own(ini, section, span_text(""), plain);
    return ini_find_own(ini, own ? section : ini->defaults, parent, name);
}

const struct ini_key *ini_next(const struct ini *ini, size_t section, size_t *at)
{
    while (*at < ini->key_count) {
        const struct ini_key *key = &ini->keys[(*at)++];
        if (key->parent.size == 0 &&
            (key->section == section || (key->section == ini->defaults &&
                                         !ini_find_own(ini, section, span_text(""), key->name))))
            return key;
    }
    return NULL;
}
