#include "core/source/key_scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A double has 53 bits; later bytes do not change a place. */
#define FINEST 0x1p-45

static bool key_scale_has(const uint64_t set[4], unsigned byte)
{
    return set[byte / 64] >> byte % 64 & 1;
}

static void key_scale_insert(uint64_t set[4], unsigned from, unsigned to)
{
    for (unsigned byte = from; byte <= to; byte++)
        set[byte / 64] |= UINT64_C(1) << byte % 64;
}

/* The number of bytes of SET that are less than BYTE. */
static unsigned key_scale_rank(const uint64_t set[4], unsigned byte)
{
    unsigned rank = 0;
    for (unsigned i = 0; i < byte / 64; i++)
        rank += (unsigned)__builtin_popcountll(set[i]);
    if (byte % 64 > 0)
        rank += (unsigned)__builtin_popcountll(set[byte / 64] << (64 - byte % 64));
    return rank;
}

static unsigned key_scale_count(const uint64_t set[4])
{
    unsigned count = 0;
    for (unsigned i = 0; i < 4; i++)
        count += (unsigned)__builtin_popcountll(set[i]);
    return count;
}

static unsigned key_scale_member(const uint64_t set[4], unsigned rank)
{
    unsigned byte = 0;
    while (byte < 255 && !(key_scale_has(set, byte) && rank-- == 0))
        byte++;
    return byte;
}

void key_scale_add(struct key_scale *scale, struct value key)
{
    scale->type = key.type;
    for (size_t i = 0; i < key.bytes.size && i < KEY_SCALE_BYTES; i++)
        key_scale_insert(scale->seen[i], (unsigned char)key.bytes.data[i],
                         (unsigned char)key.bytes.data[i]);
}

static bool key_scale_is_digit(struct span text, size_t at)
{
    return at < text.size && text.data[at] >= '0' && text.data[at] <= '9';
}

/* The greatest digit that is expected at AT, the first of two digits of a date or a time in TEXT:
 * 2026-12-31T23:59. */
static char key_scale_last_digit(struct span text, size_t at)
{
    if (at < 5 || !key_scale_is_digit(text, at) || !key_scale_is_digit(text, at + 1) ||
        key_scale_is_digit(text, at + 2) || !key_scale_is_digit(text, at - 2))
        return '9';
    switch (text.data[at - 1]) {
    case '-':
        return key_scale_is_digit(text, at - 4) ? '1' : '3'; /* behind a year, or a month */
    case 'T':
    case ' ':
        return '2';
    case ':':
        return '5';
    default:
        return '9';
    }
}

/* Adds to SET the bytes that are expected beside those that were seen: all of a class between the
 * least and the greatest that were seen. IS_OPEN: the samples may have seen few, so all of a class,
 * digits up to LAST_DIGIT; hexadecimal digits are a class. */
static void key_scale_widen(uint64_t set[4], bool is_open, char last_digit)
{
    static const struct {
        unsigned char first, last, last_hex;
    } classes[] = {{'0', '9', '9'}, {'A', 'Z', 'F'}, {'a', 'z', 'f'}};
    bool has_digit = key_scale_rank(set, '9' + 1) > key_scale_rank(set, '0');
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        unsigned least = classes[i].first, most = classes[i].last;
        while (most >= least && !key_scale_has(set, most))
            most--;
        if (most < least)
            continue;
        while (!key_scale_has(set, least))
            least++;
        if (is_open && (most > least || i == 0)) { /* one letter may be the same in all keys */
            least = classes[i].first;
            most = has_digit && most <= classes[i].last_hex ? classes[i].last_hex : classes[i].last;
            most = i == 0 ? (unsigned char)last_digit : most;
        }
        key_scale_insert(set, least, most);
    }
}

/* Keeps the bytes from LEAST to MOST. */
static void key_scale_clip(uint64_t set[4], unsigned least, unsigned most)
{
    for (unsigned byte = 0; byte < 256; byte++)
        if (byte < least || byte > most)
            set[byte / 64] &= ~(UINT64_C(1) << byte % 64);
}

static size_t key_scale_common(struct span a, struct span b)
{
    size_t size = 0;
    while (size < a.size && size < b.size && a.data[size] == b.data[size])
        size++;
    return size;
}

/* Uses offsets up to the first that is too fine, or where no key had a byte. A cut of a text stays
 * ASCII, so that it is valid UTF-8. */
static bool key_scale_set_bytes(struct key_scale *scale, struct span first, struct span at,
                                struct span last)
{
    size_t from = key_scale_common(first, last), changes = key_scale_common(first, at);
    double finest = 1;
    scale->from = from;
    if (from >= KEY_SCALE_BYTES || from >= first.size || from >= last.size)
        return false;
    memcpy(scale->prefix, first.data, from);
    unsigned a = (unsigned char)first.data[from], b = (unsigned char)last.data[from];
    for (scale->to = from; scale->to < KEY_SCALE_BYTES && finest > FINEST; scale->to++) {
        uint64_t *set = scale->seen[scale->to];
        if (scale->type == VALUE_B)
            key_scale_insert(set, 0, 255);
        else
            key_scale_widen(set, scale->to <= changes, key_scale_last_digit(first, scale->to));
        if (scale->to == from)
            key_scale_clip(set, a < b ? a : b, a < b ? b : a);
        unsigned count = key_scale_count(set);
        if (count == 0 || (scale->type == VALUE_S && key_scale_rank(set, 128) < count))
            break;
        finest /= count;
    }
    return scale->to > from;
}

static double key_scale_number(struct value key)
{
    char text[64] = "";
    size_t size = key.bytes.size < sizeof text ? key.bytes.size : sizeof text - 1;
    memcpy(text, key.bytes.data, size);
    return strtod(text, NULL);
}

bool key_scale_set(struct key_scale *scale, struct value first, struct value at, struct value last)
{
    if (first.type != last.type || first.type != at.type || first.type > VALUE_B)
        return false;
    scale->type = first.type;
    key_scale_add(scale, first);
    key_scale_add(scale, at);
    key_scale_add(scale, last);
    if (first.type != VALUE_N)
        return key_scale_set_bytes(scale, first.bytes, at.bytes, last.bytes);
    double a = key_scale_number(first), b = key_scale_number(last);
    scale->least = a < b ? a : b;
    scale->most = a < b ? b : a;
    return isfinite(scale->most - scale->least) && scale->most > scale->least;
}

double key_scale_place(const struct key_scale *scale, struct value key)
{
    if (scale->type == VALUE_N) {
        double place = (key_scale_number(key) - scale->least) / (scale->most - scale->least);
        return place < 0 ? 0 : place > 1 ? 1 : place;
    }
    struct span text = key.bytes;
    size_t size = text.size < scale->from ? text.size : scale->from;
    int order = memcmp(text.data, scale->prefix, size);
    if (order != 0 || size < scale->from)
        return order > 0 ? 1 : 0;
    double place = 0, step = 1;
    for (size_t i = scale->from; i < scale->to && i < text.size; i++) {
        const uint64_t *set = scale->seen[i];
        unsigned byte = (unsigned char)text.data[i];
        step /= key_scale_count(set);
        place += step * key_scale_rank(set, byte);
        if (!key_scale_has(set, byte))
            break;
    }
    return place;
}

/* A number between two whole ones, where that is possible: an item seldom has it. */
static void key_scale_write_number(double number, double width, struct buf *out)
{
    char text[40];
    if (fabs(number) < 1e14 && width > 16)
        snprintf(text, sizeof text, "%.1f", floor(number) + 0.5);
    else
        snprintf(text, sizeof text, "%.15g", number);
    number_write(span_text(text), out);
}

bool key_scale_cut(const struct key_scale *scale, double place, struct arena *arena,
                   struct value *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    double width = scale->most - scale->least;
    if (scale->type == VALUE_N)
        key_scale_write_number(scale->least + place * width, width, &text);
    else
        buf_add(&text, scale->prefix, scale->from);
    for (size_t i = scale->from; scale->type != VALUE_N && i < scale->to; i++) {
        unsigned count = key_scale_count(scale->seen[i]);
        double rank = floor(place * count);
        rank = rank < 0 ? 0 : rank > count - 1 ? count - 1 : rank;
        place = place * count - rank;
        buf_add_char(&text, (char)key_scale_member(scale->seen[i], (unsigned)rank));
    }
    *out = (struct value){scale->type, arena_copy(arena, buf_span(&text))};
    return !text.failed && !arena->failed && out->bytes.size > 0;
}
