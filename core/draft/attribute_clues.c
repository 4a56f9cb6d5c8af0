#include "core/draft/attribute_clues.h"

#include <stddef.h>

#include "core/base/ascii.h"

enum { LONGEST_WORD = 40, LONGEST_NAME = 255 };

bool clue_is_tag(struct span text)
{
    size_t letters = text.size;
    if (text.size < 1 || text.size > LONGEST_WORD || !ascii_is_upper(text.data[0]))
        return false;
    while (ascii_is_digit(text.data[letters - 1])) /* the first is a letter */
        letters--;
    if (text.size - letters > 2)
        return false;
    for (size_t i = 0; i < letters; i++) {
        bool joins = text.data[i] == '_' || text.data[i] == '-';
        if (!ascii_is_upper(text.data[i]) && !(joins && i + 1 < letters))
            return false;
    }
    return true;
}

bool clue_is_letter(struct span text)
{
    return text.size == 1 && ascii_is_letter(text.data[0]);
}

bool clue_is_word(struct span text)
{
    if (text.size > 2 && text.data[0] == '"' && text.data[text.size - 1] == '"')
        text = span_of(text.data + 1, text.size - 2);
    if (text.size < 2 || text.size > LONGEST_WORD)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool joins = (c == '_' || c == '-' || c == ' ') && i > 0 && i + 1 < text.size;
        if (!ascii_is_letter(c) && !joins)
            return false;
    }
    return true;
}

/* Whether TEXT begins like FORM, in which 0 is any digit. */
static bool clue_has_form(struct span text, const char *form)
{
    for (size_t i = 0; i < text.size && form[i]; i++)
        if (form[i] == '0' ? !ascii_is_digit(text.data[i]) : text.data[i] != form[i])
            return false;
    return true;
}

bool clue_is_date(struct span text)
{
    static const char form[] = "0000-00-00T00:00";
    if (text.size < 7 || text.size > 40 || text.size == 8 || text.size == 9)
        return false;
    if (text.data[0] != '1' && text.data[0] != '2')
        return false;
    if (text.size > 10 && text.data[10] == ' ')
        return clue_has_form(span_of(text.data, 10), form) &&
               clue_has_form(span_from(text, 11), "00:00");
    return clue_has_form(text, form);
}

bool clue_is_time(struct span text)
{
    if (text.size < 16 || !clue_is_date(text) || (text.data[10] != 'T' && text.data[10] != ' '))
        return false;
    for (size_t i = 11; i < text.size; i++)
        if (!ascii_is_digit(text.data[i]) && !strchr(":.+-Z", text.data[i]))
            return false;
    return true;
}

/* Writes NAME in lower case, without the characters that join words. Returns the length; a longer
 * name is cut. */
static size_t clue_simplify(struct span name, char out[LONGEST_NAME + 1])
{
    size_t size = 0;
    for (size_t i = 0; i < name.size && size < LONGEST_NAME; i++) {
        char c = name.data[i];
        if (c == '_' || c == '-' || c == '.' || c == ' ')
            continue;
        out[size++] = ascii_is_upper(c) ? (char)(c - 'A' + 'a') : c;
    }
    out[size] = '\0';
    return size;
}

bool clue_is_of_tag(struct span name, struct span tag)
{
    static const char *const endings[] = {"",     "id",    "key",  "no",   "number", "name",
                                          "code", "email", "date", "uuid", "domain", "slug"};
    char whole[LONGEST_NAME + 1], begin[LONGEST_NAME + 1];
    clue_simplify(name, whole);
    size_t size = clue_simplify(tag, begin);
    if (size == 0 || strncmp(whole, begin, size) != 0)
        return false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(whole + size, endings[i]) == 0)
            return true;
    return false;
}

/* Whether the simplified NAME is one of WORDS, or, with ANYWHERE, contains one. WORDS ends in NULL.
 */
static bool clue_has_one_of(struct span name, const char *const *words, bool anywhere)
{
    char simple[LONGEST_NAME + 1];
    clue_simplify(name, simple);
    for (; *words; words++)
        if (anywhere ? strstr(simple, *words) != NULL : strcmp(simple, *words) == 0)
            return true;
    return false;
}

bool clue_names_a_type(struct span name)
{
    static const char *const words[] = {"type",       "kind",       "entity",   "entitytype",
                                        "entityname", "recordtype", "itemtype", "objecttype",
                                        "typename",   "model",      "et",       "t",
                                        "edbe",       "datatype",   "class",    NULL};
    return clue_has_one_of(name, words, false);
}

enum clue_kind clue_of_kind(struct span name)
{
    static const char *const sure[] = {"entity",   "entitytype", "entityname", "recordtype",
                                       "typename", "edbe",       "et",         NULL};
    if (!clue_names_a_type(name))
        return KIND_NOT_NAMED;
    return name.data[0] == '_' || clue_has_one_of(name, sure, false) ? KIND_IS_NAMED
                                                                     : KIND_MAY_BE_NAMED;
}

bool clue_is_generic_key(struct span name)
{
    static const char *const words[] = {
        "pk",           "sk",         "hk",        "rk",       "hash",
        "range",        "sort",       "hashkey",   "rangekey", "sortkey",
        "partitionkey", "primarykey", "partition", "data",     NULL};
    char simple[LONGEST_NAME + 1];
    size_t size = clue_simplify(name, simple);
    while (size > 0 && ascii_is_digit(simple[size - 1]))
        simple[--size] = '\0';
    bool key =
        size >= 2 && (strcmp(simple + size - 2, "pk") == 0 || strcmp(simple + size - 2, "sk") == 0);
    bool numbered = size > 2 && ascii_is_digit(simple[size - 3]);
    bool of_index = strncmp(simple, "gsi", 3) == 0 || strncmp(simple, "lsi", 3) == 0;
    return of_index || clue_has_one_of(span_of(simple, size), words, false) ||
           (key && (numbered || strncmp(simple, "index", 5) == 0));
}

/* Whether NAME is that of a date at which something ends: "ttl", "expires_at". */
static bool clue_names_an_end(struct span name)
{
    static const char *const words[] = {"ttl",  "expir", "expiry", "until", "validto", "deadline",
                                        "ends", "endat", "delete", "due",   "timeout", NULL};
    return clue_has_one_of(name, words, true);
}

bool clue_names_a_date(struct span name)
{
    static const char *const words[] = {
        "at",       "on",        "date",      "day",       "week",    "month",   "year",
        "time",     "timestamp", "datetime",  "when",      "ts",      "created", "updated",
        "modified", "createdat", "updatedat", "orderdate", "started", NULL};
    static const char *const no_dates[] = {"at", "on", NULL};
    if (clue_has_one_of(name, no_dates, false) || clue_names_an_end(name))
        return false;
    /* the last word, without numbers: "At" of "createdAt", "date" of "order_date_2" */
    while (name.size > 0 &&
           (ascii_is_digit(name.data[name.size - 1]) || name.data[name.size - 1] == '_'))
        name.size--;
    size_t from = name.size;
    while (from > 0 && ascii_is_lower(name.data[from - 1]))
        from--;
    if (from > 0 && from < name.size && ascii_is_upper(name.data[from - 1]))
        from--;
    return clue_has_one_of(span_from(name, from), words, false);
}

enum clue_dating clue_dating(struct span name)
{
    static const char *const changes[] = {"updated",    "modified", "changed",  "lastwrite",
                                          "lastsaved",  "lastedit", "updateat", "updatetime",
                                          "updatedate", NULL};
    static const char *const creations[] = {"created",      "inserted", "creationdate",
                                            "creationtime", "createat", "createtime",
                                            "createdate",   "addedat",  NULL};
    static const char *const others[] = {"date", "time", "stamp", "when", NULL};
    char simple[LONGEST_NAME + 1];
    size_t size = clue_simplify(name, simple);
    if (clue_names_an_end(name))
        return DATES_NOTHING;
    if (clue_has_one_of(name, changes, true))
        return DATES_CHANGE;
    if (clue_has_one_of(name, creations, true))
        return DATES_CREATION;
    bool ends =
        size > 2 && (strcmp(simple + size - 2, "at") == 0 || strcmp(simple + size - 2, "on") == 0);
    return ends || clue_has_one_of(name, others, true) ? DATES_SOMETHING : DATES_NOTHING;
}
