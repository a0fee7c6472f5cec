/* libsqliteodbc. Option names: http://www.ch-werner.de/sqliteodbc/html/index.html */
#define ODBC_NAME "libsqliteodbc"
#define ODBC_BINARY_LITERAL {"X'", "'"}

static const odbc_driver here = {
    .temporal_text = true, /* milliseconds */
    .no_floats = "libsqliteodbc hands floating point over by way of text of 15 digits: two are lost",
    .no_binary_arrays = "libsqliteodbc takes every binary value of an array for as long as the first",
    .settings = "SELECT 'version', sqlite_version() UNION ALL SELECT 'journal_mode', journal_mode FROM "
                "pragma_journal_mode UNION ALL"
                " SELECT 'synchronous', synchronous FROM pragma_synchronous UNION ALL"
                " SELECT 'busy_timeout', timeout FROM pragma_busy_timeout UNION ALL"
                " SELECT 'cache_size', cache_size FROM pragma_cache_size UNION ALL"
                " SELECT 'page_size', page_size FROM pragma_page_size",
};

static inline void odbc_login(FILE *to, const rp_options *options) {
    bool durable = !rp_option_is(options, "durability", "none");
    say(to, "Database", rp_option(options, "path", ""));
    say(to, "StepAPI", rp_option_is(options, "result", "single-row") ? "1" : "0");
    say(to, "NoCreat", "1");
    say(to, "Timeout", "60000");
    say(to, "SyncPragma", durable ? "FULL" : "OFF");
    if (durable) say(to, "JournalMode", "WAL");
}
