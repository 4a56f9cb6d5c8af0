/* Runs the statements of a text one after the other, and prints their results. */
#ifndef DDBFS_FS_CLI_SQL_RUNNER_H
#define DDBFS_FS_CLI_SQL_RUNNER_H

#include "core/sql/sql_session.h"
#include "fs/cli/app.h"
#include "fs/cli/sql_budget.h"
#include "fs/cli/sql_output.h"

struct sql_runner {
    struct app *app;             /* borrowed */
    struct tree tree;            /* the app's, with the payer */
    struct sql_budget budget;    /* the payer */
    struct sql_session *session; /* owned */
    enum sql_form form;
    size_t width;     /* of the terminal; 0: standard output is no terminal */
    size_t count;     /* of statements so far */
    bool is_numbered; /* messages name the number of the statement */
};

/* GOES_ON may be NULL; see struct sql_options. False after a message. To be cleaned up in either
 * case, before the app; the payer must live until the app has been cleaned up. */
bool sql_runner_init(struct sql_runner *runner, struct app *app, bool (*goes_on)(void *arg),
                     void *arg);
void sql_runner_clean_up(struct sql_runner *runner);

/* Runs the statements of TEXT, up to the first that fails; or explains them. False after a message,
 * or when standard output is closed. */
bool sql_runner_run(struct sql_runner *runner, struct span text, bool explains);

#endif
