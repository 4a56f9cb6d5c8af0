/* A step of a path is completed by what the map tells, by a first page, and by companions. */
#include "fs/cli/path_completion.h"

#include "core/read/entries.h"
#include "core/read/resolve.h"

/* Of what tells no records: the first tells the map's own names, or begins with the tables'. */
enum { MOST_PAGES = 2 };

struct path_words {
    struct app *app;
    struct span folder; /* what was typed up to the last slash, and that */
    struct span name;   /* the rest */
    path_completion_fn *fn;
    void *arg;
    struct loop_timer *timer; /* NULL once it is late */
    struct place *place;      /* owned: what was looked for last; NULL when it is not there */
    struct tree_resolution *resolution; /* of that */
    struct entries declared;            /* what the map itself puts into the directory */
    size_t told;                        /* entries of the listing */
    bool listed;                        /* a page has come, */
    bool more;                          /* and there is another */
    bool cut;
};

static void path_completion_offer(struct path_words *words, struct span name, bool directory)
{
    CLEAN_UP(buf_clean_up) struct buf word = {0};
    if (!span_starts(name, words->name))
        return;
    buf_add_span(&word, words->folder);
    buf_add_span(&word, name);
    buf_add_text(&word, directory ? "/" : "");
    words->cut = words->cut || word.failed;
    if (!word.failed)
        words->fn(words->arg, buf_span(&word));
}

static void path_completion_be_late(void *arg)
{
    struct path_words *words = arg;
    words->timer = NULL;
    loop_stop(words->app->loop);
}

static void path_completion_take_place(void *arg, struct place *place, const struct error *err)
{
    struct path_words *words = arg;
    (void)err; /* what there is not has no names */
    words->resolution = NULL;
    words->place = place;
    loop_stop(words->app->loop);
}

/* The place of PATH becomes that of WORDS; false when there is none, or it is late. */
static bool path_completion_find(struct path_words *words, struct span path)
{
    place_destroy(words->place);
    words->place = NULL;
    words->resolution =
        tree_resolve(&words->app->tree, NULL, path, path_completion_take_place, words);
    if (words->resolution && words->timer)
        loop_run(words->app->loop);
    tree_resolve_cancel(words->resolution);
    words->resolution = NULL;
    return words->place;
}

static void path_completion_take_entries(void *arg, const struct tree_entry *entries, size_t count,
                                         bool more, const struct error *err)
{
    struct path_words *words = arg;
    for (size_t i = 0; i < count; i++)
        if (!entries_have(&words->declared, entries[i].name))
            path_completion_offer(words, entries[i].name, entries[i].directory);
    words->told += count;
    words->listed = true;
    words->more = more && !err;
    words->cut = words->cut || err;
    loop_stop(words->app->loop);
}

static void path_completion_list(struct path_words *words, unsigned pages)
{
    struct tree_listing *listing =
        tree_list(&words->app->tree, words->place, false, path_completion_take_entries, words);
    words->more = listing;
    while (words->more && words->timer && pages-- > 0) {
        if (words->listed)
            tree_list_more(listing);
        words->listed = false;
        loop_run(words->app->loop);
    }
    words->cut = words->cut || words->more || !listing || !words->listed;
    if (listing)
        tree_list_end(listing);
}

/* The records of a listing, and no more of them than are looked at. */
static void path_completion_list_records(struct path_words *words)
{
    struct error ignored;
    bool suffixed = words->app->options->suffix[0];
    const struct selection selection = {.limit = PATH_COMPLETION_RECORDS,
                                        .begins = suffixed ? span_text("") : words->name};
    if (place_select(words->place, &selection, false, &ignored))
        path_completion_list(words, 1);
    words->cut = words->cut || words->told >= PATH_COMPLETION_RECORDS;
}

/* The names of environments that no table has told of yet are asked for by one of these, if one may
 * be meant. */
static bool path_completion_may_be_parametric(const struct path_words *words)
{
    const struct map_environment *each = words->app->map->environments;
    for (; each; each = each->next) {
        struct span first = each->name.pieces[0].literal;
        if (!format_is_literal(&each->name) &&
            (span_starts(first, words->name) || span_starts(words->name, first)))
            return true;
    }
    return false;
}

/* Declared names stand in the map, and need no proof here: a file that turns out not to be there
 * says so itself. */
static void path_completion_list_directory(struct path_words *words)
{
    const struct place *place = words->place;
    const struct place_options *names = &words->app->tree.names;
    entries_add_declared(&words->declared, place, names);
    entries_add_files(&words->declared, place, names);
    for (size_t i = 0; i < words->declared.count; i++)
        path_completion_offer(words, words->declared.items[i].name,
                              words->declared.items[i].directory);
    words->cut = words->cut || words->declared.failed;
    if (place_is_listing(place) && !place->route->list->groups)
        path_completion_list_records(words);
    else if (place_is_listing(place) || place->kind == PLACE_TABLES || place->kind == PLACE_ATTRS ||
             place->kind == PLACE_LINKS ||
             (place->kind == PLACE_ROOT && path_completion_may_be_parametric(words)))
        path_completion_list(words, MOST_PAGES);
}

/* Where the '@' of a companion's name may stand: behind something. 0 where there is none. */
static size_t path_completion_find_at(struct span name)
{
    size_t at = name.size;
    while (at > 0 && name.data[at - 1] != '@')
        at--;
    return at > 1 ? at - 1 : 0;
}

/* What the tree has of them, which is known without reading anything of the record. */
static void path_completion_try_companions(struct path_words *words)
{
    size_t at = path_completion_find_at(words->name);
    struct span stem = span_of(words->name.data, at), ending = span_from(words->name, at);
    for (enum companion c = COMPANION_TYPED; at > 0 && c < COMPANION_END; c++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0}, path = {0};
        if (!span_starts(span_text(companion_ending(c)), ending))
            continue;
        buf_add_span(&name, stem);
        buf_add_text(&name, companion_ending(c));
        buf_add_span(&path, words->folder);
        buf_add_span(&path, buf_span(&name));
        if (!name.failed && !path.failed && path_completion_find(words, buf_span(&path)))
            path_completion_offer(words, buf_span(&name), place_is_directory(words->place));
    }
}

bool path_words(struct app *app, const char *typed, path_completion_fn *fn, void *arg)
{
    const char *slash = strrchr(typed, '/');
    struct span root = SPAN_LITERAL("/"); /* of a path that has not begun */
    size_t folder = slash ? (size_t)(slash - typed) + 1 : 0;
    struct path_words words = {.app = app,
                               .folder = typed[0] ? span_of(typed, folder) : root,
                               .name = span_text(typed + folder),
                               .fn = fn,
                               .arg = arg};
    words.timer =
        loop_add_timer(app->loop, PATH_COMPLETION_WAIT_MS, path_completion_be_late, &words);
    app->tree.names.scan = NULL; /* nobody meant that by a key */
    if (path_completion_find(&words, words.folder))
        path_completion_list_directory(&words);
    path_completion_try_companions(&words);
    words.cut = words.cut || !words.timer;
    loop_remove_timer(words.timer);
    place_destroy(words.place);
    entries_clean_up(&words.declared);
    return words.cut;
}
