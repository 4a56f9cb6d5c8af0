#include "core/source/table_words.h"

#include <inttypes.h>

/* Appends "100 RCU and 50 WCU per second", as far as it is stated. */
static void table_words_write_units(const struct throughput *units, struct buf *out)
{
    if (units->read >= 0)
        buf_printf(out, "%" PRId64 " RCU", units->read);
    if (units->write >= 0)
        buf_printf(out, "%s%" PRId64 " WCU", units->read >= 0 ? " and " : "", units->write);
    buf_add_text(out, " per second");
}

static bool table_words_has_units(const struct throughput *units)
{
    return units->read > 0 || units->write > 0;
}

/* The line of a table, with its MODE, or of a global index. */
static void table_words_write_throughputs(const struct table_info *info,
                                          const struct index_info *index, const char *mode,
                                          struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    const struct throughputs *all = index ? &index->throughputs : &info->throughputs;
    bool is_on_demand = span_is(info->billing_mode, "PAY_PER_REQUEST");
    buf_add_text(&line, mode);
    if (table_words_has_units(&all->provisioned) && !is_on_demand) {
        buf_add_text(&line, line.size ? ", " : "");
        table_words_write_units(&all->provisioned, &line);
    }
    if (table_words_has_units(&all->on_demand)) {
        buf_add_text(&line, line.size ? ", at most " : "at most ");
        table_words_write_units(&all->on_demand, &line);
        buf_add_text(&line, " (its on-demand maximum)");
    }
    if (table_words_has_units(&all->warm)) {
        buf_add_text(&line, line.size ? "; " : "");
        table_words_write_units(&all->warm, &line);
        buf_add_text(&line, " at once (its warm throughput)");
    }
    if (line.size > 0) {
        buf_add_text(out, index ? "Throughput of index " : "Throughput");
        buf_add_span(out, index ? index->name : span_text(""));
        buf_add_text(out, ": ");
        buf_add_span(out, buf_span(&line));
        buf_add_text(out, ".\n");
    }
    out->failed = out->failed || line.failed;
}

void table_words_write_throughput(const struct table_info *info, struct buf *out)
{
    const char *mode = span_is(info->billing_mode, "PAY_PER_REQUEST") ? "on demand"
                       : span_is(info->billing_mode, "PROVISIONED")   ? "provisioned"
                                                                      : "";
    table_words_write_throughputs(info, NULL, mode, out);
    for (size_t i = 0; i < info->index_count; i++)
        if (!info->indexes[i].local)
            table_words_write_throughputs(info, &info->indexes[i], "", out);
}

/* A stream's view, and its consequence for a reader. */
static const struct {
    const char *view, *words;
} table_views[] = {
    {"NEW_AND_OLD_IMAGES", "each change has the item before and after it"},
    {"NEW_IMAGE", "each change has the item after it, and not the one before"},
    {"OLD_IMAGE", "each change has the item before it, and not the one after"},
    {"KEYS_ONLY", "each change has the key alone; ddbfs tail --fetch reads the item"},
};

void table_words_write_stream(const struct table_info *info, struct buf *out)
{
    const char *words = NULL;
    for (size_t i = 0; i < sizeof table_views / sizeof table_views[0]; i++)
        if (span_is(info->stream_view, table_views[i].view))
            words = table_views[i].words;
    if (info->stream_enabled)
        buf_printf(out, "Stream: enabled, %.*s%s%s. ddbfs tail and --live follow it.\n",
                   (int)info->stream_view.size, info->stream_view.data, words ? ": " : "",
                   words ? words : "");
    else if (info->stream_arn.size > 0)
        buf_add_text(out, "Stream: disabled. Changes from before can be read for 24 hours, with "
                          "ddbfs tail.\n");
}

void table_words_write_replicas(const struct table_info *info, struct buf *out)
{
    if (info->replica_count == 0)
        return;
    buf_add_text(out, "Replicas: ");
    for (size_t i = 0; i < info->replica_count; i++) {
        const struct replica_info *each = &info->replicas[i];
        buf_printf(out, "%s%.*s", i ? ", " : "", (int)each->region.size, each->region.data);
        if (each->is_witness || each->status.size > 0)
            buf_printf(out, " (%s%s%.*s)", each->is_witness ? "a witness, without items" : "",
                       each->is_witness && each->status.size > 0 ? ", " : "",
                       (int)each->status.size, each->status.data);
    }
    if (span_is(info->consistency, "STRONG"))
        buf_add_text(out, "; their consistency is strong: a consistent read sees the writes of all "
                          "regions");
    else if (info->consistency.size == 0 || span_is(info->consistency, "EVENTUAL"))
        buf_add_text(out, "; their consistency is eventual: also a consistent read may miss recent "
                          "writes of other regions");
    else
        buf_printf(out, "; their consistency is %.*s", (int)info->consistency.size,
                   info->consistency.data);
    buf_add_text(out, ".\n");
}

static bool table_words_is_active(struct span status)
{
    return status.size == 0 || span_is(status, "ACTIVE") || span_is(status, "UPDATING");
}

void table_words_write_unready(const struct index_info *index, struct buf *out)
{
    if (!table_words_is_active(index->status))
        buf_printf(out, "is %.*s, so that queries of it fail", (int)index->status.size,
                   index->status.data);
    else if (index->backfilling)
        buf_add_text(out, "is being filled (Backfilling), so that it lacks items");
}

void table_words_write_indexes(const struct table_info *info, struct buf *out)
{
    for (size_t i = 0; i < info->index_count; i++) {
        const struct index_info *index = &info->indexes[i];
        CLEAN_UP(buf_clean_up) struct buf why = {0};
        table_words_write_unready(index, &why);
        if (why.size > 0)
            buf_printf(out, "Index %.*s %s.\n", (int)index->name.size, index->name.data,
                       buf_text(&why));
        out->failed = out->failed || why.failed;
    }
    for (size_t i = 0; i < info->vector_count; i++) {
        const struct vector_info *vector = &info->vectors[i];
        bool ready = table_words_is_active(vector->status) && !vector->backfilling;
        buf_printf(out, "Vector index %.*s: %.*s, %" PRId64 " dimensions, %.*s; %s%.*s%s.\n",
                   (int)vector->name.size, vector->name.data, (int)vector->attribute.size,
                   vector->attribute.data, vector->dimensions, (int)vector->distance.size,
                   vector->distance.data, ready ? "" : "not ready: ", (int)vector->status.size,
                   vector->status.data,
                   vector->backfilling ? ", Backfilling: searches fail until it is filled"
                   : ready             ? "; a new index answers searches some time after that"
                                       : ": searches fail until it is ACTIVE");
    }
}
