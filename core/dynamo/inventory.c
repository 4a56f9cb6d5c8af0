#include "core/dynamo/inventory.h"

#include <stdlib.h>

#include "core/base/nearest.h"

enum {
    PLACES = 8,        /* the account, and tables whose index was not found */
    SHOWN_BYTES = 300, /* of names, in an error */
};

enum place_state {
    PLACE_EMPTY,
    PLACE_LOADING, /* a request is under way */
    PLACE_KNOWN,   /* NAMES are those of AT_MS */
    PLACE_UNKNOWN, /* the request failed at AT_MS */
};

struct inventory_place {
    struct inventory *inventory;
    enum place_state state;
    char *table;         /* owned; NULL: the account */
    struct read *read;   /* owned; of PLACE_LOADING */
    struct payer *payer; /* a reference; of PLACE_LOADING */
    struct sent_request sent;
    struct exchange *exchange; /* of PLACE_LOADING */
    struct list waits;         /* of struct inventory_wait, borrowed; of PLACE_LOADING */
    struct buf names;          /* each ended by a NUL */
    size_t count;
    bool more; /* the response has a further page */
    int64_t at_ms;
};

struct inventory {
    struct exchange_link *link; /* borrowed */
    struct retry retry;         /* unused: no request is repeated */
    struct inventory_place places[PLACES];
};

static int64_t inventory_now_ms(const struct inventory *inventory)
{
    return loop_now_ms(inventory->link->client.loop);
}

struct inventory *inventory_new(struct exchange_link *link)
{
    struct inventory *inventory = calloc(1, sizeof *inventory);
    if (inventory)
        inventory->link = link;
    return inventory;
}

static void inventory_clear(struct inventory_place *place)
{
    exchange_end(place->exchange);
    read_destroy(place->read);
    payer_unref(place->payer);
    buf_clean_up(&place->names);
    free(place->table);
    *place = (struct inventory_place){0};
}

void inventory_destroy(struct inventory *inventory)
{
    for (size_t i = 0; inventory && i < PLACES; i++)
        inventory_clear(&inventory->places[i]);
    free(inventory);
}

static bool inventory_is_of(const struct inventory_place *place, const char *table)
{
    if (place->state == PLACE_EMPTY || !place->table != !table)
        return false;
    return !table || strcmp(place->table, table) == 0;
}

static bool inventory_is_fresh(const struct inventory *inventory,
                               const struct inventory_place *place)
{
    return place->state == PLACE_LOADING ||
           inventory_now_ms(inventory) - place->at_ms < INVENTORY_GOOD_FOR_MS;
}

/* The place of TABLE, or else one to reuse; NULL while all are loading. */
static struct inventory_place *inventory_place_for(struct inventory *inventory, const char *table)
{
    struct inventory_place *oldest = NULL;
    for (size_t i = 0; i < PLACES; i++) {
        struct inventory_place *place = &inventory->places[i];
        if (inventory_is_of(place, table))
            return place;
        if (place->state != PLACE_LOADING && (!oldest || place->at_ms < oldest->at_ms))
            oldest = place;
    }
    return oldest;
}

/* The exchange has logged ERR. Without the names the errors are shorter. */
static void inventory_on_answer(void *arg, struct answer *answer, const struct error *err,
                                unsigned tries)
{
    struct inventory_place *place = arg;
    (void)err, (void)tries;
    place->exchange = NULL;
    payer_unref(place->payer);
    place->payer = NULL;
    place->at_ms = inventory_now_ms(place->inventory);
    place->state = PLACE_UNKNOWN;
    if (answer) {
        const struct table_info *table = answer->table;
        place->count = table ? table->index_count : answer->name_count;
        place->more = json_present(answer->resume);
        for (size_t i = 0; i < place->count; i++) {
            buf_add_span(&place->names, table ? table->indexes[i].name : answer->names[i]);
            buf_add_char(&place->names, '\0');
        }
        place->state = place->names.failed ? PLACE_UNKNOWN : PLACE_KNOWN;
    }
    answer_destroy(answer);
    /* OVER may end waits. It adds none here, because the place is not loading any more. */
    while (!list_is_empty(&place->waits)) {
        struct inventory_wait *wait = LIST_FIRST(&place->waits, struct inventory_wait, node);
        list_remove(&wait->node);
        wait->over(wait->arg);
    }
}

/* Sends the request once; no quota pays for it. */
static bool inventory_send(struct inventory_place *place, int64_t deadline_at_ms)
{
    struct inventory *inventory = place->inventory;
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    CLEAN_UP(request_clean_up) struct request request;
    place->sent = (struct sent_request){
        .op = request_op(place->read), .read = place->read, .region = "", .endpoint = ""};
    if (!request_init(&request, place->read) || !request_write(&request, span_text(""), &body))
        return false;
    struct exchange_request wanted = {
        .sent = &place->sent,
        .body = buf_span(&body),
        .retry = &inventory->retry,
        .payer = place->payer,
        .most_tries = 1,
        .deadline_at_ms = deadline_at_ms,
    };
    place->exchange = exchange_start(inventory->link, &wanted, inventory_on_answer, place);
    return place->exchange;
}

static bool inventory_begin(struct inventory *inventory, struct inventory_place *place,
                            const char *table, int64_t deadline_at_ms, struct payer *payer)
{
    inventory_clear(place);
    place->inventory = inventory;
    place->payer = payer_ref(payer);
    place->table = table ? strdup(table) : NULL;
    place->read = read_new(table ? READ_TABLE : READ_TABLES, table ? table : "", NULL);
    if ((table && !place->table) || !place->read || !inventory_send(place, deadline_at_ms)) {
        inventory_clear(place);
        return false;
    }
    place->state = PLACE_LOADING;
    return true;
}

bool inventory_load(struct inventory *inventory, const char *table, int64_t deadline_at_ms,
                    struct payer *payer, struct inventory_wait *wait, void (*over)(void *arg),
                    void *arg)
{
    struct inventory_place *place = inventory_place_for(inventory, table);
    int64_t longest_ms = inventory_now_ms(inventory) + INVENTORY_WAIT_MS;
    int64_t until_ms = deadline_at_ms < longest_ms ? deadline_at_ms : longest_ms;
    if (!place || until_ms <= inventory_now_ms(inventory))
        return false;
    if (!(inventory_is_of(place, table) && inventory_is_fresh(inventory, place)) &&
        !inventory_begin(inventory, place, table, until_ms, payer))
        return false;
    if (place->state != PLACE_LOADING)
        return false;
    *wait = (struct inventory_wait){.over = over, .arg = arg};
    list_prepend(&place->waits, &wait->node);
    return true;
}

void inventory_leave(struct inventory_wait *wait)
{
    list_remove(&wait->node);
}

void inventory_report(const struct inventory *inventory, const char *table, const char *wanted,
                      struct error *err)
{
    const struct inventory_place *place = NULL;
    for (size_t i = 0; !place && i < PLACES; i++)
        if (inventory_is_of(&inventory->places[i], table))
            place = &inventory->places[i];
    if (!place || place->state != PLACE_KNOWN || !inventory_is_fresh(inventory, place))
        return;
    if (place->count == 0) {
        error_add(err, table ? "; the table has no index" : "; there are no tables");
        return;
    }
    CLEAN_UP(buf_clean_up) struct buf shown = {0}, meant = {0};
    struct nearest nearest = nearest_to(span_text(wanted));
    size_t left = place->count;
    for (size_t at = 0; at < place->names.size;) {
        struct span name = span_text(place->names.data + at);
        nearest_offer(&nearest, name);
        if (shown.size + name.size < SHOWN_BYTES) {
            buf_printf(&shown, "%s%.*s", shown.size ? ", " : "", (int)name.size, name.data);
            left--;
        }
        at += name.size + 1;
    }
    nearest_write(&nearest, &meant);
    error_add(err, "%s; there %s: %s", buf_text(&meant), place->count == 1 ? "is" : "are",
              buf_text(&shown));
    if (place->more)
        error_add(err, " and more");
    else if (left > 0)
        error_add(err, " and %zu more", left);
}
