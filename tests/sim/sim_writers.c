/* The writers of a life: its tables, their first items, and each later change are drawn here. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim_history.h"
#include "tests/sim/sim_life.h"
#include "tests/sim/sim_text.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"

enum { SIM_MOST_TABLES = 5, SIM_MOST_ATTRIBUTES = 64, SIM_KEY_LIMIT = 1024 };

/* The forms of a part's values. */
enum sim_style {
    SIM_STYLE_PLATFORM,
    SIM_STYLE_STATUS,
    SIM_STYLE_TIME,
    SIM_STYLE_DATE,
    SIM_STYLE_ID,
    SIM_STYLE_DIGITS,
    SIM_STYLE_WORD,
    SIM_STYLE_DOMAIN,
    SIM_STYLE_SHOP, /* an account and an index */
    SIM_STYLE_OPEN  /* may hold the separator */
};

/* The parts of all kinds. Values are drawn from the first POOL ones, so that items share some. */
static const struct sim_part {
    const char *name;
    enum sim_style style;
    uint32_t pool;
} sim_parts[] = {
    {"platform", SIM_STYLE_PLATFORM, 3}, {"shop_id", SIM_STYLE_SHOP, 6},
    {"created_at", SIM_STYLE_TIME, 120}, {"job_id", SIM_STYLE_ID, 100000},
    {"status", SIM_STYLE_STATUS, 5},     {"account", SIM_STYLE_WORD, 4},
    {"index_name", SIM_STYLE_WORD, 25},  {"profile", SIM_STYLE_WORD, 8},
    {"query", SIM_STYLE_OPEN, 60},       {"shopify_domain", SIM_STYLE_DOMAIN, 6},
    {"user_id", SIM_STYLE_DIGITS, 40},   {"user", SIM_STYLE_WORD, 8},
    {"date", SIM_STYLE_DATE, 30},        {"order", SIM_STYLE_ID, 100000},
    {"product", SIM_STYLE_WORD, 40},
};
enum { SIM_PARTS = sizeof sim_parts / sizeof *sim_parts };
_Static_assert((int)SIM_PARTS <= (int)SIM_MOST_PARTS, "an item has a number for each part");

static const struct sim_kind sim_job_kinds[] = {
    {"job",
     {{"pk", "PLATFORM#{platform}#SHOP#{shop_id}"},
      {"sk", "JOB#{created_at}#{job_id}"},
      {"job_id", "{job_id}"},
      {"created_at", "{created_at}"},
      {"shop_id", "{shop_id}"},
      {"status_created_at", "{status}#{created_at}"}}},
};
static const struct sim_kind sim_setting_kinds[] = {
    {"index",
     {{"pk", "{account}"},
      {"sk", "INDEX#{index_name}"},
      {"index_name", "{index_name}"},
      {"shopify_domain", "{shopify_domain}"}}},
    {"defaults", {{"pk", "{account}"}, {"sk", "INDEX#DEFAULT_CONFIGS"}}},
    {"profile",
     {{"pk", "{account}"},
      {"sk", "INDEX#{index_name}#PROFILE#SEARCH#{profile}"},
      {"shopify_domain", "{shopify_domain}"}}},
    {"query", {{"pk", "{account}"}, {"sk", "INDEX#{index_name}#QUERY#{query*}"}}},
    {"agentic", {{"pk", "{account}"}, {"sk", "INDEX#{index_name}#AGENTIC_CONFIG"}}},
};
static const struct sim_kind sim_shop_kinds[] = {
    {"session", {{"pk", "SHOP#{shopify_domain}"}, {"sk", "USER#{user_id}"}}},
    {"api_key", {{"pk", "SHOP#{shopify_domain}"}, {"sk", "API_KEY"}}},
    {"settings",
     {{"pk", "SHOP#{shopify_domain}"}, {"sk", "SETTINGS"}, {"system_account_id", "{account}"}}},
};
static const struct sim_kind sim_single_kinds[] = {
    {"user", {{"PK", "USER#{user}"}, {"SK", "PROFILE"}}},
    {"order",
     {{"PK", "USER#{user}"},
      {"SK", "ORDER#{date}#{order}"},
      {"GSI1PK", "STATUS#{status}"},
      {"GSI1SK", "{date}#{order}"}}},
    {"product",
     {{"PK", "PRODUCT#{product}"}, {"SK", "META"}, {"GSI1PK", "CATALOG"}, {"GSI1SK", "{product}"}}},
};

/* What the writers of one table do. */
static struct sim_writer {
    struct sim_table *table;
    unsigned hostile; /* per mille of values */
    unsigned large;   /* per mille of attributes with some kilobytes */
    unsigned strays;  /* per mille of items */
    unsigned sparse;  /* per mille of key attributes of indexes that are left out */
    uint32_t plain_hash, plain_range, plain_index; /* sizes of pools of plain keys */
    struct sim_item **items;
    size_t item_count, item_room;
} sim_writers[SIM_MOST_TABLES];
static unsigned sim_writer_count;

/* Words that are awkward as names of files, in paths, in URLs, in expressions. None has "#". */
static const struct {
    const char *bytes;
    size_t size;
} sim_words[] = {
#define SIM_WORD(text)                                                                             \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
    SIM_WORD("."),
    SIM_WORD(".."),
    SIM_WORD("a/b"),
    SIM_WORD("/"),
    SIM_WORD("%"),
    SIM_WORD("%41"),
    SIM_WORD("%2F"),
    SIM_WORD(".hidden"),
    SIM_WORD("a b"),
    SIM_WORD(" "),
    SIM_WORD("tab\there"),
    SIM_WORD("line\nend"),
    SIM_WORD("\x01"),
    SIM_WORD("a\0b"),
    SIM_WORD("\0"),
    SIM_WORD("\x7f"),
    SIM_WORD("größe"),
    SIM_WORD("日本語"),
    SIM_WORD("e\xCC\x81"),
    SIM_WORD("😀"),
    SIM_WORD("A"),
    SIM_WORD("a"),
    SIM_WORD("x@jsonl"),
    SIM_WORD("x@"),
    SIM_WORD("@count"),
    SIM_WORD("README"),
    SIM_WORD("latest"),
    SIM_WORD("{job_id}"),
    SIM_WORD("-"),
    SIM_WORD("--help"),
    SIM_WORD("*"),
    SIM_WORD("?"),
    SIM_WORD("a.d"),
    SIM_WORD("x.json"),
    SIM_WORD("\"quoted\""),
    SIM_WORD("back\\slash"),
    SIM_WORD("'"),
    SIM_WORD("$HOME"),
    SIM_WORD("a,b"),
    SIM_WORD("a;b"),
    SIM_WORD("~"),
    SIM_WORD("x%~1"),
    SIM_WORD("\xE2\x80\xA8"),
    SIM_WORD("\xEF\xBB\xBF"),
    SIM_WORD(".git"),
    SIM_WORD("CON"),
    SIM_WORD("base64:AAAA"),
    SIM_WORD("1e2"),
    SIM_WORD("a..b"),
    SIM_WORD("<b>&"),
    SIM_WORD("null"),
    SIM_WORD("0"),
    SIM_WORD("DEFAULT_CONFIGS"),
    SIM_WORD("trailing."),
    SIM_WORD("x@/y"),
    SIM_WORD("\xF4\x8F\xBF\xBF"),
    SIM_WORD("\xED\x9F\xBF"),
    SIM_WORD("\xC2\x85"),
#undef SIM_WORD
};

static void sim_draw_hostile(struct sim_dice *dice, struct sim_text *out)
{
    unsigned which = sim_dice_below(dice, sizeof sim_words / sizeof *sim_words + 4);
    if (which < sizeof sim_words / sizeof *sim_words) {
        sim_text_add(out, sim_words[which].bytes, sim_words[which].size);
        return;
    }
    /* Names of about the 255 bytes that a file system allows, and longer ones. */
    size_t size = (size_t)sim_dice_between(dice, 240, sim_dice_chance(dice, 500) ? 262 : 400);
    const char *piece = sim_dice_chance(dice, 500) ? "long-" : "ü/";
    while (out->size < size)
        sim_text_puts(out, piece);
    sim_text_printf(out, "%u", sim_dice_below(dice, 3));
}

static void sim_draw_word(struct sim_dice *dice, unsigned hostile, struct sim_text *out)
{
    static const char *const heads[] = {"alpha", "shopify", "kl7a9h55", "products", "Blue",
                                        "eu",    "v2",      "archive",  "x",        "ZZ"};
    if (sim_dice_chance(dice, hostile)) {
        sim_draw_hostile(dice, out);
        return;
    }
    sim_text_puts(out, heads[sim_dice_below(dice, sizeof heads / sizeof *heads)]);
    if (!sim_dice_chance(dice, 700))
        return;
    /* Compilers differ in the order of arguments. */
    unsigned number = sim_dice_below(dice, 100);
    sim_text_printf(out, "%c%u", "-_.:"[sim_dice_below(dice, 4)], number);
}

static void sim_draw_time(struct sim_dice *dice, struct sim_text *out)
{
    unsigned second = sim_dice_below(dice, 60), minute = sim_dice_below(dice, 60);
    unsigned hour = sim_dice_below(dice, 24), day = 1 + sim_dice_below(dice, 28);
    unsigned month = 1 + sim_dice_below(dice, 12);
    sim_text_printf(out, "2026-%02u-%02uT%02u:%02u:%02u", month, day, hour, minute, second);
    if (sim_dice_chance(dice, 700))
        sim_text_printf(out, ".%03u", sim_dice_below(dice, 1000));
    sim_text_puts(out, "Z");
}

static unsigned sim_part_find(const char *name, size_t size)
{
    for (unsigned i = 0; i < SIM_PARTS; i++) {
        if (strlen(sim_parts[i].name) == size && memcmp(sim_parts[i].name, name, size) == 0)
            return i;
    }
    sim_broken("no part is called %.*s", (int)size, name);
}

/* Appends value NUMBER of the part: always the same in one life, in each table. */
static void sim_part_write(unsigned part, uint32_t number, struct sim_text *out)
{
    static const char *const platforms[] = {"shopify", "ecom", "magento"};
    static const char *const states[] = {"PENDING", "IN_PROGRESS", "COMPLETED", "FAILED", "DONE"};
    const struct sim_part *of = &sim_parts[part];
    struct sim_dice dice = sim_dice_for(of->name, number);
    switch (of->style) {
    case SIM_STYLE_PLATFORM:
        sim_text_puts(out, platforms[number % 3]);
        return;
    case SIM_STYLE_STATUS:
        sim_text_puts(out, states[number % 5]);
        return;
    case SIM_STYLE_TIME:
        sim_draw_time(&dice, out);
        return;
    case SIM_STYLE_DATE:
        sim_text_printf(out, "2026-%02u-%02u", 1 + number / 15 % 12, 1 + number % 15);
        return;
    case SIM_STYLE_ID:
        if (sim_dice_chance(&dice, 60))
            sim_draw_hostile(&dice, out);
        else
            sim_text_printf(out, "%08x", (unsigned)sim_dice_draw(&dice));
        return;
    case SIM_STYLE_DIGITS:
        sim_text_printf(out, "%u", 1000 + number * 37);
        return;
    case SIM_STYLE_WORD:
        sim_draw_word(&dice, 200, out);
        return;
    case SIM_STYLE_DOMAIN:
        sim_draw_word(&dice, 100, out);
        if (sim_dice_chance(&dice, 850))
            sim_text_puts(out, ".myshopify.com");
        return;
    case SIM_STYLE_SHOP:
        sim_part_write(sim_part_find("account", 7), number % 4, out);
        sim_text_puts(out, "-");
        sim_part_write(sim_part_find("index_name", 10), number, out);
        return;
    case SIM_STYLE_OPEN:
        sim_draw_word(&dice, 200, out);
        for (unsigned i = sim_dice_below(&dice, 3); i; i--) {
            sim_text_puts(out, "#");
            sim_draw_word(&dice, 0, out);
        }
        return;
    }
}

/* Appends FORMAT with the item's parts in it. */
static void sim_format_write(const char *format, const uint32_t *parts, struct sim_text *out)
{
    while (*format) {
        size_t plain = strcspn(format, "{");
        sim_text_add(out, format, plain);
        format += plain;
        if (!*format)
            return;
        size_t size = strcspn(++format, "*}");
        unsigned part = sim_part_find(format, size);
        sim_part_write(part, parts[part], out);
        format = strchr(format, '}') + 1;
    }
}

static bool sim_format_has(const char *format, const char *part)
{
    char with[64];
    snprintf(with, sizeof with, "{%s}", part);
    if (strstr(format, with))
        return true;
    snprintf(with, sizeof with, "{%s*}", part);
    return strstr(format, with) != NULL;
}

static void sim_draw_number(struct sim_dice *dice, struct sim_text *out)
{
    static const char *const odd[] = {
        "0",
        "-0",
        "1",
        "-1",
        "1E+2",
        "1e-7",
        "9007199254740993",
        "12345678901234567890123456789012345678",
        "-99999999999999999999999999999999999999",
        "0.1",
        "-0.00000000000000000000000000000000000001",
        "1E125",
        "9.9999999999999999999999999999999999999E+125",
        "1E-130",
        "-1E-130",
        "100.500",
        "3.14159265358979323846264338327950288",
        "1767225600",
        "1767225600000",
        "0.5",
        "00012",
        "+7",
    };
    struct sim_text text = {0};
    if (sim_dice_chance(dice, 300)) {
        sim_text_puts(&text, odd[sim_dice_below(dice, sizeof odd / sizeof *odd)]);
    } else {
        unsigned number = sim_dice_below(dice, sim_dice_chance(dice, 500) ? 20 : 1000000);
        sim_text_printf(&text, "%s%u", sim_dice_chance(dice, 150) ? "-" : "", number);
    }
    if (!sim_number_write(out, text.bytes, text.size))
        sim_broken("a drawn number is wrong: %s", text.bytes);
    sim_text_free(&text);
}

static void sim_draw_bytes(struct sim_dice *dice, size_t most, struct sim_text *out)
{
    size_t size = (size_t)sim_dice_between(dice, 1, (int64_t)most);
    bool is_text = sim_dice_chance(dice, 300);
    for (size_t i = 0; i < size; i++) {
        char c = is_text ? (char)('a' + sim_dice_below(dice, 26)) : (char)sim_dice_draw(dice);
        sim_text_add(out, &c, 1);
    }
}

static struct sim_value sim_value_of_text(enum sim_type type, struct sim_text *text)
{
    sim_text_add(text, "", 0);
    return (struct sim_value){.type = type, .bytes = text->bytes, .size = text->size};
}

/* Value NUMBER of a plain key attribute. */
static struct sim_value sim_draw_plain(const struct sim_writer *writer, const char *attribute,
                                       enum sim_type type, uint32_t number)
{
    char purpose[300];
    struct sim_text text = {0};
    snprintf(purpose, sizeof purpose, "plain %s %s", writer->table->name, attribute);
    struct sim_dice dice = sim_dice_for(purpose, number);
    if (type == SIM_N)
        sim_draw_number(&dice, &text);
    else if (type == SIM_B)
        sim_draw_bytes(&dice, sim_dice_chance(&dice, 50) ? 300 : 12, &text);
    else if (sim_dice_chance(&dice, 500))
        sim_draw_word(&dice, writer->hostile, &text);
    else
        sim_text_printf(&text, "%s%u", sim_dice_chance(&dice, 500) ? "id-" : "", number);
    return sim_value_of_text(type, &text);
}

static struct sim_value sim_draw_value(const struct sim_writer *writer, struct sim_dice *dice,
                                       unsigned depth);

static void sim_draw_text(const struct sim_writer *writer, struct sim_dice *dice,
                          struct sim_text *out)
{
    if (sim_dice_chance(dice, 80))
        return; /* empty */
    if (sim_dice_chance(dice, writer->large)) {
        size_t most = sim_dice_chance(dice, writer->large > 100 ? 90 : 30) ? 300000 : 12000;
        size_t size = (size_t)sim_dice_between(dice, 1000, (int64_t)most);
        while (out->size < size)
            sim_text_printf(out, "%x %s", (unsigned)sim_dice_draw(dice),
                            "the text is long\t\"and\" has ünïcödé; ");
        return;
    }
    sim_draw_word(dice, writer->hostile, out);
    for (unsigned i = sim_dice_below(dice, 6); i; i--) {
        sim_text_puts(out, " ");
        sim_draw_word(dice, 0, out);
    }
}

/* Whether the last of COUNT members is like another one. */
static bool sim_members_repeat(const struct sim_attribute *members, size_t count)
{
    const struct sim_attribute *last = &members[count - 1];
    for (size_t i = 0; i + 1 < count; i++) {
        if (last->name ? strcmp(members[i].name, last->name) == 0
                       : sim_value_equal(&members[i].value, &last->value))
            return true;
    }
    return false;
}

static void sim_draw_name(struct sim_dice *dice, struct sim_text *out)
{
    static const char *const names[] = {
        "title", "name",  "status",   "size", "date", "a.b",       "x-y", "two words", "größe",
        ":c",    "@info", ".leading", "%",    "a/b",  "\"q\"",     "[0]", "source",    "tags",
        "NAME",  "Name",  "data",     "note", "\x02", "last_seen", "v1",  "count",     "'eta.days'",
    };
    unsigned which = sim_dice_below(dice, sizeof names / sizeof *names + 1);
    if (which < sizeof names / sizeof *names) {
        sim_text_puts(out, names[which]);
        return;
    }
    while (out->size < 260)
        sim_text_puts(out, "long_name_");
}

static struct sim_value sim_draw_members(const struct sim_writer *writer, struct sim_dice *dice,
                                         enum sim_type type, unsigned depth)
{
    struct sim_value value = {.type = type};
    /* Deep values are narrow. */
    size_t count = depth > 2 ? 1 : sim_dice_below(dice, 5) + (type >= SIM_SS);
    value.members = sim_alloc((count + 1) * sizeof *value.members);
    for (size_t i = 0; i < count; i++) {
        struct sim_attribute *member = &value.members[value.member_count];
        struct sim_text text = {0}, name = {0};
        if (type == SIM_M)
            sim_draw_name(dice, &name);
        if (type == SIM_NS)
            sim_draw_number(dice, &text);
        else if (type == SIM_BS)
            sim_draw_bytes(dice, 20, &text);
        else if (type == SIM_SS)
            sim_draw_word(dice, writer->hostile, &text);
        *member = (struct sim_attribute){
            .name = name.bytes,
            .value = type >= SIM_SS ? sim_value_of_text((enum sim_type)(type - SIM_SS), &text)
                                    : sim_draw_value(writer, dice, depth + 1)};
        if (!sim_members_repeat(value.members, ++value.member_count))
            continue;
        value.member_count--;
        sim_free(member->name);
        sim_value_free(&member->value);
    }
    return value;
}

static struct sim_value sim_draw_value(const struct sim_writer *writer, struct sim_dice *dice,
                                       unsigned depth)
{
    static const enum sim_type types[] = {SIM_S, SIM_S,  SIM_S,  SIM_S,    SIM_N,
                                          SIM_N, SIM_B,  SIM_B,  SIM_BOOL, SIM_M,
                                          SIM_L, SIM_SS, SIM_NS, SIM_BS,   SIM_NULL};
    struct sim_text text = {0};
    enum sim_type type = types[sim_dice_below(dice, sizeof types / sizeof *types)];
    if (depth > 0 && depth < 25 && sim_dice_chance(dice, depth > 3 ? 900 : 20))
        type = sim_dice_chance(dice, 500) ? SIM_M : SIM_L; /* rarely deep */
    else if (depth > 3)
        type = SIM_S;
    if (type == SIM_S)
        sim_draw_text(writer, dice, &text);
    else if (type == SIM_N)
        sim_draw_number(dice, &text);
    else if (type == SIM_B && !sim_dice_chance(dice, 100))
        sim_draw_bytes(dice, 40, &text);
    else if (type == SIM_BOOL)
        sim_text_puts(&text, sim_dice_chance(dice, 500) ? "true" : "false");
    if (type < SIM_M)
        return sim_value_of_text(type, &text);
    return sim_draw_members(writer, dice, type, depth);
}

/* The attributes of an item while it is made. */
struct sim_draft {
    struct sim_attribute attributes[SIM_MOST_ATTRIBUTES];
    size_t count;
};

static struct sim_attribute *sim_draft_find(struct sim_draft *draft, const char *name)
{
    for (size_t i = 0; i < draft->count; i++) {
        if (strcmp(draft->attributes[i].name, name) == 0)
            return &draft->attributes[i];
    }
    return NULL;
}

/* Takes VALUE; replaces what is there. */
static void sim_draft_set(struct sim_draft *draft, const char *name, struct sim_value value)
{
    struct sim_attribute *at = sim_draft_find(draft, name);
    if (at) {
        sim_value_free(&at->value);
        at->value = value;
    } else if (draft->count < SIM_MOST_ATTRIBUTES) {
        draft->attributes[draft->count++] =
            (struct sim_attribute){.name = sim_copy(name), .value = value};
    } else {
        sim_value_free(&value);
    }
}

static void sim_draft_remove(struct sim_draft *draft, const char *name)
{
    struct sim_attribute *at = sim_draft_find(draft, name);
    if (!at)
        return;
    sim_free(at->name);
    sim_value_free(&at->value);
    *at = draft->attributes[--draft->count];
}

static void sim_draft_set_text(struct sim_draft *draft, const char *name, const char *text)
{
    struct sim_text copy = {0};
    sim_text_puts(&copy, text);
    sim_draft_set(draft, name, sim_value_of_text(SIM_S, &copy));
}

static void sim_draft_set_part(struct sim_draft *draft, const char *name, const char *part,
                               const uint32_t *parts)
{
    struct sim_text text = {0};
    unsigned number = sim_part_find(part, strlen(part));
    sim_part_write(number, parts[number], &text);
    sim_draft_set(draft, name, sim_value_of_text(SIM_S, &text));
}

static bool sim_schema_has(const struct sim_key_schema *key, const char *name)
{
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        if (strcmp(key->names[i], name) == 0)
            return true;
    }
    return false;
}

static bool sim_table_has_key(const struct sim_table *table, const char *name)
{
    bool found = sim_schema_has(&table->key, name);
    for (unsigned i = 0; !found && i < table->index_count; i++)
        found = sim_schema_has(&table->indexes[i].key, name);
    return found;
}

/* An attribute that any item may have. */
static void sim_draft_draw_one(const struct sim_writer *writer, struct sim_dice *dice,
                               struct sim_draft *draft)
{
    struct sim_text name = {0};
    sim_draw_name(dice, &name);
    if (!sim_table_has_key(writer->table, name.bytes))
        sim_draft_set(draft, name.bytes, sim_draw_value(writer, dice, 0));
    sim_text_free(&name);
}

/* What the first user's items have besides keys. */
static void sim_draft_add_usual(const struct sim_writer *writer, struct sim_dice *dice,
                                const struct sim_kind *kind, const uint32_t *parts,
                                struct sim_draft *draft)
{
    struct sim_text time = {0};
    sim_draw_time(dice, &time);
    enum sim_shape shape = writer->table->shape;
    if (shape == SIM_SHAPE_JOBS) {
        sim_draft_set_part(draft, "platform", "platform", parts);
        if (sim_dice_chance(dice, 900))
            sim_draft_set_part(draft, "status", "status", parts);
        sim_draft_set_part(draft, "system_account_id", "account", parts);
        sim_draft_set_part(draft, "index_name", "index_name", parts);
    } else if (shape == SIM_SHAPE_SETTINGS && sim_dice_chance(dice, 900)) {
        sim_draft_set_text(draft, "updated_at", time.bytes);
    } else if (shape == SIM_SHAPE_SHOPS) {
        bool is_session = strcmp(kind->name, "session") == 0;
        sim_draft_set_text(draft, "entity_type",
                           is_session                           ? "SESSION"
                           : strcmp(kind->name, "api_key") == 0 ? "API_KEY"
                                                                : "SETTINGS");
        if (is_session || sim_dice_chance(dice, 300))
            sim_draft_set_text(draft, "last_updated", time.bytes);
        if (is_session && sim_dice_chance(dice, 950))
            sim_draft_set_text(draft, "access_token",
                               sim_dice_chance(dice, 100) ? "" : "shpat_0af");
        if (strcmp(kind->name, "api_key") == 0)
            sim_draft_set_text(draft, "api_key", "key-of-the-shop");
        if (strcmp(kind->name, "settings") == 0)
            sim_draft_set_part(draft, "active_index", "index_name", parts);
    }
    sim_text_free(&time);
}

static void sim_draft_add_expiry(const struct sim_writer *writer, struct sim_dice *dice,
                                 struct sim_draft *draft)
{
    struct sim_text text = {0};
    if (!writer->table->has_ttl || !sim_dice_chance(dice, 600))
        return;
    /* Some expire during the life; an item may be there long after its time. */
    int64_t from = sim_dice_chance(dice, 300) ? 600 : 30 * 86400;
    int64_t at = sim_service_wall_ms() / 1000 + sim_dice_between(dice, -600, from);
    sim_text_printf(&text, "%lld", (long long)at);
    sim_draft_set(draft, writer->table->ttl_attribute, sim_value_of_text(SIM_N, &text));
}

/* Sets the key attribute NAME of the table or of an index for an item of KIND; some items have no
 * such attribute of an index. */
static void sim_draft_set_key(const struct sim_writer *writer, struct sim_dice *dice,
                              const struct sim_kind *kind, const uint32_t *parts, const char *name,
                              enum sim_type type, uint32_t pool, struct sim_draft *draft)
{
    bool is_own = sim_schema_has(&writer->table->key, name);
    const char *format = NULL;
    for (unsigned i = 0; kind && kind->formats[i].attribute; i++) {
        if (strcmp(kind->formats[i].attribute, name) == 0)
            format = kind->formats[i].format;
    }
    if (!is_own && ((kind && !format) || sim_dice_chance(dice, writer->sparse))) {
        sim_draft_remove(draft, name);
        return;
    }
    if (!kind) {
        bool is_first = pool <= 12 && sim_dice_chance(dice, 400);
        uint32_t number = is_first ? 0 : sim_dice_below(dice, pool);
        sim_draft_set(draft, name, sim_draw_plain(writer, name, type, number));
        return;
    }
    struct sim_text text = {0};
    sim_format_write(format, parts, &text);
    if (text.size > SIM_KEY_LIMIT) {
        text.size = SIM_KEY_LIMIT - 100;
        while (((unsigned char)text.bytes[text.size] & 0xC0) == 0x80)
            text.size--;
        text.bytes[text.size] = 0;
    }
    if (text.size == 0)
        sim_text_puts(&text, "-");
    sim_draft_set(draft, name, sim_value_of_text(SIM_S, &text));
}

/* Sets the key attributes of KEY that are not set yet, or AGAIN. Keys of the table remain. */
static void sim_draft_set_keys(const struct sim_writer *writer, struct sim_dice *dice,
                               const struct sim_kind *kind, const uint32_t *parts,
                               const struct sim_key_schema *key, bool again,
                               struct sim_draft *draft)
{
    bool is_own = key == &writer->table->key;
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++) {
        bool is_hash = i < key->hash_count;
        uint32_t pool = !is_own   ? writer->plain_index
                        : is_hash ? writer->plain_hash
                                  : writer->plain_range;
        if (!is_own && sim_schema_has(&writer->table->key, key->names[i]))
            continue;
        if (again || !sim_draft_find(draft, key->names[i]))
            sim_draft_set_key(writer, dice, kind, parts, key->names[i], key->types[i], pool, draft);
    }
}

/* A key that fits no format: like one, but not quite. */
static void sim_draft_make_stray(const struct sim_writer *writer, struct sim_dice *dice,
                                 struct sim_draft *draft)
{
    static const char *const keys[] = {"STRAY", "JOBS#", "job#1", "INDEX", "USER", "#", "##", "0"};
    const struct sim_key_schema *key = &writer->table->key;
    const char *last = key->names[key->hash_count + key->range_count - 1];
    struct sim_text text = {0};
    sim_text_puts(&text, keys[sim_dice_below(dice, sizeof keys / sizeof *keys)]);
    sim_draft_set(draft, last, sim_value_of_text(SIM_S, &text));
}

static void sim_draw_parts(struct sim_dice *dice, uint32_t *parts)
{
    for (unsigned i = 0; i < SIM_PARTS; i++)
        parts[i] = sim_dice_chance(dice, 300) ? 0 : sim_dice_below(dice, sim_parts[i].pool);
}

static void sim_writer_tell(const char *verb, const struct sim_version *version)
{
    struct sim_text text = {0};
    const struct sim_key_schema *key = &version->item->table->key;
    for (unsigned i = 0; i < key->hash_count + key->range_count; i++)
        sim_value_write(&text, sim_version_get(version, key->names[i]));
    sim_tell("writer", "%s %s %.200s, version %llu of %zu bytes", verb, version->item->table->name,
             text.bytes, (unsigned long long)version->number, version->item_size);
    sim_text_free(&text);
}

/* An item has at most 400 KB. */
static void sim_draft_shrink(const struct sim_writer *writer, struct sim_draft *draft)
{
    while (sim_attributes_size(draft->attributes, draft->count) > (size_t)380 * 1024) {
        const char *largest = NULL;
        size_t most = 0;
        for (size_t i = 0; i < draft->count; i++) {
            const struct sim_attribute *at = &draft->attributes[i];
            if (sim_value_size(&at->value) > most && !sim_table_has_key(writer->table, at->name)) {
                most = sim_value_size(&at->value);
                largest = at->name;
            }
        }
        if (!largest)
            return;
        sim_draft_remove(draft, largest);
    }
}

/* Writes the draft, and remembers its item. */
static struct sim_version *sim_writer_put(struct sim_writer *writer, struct sim_draft *draft,
                                          const struct sim_kind *kind, const uint32_t *parts)
{
    sim_draft_shrink(writer, draft);
    struct sim_attribute *attributes = sim_alloc((draft->count + 1) * sizeof *attributes);
    memcpy(attributes, draft->attributes, draft->count * sizeof *attributes);
    struct sim_version *version =
        sim_history_put(writer->table, attributes, draft->count, false, false);
    struct sim_item *item = version->item;
    if (version->older)
        return version;
    if (writer->item_count && writer->items[writer->item_count - 1] == item)
        return version;
    item->kind = kind ? (int)(kind - writer->table->kinds) : -1;
    if (parts)
        memcpy(item->parts, parts, sizeof item->parts);
    if (writer->item_count == writer->item_room) {
        writer->item_room = writer->item_room * 2 + 16;
        writer->items = sim_grow(writer->items, writer->item_room * sizeof *writer->items);
    }
    writer->items[writer->item_count++] = item;
    return version;
}

/* Everything of an item but its keys. */
static void sim_draft_fill(const struct sim_writer *writer, struct sim_dice *dice,
                           const struct sim_kind *kind, const uint32_t *parts,
                           struct sim_draft *draft)
{
    struct sim_attribute vector;
    if (kind)
        sim_draft_add_usual(writer, dice, kind, parts, draft);
    sim_draft_add_expiry(writer, dice, draft);
    unsigned count = sim_dice_below(dice, sim_dice_chance(dice, 50) ? 20 : 6);
    for (unsigned i = 0; i < count; i++)
        sim_draft_draw_one(writer, dice, draft);
    if (sim_vectors_draw(dice, writer->table, &vector)) {
        if (sim_table_has_key(writer->table, vector.name))
            sim_value_free(&vector.value);
        else
            sim_draft_set(draft, vector.name, vector.value);
        sim_free(vector.name);
    }
}

/* Writes an item. IS_BURST: into the partition of the first values. */
static struct sim_version *sim_writer_add(struct sim_writer *writer, struct sim_dice *dice,
                                          bool is_burst)
{
    struct sim_draft draft = {0};
    const struct sim_table *table = writer->table;
    uint32_t parts[SIM_MOST_PARTS] = {0};
    const struct sim_kind *kind =
        table->kind_count ? &table->kinds[sim_dice_below(dice, (uint32_t)table->kind_count)] : NULL;
    sim_draw_parts(dice, parts);
    for (unsigned i = 0; is_burst && i < SIM_PARTS; i++) {
        if (sim_parts[i].pool <= 10)
            parts[i] = 0;
    }
    sim_draft_set_keys(writer, dice, kind, parts, &table->key, false, &draft);
    for (unsigned i = 0; i < table->index_count; i++)
        sim_draft_set_keys(writer, dice, kind, parts, &table->indexes[i].key, false, &draft);
    if (is_burst && !kind)
        sim_draft_set(&draft, table->key.names[0],
                      sim_draw_plain(writer, table->key.names[0], table->key.types[0], 0));
    sim_draft_fill(writer, dice, kind, parts, &draft);
    if (kind && sim_dice_chance(dice, writer->strays)) {
        sim_draft_make_stray(writer, dice, &draft);
        kind = NULL;
    }
    return sim_writer_put(writer, &draft, kind, parts);
}

static void sim_draft_copy(struct sim_draft *draft, const struct sim_version *version)
{
    *draft = (struct sim_draft){0};
    for (size_t i = 0; i < version->attribute_count && i < SIM_MOST_ATTRIBUTES; i++) {
        struct sim_value value;
        sim_value_copy(&value, &version->attributes[i].value);
        sim_draft_set(draft, version->attributes[i].name, value);
    }
}

static const struct sim_kind *sim_item_kind(const struct sim_item *item)
{
    return item->kind < 0 ? NULL : &item->table->kinds[item->kind];
}

/* Changes attributes that are no keys. */
static struct sim_version *sim_writer_change(struct sim_writer *writer, struct sim_dice *dice,
                                             struct sim_item *item)
{
    struct sim_draft draft;
    sim_draft_copy(&draft, item->newest);
    if (item->newest->is_deleted) {
        sim_draft_fill(writer, dice, sim_item_kind(item), item->parts, &draft);
        return sim_writer_put(writer, &draft, NULL, NULL);
    }
    for (unsigned i = 1 + sim_dice_below(dice, 3); i; i--) {
        size_t which = sim_dice_below(dice, (uint32_t)draft.count);
        const char *name = draft.attributes[which].name;
        bool is_key = sim_dice_chance(dice, 400) || sim_table_has_key(writer->table, name);
        bool is_removed = !is_key && sim_dice_chance(dice, 300);
        bool is_other = is_key || draft.attributes[which].value.type != SIM_S;
        if (is_removed)
            sim_draft_remove(&draft, name);
        else if (is_other || sim_dice_chance(dice, 500))
            sim_draft_draw_one(writer, dice, &draft);
        else
            sim_draft_set_text(&draft, name, "changed");
    }
    return sim_writer_put(writer, &draft, NULL, NULL);
}

/* Changes key attributes of indexes. */
static struct sim_version *sim_writer_move(struct sim_writer *writer, struct sim_dice *dice,
                                           struct sim_item *item)
{
    struct sim_draft draft;
    const struct sim_table *table = writer->table;
    const struct sim_kind *kind = sim_item_kind(item);
    if (table->index_count == 0 || item->newest->is_deleted || (table->kinds && !kind))
        return sim_writer_change(writer, dice, item);
    uint32_t drawn[SIM_MOST_PARTS] = {0};
    sim_draw_parts(dice, drawn);
    for (unsigned i = 0; kind && i < SIM_PARTS; i++) {
        bool is_fixed = false;
        for (unsigned k = 0; kind->formats[k].attribute; k++)
            is_fixed = is_fixed || (sim_schema_has(&table->key, kind->formats[k].attribute) &&
                                    sim_format_has(kind->formats[k].format, sim_parts[i].name));
        if (!is_fixed)
            item->parts[i] = drawn[i];
    }
    sim_draft_copy(&draft, item->newest);
    unsigned index = sim_dice_below(dice, table->index_count);
    sim_draft_set_keys(writer, dice, kind, item->parts, &table->indexes[index].key, true, &draft);
    if (table->shape == SIM_SHAPE_JOBS)
        sim_draft_set_part(&draft, "status", "status", item->parts);
    return sim_writer_put(writer, &draft, NULL, NULL);
}

static struct sim_version *sim_writer_delete(struct sim_item *item, bool by_ttl)
{
    const struct sim_key_schema *key = &item->table->key;
    unsigned count = key->hash_count + key->range_count;
    struct sim_attribute *attributes = sim_alloc(count * sizeof *attributes);
    for (unsigned i = 0; i < count; i++) {
        attributes[i].name = sim_copy(key->names[i]);
        sim_value_copy(&attributes[i].value, sim_version_get(item->newest, key->names[i]));
    }
    return sim_history_put(item->table, attributes, count, true, by_ttl);
}

/* Whether the service may delete the item now. */
static bool sim_item_is_expired(const struct sim_item *item)
{
    const struct sim_value *at = item->table->has_ttl && !item->newest->is_deleted
                                     ? sim_version_get(item->newest, item->table->ttl_attribute)
                                     : NULL;
    long long seconds = 0;
    return at && at->type == SIM_N && at->size < 12 && sscanf(at->bytes, "%lld", &seconds) == 1 &&
           seconds * 1000 < sim_service_wall_ms();
}

void sim_history_write_one(struct sim_dice *dice)
{
    struct sim_writer *writer = &sim_writers[sim_dice_below(dice, sim_writer_count)];
    struct sim_item *item = writer->item_count
                                ? writer->items[sim_dice_below(dice, (uint32_t)writer->item_count)]
                                : NULL;
    unsigned what = sim_dice_below(dice, 1000);
    if (item && sim_item_is_expired(item) && sim_dice_chance(dice, 500)) {
        sim_writer_tell("expires", sim_writer_delete(item, true));
    } else if (!item || what < 250) {
        sim_writer_tell("puts", sim_writer_add(writer, dice, false));
    } else if (what < 600) {
        sim_writer_tell("changes", sim_writer_change(writer, dice, item));
    } else if (what < 800) {
        sim_writer_tell("moves", sim_writer_move(writer, dice, item));
    } else if (what < 940) {
        sim_writer_tell("deletes", sim_writer_delete(item, false));
    } else {
        for (unsigned i = 3 + sim_dice_below(dice, 30); i; i--)
            sim_writer_tell("puts", sim_writer_add(writer, dice, true));
    }
}

void sim_history_write_item(struct sim_dice *dice, struct sim_item *item)
{
    unsigned at = 0, what = sim_dice_below(dice, 1000);
    while (at < sim_writer_count && sim_writers[at].table != item->table)
        at++;
    if (at == sim_writer_count)
        return;
    if (what < 650)
        sim_writer_tell("changes", sim_writer_change(&sim_writers[at], dice, item));
    else if (what < 820 || item->newest->is_deleted)
        sim_writer_tell("moves", sim_writer_move(&sim_writers[at], dice, item));
    else
        sim_writer_tell("deletes", sim_writer_delete(item, false));
}

void sim_history_write_read(struct sim_dice *dice, struct sim_item *item)
{
    unsigned at = 0;
    while (at < sim_writer_count && sim_writers[at].table != item->table)
        at++;
    if (at == sim_writer_count)
        return;
    if (sim_dice_chance(dice, 700) && !item->newest->is_deleted)
        sim_writer_tell("moves", sim_writer_move(&sim_writers[at], dice, item));
    else
        sim_history_write_item(dice, item);
}

static enum sim_type sim_draw_key_type(struct sim_dice *dice)
{
    unsigned which = sim_dice_below(dice, 10);
    return which < 6 ? SIM_S : which < 8 ? SIM_N : SIM_B;
}

static void sim_schema_add(struct sim_key_schema *key, const char *name, enum sim_type type,
                           bool is_range)
{
    unsigned at = key->hash_count + key->range_count;
    key->names[at] = sim_copy(name);
    key->types[at] = type;
    if (is_range)
        key->range_count++;
    else
        key->hash_count++;
}

/* Adds an index to TABLE, which is not yet in the history. */
static struct sim_index *sim_table_add_index(struct sim_table *table, const char *name,
                                             bool is_local)
{
    table->indexes = sim_grow(table->indexes, (table->index_count + 1) * sizeof *table->indexes);
    struct sim_index *index = &table->indexes[table->index_count++];
    *index = (struct sim_index){.name = sim_copy(name),
                                .is_local = is_local,
                                .projection = SIM_PROJECT_ALL,
                                .most_lag_ms = table->most_lag_ms};
    return index;
}

static void sim_index_include(struct sim_index *index, const char *const *names, unsigned count)
{
    index->projection = SIM_PROJECT_INCLUDE;
    index->included = sim_alloc(count * sizeof *index->included);
    index->included_count = count;
    for (unsigned i = 0; i < count; i++)
        index->included[i] = sim_copy(names[i]);
}

static void sim_index_draw_projection(struct sim_dice *dice, struct sim_index *index)
{
    static const char *const names[] = {"title", "status", "size", "a.b", "data"};
    unsigned which = sim_dice_below(dice, 3);
    index->projection = which == 0 ? SIM_PROJECT_KEYS : SIM_PROJECT_ALL;
    if (which == 1)
        sim_index_include(index, names, 1 + sim_dice_below(dice, 5));
}

static int64_t sim_draw_lag(struct sim_dice *dice)
{
    static const int64_t lags[] = {0, 50, 400, 2000, 8000};
    return lags[sim_dice_below(dice, sizeof lags / sizeof *lags)];
}

/* The three tables of the first user, and the one with several kinds. */
static void sim_table_draw_known(struct sim_dice *dice, struct sim_table *table)
{
    static const char *const of_status[] = {"platform", "status", "created_at", "title"};
    bool is_single = table->shape == SIM_SHAPE_SINGLE;
    sim_schema_add(&table->key, is_single ? "PK" : "pk", SIM_S, false);
    sim_schema_add(&table->key, is_single ? "SK" : "sk", SIM_S, true);
    struct sim_index *index;
    switch (table->shape) {
    case SIM_SHAPE_JOBS:
        table->kinds = sim_job_kinds;
        table->kind_count = sizeof sim_job_kinds / sizeof *sim_job_kinds;
        index = sim_table_add_index(table, "GSI_JobLookup_v2", false);
        index->projection = SIM_PROJECT_KEYS;
        sim_schema_add(&index->key, "job_id", SIM_S, false);
        sim_schema_add(&index->key, "created_at", SIM_S, true);
        index = sim_table_add_index(table, "GSI_JobsByStatus_v2", false);
        sim_index_include(index, of_status, 4);
        sim_schema_add(&index->key, "shop_id", SIM_S, false);
        sim_schema_add(&index->key, "status_created_at", SIM_S, true);
        break;
    case SIM_SHAPE_SETTINGS:
        table->kinds = sim_setting_kinds;
        table->kind_count = sizeof sim_setting_kinds / sizeof *sim_setting_kinds;
        index = sim_table_add_index(table, "GSI_IndexRootsByName", false);
        sim_schema_add(&index->key, "pk", SIM_S, false);
        sim_schema_add(&index->key, "index_name", SIM_S, true);
        index = sim_table_add_index(table, "GSI_ShopifyDomain", false);
        sim_schema_add(&index->key, "shopify_domain", SIM_S, false);
        sim_schema_add(&index->key, "sk", SIM_S, true);
        break;
    case SIM_SHAPE_SHOPS:
        table->kinds = sim_shop_kinds;
        table->kind_count = sizeof sim_shop_kinds / sizeof *sim_shop_kinds;
        index = sim_table_add_index(table, "GSI_SystemAccountId", false);
        sim_schema_add(&index->key, "system_account_id", SIM_S, false);
        sim_schema_add(&index->key, "sk", SIM_S, true);
        break;
    default:
        table->kinds = sim_single_kinds;
        table->kind_count = sizeof sim_single_kinds / sizeof *sim_single_kinds;
        index = sim_table_add_index(table, "GSI1", false);
        sim_schema_add(&index->key, "GSI1PK", SIM_S, false);
        sim_schema_add(&index->key, "GSI1SK", SIM_S, true);
        sim_index_draw_projection(dice, index);
        index = sim_table_add_index(table, "Inverted", false);
        sim_schema_add(&index->key, "SK", SIM_S, false);
        sim_schema_add(&index->key, "PK", SIM_S, true);
        sim_index_draw_projection(dice, index);
        break;
    }
}

/* A table with plain keys; its indexes are of attributes "g1", "g2", …, each with one type. */
static void sim_table_draw_plain(struct sim_dice *dice, struct sim_table *table)
{
    static const char *const hashes[] = {"id",   "userId", "user-id", "a.b",
                                         "name", "größe",  "Key 1"};
    static const char *const ranges[] = {"range", "sk", "order.id", "date", "n:1", "at"};
    static const char *const others[] = {"g1", "g2", "g3", "g-4", "g.5", "count", "state", "g8"};
    enum { OTHERS = sizeof others / sizeof *others };
    enum sim_type types[OTHERS];
    char name[32];
    bool has_range = table->shape == SIM_SHAPE_PAIR ||
                     (table->shape == SIM_SHAPE_WIDE && sim_dice_chance(dice, 700));
    for (unsigned i = 0; i < OTHERS; i++)
        types[i] = sim_draw_key_type(dice);
    enum sim_type type = sim_draw_key_type(dice);
    sim_schema_add(&table->key, hashes[sim_dice_below(dice, sizeof hashes / sizeof *hashes)], type,
                   false);
    if (has_range) {
        type = sim_draw_key_type(dice);
        sim_schema_add(&table->key, ranges[sim_dice_below(dice, sizeof ranges / sizeof *ranges)],
                       type, true);
    }
    for (unsigned i = sim_dice_below(dice, has_range ? 3 : 1); i; i--) {
        snprintf(name, sizeof name, "local-%u", i);
        struct sim_index *index = sim_table_add_index(table, name, true);
        sim_schema_add(&index->key, table->key.names[0], table->key.types[0], false);
        sim_schema_add(&index->key, others[i], types[i], true);
        sim_index_draw_projection(dice, index);
    }
    bool is_wide = table->shape == SIM_SHAPE_WIDE;
    for (unsigned i = sim_dice_below(dice, 3) + is_wide; i; i--) {
        snprintf(name, sizeof name, "global_%u", i);
        struct sim_index *index = sim_table_add_index(table, name, false);
        unsigned hash_count = is_wide ? 1 + sim_dice_below(dice, SIM_MOST_KEYS) : 1;
        unsigned range_count = sim_dice_below(dice, is_wide ? SIM_MOST_KEYS + 1 : 2);
        unsigned first = sim_dice_below(dice, OTHERS);
        sim_index_draw_projection(dice, index);
        if (has_range && sim_dice_chance(dice, 200)) {
            sim_schema_add(&index->key, table->key.names[1], table->key.types[1], false);
            sim_schema_add(&index->key, table->key.names[0], table->key.types[0], true);
            continue;
        }
        for (unsigned k = 0; k < hash_count + range_count; k++)
            sim_schema_add(&index->key, others[(first + k) % OTHERS], types[(first + k) % OTHERS],
                           k >= hash_count);
    }
}

static void sim_writer_draw_items(struct sim_writer *writer, struct sim_dice *dice)
{
    static const struct {
        unsigned until;
        int64_t least, most;
    } sizes[] = {{50, 0, 0}, {200, 1, 5}, {600, 10, 50}, {900, 60, 180}, {1000, 250, 500}};
    unsigned which = sim_dice_below(dice, 1000), at = 0;
    while (sizes[at].until <= which)
        at++;
    int64_t count = sim_dice_between(dice, sizes[at].least, sizes[at].most);
    if (writer->large > 100 && count > 150)
        count = 150;
    /* As many ties and full partitions as single items. */
    bool is_burst = sim_dice_chance(dice, 200);
    for (int64_t i = 0; i < count; i++)
        sim_writer_add(writer, dice, is_burst && sim_dice_chance(dice, 800));
}

static void sim_writer_draw(enum sim_shape shape, unsigned number)
{
    static const char *const names[SIM_SHAPES] = {"EcomIndexerJobsTable",
                                                  "EcomIndexSettingsTable",
                                                  "ShopifyEntitiesTable",
                                                  "Single",
                                                  "Users.v2",
                                                  "Orders_2026",
                                                  "wide-keys"};
    struct sim_dice dice = sim_dice_for("table", number);
    struct sim_table table = {.shape = shape};
    bool is_known = shape <= SIM_SHAPE_SINGLE;
    /* so that bytes of files are dropped, and read again */
    bool is_small_cache = sim_life_options()->cache_bytes <= 2 << 20;
    bool is_of_environment = is_known || sim_dice_chance(&dice, 700);
    table.name = sim_printf("%s%s", is_of_environment ? SIM_ENVIRONMENT "-" : "", names[shape]);
    table.base_name = is_of_environment ? table.name + sizeof SIM_ENVIRONMENT : NULL;
    table.most_lag_ms = sim_dice_chance(&dice, 500) ? 0 : sim_dice_between(&dice, 1, 1000);
    table.has_stream = sim_dice_chance(&dice, 500);
    table.has_ttl = shape == SIM_SHAPE_JOBS || sim_dice_chance(&dice, 400);
    if (table.has_ttl)
        table.ttl_attribute = sim_copy(shape == SIM_SHAPE_WIDE ? "expires at" : "ttl");
    if (is_known)
        sim_table_draw_known(&dice, &table);
    else
        sim_table_draw_plain(&dice, &table);
    for (unsigned i = 0; i < table.index_count; i++) {
        if (!table.indexes[i].is_local)
            table.indexes[i].most_lag_ms = sim_draw_lag(&dice);
    }
    struct sim_writer *writer = &sim_writers[sim_writer_count++];
    *writer = (struct sim_writer){
        .table = sim_history_add_table(table),
        .hostile = sim_dice_chance(&dice, 300) ? 0 : sim_dice_below(&dice, 400),
        .large = sim_dice_chance(&dice, is_small_cache ? 700 : 120) ? 500 : 15,
        .strays = sim_dice_chance(&dice, 500) ? 0 : 60,
        .sparse = sim_dice_chance(&dice, 400) ? 0 : sim_dice_below(&dice, 300),
        .plain_hash = shape == SIM_SHAPE_HASH || !table.key.range_count ? 5000 : 8,
        .plain_range = sim_dice_chance(&dice, 200) ? 30 : 3000,
        .plain_index = 1 + sim_dice_below(&dice, 12)};
    sim_writer_draw_items(writer, &dice);
    sim_tell("writer", "draws %s: %zu items, %u indexes", writer->table->name,
             writer->table->item_count, writer->table->index_count);
}

void sim_history_draw(void)
{
    struct sim_dice dice = sim_dice_for("tables", 0);
    unsigned count = 2 + sim_dice_below(&dice, SIM_MOST_TABLES - 1);
    unsigned first = sim_dice_below(&dice, SIM_SHAPES);
    /* Seven is a prime: steps of 1 to 3 meet no shape twice, and each life has others side by side.
     */
    unsigned step = 1 + sim_dice_below(&dice, 3);
    for (unsigned i = 0; i < count; i++)
        sim_writer_draw((enum sim_shape)((first + i * step) % SIM_SHAPES), i);
}
