/* Any ODBC driver: named by its file when a connection is opened (option `driver_file`); what else its connection
   string needs comes from the user (option `connection`). */
#include <dlfcn.h>

#include "odbc.h"

/* What the manager takes first is what counts. */
static bool login(FILE *to, const rp_options *options) {
    void *loaded = dlopen(rp_option(options, "driver_file", ""), RTLD_LAZY);
    const char *user = rp_option(options, "user", ""), *password = rp_option(options, "password", "");
    odbc_driver_here.wide = loaded != NULL && dlsym(loaded, "SQLExecDirectW") != NULL;
    if (loaded != NULL) dlclose(loaded);
    if (user[0] != '\0') odbc_put_attribute(to, "UID", user);
    if (password[0] != '\0') odbc_put_attribute(to, "PWD", password);
    bool good = odbc_put_settings(to, options, NULL);
    fputs(rp_option(options, "connection", ""), to);
    return good;
}

odbc_driver odbc_driver_here = {.login = login};

const rp_adapter rp_adapter_here = ODBC_ADAPTER("odbc", "X'", "'", false);
