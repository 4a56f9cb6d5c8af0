/* The source of tests. */
#include "tests/unit/fake_source.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/dynamo/request_print.h"
#include "core/source/read_words.h"

enum { MOST_ITEMS = 2048 };

struct fake_call {
    struct source_call base; /* first: a pointer to it is a pointer to this */
    struct loop_timer *timer;
    bool began;
    size_t page_size; /* of the page under way */
    int64_t delay_ms; /* likewise */
    size_t next;      /* the first item of the list that no page has looked at */
    uint32_t given;   /* items that passed the filter */
    double set_aside;
    struct error refused; /* with a kind: what the payer said to the page under way */
};

static struct fake_source *fake_of(const struct fake_call *call)
{
    return (struct fake_source *)call->base.source;
}

/* One page while it is put together: the texts and what was parsed of them. */
struct sheet {
    struct page_owner owner; /* first: a pointer to it is a pointer to this */
    struct fake_source *fake;
    struct json_doc last; /* the last item that was looked at */
    struct buf left_text; /* of a READ_ITEMS: those that are left */
    struct json_doc left;
    struct buf texts[MOST_ITEMS];
    struct json_doc docs[MOST_ITEMS];
    struct json items[MOST_ITEMS];
    size_t count;
    bool failed;
};

static void sheet_destroy(struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->count; i++) {
        json_clean_up(&sheet->docs[i]);
        buf_clean_up(&sheet->texts[i]);
    }
    json_clean_up(&sheet->last);
    json_clean_up(&sheet->left);
    buf_clean_up(&sheet->left_text);
    free(sheet);
}

static void release(struct page_owner *owner)
{
    struct sheet *sheet = (struct sheet *)owner;
    sheet->fake->held--;
    sheet_destroy(sheet);
}

static unsigned draw(struct fake_source *fake, unsigned below)
{
    fake->seed = fake->seed * 1103515245u + 12345u;
    return (fake->seed >> 16) % below;
}

static size_t item_total(const struct fake_source *fake)
{
    size_t count = 0;
    while (fake->items && fake->items[count].text)
        count++;
    return count;
}

static bool is_in(const struct read *read, const struct fake_item *item)
{
    bool same_index = read->index && item->index ? strcmp(read->index, item->index) == 0
                                                 : !read->index && !item->index;
    return same_index && strcmp(read->table, item->table) == 0;
}

static bool holds(const struct cond *cond, struct json item)
{
    bool failed = false;
    return cond_holds(cond, item, &failed);
}

static bool all_hold(const struct cond *conds, size_t count, struct json item)
{
    for (size_t i = 0; i < count; i++)
        if (!holds(&conds[i], item))
            return false;
    return true;
}

static bool has_key(const struct key *key, struct json item)
{
    for (size_t i = 0; i < key->count; i++) {
        struct cond cond = {.attribute = key->attributes[i].name,
                            .value = key->attributes[i].value};
        if (!holds(&cond, item))
            return false;
    }
    return true;
}

static bool is_asked_for(const struct read *read, struct json item)
{
    if (read->kind == READ_SCAN || read->kind == READ_SIMILAR)
        return true;
    if (read->kind == READ_QUERY)
        return all_hold(read->where, read->where_count, item);
    for (size_t i = 0; i < read->key_count; i++)
        if (has_key(&read->keys[i], item))
            return true;
    return false;
}

static bool is_wanted(const struct read *read, struct json name)
{
    for (size_t i = 0; i < read->attribute_count; i++)
        if (json_string_is(name, read->attributes[i]))
            return true;
    return read->attribute_count == 0;
}

static void project(const struct read *read, struct json item, struct buf *out)
{
    buf_add_char(out, '{');
    for (struct json name = json_first(item), value; json_present(name); name = json_next(value)) {
        value = json_next(name);
        if (!is_wanted(read, name))
            continue;
        buf_add_text(out, out->size > 1 ? "," : "");
        buf_add_span(out, json_raw(name));
        buf_add_char(out, ':');
        buf_add_span(out, json_raw(value));
    }
    buf_add_char(out, '}');
}

static void add_to_sheet(struct sheet *sheet, const struct read *read, struct json item)
{
    size_t i = sheet->count++;
    if (read->kind == READ_SIMILAR)
        buf_add_span(&sheet->texts[i], json_raw(item)); /* a result, with an item in it */
    else
        project(read, item, &sheet->texts[i]);
    if (sheet->texts[i].failed ||
        !json_parse(&sheet->docs[i], buf_span(&sheet->texts[i]), JSON_STRICT, NULL))
        sheet->failed = true;
    else
        sheet->items[i] = json_root(&sheet->docs[i]);
}

static bool is_full(const struct fake_call *call, size_t seen)
{
    size_t page_size = call->page_size, limit = call->base.read->limit;
    return (page_size && seen == page_size) || (limit && call->given == limit);
}

/* Looks at one item of the list; whether it counts for the page. */
static bool look_at(struct fake_call *call, const struct fake_item *item, struct sheet *sheet)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    const bool *gone = fake_of(call)->gone;
    if (!is_in(call->base.read, item) || (gone && gone[item - fake_of(call)->items]))
        return false;
    if (!json_parse(&doc, span_text(item->text), JSON_STRICT, NULL)) {
        sheet->failed = true;
        return false;
    }
    if (!is_asked_for(call->base.read, json_root(&doc)))
        return false;
    if (all_hold(call->base.read->filter, call->base.read->filter_count, json_root(&doc))) {
        add_to_sheet(sheet, call->base.read, json_root(&doc));
        call->given++;
    }
    if (fake_of(call)->parts_with_pages) {
        json_clean_up(&sheet->last);
        sheet->failed |= !json_parse(&sheet->last, span_text(item->text), JSON_STRICT, NULL);
    }
    return true;
}

static void fill_sheet(struct fake_call *call, struct sheet *sheet)
{
    const struct read *read = call->base.read;
    size_t total = item_total(fake_of(call)), seen = 0;
    bool by_lot = fake_of(call)->seed && read->kind == READ_QUERY;
    call->given = 0;
    call->page_size = fake_of(call)->page_size;
    if (by_lot)
        call->page_size = 1 + draw(fake_of(call), (unsigned)call->page_size);
    while (call->next < total && !is_full(call, seen) && sheet->count < MOST_ITEMS) {
        size_t at = read->descending ? total - 1 - call->next : call->next;
        if (!read->segments || at % read->segments == read->segment)
            seen += look_at(call, &fake_of(call)->items[at], sheet);
        call->next++;
    }
}

static void fill_left(const struct fake_call *call, struct sheet *sheet)
{
    const struct fake_item *items = fake_of(call)->items;
    buf_add_char(&sheet->left_text, '[');
    for (size_t i = call->next; i < item_total(fake_of(call)); i++) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        if (is_in(call->base.read, &items[i]) &&
            json_parse(&doc, span_text(items[i].text), JSON_STRICT, NULL) &&
            is_asked_for(call->base.read, json_root(&doc)))
            buf_printf(&sheet->left_text, "%s%s", sheet->left_text.size > 1 ? "," : "",
                       items[i].text);
    }
    buf_add_char(&sheet->left_text, ']');
    sheet->failed |= sheet->left_text.failed ||
                     !json_parse(&sheet->left, buf_span(&sheet->left_text), JSON_STRICT, NULL);
}

static void tell_error(struct fake_call *call, const struct error *err)
{
    call->base.fn(call->base.arg, NULL, err);
}

static void tell_no_memory(struct fake_call *call)
{
    struct error err;
    error_no_memory(&err);
    tell_error(call, &err);
}

static void set_busy(const struct fake_source *fake, bool busy)
{
    if (fake->busy)
        *fake->busy = busy;
}

static void answer_items(struct fake_call *call)
{
    set_busy(fake_of(call), true);
    struct sheet *sheet = calloc(1, sizeof *sheet);
    if (sheet)
        fill_sheet(call, sheet);
    if (sheet && call->base.read->kind == READ_ITEMS)
        fill_left(call, sheet);
    set_busy(fake_of(call), false);
    if (!sheet) {
        tell_no_memory(call);
        return;
    }
    struct page page = {
        .items = sheet->items,
        .item_count = sheet->count,
        .more = call->next < item_total(fake_of(call)),
        .requests = 1,
        .capacity = 0.5,
        .throttled = fake_of(call)->throttled,
        .request_id = "FAKE-REQUEST",
    };
    struct fake_source *fake = fake_of(call);
    struct page_owner *owner = &sheet->owner;
    sheet->owner = (struct page_owner){release, 1000};
    sheet->fake = fake;
    page.took_ms = call->delay_ms;
    if (fake->parts_with_pages) {
        page.owner = &owner;
        if (page.more && sheet->last.count)
            page.position = json_root(&sheet->last);
    }
    if (page.more && call->base.read->kind == READ_ITEMS && !sheet->failed)
        page.position = json_root(&sheet->left);
    if (sheet->failed)
        tell_no_memory(call);
    else
        call->base.fn(call->base.arg, &page, NULL);
    if (owner)
        sheet_destroy(sheet);
    else if (++fake->held > fake->most_held)
        fake->most_held = fake->held;
}

static bool is_part(const struct fake_call *call, const struct read *part, size_t item,
                    struct json_doc *doc)
{
    const struct fake_source *fake = fake_of(call);
    return is_in(part, &fake->items[item]) && !(fake->gone && fake->gone[item]) &&
           json_parse(doc, span_text(fake->items[item].text), JSON_STRICT, NULL) &&
           is_asked_for(part, json_root(doc));
}

/* One element for each part, in their order. */
static void answer_together(struct fake_call *call)
{
    struct sheet sheet = {.count = 0};
    struct json items[READ_MAX_KEYS] = {{0}};
    const struct read *read = call->base.read;
    set_busy(fake_of(call), true);
    for (size_t part = 0; part < read->part_count; part++)
        for (size_t i = 0; i < item_total(fake_of(call)); i++) {
            CLEAN_UP(json_clean_up) struct json_doc doc = {0};
            if (!is_part(call, read->parts[part], i, &doc) || sheet.count == MOST_ITEMS)
                continue;
            add_to_sheet(&sheet, read->parts[part], json_root(&doc));
            items[part] = sheet.items[sheet.count - 1];
        }
    set_busy(fake_of(call), false);
    struct page page = {.items = items,
                        .item_count = read->part_count,
                        .requests = 1,
                        .capacity = (double)(2 * read->part_count),
                        .request_id = "FAKE-REQUEST"};
    call->base.fn(call->base.arg, &page, NULL);
    for (size_t i = 0; i < sheet.count; i++) {
        json_clean_up(&sheet.docs[i]);
        buf_clean_up(&sheet.texts[i]);
    }
}

static void answer_tables(struct fake_call *call)
{
    struct span names[MOST_ITEMS];
    const struct fake_source *fake = fake_of(call);
    struct page page = {.names = names, .requests = 1, .capacity = -1, .request_id = ""};
    while (fake->tables[call->next] && (!fake->page_size || page.name_count < fake->page_size))
        names[page.name_count++] = span_text(fake->tables[call->next++]);
    page.more = fake->tables[call->next] != NULL;
    call->base.fn(call->base.arg, &page, NULL);
}

static struct span description_of(const struct fake_source *fake)
{
    return span_text(fake->description ? fake->description : "{}");
}

static void answer_description(struct fake_call *call)
{
    struct page page = {.description = description_of(fake_of(call)),
                        .requests = 1,
                        .capacity = -1,
                        .request_id = "FAKE-REQUEST"};
    call->base.fn(call->base.arg, &page, NULL);
}

static void answer_table(struct fake_call *call)
{
    struct error none;
    struct page page = {.table = fake_of(call)->info,
                        .description = description_of(fake_of(call)),
                        .requests = 1,
                        .capacity = -1,
                        .request_id = "FAKE-REQUEST"};
    error_set(&none, ERROR_NO_TABLE, "there is no table %s", call->base.read->table);
    call->base.fn(call->base.arg, page.table ? &page : NULL, page.table ? NULL : &none);
}

static bool reads_items(const struct read *read)
{
    return read->kind == READ_ITEMS || read->kind == READ_QUERY;
}

/* Whoever pays for it can. */
static void set_aside(struct fake_call *call)
{
    double units = reads_items(call->base.read) ? 0.5 : 0;
    if (payer_set_aside(call->base.payer, units, units, NULL, &call->refused) == PAYER_AGREES)
        call->set_aside = units;
}

static void give_back(struct fake_call *call)
{
    payer_refund(call->base.payer, call->set_aside);
    call->set_aside = 0;
}

/* Every page is one request, and takes half a unit where it holds items. */
static void charge(struct fake_call *call, enum expense_end end)
{
    const struct read *read = call->base.read;
    struct expense expense = {
        .operation = "Fake",
        .table = read->table,
        .index = read->index ? read->index : "",
        .pattern = read->pattern,
        .requests = 1,
        .end = end,
        .spent.units = end == EXPENSE_ANSWERED && reads_items(read) ? 0.5 : 0,
        .took_ms = call->delay_ms,
    };
    payer_charge(call->base.payer, &expense);
}

static void answer(void *arg)
{
    struct fake_call *call = arg;
    struct fake_source *fake = fake_of(call);
    call->timer = NULL;
    if (call->refused.kind != ERROR_NONE) {
        struct error refused = call->refused; /* FN may end the call */
        tell_error(call, &refused);
        return;
    }
    fake->pages++;
    fake->optional_pages += call->base.read->once;
    bool is_optional = call->base.read->once && fake->fail_optional_at &&
                       fake->optional_pages == fake->fail_optional_at;
    bool fails = fake->error.kind != ERROR_NONE &&
                 (fake->down || fake->pages == fake->fail_at || is_optional);
    charge(call, fails ? EXPENSE_FAILED : EXPENSE_ANSWERED);
    give_back(call);
    if (fails)
        tell_error(call, &fake->error);
    else if (call->base.read->kind == READ_TABLES)
        answer_tables(call);
    else if (call->base.read->kind == READ_TABLE)
        answer_table(call);
    else if (call->base.read->kind == READ_EXPIRY || call->base.read->kind == READ_RECOVERY)
        answer_description(call);
    else if (call->base.read->kind == READ_TOGETHER)
        answer_together(call);
    else
        answer_items(call);
}

static void note(struct fake_source *fake, const struct read *read)
{
    static const char *const kinds[] = {
        [READ_ITEMS] = "items",       [READ_QUERY] = "query",   [READ_TABLES] = "tables",
        [READ_TABLE] = "table",       [READ_EXPIRY] = "expiry", [READ_BACKUPS] = "backups",
        [READ_RECOVERY] = "recovery", [READ_SCAN] = "scan",     [READ_TOGETHER] = "together",
        [READ_EXPORTS] = "exports"};
    int used = snprintf(fake->last, sizeof fake->last, "%s %s%s%s", kinds[read->kind], read->table,
                        read->index ? "/" : "", read->index ? read->index : "");
    for (size_t i = 0; i < read->where_count && used < (int)sizeof fake->last; i++)
        used += snprintf(fake->last + used, sizeof fake->last - (size_t)used, " %.*s %s %.*s;",
                         (int)read->where[i].attribute.size, read->where[i].attribute.data,
                         cond_word(read->where[i].op), (int)read->where[i].value.bytes.size,
                         read->where[i].value.bytes.data);
    fake->keys += (unsigned)read->key_count;
}

static bool ask(struct fake_call *call)
{
    struct fake_source *fake = fake_of(call);
    bool first = fake->started == 0 && fake->slow_first_ms;
    call->delay_ms = first ? fake->slow_first_ms : fake->delay_ms;
    if (fake->seed && call->delay_ms > 1)
        call->delay_ms = 1 + draw(fake, (unsigned)call->delay_ms);
    fake->asked++;
    if (fake->is_serial || (fake->serial_from && fake->asked > fake->serial_from)) {
        int64_t now_ms = loop_now_ms(fake->loop);
        int64_t from_ms = fake->busy_until_ms > now_ms ? fake->busy_until_ms : now_ms;
        fake->busy_until_ms = from_ms + call->delay_ms;
        call->delay_ms = fake->busy_until_ms - now_ms;
    }
    call->timer = loop_add_timer(fake->loop, call->delay_ms, answer, call);
    return call->timer;
}

static bool start(struct source_call *base)
{
    struct fake_call *call = (struct fake_call *)base;
    struct fake_source *fake = fake_of(call);
    if (fake->no_memory || !ask(call))
        return false;
    set_aside(call);
    note(fake, base->read);
    fake->started++;
    call->began = true;
    if (fake->started - fake->ended > fake->most_open)
        fake->most_open = fake->started - fake->ended;
    return true;
}

/* Without memory for a timer the failure is told at once; callers must bear that too. */
static void more(struct source_call *base)
{
    struct fake_call *call = (struct fake_call *)base;
    set_aside(call);
    if (!ask(call))
        tell_no_memory(call);
}

static void end(struct source_call *base)
{
    struct fake_call *call = (struct fake_call *)base;
    if (!call->began)
        return;
    if (call->timer && call->refused.kind == ERROR_NONE)
        charge(call, EXPENSE_ABANDONED);
    give_back(call);
    loop_remove_timer(call->timer);
    fake_of(call)->ended++;
}

static void destroy(struct source *source)
{
    (void)source;
}

static void add_stats(const struct source *source, struct source_stats *sum)
{
    (void)source, (void)sum;
}

void fake_source_init(struct fake_source *fake, struct loop *loop, const struct fake_item *items)
{
    static const struct source_ops ops = {
        .layer = SOURCE_SERVICE,
        .call_size = sizeof(struct fake_call),
        .start = start,
        .more = more,
        .end = end,
        .destroy = destroy,
        .add_stats = add_stats,
        .write_words = read_write_words,
        .write_command = dynamo_write_command,
    };
    *fake = (struct fake_source){.source = {.ops = &ops}, .loop = loop, .items = items};
}
