/* The part of ADBC's interface that the adapter uses, and what a result's columns are in Arrow's C data interface.
   Sources: https://arrow.apache.org/adbc/, https://arrow.apache.org/docs/format/CDataInterface.html */
#ifndef RP_ADBC_H
#define RP_ADBC_H

#include "adapter.h"

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

struct AdbcError {
    char *message;
    int32_t vendor_code;
    char sqlstate[5];
    void (*release)(struct AdbcError *);
    void *private_data, *private_driver;
};

struct AdbcDatabase {
    void *private_data, *private_driver;
};

struct AdbcConnection {
    void *private_data, *private_driver;
};

struct AdbcStatement {
    void *private_data, *private_driver;
};

#define ADBC_STATUS_OK 0

uint8_t AdbcDatabaseNew(struct AdbcDatabase *, struct AdbcError *);
uint8_t AdbcDatabaseSetOption(struct AdbcDatabase *, const char *key, const char *value, struct AdbcError *);
uint8_t AdbcDatabaseInit(struct AdbcDatabase *, struct AdbcError *);
uint8_t AdbcDatabaseRelease(struct AdbcDatabase *, struct AdbcError *);
uint8_t AdbcConnectionNew(struct AdbcConnection *, struct AdbcError *);
uint8_t AdbcConnectionInit(struct AdbcConnection *, struct AdbcDatabase *, struct AdbcError *);
uint8_t AdbcConnectionRelease(struct AdbcConnection *, struct AdbcError *);
uint8_t AdbcStatementNew(struct AdbcConnection *, struct AdbcStatement *, struct AdbcError *);
uint8_t AdbcStatementSetSqlQuery(struct AdbcStatement *, const char *sql, struct AdbcError *);
uint8_t AdbcStatementExecuteQuery(struct AdbcStatement *, struct ArrowArrayStream *, int64_t *rows, struct AdbcError *);
uint8_t AdbcStatementRelease(struct AdbcStatement *, struct AdbcError *);

/* Hands the values [first, first + count) of one column to the sink. False after rp_fail: an unknown format. */
bool adbc_take(const struct ArrowArray *values, const char *format, int64_t first, int64_t count, rp_column *column,
               rp_sink *sink);

#endif
