#include "fs/cli/read_budget.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/quantity.h"
#include "core/plan/cost.h"
#include "fs/cli/app.h"
#include "fs/cli/prompt.h"

/* A typed command leads the foreground process group of the terminal. The commands of a script are
 * in the script's group; a command in the background would be stopped by a prompt. */
void read_budget_init(struct read_budget *budget, const struct options *options)
{
    bool typed = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && getpgrp() == getpid() &&
                 tcgetpgrp(STDIN_FILENO) == getpgrp();
    *budget = (struct read_budget){.allowed = typed ? options->confirm_above : 0};
}

void read_budget_charge(struct read_budget *budget, const struct expense *expense)
{
    budget->rcu += expense->spent.units + expense->spent.doubted;
}

/* "930 RCU (about $0.00012 on demand)" */
static void read_budget_write_price(double rcu, double price, struct buf *out)
{
    decimal_write(rcu, out);
    buf_add_text(out, " RCU");
    if (price <= 0)
        return;
    buf_add_text(out, " (about ");
    cost_write_dollars(rcu, price, out);
    buf_add_text(out, " on demand)");
}

static bool read_budget_prompt(const struct read_budget *budget, const struct read_demand *demand)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s: ", demand->of);
    if (budget->rcu > 0) {
        read_budget_write_price(budget->rcu, demand->price, &text);
        buf_printf(&text, " were consumed so far; the next %s", demand->unit);
    } else {
        buf_printf(&text, "a %s", demand->unit);
    }
    buf_add_text(&text, " takes up to ");
    read_budget_write_price(demand->rcu, demand->price, &text);
    if (budget->rcu == 0)
        buf_printf(&text, "; the number of %ss is not known", demand->unit);
    fflush(stdout);
    fputs("ddbfs: ", stderr);
    app_print_safely(buf_text(&text));
    fputc('\n', stderr);
    return prompt_for_consent("Go on") != PROMPT_REFUSED;
}

bool read_budget_allows(struct read_budget *budget, const struct read_demand *demand,
                        struct error *err)
{
    if (budget->allowed <= 0 || (!budget->refused && budget->rcu + demand->rcu <= budget->allowed))
        return true;
    budget->refused = budget->refused || !read_budget_prompt(budget, demand);
    if (budget->refused) {
        CLEAN_UP(buf_clean_up) struct buf consumed = {0};
        decimal_write(budget->rcu, &consumed);
        return error_set(err, ERROR_TOO_LARGE,
                         "stopped at your request after %s RCU; the results are incomplete",
                         buf_text(&consumed));
    }
    while (budget->rcu + demand->rcu > budget->allowed)
        budget->allowed *= 2;
    return true;
}
