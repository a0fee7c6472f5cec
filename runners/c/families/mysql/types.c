/* The types of a result's columns: their names, and what their values are bound as. */
#include "mysql_operation.h"

typedef struct my_type {
    const char *name;
    enum enum_field_types buffer; /* what a value of it is bound as */
} my_type;

/* NULL: of one that is not known here. */
static const my_type *type_of(const MYSQL_FIELD *field) {
    static const my_type types[] = {
        [MYSQL_TYPE_TINY] = {"TINYINT", MYSQL_TYPE_TINY},
        [MYSQL_TYPE_SHORT] = {"SMALLINT", MYSQL_TYPE_SHORT},
        [MYSQL_TYPE_LONG] = {"INT", MYSQL_TYPE_LONG},
        [MYSQL_TYPE_INT24] = {"MEDIUMINT", MYSQL_TYPE_LONG},
        [MYSQL_TYPE_LONGLONG] = {"BIGINT", MYSQL_TYPE_LONGLONG},
        [MYSQL_TYPE_YEAR] = {"YEAR", MYSQL_TYPE_LONG},
        [MYSQL_TYPE_NEWDECIMAL] = {"DECIMAL", MYSQL_TYPE_STRING},
        [MYSQL_TYPE_FLOAT] = {"FLOAT", MYSQL_TYPE_FLOAT},
        [MYSQL_TYPE_DOUBLE] = {"DOUBLE", MYSQL_TYPE_DOUBLE},
        [MYSQL_TYPE_DATE] = {"DATE", MYSQL_TYPE_DATE},
        [MYSQL_TYPE_TIME] = {"TIME", MYSQL_TYPE_TIME},
        [MYSQL_TYPE_DATETIME] = {"DATETIME", MYSQL_TYPE_DATETIME},
        [MYSQL_TYPE_TIMESTAMP] = {"TIMESTAMP", MYSQL_TYPE_DATETIME},
        [MYSQL_TYPE_NULL] = {"NULL", MYSQL_TYPE_STRING},
        [MYSQL_TYPE_BIT] = {"BIT", MYSQL_TYPE_BLOB},
        [MYSQL_TYPE_STRING] = {"CHAR", MYSQL_TYPE_STRING},
        [MYSQL_TYPE_VAR_STRING] = {"VARCHAR", MYSQL_TYPE_STRING},
        [MYSQL_TYPE_BLOB] = {"BLOB or TEXT", MYSQL_TYPE_STRING}, /* of a column; the others of expressions */
        [MYSQL_TYPE_TINY_BLOB] = {"TINYBLOB or TINYTEXT", MYSQL_TYPE_STRING},
        [MYSQL_TYPE_MEDIUM_BLOB] = {"MEDIUMBLOB or MEDIUMTEXT", MYSQL_TYPE_STRING},
        [MYSQL_TYPE_LONG_BLOB] = {"LONGBLOB or LONGTEXT", MYSQL_TYPE_STRING},
        [MYSQL_TYPE_GEOMETRY] = {"GEOMETRY", MYSQL_TYPE_BLOB},
        [245] = {"JSON", MYSQL_TYPE_STRING}, /* of MySQL; MariaDB's headers do not know it */
    };
    size_t number = (size_t)field->type;
    const my_type *type = number < sizeof types / sizeof *types ? &types[number] : NULL;
    return type != NULL && type->name != NULL ? type : NULL;
}

int my_position_of(const rp_column *column, int position, const MYSQL_FIELD *fields, int count, bool by_name) {
    for (int i = 0; by_name && i < count; i++)
        if (strcmp(fields[i].name, column->name) == 0) return i;
    return by_name || position >= count ? -1 : position;
}

static bool is_integer(enum enum_field_types buffer) {
    return buffer == MYSQL_TYPE_TINY || buffer == MYSQL_TYPE_SHORT || buffer == MYSQL_TYPE_LONG ||
           buffer == MYSQL_TYPE_LONGLONG;
}

/* How a value that is bound as `buffer` is taken into the column; RP_TEXT: it has to be bound as text. */
static rp_type kind_of(rp_type declared, enum enum_field_types buffer) {
    switch (declared) {
    case RP_INTEGER:
    case RP_BOOLEAN: return is_integer(buffer) ? RP_INTEGER : RP_TEXT;
    case RP_FLOAT32:
    case RP_FLOAT64: return buffer == MYSQL_TYPE_FLOAT || buffer == MYSQL_TYPE_DOUBLE ? RP_FLOAT64 : RP_TEXT;
    case RP_DATE: return buffer == MYSQL_TYPE_DATE ? RP_DATE : RP_TEXT;
    case RP_TIME: return buffer == MYSQL_TYPE_TIME ? RP_TIME : RP_TEXT;
    case RP_TIMESTAMP:
    case RP_TIMESTAMPTZ: return buffer == MYSQL_TYPE_DATETIME ? RP_TIMESTAMP : RP_TEXT;
    default: return RP_TEXT;
    }
}

void my_describe_column(rp_column *column, const MYSQL_FIELD *field) {
    const my_type *type = type_of(field);
    enum enum_field_types buffer = type != NULL ? type->buffer : MYSQL_TYPE_BLOB;
    bool without_sign = is_integer(buffer) && (field->flags & UNSIGNED_FLAG) != 0;
    if (without_sign || (column->type == RP_INTEGER && field->type == MYSQL_TYPE_NEWDECIMAL))
        buffer = MYSQL_TYPE_LONGLONG;
    rp_type kind = kind_of(column->type, buffer);
    if (kind == RP_TEXT && !my_has_text(buffer)) buffer = MYSQL_TYPE_STRING;
    if (column->type == RP_BITS && column->length == 0) column->length = (int)field->length;
    column->code = (int)buffer | (int)kind << 8 | (without_sign ? MY_UNSIGNED : 0);
    rp_deliver(column, type != NULL ? type->name : "bytes of another type");
}
