#include "fs/cli/sql_completion.h"

#include <strings.h>

#include "core/base/ascii.h"
#include "fs/cli/sql_text.h"

static const char *const sql_completion_keywords[] = {
    "all",       "and",       "as",         "asc",           "avg(",
    "between",   "by",        "case",       "cast(",         "count(",
    "coalesce(", "cross",     "date(",      "datetime(",     "desc",
    "distinct",  "else",      "end",        "escape",        "except",
    "exists",    "from",      "glob",       "group",         "group_concat(",
    "having",    "in",        "inner",      "intersect",     "is",
    "item",      "join",      "json_each(", "json_extract(", "left",
    "length(",   "like",      "limit",      "lower(",        "max(",
    "min(",      "not",       "null",       "nulls",         "offset",
    "on",        "or",        "order",      "outer",         "over",
    "partition", "recursive", "replace(",   "round(",        "row_number(",
    "select",    "strftime(", "substr(",    "sum(",          "then",
    "total(",    "union",     "upper(",     "using",         "values",
    "when",      "where",     "with",
};
static const char *const sql_completion_commands[] = {".columns", ".explain", ".help", ".quit",
                                                      ".tables"};

struct sql_completion {
    struct sql_session *session;
    struct span text;  /* the statement up to the cursor */
    struct span word;  /* its last word, */
    struct span owner; /* of these, up to the last dot; or empty */
    bool any_table;
    struct buf *words;
};

static bool sql_completion_has(const struct buf *words, const char *word)
{
    for (size_t at = 0; at < words->size; at += strlen(words->data + at) + 1)
        if (strcmp(words->data + at, word) == 0)
            return true;
    return false;
}

/* Whether TYPED begins WORD, also in another case, or without its quotes. */
static bool sql_completion_begins(const char *word, struct span typed)
{
    for (size_t i = 0; i < typed.size; i++, word++) {
        word += *word == '"' && typed.data[i] != '"';
        if (strncasecmp(word, typed.data + i, 1) != 0)
            return false;
    }
    return true;
}

/* Adds WORD if the typed one begins it. */
static bool sql_completion_offer(struct sql_completion *completion, const char *word)
{
    struct span typed = completion->word;
    if (!sql_completion_begins(word, typed))
        return false;
    if (!sql_completion_has(completion->words, word))
        buf_add(completion->words, word, strlen(word) + 1);
    return true;
}

static void sql_completion_add_table(void *arg, const char *name)
{
    struct sql_completion *completion = arg;
    completion->any_table |= sql_completion_offer(completion, name);
}

static void sql_completion_add_column(void *arg, const char *name)
{
    struct sql_completion *completion = arg;
    CLEAN_UP(buf_clean_up) struct buf word = {0};
    buf_add_span(&word, completion->owner);
    buf_add_text(&word, name);
    if (!word.failed)
        sql_completion_offer(completion, buf_text(&word));
}

static bool sql_completion_names(struct span text, const char *table)
{
    size_t size = strlen(table);
    for (size_t at = 0; at + size <= text.size; at++)
        if (strncasecmp(text.data + at, table, size) == 0)
            return true;
    return false;
}

static void sql_completion_add_columns_of(void *arg, const char *table)
{
    struct sql_completion *completion = arg;
    if (sql_completion_names(completion->text, table))
        sql_session_each_column(completion->session, table, sql_completion_add_column, completion);
}

/* Keywords are written as the word begins: in capitals or not. */
static void sql_completion_add_keyword(struct sql_completion *completion, const char *keyword)
{
    CLEAN_UP(buf_clean_up) struct buf word = {0};
    bool capitals = completion->word.size > 0 && completion->word.data[0] >= 'A' &&
                    completion->word.data[0] <= 'Z';
    for (const char *at = keyword; *at; at++)
        buf_add_char(&word, capitals && ascii_is_lower(*at) ? (char)(*at - 'a' + 'A') : *at);
    if (!word.failed)
        sql_completion_offer(completion, buf_text(&word));
}

static void sql_completion_add_all(struct sql_completion *completion)
{
    sql_session_each_table(completion->session, sql_completion_add_table, completion);
    for (size_t i = completion->word.size; i > 0 && completion->owner.size == 0; i--)
        if (completion->word.data[i - 1] == '.')
            completion->owner = span_of(completion->word.data, i);
    if (completion->owner.size == 0 || !completion->any_table)
        sql_session_each_table(completion->session, sql_completion_add_columns_of, completion);
    size_t count = sizeof sql_completion_keywords / sizeof sql_completion_keywords[0];
    for (size_t i = 0; i < count && completion->word.size > 0 && completion->owner.size == 0; i++)
        sql_completion_add_keyword(completion, sql_completion_keywords[i]);
}

size_t sql_completion_find(struct sql_session *session, struct span before, struct span typed,
                           struct buf *words)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_span(&text, before);
    buf_add_span(&text, typed);
    if (text.failed)
        return 0;
    struct sql_text scan = sql_text_scan(buf_span(&text));
    struct sql_completion completion = {.session = session,
                                        .text = buf_span(&text),
                                        .word = span_from(buf_span(&text), scan.word),
                                        .words = words};
    bool is_command = before.size == 0 && typed.size > 0 && typed.data[0] == '.';
    if (scan.is_in_string)
        return 0;
    if (is_command && completion.word.size == typed.size) {
        size_t count = sizeof sql_completion_commands / sizeof sql_completion_commands[0];
        for (size_t i = 0; i < count; i++)
            sql_completion_offer(&completion, sql_completion_commands[i]);
    } else {
        sql_completion_add_all(&completion);
    }
    return completion.word.size;
}
