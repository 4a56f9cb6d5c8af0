/* Standard output and error of a command. A terminal gets printable text only: items are data, and
 * a terminal would obey them. When a signal ends the command, all printed text is written first. */
#ifndef DDBFS_FS_CLI_OUTPUT_H
#define DDBFS_FS_CLI_OUTPUT_H

#include <stdio.h>

/* Before the first output, once. Without memory or descriptors, output is as it was. */
void output_begin(void);

/* Writes all buffered text. The last call. */
void output_end(void);

/* Writes all buffered text, and ends the process by the signal NUMBER. */
void output_end_by(int number);

/* In a child process that goes on without exec(): signals have their default action again. */
void output_leave_signals(void);

/* The stream below stdout, or stderr: for control sequences of the program's own. Nothing of an
 * item may be written to it. */
FILE *output_raw(FILE *stream);

/* FN is called before each write to a terminal, and before a signal ends the command; then in
 * another thread. NULL: none. */
typedef void output_before_fn(void *arg);
void output_set_before(output_before_fn *fn, void *arg);

#endif
