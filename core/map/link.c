#include "core/map/link.h"

#include "core/base/escape.h"
#include "core/base/nearest.h"

bool link_is_of(const struct map_link *link, const struct map_kind *kind)
{
    for (size_t i = 0; i < link->kind_count; i++)
        if (link->kinds[i] == kind)
            return true;
    return link->kind_count == 0;
}

const struct map_link_source *link_source(const struct map_link *link, const char *param)
{
    for (size_t i = 0; i < link->source_count; i++)
        if (format_has(&link->sources[i].format, param))
            return &link->sources[i];
    return NULL;
}

static bool link_kind_has(const struct model *model, const struct map_kind *kind, const char *param)
{
    for (size_t i = 0; i < model->key_count; i++)
        if (format_has(&kind->keys[i], param))
            return true;
    return false;
}

/* Compiling. */

struct link_compiling {
    struct model *model;
    struct arena *arena;
    struct findings *findings;
    const struct declared_link *declared;
    struct map_link *link;
};

static const char *link_store(const struct link_compiling *compiling, const char *text)
{
    return arena_text(compiling->arena, span_text(text));
}

static bool link_report_error(const struct link_compiling *compiling, const char *what)
{
    return findings_add(compiling->findings, compiling->declared->at, "link \"%s\": %s",
                        compiling->declared->name, what);
}

static bool link_make_step(const struct link_compiling *compiling, struct span text)
{
    CLEAN_UP(arena_discard) struct arena scratch = {0};
    struct format step;
    const char *wrong = format_parse(&scratch, text, &step);
    if (scratch.failed)
        return findings_no_memory(compiling->findings);
    for (size_t i = 0; !wrong && i < step.count; i++) {
        if (step.pieces[i].open)
            wrong = "a part has no star here";
        else if (step.pieces[i].param && strcmp(step.pieces[i].param, "env") == 0)
            wrong = "{env} is the first step, and no other";
        else if (!escape_is_unneeded(step.pieces[i].literal))
            wrong = "its path can't hold % or a control character";
    }
    if (wrong)
        return link_report_error(compiling, wrong);
    return format_copy(compiling->arena, &step,
                       &compiling->link->steps[compiling->link->step_count++]) ||
           findings_no_memory(compiling->findings);
}

static bool link_make_environment(const struct link_compiling *compiling, struct span text)
{
    if (span_is(text, LINK_SAME_ENVIRONMENT))
        return true;
    if (!escape_is_unneeded(text) || memchr(text.data, '{', text.size))
        return link_report_error(compiling, "its path begins with /{env}/, the item's own "
                                            "environment, or with the name of an environment");
    compiling->link->environment = arena_text(compiling->arena, text);
    return compiling->link->environment || findings_no_memory(compiling->findings);
}

/* "/{env}/index-settings/{account}/{index_name}" */
static bool link_make_steps(const struct link_compiling *compiling)
{
    struct map_link *link = compiling->link;
    struct span left = span_text(link->to);
    size_t number = 0;
    link->directory = span_ends(left, SPAN_LITERAL("/"));
    link->steps = arena_array(compiling->arena, left.size, sizeof *link->steps);
    if (!link->steps)
        return findings_no_memory(compiling->findings);
    if (left.data[0] != '/')
        return link_report_error(compiling,
                                 "its path begins with /{env}/ or another environment's name");
    while (left.size > 1) {
        left = span_from(left, 1);
        const char *slash = memchr(left.data, '/', left.size);
        struct span text = slash ? span_of(left.data, (size_t)(slash - left.data)) : left;
        left = span_from(left, text.size);
        if (text.size == 0 || span_is(text, ".") || span_is(text, ".."))
            return link_report_error(compiling, "an empty segment, . or .. in its path");
        bool ok = number == 0 ? link_make_environment(compiling, text)
                              : number == 1 || link_make_step(compiling, text);
        if (number == 1) {
            link->table = arena_text(compiling->arena, text);
            ok = link->table || findings_no_memory(compiling->findings);
        }
        if (!ok)
            return false;
        number++;
    }
    return link->table || link_report_error(compiling, "its path names a table: /{env}/TABLE/…");
}

static bool link_make_kinds(const struct link_compiling *compiling, bool whole)
{
    const struct declared_link *declared = compiling->declared;
    struct map_link *link = compiling->link;
    bool ok = true;
    link->kinds = arena_array(compiling->arena, declared->kind_count, sizeof *link->kinds);
    for (size_t i = 0; link->kinds && i < declared->kind_count; i++) {
        const struct map_kind *kind = model_find_kind(compiling->model, declared->kinds[i].text);
        if (kind)
            link->kinds[link->kind_count++] = kind;
        ok = ok && kind;
        if (!kind && whole)
            findings_add(compiling->findings, declared->kinds[i].at,
                         "\"records\" has no kind of the name \"%s\"; add it there",
                         declared->kinds[i].text);
    }
    return ok && (link->kinds || findings_no_memory(compiling->findings));
}

static bool link_uses(const struct map_link *link, const char *param)
{
    for (size_t i = 0; i < link->step_count; i++)
        if (format_has(&link->steps[i], param))
            return true;
    return false;
}

/* A part of the source that the path does not have is a spelling mistake. */
static bool link_check_source(const struct link_compiling *compiling,
                              const struct declared_link_source *source)
{
    for (size_t i = 0; i < source->format.count; i++) {
        const char *param = source->format.pieces[i].param;
        if (param && !link_uses(compiling->link, param))
            return findings_add(compiling->findings, source->at,
                                "\"from\" of link \"%s\" has {%s}, but its path does not have it",
                                compiling->link->name, param);
        if (param && link_source(compiling->link, param))
            return findings_add(compiling->findings, source->at,
                                "\"from\" of link \"%s\" has {%s} twice", compiling->link->name,
                                param);
    }
    return !format_is_literal(&source->format) ||
           findings_add(compiling->findings, source->at,
                        "\"from\" of link \"%s\" must split %s into parts: \"{…}\"",
                        compiling->link->name, source->from);
}

static bool link_make_sources(const struct link_compiling *compiling)
{
    struct map_link *link = compiling->link;
    size_t count = 0;
    const struct declared_link_source *each;
    for (each = compiling->declared->sources; each; each = each->next)
        count++;
    link->sources = arena_array(compiling->arena, count, sizeof *link->sources);
    for (each = compiling->declared->sources; link->sources && each; each = each->next) {
        if (!link_check_source(compiling, each))
            return false;
        struct map_link_source *source = &link->sources[link->source_count];
        source->from = link_store(compiling, each->from);
        if (!format_copy(compiling->arena, &each->format, &source->format))
            return findings_no_memory(compiling->findings);
        link->source_count++;
    }
    return link->sources || findings_no_memory(compiling->findings);
}

/* Whether NAME is a part of the keys of all items that have the link. */
static bool link_is_key_part(const struct link_compiling *compiling, const char *name)
{
    for (const struct map_kind *kind = compiling->model->kinds; kind; kind = kind->next)
        if (link_is_of(compiling->link, kind) && !link_kind_has(compiling->model, kind, name))
            return false;
    return true;
}

static bool link_check_secret(const struct link_compiling *compiling, const char *name)
{
    if (link_is_key_part(compiling, name) || !model_is_secret(compiling->model, span_text(name)))
        return true;
    return findings_add(compiling->findings, compiling->declared->at,
                        "link \"%s\": %s is a secret, and a link's target is for all to see",
                        compiling->link->name, name);
}

/* Each part needs a source. If "from" exists, it has all parts that the key lacks. */
static bool link_check_part(const struct link_compiling *compiling, const char *param)
{
    const struct map_link *link = compiling->link;
    CLEAN_UP(buf_clean_up) struct buf hint = {0};
    const struct map_link_source *source = link_source(link, param);
    if (source)
        return link_check_secret(compiling, source->from);
    if (link->source_count == 0 || link_is_key_part(compiling, param))
        return link_check_secret(compiling, param);
    struct nearest nearest = nearest_to(span_text(param));
    for (size_t i = 0; i < link->source_count; i++)
        for (size_t k = 0; k < link->sources[i].format.count; k++)
            if (link->sources[i].format.pieces[k].param)
                nearest_offer(&nearest, span_text(link->sources[i].format.pieces[k].param));
    nearest_write(&nearest, &hint);
    return findings_add(compiling->findings, compiling->declared->at,
                        "link \"%s\": {%s} is neither in \"from\" nor in the key%s", link->name,
                        param, buf_text(&hint));
}

static bool link_check_parts(const struct link_compiling *compiling)
{
    const struct map_link *link = compiling->link;
    bool ok = true;
    for (size_t i = 0; i < link->step_count; i++)
        for (size_t k = 0; k < link->steps[i].count; k++)
            if (link->steps[i].pieces[k].param)
                ok = link_check_part(compiling, link->steps[i].pieces[k].param) && ok;
    return ok;
}

void links_compile(struct model *model, struct arena *arena, const struct declared_table *table,
                   bool whole, struct findings *findings)
{
    struct map_link **last = &model->links;
    for (const struct declared_link *each = table->links; each; each = each->next) {
        struct map_link *link = arena_alloc(arena, sizeof *link);
        struct link_compiling compiling = {model, arena, findings, each, link};
        if (!link) {
            findings_no_memory(findings);
            return;
        }
        *link = (struct map_link){.name = link_store(&compiling, each->name),
                                  .to = link_store(&compiling, each->to),
                                  .line = each->at.line,
                                  .column = each->at.column};
        if (arena->failed) {
            findings_no_memory(findings);
            return;
        }
        if (!link_make_steps(&compiling) || !link_make_kinds(&compiling, whole) ||
            !link_make_sources(&compiling) || (whole && !link_check_parts(&compiling)))
            continue;
        *last = link;
        last = &link->next;
    }
}

/* Following a link. */

/* Whether both have parts and texts in the same order. */
static bool link_is_written_alike(const struct format *a, const struct format *b)
{
    bool alike = a->count == b->count;
    for (size_t i = 0; alike && i < a->count; i++)
        alike = !a->pieces[i].param == !b->pieces[i].param &&
                span_equal(a->pieces[i].literal, b->pieces[i].literal);
    return alike;
}

const struct route *link_step(const struct route *directory, const struct format *written)
{
    const struct route *any = NULL;
    for (const struct route *child = directory->children; child; child = child->next) {
        struct bindings parts = {0};
        if (link_is_written_alike(&child->segment, written) ||
            (format_is_literal(written) &&
             format_match(&child->segment, format_literal(written), &parts)))
            return child;
        if (!any && format_whole_param(&child->segment))
            any = child;
    }
    return any;
}

static bool link_bind_value(const struct model *target, const char *param, struct span text,
                            struct arena *arena, struct bindings *out)
{
    CLEAN_UP(buf_clean_up) struct buf value = {0};
    if (bindings_find(out, param))
        return true;
    if (!model_read_part(target, param, text, &value))
        buf_add_span(&value, text); /* no name leads to it */
    arena->failed = arena->failed || value.failed;
    return bindings_add(out, param, arena_copy(arena, buf_span(&value))) && !arena->failed;
}

static bool link_bind_text(const struct model *target, const struct route *step, struct span text,
                           struct arena *arena, struct bindings *out)
{
    struct bindings parts = {0};
    bool ok = true;
    const char *whole = format_whole_param(&step->segment);
    if (whole)
        return link_bind_value(target, whole, text, arena, out);
    format_match(&step->segment, text, &parts);
    for (size_t i = 0; ok && i < parts.count; i++)
        ok = link_bind_value(target, parts.items[i].param, parts.items[i].value, arena, out);
    return ok;
}

bool link_bind(const struct model *target, const struct route *step, const struct format *written,
               const struct bindings *values, struct arena *arena, struct bindings *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    bool ok = true;
    if (format_is_literal(written) || !link_is_written_alike(&step->segment, written)) {
        format_expand(written, values, &text);
        arena->failed = arena->failed || text.failed;
        return link_bind_text(target, step, buf_span(&text), arena, out);
    }
    for (size_t i = 0; ok && i < written->count; i++) {
        const char *param = step->segment.pieces[i].param;
        const struct span *value = param ? bindings_find(values, written->pieces[i].param) : NULL;
        ok = !value || link_bind_value(target, param, *value, arena, out);
    }
    return ok;
}

/* Checking the targets. */

/* A literal that the target's map refuses leads nowhere. */
static bool link_check_values(const struct model *target, const struct map_link *link,
                              const struct bindings *stated, struct findings *findings)
{
    for (size_t i = 0; i < stated->count; i++) {
        const struct map_param *param = model_find_param(target, stated->items[i].param);
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        buf_add_span(&text, stated->items[i].value);
        if (!param || (model_param_has(param, stated->items[i].value) &&
                       (!param->match || regexec(&param->regex, buf_text(&text), 0, NULL, 0) == 0)))
            continue;
        return findings_add(findings, FINDING_AT(link),
                            "link \"%s\" leads to \"%s\", which is not among the values of {%s}",
                            link->name, buf_text(&text), param->name);
    }
    return true;
}

static bool link_describe_no_step(const struct map_link *link, const struct route *at,
                                  const struct format *step, struct findings *findings)
{
    CLEAN_UP(buf_clean_up) struct buf written = {0}, names = {0};
    format_write(step, &written);
    for (const struct route *child = at->children; child; child = child->next) {
        buf_add_text(&names, names.size ? ", " : "");
        route_write_segment(child, &names);
        buf_add_text(&names, child->file ? "" : "/");
    }
    return findings_add(findings, FINDING_AT(link),
                        "link \"%s\" leads to %s, and the map has no \"%s\" there; it has %s",
                        link->name, link->to, buf_text(&written),
                        names.size ? buf_text(&names) : "nothing");
}

static bool link_check_steps(const struct model *target, const struct map_link *link,
                             struct findings *findings)
{
    CLEAN_UP(arena_discard) struct arena arena = {0};
    const struct route *at = target->root;
    for (size_t i = 0; i < link->step_count; i++) {
        struct bindings stated = {0}, nothing = {0};
        const struct route *next = link_step(at, &link->steps[i]);
        if (!next)
            return link_describe_no_step(link, at, &link->steps[i], findings);
        if (format_is_literal(&link->steps[i]) &&
            !link_bind(target, next, &link->steps[i], &nothing, &arena, &stated))
            return findings_no_memory(findings);
        if (!link_check_values(target, link, &stated, findings))
            return false;
        at = next;
    }
    if (!at->file == link->directory)
        return true;
    return findings_add(findings, FINDING_AT(link),
                        at->file ? "link \"%s\" leads to a file, %s; remove the final /"
                                 : "link \"%s\" leads to a directory, %s; add a final /",
                        link->name, link->to);
}

void links_check(const struct model *const *models, size_t count,
                 const struct declared_table *tables, struct findings *findings)
{
    for (size_t i = 0; i < count; i++) {
        for (const struct map_link *link = models[i]->links; link; link = link->next) {
            const struct declared_table *declared = tables;
            size_t target = 0;
            while (target < count && strcmp(models[target]->path_name, link->table) != 0)
                target++;
            while (declared && strcmp(declared->path_name, link->table) != 0)
                declared = declared->next;
            if (target < count)
                link_check_steps(models[target], link, findings);
            else if (!declared)
                findings_add(findings, FINDING_AT(link),
                             "link \"%s\" leads to the table \"%s\", which the map does not have",
                             link->name, link->table);
        }
    }
}
