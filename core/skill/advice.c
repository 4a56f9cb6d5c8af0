#include "core/skill/advice.h"

#include "core/base/error.h"
#include "core/plan/units.h"
#include "core/skill/markdown.h"
#include "core/tree/companion_words.h"

static void write_companions_of(bool listing, struct buf *out)
{
    size_t count;
    const struct companion_words *words = companion_words_of(listing, &count);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "- `%s%s`: %s\n", listing ? "LIST" : "RECORD", words[i].name, words[i].is);
}

static void write_companions(struct buf *out)
{
    buf_add_text(out,
                 "\n## Companions\n\n"
                 "Beside each listing and each record stand files that open and are never listed. "
                 "A `@` that is part of a name itself is typed `%40`.\n\n");
    write_companions_of(true, out);
    write_companions_of(false, out);
}

static void write_sizes(const struct skill_of *of, struct buf *out)
{
    double price = of->environment ? of->environment->price : MAP_PRICE;
    buf_add_text(
        out, "\n## Sizes and costs\n\n"
             "- A request reads one record by its key, up to 100 by their keys, or a page of up "
             "to 1 MB of a listing. A record has at most 400 KB.\n"
             "- 0.5 read units for each started 4 KB, also where nothing is found; a page is "
             "about 128 units, on demand ");
    units_write_dollars(units_of_page(0, 1, false), price, out);
    buf_add_text(
        out, ".\n"
             "- `@count`, `@summary` and `--where` read the whole listing, as a `@jsonl` of it "
             "does: they save what you have to read, not units. What saves units is a path "
             "whose key says more: a status, a day, the newest.\n"
             "- `ddbfs explain` asks nobody and bounds requests, units and dollars before you "
             "spend them; `@info` tells them after.\n"
             "- `ddbfs cat 'LIST@jsonl'` prints any size in constant memory. In a mount, a file "
             "that is larger than a quarter of `--cache-size` is refused (EFBIG).\n"
             "- A mount may have limits (`--max-rcu-per-process`): what goes beyond ends in "
             "EDQUOT, kind `spent` or `too-fast`, and is not sent. Ask for less.\n"
             "- An answer is believed for the path's `ttl`, 10 s unless the map says otherwise; "
             "in a mount what was read meanwhile takes nothing.\n");
}

static void write_traps(struct buf *out)
{
    buf_add_text(
        out,
        "\n## Traps\n\n"
        "Those of this data stand behind `trap:` above. Everywhere:\n\n"
        "- An empty listing is no error: a misspelt value and one that no record has look alike. "
        "Compare with the known values above.\n"
        "- `latest` and its like show the last N; a count of it is no count of all.\n"
        "- Types are never mixed: `attempt > 2` is true of no record whose `attempt` is a text.\n"
        "- A directory that no key lists ends in an error behind what it shows (exit status 1, "
        "EOPNOTSUPP): type the name. Its README says which.\n"
        "- Secrets are `********`. Do not ask for `--show-secrets`, nor print a file that gives "
        "one, unless the user asked for the secret itself.\n"
        "- Names hold `#`, `:` and blanks, and bytes as `%XX`: quote them, and use them as they "
        "are listed.\n"
        "- In a mount `ls` sorts by name, which puts the oldest first: `ls -U` keeps the "
        "listing's order.\n"
        "- An index may lag behind its table by a moment.\n");
}

static void write_wrong_ways(struct buf *out)
{
    buf_add_text(
        out, "\n## Not so\n\n"
             "- `grep -r WORD DIR`, or `cat DIR/*`: reads every record, one file each. Instead "
             "`LIST@summary`, `ddbfs ls --where`, or one `LIST@jsonl` and `jq`.\n"
             "- `ls DIR | wc -l`: instead `LIST@count`.\n"
             "- `find` or `tree` from the top: instead the paths above, or a README.\n"
             "- A loop of `ddbfs cat`: name all paths in one `ddbfs cat`, which asks for up to 100 "
             "records at once.\n"
             "- `aws dynamodb scan`, or a query by hand: instead `ddbfs explain`, which prints the "
             "equal aws command where one is needed.\n"
             "- Guessing keys: list the directory above, read its README, or follow a link.\n");
}

/* All kinds of error that SOMEBODY can do something about. */
static void write_kinds(const char *somebody, const char *what, struct buf *out)
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

static void write_errors(struct buf *out)
{
    buf_add_text(
        out, "\n## Errors\n\n"
             "With `--json` an error is one JSON object a line on standard error: `kind`, `errno`, "
             "`text`, `fixable_by` and `hint`, what to do next. Go by `fixable_by`:\n\n");
    write_kinds("caller", "ask for something else; the same fails again", out);
    write_kinds("human", "tell the user what `text` says; you can't mend it", out);
    write_kinds("retry", "wait some seconds and ask the same again", out);
    buf_add_text(
        out,
        "\nExit status: 0 all was answered, 1 something could not be, 2 wrong usage, 3 proven that "
        "nothing is there. In a mount the reasons stand in `/.ddbfs/errors` of it, and who read "
        "what in `/.ddbfs/ledger.jsonl`.\n");
}

void advice_write(const struct skill_of *of, struct buf *out)
{
    write_companions(out);
    write_sizes(of, out);
    write_traps(out);
    write_wrong_ways(out);
    write_errors(out);
}
