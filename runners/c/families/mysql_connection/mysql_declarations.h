/* The part of MariaDB Connector/C's documented interface that the adapters use, for compiling without its header. A
   test compares sizes, places and numbers with the header's. Source: https://mariadb.com/docs/connectors/ (C API) */
#ifndef MYSQL_DECLARATIONS_H
#define MYSQL_DECLARATIONS_H

typedef char my_bool;
typedef struct MYSQL MYSQL;
typedef struct MYSQL_RES MYSQL_RES;
typedef struct MYSQL_STMT MYSQL_STMT;
typedef char **MYSQL_ROW;

enum { UNSIGNED_FLAG = 32, MYSQL_NO_DATA = 100, MYSQL_DATA_TRUNCATED = 101 };
enum { CR_CONNECTION_ERROR = 2002, CR_CONN_HOST_ERROR = 2003, CR_SERVER_GONE_ERROR = 2006, CR_SERVER_LOST = 2013 };
enum { ER_SERVER_SHUTDOWN = 1053, ER_CONNECTION_KILLED = 1927 };
enum { STMT_INDICATOR_NULL = 1 };
enum enum_cursor_type { CURSOR_TYPE_NO_CURSOR = 0, CURSOR_TYPE_READ_ONLY = 1 };
enum mysql_protocol_type { MYSQL_PROTOCOL_TCP = 1, MYSQL_PROTOCOL_SOCKET = 2 };
enum enum_mysql_timestamp_type {
    MYSQL_TIMESTAMP_NONE = -2,
    MYSQL_TIMESTAMP_DATE = 0,
    MYSQL_TIMESTAMP_DATETIME = 1,
    MYSQL_TIMESTAMP_TIME = 2
};

enum enum_field_types {
    MYSQL_TYPE_TINY = 1,
    MYSQL_TYPE_SHORT = 2,
    MYSQL_TYPE_LONG = 3,
    MYSQL_TYPE_FLOAT = 4,
    MYSQL_TYPE_DOUBLE = 5,
    MYSQL_TYPE_NULL = 6,
    MYSQL_TYPE_TIMESTAMP = 7,
    MYSQL_TYPE_LONGLONG = 8,
    MYSQL_TYPE_INT24 = 9,
    MYSQL_TYPE_DATE = 10,
    MYSQL_TYPE_TIME = 11,
    MYSQL_TYPE_DATETIME = 12,
    MYSQL_TYPE_YEAR = 13,
    MYSQL_TYPE_BIT = 16,
    MYSQL_TYPE_NEWDECIMAL = 246,
    MYSQL_TYPE_TINY_BLOB = 249,
    MYSQL_TYPE_MEDIUM_BLOB = 250,
    MYSQL_TYPE_LONG_BLOB = 251,
    MYSQL_TYPE_BLOB = 252,
    MYSQL_TYPE_VAR_STRING = 253,
    MYSQL_TYPE_STRING = 254,
    MYSQL_TYPE_GEOMETRY = 255
};

enum mysql_option {
    MYSQL_OPT_CONNECT_TIMEOUT = 0,
    MYSQL_OPT_COMPRESS = 1,
    MYSQL_INIT_COMMAND = 3,
    MYSQL_SET_CHARSET_NAME = 7,
    MYSQL_OPT_LOCAL_INFILE = 8,
    MYSQL_OPT_PROTOCOL = 9,
    MYSQL_OPT_READ_TIMEOUT = 11,
    MYSQL_OPT_WRITE_TIMEOUT = 12,
    MYSQL_OPT_SSL_VERIFY_SERVER_CERT = 21,
    MYSQL_OPT_SSL_KEY = 25,
    MYSQL_OPT_SSL_CERT = 26,
    MYSQL_OPT_SSL_CA = 27,
    MYSQL_OPT_SSL_ENFORCE = 38
};

enum enum_stmt_attr_type {
    STMT_ATTR_CURSOR_TYPE = 1,
    STMT_ATTR_PREFETCH_ROWS = 2,
    STMT_ATTR_ARRAY_SIZE = 201,
    STMT_ATTR_CB_USER_DATA = 204,
    STMT_ATTR_CB_PARAM = 205
};

typedef struct MYSQL_TIME {
    unsigned int year, month, day, hour, minute, second;
    unsigned long second_part;
    my_bool neg;
    enum enum_mysql_timestamp_type time_type;
} MYSQL_TIME;

typedef struct MYSQL_FIELD {
    char *name, *not_used[6];
    unsigned long length, max_length;
    unsigned int lengths_not_used[7], flags, decimals, charsetnr;
    enum enum_field_types type;
    void *extension;
} MYSQL_FIELD;

typedef struct MYSQL_BIND {
    unsigned long *length;
    my_bool *is_null;
    void *buffer;
    my_bool *error;
    union {
        unsigned char *row_ptr;
        char *indicator;
    } u;
    void (*own_functions[3])(void);
    unsigned long buffer_length, offset, length_value;
    unsigned int flags, pack_length;
    enum enum_field_types buffer_type;
    my_bool error_value, is_unsigned, long_data_used, is_null_value;
    void *extension;
} MYSQL_BIND;

MYSQL *mysql_init(MYSQL *mysql);
int mysql_options(MYSQL *mysql, enum mysql_option option, const void *value);
MYSQL *mysql_real_connect(MYSQL *mysql, const char *host, const char *user, const char *password, const char *database,
                          unsigned int port, const char *unix_socket, unsigned long flags);
void mysql_close(MYSQL *mysql);
unsigned int mysql_errno(MYSQL *mysql);
const char *mysql_error(MYSQL *mysql);
const char *mysql_sqlstate(MYSQL *mysql);
const char *mysql_get_client_info(void);
char *mysql_get_host_info(MYSQL *mysql);
char *mysql_get_server_info(MYSQL *mysql);
const char *mysql_get_ssl_cipher(MYSQL *mysql);
int mysql_get_socket(MYSQL *mysql);
int mysql_real_query(MYSQL *mysql, const char *sql, unsigned long length);
unsigned long long mysql_affected_rows(MYSQL *mysql);
unsigned int mysql_warning_count(MYSQL *mysql);
MYSQL_RES *mysql_store_result(MYSQL *mysql);
MYSQL_RES *mysql_use_result(MYSQL *mysql);
void mysql_free_result(MYSQL_RES *result);
unsigned int mysql_num_fields(MYSQL_RES *result);
MYSQL_FIELD *mysql_fetch_fields(MYSQL_RES *result);
MYSQL_ROW mysql_fetch_row(MYSQL_RES *result);
unsigned long *mysql_fetch_lengths(MYSQL_RES *result);
void mysql_set_local_infile_handler(MYSQL *mysql, int (*begin)(void **, const char *, void *),
                                    int (*read)(void *, char *, unsigned int), void (*end)(void *),
                                    int (*error)(void *, char *, unsigned int), void *user);
void mysql_set_local_infile_default(MYSQL *mysql);
MYSQL_STMT *mysql_stmt_init(MYSQL *mysql);
int mysql_stmt_prepare(MYSQL_STMT *statement, const char *sql, unsigned long length);
my_bool mysql_stmt_attr_set(MYSQL_STMT *statement, enum enum_stmt_attr_type attribute, const void *value);
unsigned long mysql_stmt_param_count(MYSQL_STMT *statement);
my_bool mysql_stmt_bind_param(MYSQL_STMT *statement, MYSQL_BIND *binds);
my_bool mysql_stmt_bind_result(MYSQL_STMT *statement, MYSQL_BIND *binds);
int mysql_stmt_execute(MYSQL_STMT *statement);
int mysql_stmt_store_result(MYSQL_STMT *statement);
int mysql_stmt_fetch(MYSQL_STMT *statement);
int mysql_stmt_fetch_column(MYSQL_STMT *statement, MYSQL_BIND *bind, unsigned int column, unsigned long offset);
MYSQL_RES *mysql_stmt_result_metadata(MYSQL_STMT *statement);
my_bool mysql_stmt_free_result(MYSQL_STMT *statement);
my_bool mysql_stmt_close(MYSQL_STMT *statement);
unsigned int mysql_stmt_errno(MYSQL_STMT *statement);
const char *mysql_stmt_error(MYSQL_STMT *statement);
const char *mysql_stmt_sqlstate(MYSQL_STMT *statement);

#endif
