#include "core/item/secret_clues.h"

#include <stddef.h>

#include "core/base/ascii.h"

enum { LONGEST_NAME = 255 };

/* A name's letters and digits in lower case, and the beginnings of its words: "apiKeys" is
 * "apikeys" with words at 0 and 3. */
struct name_words {
    char text[LONGEST_NAME + 1];
    bool begins[LONGEST_NAME + 1]; /* beside TEXT; the end of the text counts as a beginning */
    size_t size;
};

/* A word for a secret; and the words behind it, and before it, by which a name is no secret's. A
 * list ends in NULL; a '*' ends the beginning of a word. */
struct secret_word {
    const char *word;
    const char *const *behind;
    const char *const *before;
    bool whole; /* it counts as a whole word only */
};

/* Longer names are cut. */
static void secret_clues_read_name(struct span name, struct name_words *out)
{
    bool begins = true;
    out->size = 0;
    for (size_t i = 0; i < name.size && out->size < LONGEST_NAME; i++) {
        char c = name.data[i], before = i > 0 ? name.data[i - 1] : '_';
        char after = i + 1 < name.size ? name.data[i + 1] : '_';
        if (!ascii_is_upper(c) && !ascii_is_lower(c) && !ascii_is_digit(c)) {
            begins = true;
            continue;
        }
        begins = begins ||
                 (ascii_is_upper(c) && (!ascii_is_upper(before) || ascii_is_lower(after))) ||
                 ascii_is_digit(c) != ascii_is_digit(before);
        out->begins[out->size] = begins;
        out->text[out->size++] = ascii_is_upper(c) ? (char)(c - 'A' + 'a') : c;
        begins = false;
    }
    out->text[out->size] = '\0';
    out->begins[out->size] = true;
}

/* The end of the plural of the word that ends at END; END if it has no plural. */
static size_t secret_clues_plural_end(const struct name_words *name, size_t end)
{
    return name->text[end] == 's' && name->begins[end + 1] ? end + 1 : end;
}

/* Whether one of WORDS is at AT: whole, in the plural, or as a beginning. */
static bool secret_clues_word_at(const struct name_words *name, size_t at, const char *const *words)
{
    for (; words && *words; words++) {
        size_t size = strcspn(*words, "*");
        if (strncmp(name->text + at, *words, size) != 0)
            continue;
        if ((*words)[size] || name->begins[secret_clues_plural_end(name, at + size)])
            return true;
    }
    return false;
}

/* Whether one of WORDS ends at END. */
static bool secret_clues_word_before(const struct name_words *name, size_t end,
                                     const char *const *words)
{
    for (; words && *words; words++) {
        size_t size = strlen(*words);
        if (size <= end && strncmp(name->text + end - size, *words, size) == 0)
            return true;
    }
    return false;
}

/* Whether the secret's word at AT is the secret itself, rather than a part of the name of something
 * about it. */
static bool secret_clues_is_secret_at(const struct name_words *name, size_t at,
                                      const struct secret_word *secret)
{
    /* "secretary", "tokenized", "passwordless" */
    static const char *const other_words[] = {"ary*", "ari*", "iz*", "is*", "less*", NULL};
    size_t end = secret_clues_plural_end(name, at + strlen(secret->word));
    if (secret->whole && !(name->begins[at] && name->begins[end]))
        return false;
    if (!name->begins[end] && secret_clues_word_at(name, end, other_words))
        return false;
    bool about = name->text[end] && secret_clues_word_at(name, end, secret->behind);
    return !about && !secret_clues_word_before(name, at, secret->before);
}

/* "secretNameAndPassword" needs no rule of its own: each secret's word is looked at alone. */
bool secret_clue_in_name(struct span name)
{
    static const char *const of_token[] = {"count", "type", "id",     "expir*", "limit",
                                           "usage", "used", "budget", NULL};
    static const char *const before_token[] = {"next",         "page", "pagination",
                                               "continuation", "max",  NULL};
    static const char *const of_secret[] = {"name", "arn", NULL};
    static const char *const of_password[] = {"chang*",     "updat*", "expir*", "lastchang*",
                                              "lastupdat*", "policy", NULL};
    static const char *const of_key[] = {"id", "expir*", NULL};
    static const struct secret_word words[] = {
        {"token", of_token, before_token, false},
        {"secret", of_secret, NULL, false},
        {"password", of_password, NULL, false},
        {"passwd", of_password, NULL, false},
        {"passwort", of_password, NULL, false},
        {"passphrase", NULL, NULL, false},
        {"passcode", NULL, NULL, false},
        {"credential", of_key, NULL, false},
        {"apikey", of_key, NULL, false},
        {"accesskey", of_key, NULL, false},
        {"privatekey", of_key, NULL, false},
        {"signingkey", of_key, NULL, false},
        {"encryptionkey", of_key, NULL, false},
        {"sessionkey", of_key, NULL, false},
        {"authkey", of_key, NULL, false},
        {"masterkey", of_key, NULL, false},
        {"licensekey", of_key, NULL, false},
        {"webhookkey", of_key, NULL, false},
        {"clientkey", of_key, NULL, false},
        {"pwd", of_password, NULL, true},
        {"jwt", of_token, NULL, true},
    };
    struct name_words parsed;
    secret_clues_read_name(name, &parsed);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (const char *at = parsed.text; (at = strstr(at, words[i].word)); at++)
            if (secret_clues_is_secret_at(&parsed, (size_t)(at - parsed.text), &words[i]))
                return true;
    return false;
}

bool secret_clue_in_value(struct span value)
{
    static const struct {
        const char *begin;
        size_t least; /* bytes of the whole */
    } forms[] = {
        {"AKIA", 20},        {"ASIA", 20},   {"ghp_", 36},   {"gho_", 36},
        {"github_pat_", 40}, {"xoxb-", 20},  {"xoxp-", 20},  {"sk_live_", 20},
        {"rk_live_", 20},    {"shpat_", 10}, {"shpss_", 10}, {"glpat-", 20},
        {"AIza", 39},        {"$2a$", 59},   {"$2b$", 59},   {"$argon2", 20},
    };
    if (span_starts(value, SPAN_LITERAL("-----BEGIN ")))
        return memmem(value.data, value.size < 80 ? value.size : 80, "PRIVATE KEY", 11) != NULL;
    if (memchr(value.data, ' ', value.size))
        return false;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (value.size >= forms[i].least && span_starts(value, span_text(forms[i].begin)))
            return true;
    return false;
}
