/* libsqliteodbc. Option names: http://www.ch-werner.de/sqliteodbc/html/index.html */
#include "odbc.h"

static bool login(FILE *to, const rp_options *options) {
    bool durable = !rp_option_is(options, "durability", "none");
    odbc_put_attribute(to, "Database", rp_option(options, "path", ""));
    odbc_put_attribute(to, "StepAPI", rp_option_is(options, "result", "single-row") ? "1" : "0");
    odbc_put_attribute(to, "NoCreat", "1");
    odbc_put_attribute(to, "Timeout", "60000");
    odbc_put_attribute(to, "SyncPragma", durable ? "FULL" : "OFF");
    if (durable) odbc_put_attribute(to, "JournalMode", "WAL");
    return true;
}

odbc_driver odbc_driver_here = {
    .library = ODBC_LIBRARY,
    .login = login,
    .temporal_text = true, /* milliseconds */
    .no_binary_arrays = "libsqliteodbc takes every binary value of an array for as long as the first",
    .settings = "SELECT 'version', sqlite_version() UNION ALL SELECT 'journal_mode', journal_mode FROM "
                "pragma_journal_mode UNION ALL"
                " SELECT 'synchronous', synchronous FROM pragma_synchronous UNION ALL"
                " SELECT 'busy_timeout', timeout FROM pragma_busy_timeout UNION ALL"
                " SELECT 'cache_size', cache_size FROM pragma_cache_size UNION ALL"
                " SELECT 'page_size', page_size FROM pragma_page_size",
};

const rp_adapter rp_adapter_here = ODBC_ADAPTER("libsqliteodbc", "X'", "'", true);
