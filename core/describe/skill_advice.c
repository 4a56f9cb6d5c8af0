#include "core/describe/skill_advice.h"

#include "core/base/error.h"
#include "core/map/companion.h"
#include "core/plan/cost.h"

static void skill_advice_write_filters(struct buf *out)
{
    buf_add_text(
        out,
        "\n## Filters\n\n"
        "`--where 'FILTER'` goes with `ls`, `ls --count`, `explain`, and `cat` of a file of a "
        "listing, and tests any attribute. It saves reading for you, and no units.\n\n"
        "- `TEXT = \"VALUE\"`, `NUMBER != 2`; also `<`, `<=`, `>`, `>=`: texts in double quotes, "
        "numbers bare\n"
        "- `NUMBER between 1 and 3`: both ends included\n"
        "- `TEXT in (\"VALUE\", \"OTHER\")`\n"
        "- `TEXT begins with \"VAL\"`\n"
        "- `TEXT contains \"ALU\"`, `SET contains \"MEMBER\"`: part of a text, or a member of a "
        "list or set\n"
        "- `ANY exists`, `ANY does not exist`\n"
        "- `FLAG = true`, `EMPTY = null`: without quotes\n"
        "- `MAP.NUMBER > 2`, `ARRAY[0].MEMBER = \"VALUE\"`: paths into an attribute\n"
        "- `not TEXT = \"VALUE\" and (NUMBER > 1 or ANY exists)`: `not` binds closest, `or` least\n"
        "- `'odd name' = 2`: a name with other characters, in single quotes\n");
}

static void skill_advice_write_companions_of(bool listing, struct buf *out)
{
    size_t count;
    const struct companion_words *words = companion_words_of(listing, &count);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "- `%s%s`: %s\n", listing ? "LIST" : "ITEM", words[i].name, words[i].is);
}

static void skill_advice_write_companions(struct buf *out)
{
    buf_add_text(out, "\n## Companions\n\n"
                      "These files open and are never listed. In a name, `@` is typed `%40`.\n\n");
    skill_advice_write_companions_of(true, out);
    skill_advice_write_companions_of(false, out);
}

static void skill_advice_write_sizes(const struct skill_of *of, struct buf *out)
{
    double price = of->environment ? of->environment->price : MAP_PRICE;
    buf_add_text(out,
                 "\n## Costs\n\n"
                 "- 0.5 units (RCU) for each started 4 KB, also where nothing is found; a page "
                 "of 1 MB is about 128, on demand ");
    cost_write_dollars(cost_bound_page(0, 1, false), price, out);
    buf_add_text(
        out, ". Less is read by a path whose key says more (a status, a day, the newest), and "
             "with `--limit N`.\n"
             "- In a mount, limits (`--max-rcu-per-process`) refuse reads with EDQUOT, and files "
             "larger than a quarter of `--cache-size` with EFBIG: use `ddbfs cat`.\n"
             "- A result is reused for the path's `ttl`, 10 s unless the map says otherwise.\n");
}

static void skill_advice_write_traps(struct buf *out)
{
    buf_add_text(
        out,
        "\n## Traps\n\n"
        "- An empty listing is no error: a misspelt value and one without items look alike.\n"
        "- `latest` and its like show N items; their count is no count of all.\n"
        "- Types are never mixed: `attempt > 2` misses `\"3\"`. In `@summary`, `max` of an "
        "attribute with texts and numbers is a text, which hides the greatest number: `jq -s "
        "'map(.A | numbers) | max'` of `@jsonl` has it.\n"
        "- A directory called `{job_id}` or the like stands for names that no key lists. It does "
        "not open (EOPNOTSUPP): type a name in its place; the README says which.\n"
        "- Secrets are `********`. Do not use `--show-secrets`, nor print a file that shows one, "
        "unless the user wants the secret itself.\n"
        "- Names hold `#`, `:`, blanks and `%XX`: use them as listed, in quotes. In a mount "
        "`ls -U` keeps the listing's order.\n");
}

static void skill_advice_write_wrong_ways(struct buf *out)
{
    buf_add_text(out,
                 "\n## Not so\n\n"
                 "- `grep -r WORD DIR`, `cat DIR/*`, `find` from the top: instead "
                 "`LIST@summary`, `--where`, or one `LIST@jsonl` and `jq`\n"
                 "- `ls DIR | wc -l`: instead `LIST@count`\n"
                 "- a loop of `ddbfs cat`: instead one `ddbfs cat PATH…`, which reads up to "
                 "100 items in one request\n"
                 "- `aws dynamodb scan` or `query`, guessed keys: instead a README, a link, or "
                 "`ddbfs explain`, which prints the equal aws command\n");
}

/* All kinds of error that SOMEBODY can do something about. */
static void skill_advice_write_kinds(const char *somebody, const char *what, struct buf *out)
{
    bool first = true;
    buf_printf(out, "- `%s`: %s (", somebody, what);
    for (unsigned kind = ERROR_NOT_FOUND; kind <= ERROR_NO_MEMORY; kind++) {
        if (!span_is(span_text(error_fixable_by(kind)), somebody))
            continue;
        buf_printf(out, "%s`%s`", first ? "" : ", ", error_word(kind));
        first = false;
    }
    buf_add_text(out, ")\n");
}

static void skill_advice_write_errors(struct buf *out)
{
    buf_add_text(out, "\n## Errors\n\n"
                      "With `--json`, an error is a JSON line on standard error: `kind`, `errno`, "
                      "`text`, `hint`, and `fixable_by`:\n\n");
    skill_advice_write_kinds("caller", "ask for something else", out);
    skill_advice_write_kinds("human", "tell the user what `text` says", out);
    skill_advice_write_kinds("retry", "wait some seconds, then repeat", out);
    buf_add_text(out,
                 "\nExit status: 0 all was answered, 1 not all, 2 wrong usage, 3 proven not to "
                 "exist. In a mount, reasons are in `/.ddbfs/errors`.\n");
}

void skill_advice_write(const struct skill_of *of, struct buf *out)
{
    skill_advice_write_filters(out);
    skill_advice_write_companions(out);
    skill_advice_write_sizes(of, out);
    skill_advice_write_traps(out);
    skill_advice_write_wrong_ways(out);
    skill_advice_write_errors(out);
}
