#include "fs/cli/consent.h"

#include <stdio.h>

enum consent consent_request(const char *question)
{
    FILE *terminal = fopen("/dev/tty", "r+e");
    if (!terminal)
        return CONSENT_NOBODY;
    fprintf(terminal, "%s? [y/N] ", question);
    fflush(terminal);
    int answer = getc(terminal);
    fclose(terminal);
    return answer == 'y' || answer == 'Y' ? CONSENT_GIVEN : CONSENT_REFUSED;
}
