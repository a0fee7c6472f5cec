/* MariaDB's server in this process, through the MySQL C API: statements and results as libmariadb.c has them, without a
   socket between. */
#include "mysql_operation.h"

const rp_adapter rp_adapter_here = {
    .driver = "libmariadbd",
    .binary_literal = {"X'", "'"},
    .open = my_open,
    .close = my_close,
    .prepare = my_prepare,
    .execute = my_execute,
    .release = my_release,
    .run = my_run,
    .facts = my_facts,
    .bulk = my_bulk,
    .canceller = my_make_canceller,
    .cancel = my_cancel,
    .set_timeout = my_set_timeout,
    .end = my_end_embedded,
};
