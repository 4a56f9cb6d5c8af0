/* A terminal that is drawn on again and again, until somebody types q or interrupts. */
#ifndef DDBFS_FS_CLI_SCREEN_H
#define DDBFS_FS_CLI_SCREEN_H

#include <termios.h>

#include "core/base/span.h"

struct screen {
    struct termios before; /* of standard input, where that is a terminal */
    bool reads_keys;       /* it is */
    int signals;           /* a signalfd; -1: none */
};

/* Takes standard output, which is a terminal, over. False with errno; nothing is changed then. */
bool screen_open(struct screen *screen);
/* Gives it back as it was. */
void screen_close(struct screen *screen);

/* How many lines it has now. */
unsigned screen_rows(void);

/* How many cells a line of standard output has; 80 where that is no terminal. */
unsigned screen_columns(void);

/* Shows TEXT, lines no longer than it is wide, and nothing else. False when nobody sees it. */
bool screen_show(struct span text);

enum screen_event { SCREEN_TIME, SCREEN_RESIZED, SCREEN_END };
/* Waits for so long; less when it has another size, or is to end. */
enum screen_event screen_wait(const struct screen *screen, int ms);

#endif
