/* Ctrl-C in a program that goes on: it ends the current work instead of the program. */
#ifndef DDBFS_FS_CLI_INTERRUPT_H
#define DDBFS_FS_CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on, until interrupt_end, SIGINT is only noted. False when descriptors ran out. */
bool interrupt_begin(void);
void interrupt_end(void);

/* Whether SIGINT has come since interrupt_forget. */
bool interrupt_has_come(void);
void interrupt_forget(void);

/* Readable while SIGINT has come; -1 outside of interrupt_begin and interrupt_end. */
int interrupt_descriptor(void);

#endif
