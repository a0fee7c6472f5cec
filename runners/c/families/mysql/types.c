/* The types of a result's columns: their names, and which declared types they fit. */
#include "mysql_operation.h"

#define BINARY_CHARACTERS 63 /* the character set of bytes that are no text */

#define AS(type) (1u << (type))
#define AS_INTEGER (AS(RP_INTEGER) | AS(RP_BOOLEAN) | AS(RP_DECIMAL))
#define AS_FLOAT (AS(RP_FLOAT32) | AS(RP_FLOAT64))
#define AS_TEXT (AS(RP_CHAR) | AS(RP_VARCHAR) | AS(RP_TEXT) | AS(RP_JSON) | AS(RP_BINARY) | AS(RP_UUID))

typedef struct my_type {
    const char *name;
    unsigned int declared;        /* which logical types may be declared for it */
    enum enum_field_types buffer; /* what a value of it is bound as */
} my_type;

static const my_type *type_of(const MYSQL_FIELD *field) {
    static const my_type types[] = {
        [MYSQL_TYPE_TINY] = {"TINYINT", AS_INTEGER, MYSQL_TYPE_TINY},
        [MYSQL_TYPE_SHORT] = {"SMALLINT", AS_INTEGER, MYSQL_TYPE_SHORT},
        [MYSQL_TYPE_LONG] = {"INT", AS_INTEGER, MYSQL_TYPE_LONG},
        [MYSQL_TYPE_INT24] = {"MEDIUMINT", AS_INTEGER, MYSQL_TYPE_LONG},
        [MYSQL_TYPE_LONGLONG] = {"BIGINT", AS_INTEGER, MYSQL_TYPE_LONGLONG},
        [MYSQL_TYPE_YEAR] = {"YEAR", AS_INTEGER, MYSQL_TYPE_LONG},
        [MYSQL_TYPE_NEWDECIMAL] = {"DECIMAL", AS(RP_DECIMAL) | AS(RP_INTEGER), MYSQL_TYPE_STRING},
        [MYSQL_TYPE_FLOAT] = {"FLOAT", AS_FLOAT, MYSQL_TYPE_FLOAT},
        [MYSQL_TYPE_DOUBLE] = {"DOUBLE", AS_FLOAT, MYSQL_TYPE_DOUBLE},
        [MYSQL_TYPE_DATE] = {"DATE", AS(RP_DATE), MYSQL_TYPE_DATE},
        [MYSQL_TYPE_TIME] = {"TIME", AS(RP_TIME), MYSQL_TYPE_TIME},
        [MYSQL_TYPE_DATETIME] = {"DATETIME", AS(RP_TIMESTAMP), MYSQL_TYPE_DATETIME},
        [MYSQL_TYPE_TIMESTAMP] = {"TIMESTAMP", AS(RP_TIMESTAMP) | AS(RP_TIMESTAMPTZ), MYSQL_TYPE_DATETIME},
        [MYSQL_TYPE_NULL] = {"NULL", AS_TEXT, MYSQL_TYPE_STRING},
        [MYSQL_TYPE_STRING] = {"CHAR", AS_TEXT, MYSQL_TYPE_STRING},
        [MYSQL_TYPE_VAR_STRING] = {"VARCHAR", AS_TEXT, MYSQL_TYPE_STRING},
        [MYSQL_TYPE_BLOB] = {"BLOB or TEXT", AS_TEXT, MYSQL_TYPE_STRING}, /* of a column; the others of expressions */
        [MYSQL_TYPE_TINY_BLOB] = {"TINYBLOB or TINYTEXT", AS_TEXT, MYSQL_TYPE_STRING},
        [MYSQL_TYPE_MEDIUM_BLOB] = {"MEDIUMBLOB or MEDIUMTEXT", AS_TEXT, MYSQL_TYPE_STRING},
        [MYSQL_TYPE_LONG_BLOB] = {"LONGBLOB or LONGTEXT", AS_TEXT, MYSQL_TYPE_STRING},
        [245] = {"JSON", AS(RP_JSON), MYSQL_TYPE_STRING}, /* of MySQL; MariaDB's headers do not know it */
    };
    size_t number = (size_t)field->type;
    const my_type *type = number < sizeof types / sizeof *types ? &types[number] : NULL;
    return type == NULL || type->name == NULL                                    ? NULL
           : type->declared != AS_INTEGER || (field->flags & UNSIGNED_FLAG) == 0 ? type
                                                                                 : &types[MYSQL_TYPE_LONGLONG];
}

int my_position_of(const rp_column *column, int position, const MYSQL_FIELD *fields, int count, bool by_name) {
    for (int i = 0; by_name && i < count; i++)
        if (strcmp(fields[i].name, column->name) == 0) return i;
    return by_name || position >= count ? -1 : position;
}

bool my_describe_column(rp_column *column, const MYSQL_FIELD *field) {
    const my_type *type = type_of(field);
    bool bytes = field->charsetnr == BINARY_CHARACTERS, opaque = column->type == RP_OPAQUE;
    bool fits = opaque || (type != NULL && (type->declared & AS(column->type)) != 0);
    if (!fits || (column->type == RP_BINARY && !bytes))
        return rp_fail(RP_UNSUPPORTED, "", "column %s: type %s (number %d) cannot be taken as %s", column->name,
                       type != NULL ? type->name : "unknown here", (int)field->type, rp_type_name(column->type));
    bool text = opaque || type->buffer == MYSQL_TYPE_STRING;
    column->code = opaque || column->type == RP_DECIMAL ? MYSQL_TYPE_STRING
                   : column->type == RP_INTEGER && text ? MYSQL_TYPE_LONGLONG
                                                        : (int)type->buffer;
    rp_deliver(column, type != NULL ? type->name : "bytes of another type");
    return true;
}
