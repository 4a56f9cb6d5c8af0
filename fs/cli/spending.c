#include "fs/cli/spending.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/decimal.h"
#include "core/plan/cost.h"
#include "fs/cli/consent.h"

static void spending_charge(struct payer *payer, const struct expense *expense)
{
    ((struct spending *)payer)->units += expense->spent.units + expense->spent.doubted;
}

static void spending_release(struct payer *payer)
{
    (void)payer;
}

/* Whether somebody typed this command and waits for it: it leads what a shell runs in front at the
 * terminal. The commands of a script run in the script's own group, and those in the background
 * would be stopped if they asked. */
static bool spending_is_typed(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && getpgrp() == getpid() &&
           tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void spending_init(struct spending *spending, const struct options *options)
{
    static const struct payer_ops ops = {.charge = spending_charge, .release = spending_release};
    *spending = (struct spending){.payer = {&ops, 1}, .options = options};
    if (spending_is_typed())
        spending->allowed = options->confirm_above;
}

bool spending_watches(const struct spending *spending, const struct place *place)
{
    const struct options *options = spending->options;
    bool counts = options->count ||
                  (place->kind == PLACE_LIST_FILE &&
                   (place->companion == COMPANION_COUNT || place->companion == COMPANION_SUMMARY));
    return spending->allowed > 0 && place_is_listing(place) &&
           (options->where || options->confirm_given || counts);
}

/* "930 units (about $0.00012)" */
static void spending_write_price(double units, const struct place *place, struct buf *out)
{
    decimal_write(units, out);
    buf_add_text(out, units == 1 ? " unit" : " units");
    if (!place->environment)
        return;
    buf_add_text(out, " (about ");
    cost_write_dollars(units, place->environment->price, out);
    buf_add_text(out, " on demand)");
}

/* Says what was read and what comes, on the terminal, and asks. */
static bool spending_request(const struct spending *spending, const struct place *place,
                             const char *path, double next)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s: ", path);
    if (spending->units > 0) {
        spending_write_price(spending->units, place, &text);
        buf_add_text(&text, " have been read so far, and there is more; the next page");
    } else {
        buf_add_text(&text, "a page");
    }
    buf_add_text(&text, " takes up to ");
    spending_write_price(next, place, &text);
    if (spending->units == 0)
        buf_add_text(&text, ", and how many pages there are only reading tells");
    fputs("ddbfs: ", stderr);
    app_print_safely(buf_text(&text));
    fputc('\n', stderr);
    return consent_request("Go on") != CONSENT_REFUSED;
}

bool spending_agrees(struct spending *spending, const struct place *place, const char *path,
                     struct error *err)
{
    const struct plan *plan = place_plan(place, err);
    if (!plan)
        return false;
    const struct cost_rcu *rcu = &plan->cost.rcu;
    double next = plan->cost.pages || spending->units > 0 ? rcu->page : rcu->most;
    if (!spending->refused && spending->units + next <= spending->allowed)
        return true;
    spending->refused = spending->refused || !spending_request(spending, place, path, next);
    if (spending->refused) {
        CLEAN_UP(buf_clean_up) struct buf units_read = {0};
        decimal_write(spending->units, &units_read);
        return error_set(err, ERROR_TOO_LARGE,
                         "ended after %s units, since more was not agreed to: what was told is "
                         "not all",
                         buf_text(&units_read));
    }
    /* Asked again and again it would be no question any more. */
    while (spending->units + next > spending->allowed)
        spending->allowed *= 2;
    return true;
}
