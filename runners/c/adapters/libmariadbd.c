/* MariaDB's server in this process, through the MySQL C API: statements and results as libmariadb.c has them, without a
   socket between. */
#include "mysql_operation.h"

const rp_adapter rp_adapter_here = MY_ADAPTER("libmariadbd", my_facts, my_end_embedded);
