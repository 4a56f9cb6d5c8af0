#include "core/snapshot/snapshot_print.h"

void snapshot_write_command(const struct read *read, const struct source_command *how,
                            struct buf *out)
{
    (void)read, (void)how;
    buf_add_text(out, "# no request is sent: ddbfs reads the snapshot file itself");
}
