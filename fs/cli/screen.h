/* A full-screen display on a terminal, until the user types q or interrupts. */
#ifndef DDBFS_FS_CLI_SCREEN_H
#define DDBFS_FS_CLI_SCREEN_H

#include <termios.h>

#include "core/base/span.h"

struct screen {
    struct termios before; /* of standard input, if that is a terminal */
    bool reads_keys;       /* it is a terminal */
    int signals;           /* a signalfd; -1: none */
};

/* Takes over standard output, which is a terminal. False with errno, without a change. */
bool screen_open(struct screen *screen);
/* Restores the terminal. */
void screen_close(struct screen *screen);

/* The current number of lines. */
unsigned screen_rows(void);

/* The width of standard output in cells; 80 if that is not a terminal. */
unsigned screen_columns(void);

/* Replaces the display by TEXT; long lines are cut. False if the terminal is closed. */
bool screen_show(struct span text);

enum screen_event { SCREEN_TIME, SCREEN_RESIZED, SCREEN_END };
/* Waits for MS milliseconds, a new size, or the end. */
enum screen_event screen_wait(const struct screen *screen, int ms);

#endif
