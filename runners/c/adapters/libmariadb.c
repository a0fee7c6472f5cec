/* MySQL and MariaDB through MariaDB's client library. Statement modes: prepared once, prepared for each execution (the
   protocol has no other way to bind), or SQL text with literals. Results stored, row by row, or through a server's
   cursor; records by HANDLER. The binary protocol delivers native types, the text protocol text, which is converted. */
#include "mysql_operation.h"

static void libmariadb_facts(void *opened, rp_facts *facts) {
    MYSQL *mysql = ((my_connection *)opened)->mysql;
    const char *cipher = mysql_get_ssl_cipher(mysql);
    my_facts(opened, facts);
    rp_setting(facts, "tls", cipher != NULL ? "on" : "off");
    if (cipher != NULL) rp_setting(facts, "tls_cipher", cipher);
    if (cipher != NULL) my_facts_from_query(mysql, "SHOW SESSION STATUS LIKE 'Ssl_version'", facts);
    my_compression_fact(opened, facts);
    rp_setting(facts, "host", mysql_get_host_info(mysql));
}

const rp_adapter rp_adapter_here = MY_ADAPTER("libmariadb", libmariadb_facts, NULL);
