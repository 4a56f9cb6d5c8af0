#include "core/check/sample_result.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/check/sample_state.h"

void sample_each_kind(const struct sample *sample, sample_kind_fn *fn, void *arg)
{
    for (size_t i = 0; i < sample->kind_count; i++)
        if (sample->kinds[i].wanted || sample->kinds[i].items > 0)
            fn(arg, sample->kinds[i].kind, sample->kinds[i].items);
}

/* The caller's function, which the results are reported to. */
struct sample_reader {
    sample_report_fn *fn;
    void *arg;
};

static void sample_result_report_mistake(void *arg, unsigned line, const char *text)
{
    const struct sample_reader *reader = arg;
    reader->fn(reader->arg, SAMPLE_MISTAKE, line, text);
}

static void sample_result_report_warning(void *arg, unsigned line, const char *text)
{
    const struct sample_reader *reader = arg;
    reader->fn(reader->arg, SAMPLE_WARNING, line, text);
}

static void sample_result_report(const struct sample_reader *reader, enum sample_verdict verdict,
                                 unsigned line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void sample_result_report(const struct sample_reader *reader, enum sample_verdict verdict,
                                 unsigned line, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reader->fn(reader->arg, verdict, line, text);
}

static const char *sample_result_records_word(unsigned count)
{
    return count == 1 ? "the one record" : "any of the records";
}

static void sample_result_end_shown(const struct sample *sample, const struct sample_reader *reader,
                                    const struct shown *shown)
{
    const struct map_pattern *pattern = shown->pattern;
    const char *table_mtime = sample->table->mtime;
    bool dated = pattern->mtime && (!table_mtime || strcmp(pattern->mtime, table_mtime) != 0);
    if (shown->of_kinds > 0 && shown->records == 0 && (pattern->attribute || dated))
        sample_result_report(
            reader, SAMPLE_UNPROVEN, pattern->line,
            "the filter of \"%s\" lets no item through that was read, so that %s was not looked "
            "for",
            pattern->path, pattern->attribute ? pattern->attribute : pattern->mtime);
    if (shown->records == 0)
        return;
    if (pattern->attribute && shown->with_attribute == 0)
        sample_result_report(reader, SAMPLE_MISTAKE, pattern->line,
                             "\"%s\" shows %s, which is not in %s that it could show",
                             pattern->path, pattern->attribute,
                             sample_result_records_word(shown->records));
    if (dated && shown->with_date == 0)
        sample_result_report(reader, SAMPLE_MISTAKE, pattern->line,
                             "\"%s\" is dated by %s, which is not in %s that it could show",
                             pattern->path, pattern->mtime,
                             sample_result_records_word(shown->records));
}

static void sample_result_end_looked_at(const struct sample_reader *reader,
                                        const struct looked_at *each)
{
    if (each->records > 0 && each->with_attribute == 0)
        sample_result_report(
            reader, SAMPLE_MISTAKE, each->pattern->line,
            "the filter of \"%s\" looks at %s, which is not in %s that it could let through",
            each->pattern->path, each->attribute, sample_result_records_word(each->records));
}

static void sample_result_end_kinds(const struct sample *sample, const struct sample_reader *reader)
{
    for (size_t i = 0; i < sample->kind_count; i++) {
        const struct kind_seen *seen = &sample->kinds[i];
        if (seen->wanted && seen->items == 0)
            sample_result_report(
                reader, SAMPLE_UNPROVEN, seen->kind->line,
                "no item of %s was read, so that its keys and attributes were not compared; name a "
                "path that shows one",
                seen->kind->name);
    }
}

/* Kinds of which no item was read, as "note, tag"; empty when there are none. */
static void sample_result_write_unseen(const struct sample *sample, struct buf *out)
{
    for (size_t i = 0; i < sample->kind_count; i++)
        if (sample->kinds[i].items == 0 && !sample->kinds[i].any_key)
            buf_printf(out, "%s%s", out->size ? ", " : "", sample->kinds[i].kind->name);
}

/* TEXT says which attribute is "not": a mistake only when items of all kinds were read. */
static void sample_result_end_attribute(const struct sample *sample,
                                        const struct sample_reader *reader, const char *unseen,
                                        const struct buf *text)
{
    const char *read = sample->records == 1 ? "was read" : "were read";
    const char *records = sample_result_records_word(sample->records);
    if (unseen[0] == '\0')
        sample_result_report(reader, SAMPLE_MISTAKE, sample->table->line, "%s in %s that %s",
                             buf_text(text), records, read);
    else
        sample_result_report(reader, SAMPLE_UNPROVEN, sample->table->line,
                             "%s in %s that %s; it may be in %s, of which no item was read",
                             buf_text(text), records, read, unseen);
}

static void sample_result_end_attributes(const struct sample *sample,
                                         const struct sample_reader *reader, const char *unseen)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    unsigned dated = 0;
    for (size_t i = 0; i < sample->shown_count; i++)
        dated += sample->shown[i].with_date;
    buf_printf(&text, "\"mtime\" is %s, which is not",
               sample->table->mtime ? sample->table->mtime : "");
    if (sample->table->mtime && dated == 0)
        sample_result_end_attribute(sample, reader, unseen, &text);
    for (size_t i = 0; i < sample->table->secret_count; i++) {
        buf_truncate(&text, 0);
        buf_printf(&text, "%s is called a secret, and is not", sample->table->secrets[i]);
        if (sample->with_secret[i] == 0)
            sample_result_end_attribute(sample, reader, unseen, &text);
    }
}

static void sample_result_end_indexes(const struct sample *sample,
                                      const struct sample_reader *reader)
{
    size_t number = 0;
    for (const struct map_index *index = sample->table->indexes; index; index = index->next)
        if (sample->in_index[number++] == 0)
            sample_result_report(
                reader, SAMPLE_UNPROVEN, index->line,
                "no item that was read is in index %s, so that its keys were not compared",
                index->name);
}

bool sample_end(struct sample *sample, sample_report_fn *fn, void *arg)
{
    CLEAN_UP(buf_clean_up) struct buf unseen = {0};
    struct sample_reader reader = {fn, arg};
    sample_result_write_unseen(sample, &unseen);
    mistakes_report(&sample->mistakes, sample_result_report_mistake, &reader);
    for (size_t i = 0; i < sample->shown_count; i++)
        sample_result_end_shown(sample, &reader, &sample->shown[i]);
    for (size_t i = 0; i < sample->looked_at_count; i++)
        sample_result_end_looked_at(&reader, &sample->looked_at[i]);
    mistakes_report(&sample->warnings, sample_result_report_warning, &reader);
    sample_result_end_kinds(sample, &reader);
    if (sample->records > 0) {
        sample_result_end_attributes(sample, &reader, buf_text(&unseen));
        sample_result_end_indexes(sample, &reader);
    }
    return !unseen.failed && !sample->mistakes.arena.failed && !sample->warnings.arena.failed;
}
