/* Any ODBC driver: named by its file when a connection is opened (option `driver_file`); what else its connection
   string needs is told by whoever knows the driver (option `connection`). */
#define ODBC_NAME "odbc"
#define ODBC_BINARY_LITERAL {"X'", "'"}

static odbc_driver here;

/* What the manager takes first is what counts. */
static inline void odbc_login(FILE *to, const rp_options *options) {
    void *loaded = dlopen(odbc_library(options), RTLD_LAZY);
    const char *user = rp_option(options, "user", ""), *password = rp_option(options, "password", "");
    here.wide = loaded != NULL && dlsym(loaded, "SQLExecDirectW") != NULL;
    if (loaded != NULL) dlclose(loaded);
    if (user[0] != '\0') say(to, "UID", user);
    if (password[0] != '\0') say(to, "PWD", password);
    fputs(rp_option(options, "connection", ""), to);
}
