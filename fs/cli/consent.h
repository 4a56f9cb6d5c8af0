/* Asking whoever sits at the terminal whether to go on. */
#ifndef DDBFS_FS_CLI_CONSENT_H
#define DDBFS_FS_CLI_CONSENT_H

enum consent {
    CONSENT_GIVEN,
    CONSENT_REFUSED, /* by whatever is not "y" */
    CONSENT_NOBODY,  /* there is no terminal, as in a script */
};

/* On the terminal that controls this process, wherever its standard streams go. QUESTION is printed
 * as it is. */
enum consent consent_request(const char *question);

#endif
