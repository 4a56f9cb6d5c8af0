#include "core/base/printable.h"

#include <stdint.h>

#include "core/base/utf8.h"

/* Of two bytes: C1, and U+061C, the Arabic letter mark. Of three: U+200E and U+200F, U+2028 to
 * U+202E, U+2066 to U+206F, and U+FEFF. */
static bool printable_acts(struct span character)
{
    const uint8_t *bytes = (const uint8_t *)character.data;
    if (character.size == 2)
        return (bytes[0] == 0xC2 && bytes[1] < 0xA0) || (bytes[0] == 0xD8 && bytes[1] == 0x9C);
    if (character.size != 3)
        return false;
    if (bytes[0] == 0xEF)
        return bytes[1] == 0xBB && bytes[2] == 0xBF;
    if (bytes[0] != 0xE2)
        return false;
    return (bytes[1] == 0x80 &&
            (bytes[2] == 0x8E || bytes[2] == 0x8F || (bytes[2] >= 0xA8 && bytes[2] <= 0xAE))) ||
           (bytes[1] == 0x81 && bytes[2] >= 0xA6 && bytes[2] <= 0xAF);
}

struct span printable_first(struct span text, bool *safe)
{
    uint8_t first = (uint8_t)text.data[0];
    if (first < 0x80) {
        *safe = first >= 0x20 && first != 0x7F;
        return span_of(text.data, 1);
    }
    size_t size = utf8_length(text);
    struct span character = span_of(text.data, size ? size : 1);
    *safe = size > 0 && !printable_acts(character);
    return character;
}

static void printable_escape_byte(uint8_t byte, char out[3])
{
    static const char digits[] = "0123456789ABCDEF";
    out[0] = '%';
    out[1] = digits[byte >> 4];
    out[2] = digits[byte & 15];
}

void printable_escape(struct buf *out, struct span bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        char escaped[3];
        printable_escape_byte((uint8_t)bytes.data[i], escaped);
        buf_add(out, escaped, sizeof escaped);
    }
}

/* strchr also finds the NUL that ends ALSO, but a NUL is never safe. */
static bool printable_is_listed(struct span character, const char *also)
{
    return character.size == 1 && strchr(also, character.data[0]);
}

/* The number of bytes at the beginning of TEXT that stay as they are, without those of characters
 * of several bytes. */
static size_t printable_count_plain(struct span text, const char *also)
{
    size_t count = 0;
    while (count < text.size && text.data[count] >= 0x20 && text.data[count] < 0x7F &&
           !(*also && strchr(also, text.data[count])))
        count++;
    return count;
}

void printable_add(struct buf *out, struct span text, const char *also)
{
    while (text.size > 0) {
        bool safe;
        size_t plain = printable_count_plain(text, also);
        buf_add(out, text.data, plain);
        text = span_from(text, plain);
        if (text.size == 0)
            break;
        struct span character = printable_first(text, &safe);
        if (safe && !printable_is_listed(character, also))
            buf_add_span(out, character);
        else
            printable_escape(out, character);
        text = span_from(text, character.size);
    }
}

void printable_add_lines(struct buf *out, struct span text)
{
    while (text.size > 0) {
        const char *end = memchr(text.data, '\n', text.size);
        struct span line = span_of(text.data, end ? (size_t)(end - text.data) : text.size);
        printable_add(out, line, "");
        if (end)
            buf_add_char(out, '\n');
        text = span_from(text, line.size + (end ? 1 : 0));
    }
}

void printable_copy(char *out, size_t size, struct span text, const char *also)
{
    size_t used = 0;
    while (text.size > 0) {
        bool safe;
        size_t plain = printable_count_plain(text, also);
        plain = plain < size - used - 1 ? plain : size - used - 1;
        memcpy(out + used, text.data, plain);
        used += plain;
        text = span_from(text, plain);
        if (text.size == 0)
            break;
        struct span character = printable_first(text, &safe);
        safe = safe && !printable_is_listed(character, also);
        size_t need = character.size * (safe ? 1 : 3);
        if (used + need >= size)
            break;
        for (size_t i = 0; i < character.size && !safe; i++)
            printable_escape_byte((uint8_t)character.data[i], out + used + 3 * i);
        if (safe)
            memcpy(out + used, character.data, character.size);
        used += need;
        text = span_from(text, character.size);
    }
    out[used] = '\0';
}
