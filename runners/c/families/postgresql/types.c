/* PostgreSQL's types: what a column delivers by its type's number, and what a placeholder is declared as. */
#include "postgresql.h"

#define AS(type) (1u << (type))
#define AS_TEXT (AS(RP_CHAR) | AS(RP_VARCHAR) | AS(RP_TEXT) | AS(RP_JSON))

static const pg_type pg_types[] = {
    {PG_INT2, "int2", AS(RP_INTEGER) | AS(RP_DECIMAL) | AS(RP_BOOLEAN), 0, false},
    {PG_INT4, "int4", AS(RP_INTEGER) | AS(RP_DECIMAL) | AS(RP_BOOLEAN), 0, false},
    {PG_INT8, "int8", AS(RP_INTEGER) | AS(RP_DECIMAL) | AS(RP_BOOLEAN), 0, false},
    {PG_OID, "oid", AS(RP_INTEGER), 0, false},
    {PG_NUMERIC, "numeric", AS(RP_INTEGER) | AS(RP_DECIMAL), 0, false},
    {PG_BOOL, "bool", AS(RP_BOOLEAN), 0, false},
    {PG_FLOAT4, "float4", AS(RP_FLOAT32), 0, false},
    {PG_FLOAT8, "float8", AS(RP_FLOAT64) | AS(RP_FLOAT32), 0, false},
    {18, "char", AS_TEXT, 0, false},
    {19, "name", AS_TEXT, 0, false},
    {25, "text", AS_TEXT, 0, false},
    {114, "json", AS_TEXT, 0, false},
    {PG_JSONB, "jsonb", AS_TEXT, 0, false},
    {705, "unknown", AS_TEXT, 0, false},
    {1042, "bpchar", AS_TEXT, 0, false},
    {1043, "varchar", AS_TEXT, 0, false},
    {PG_BYTEA, "bytea", AS(RP_BINARY), 0, false},
    {PG_DATE, "date", AS(RP_DATE), 0, false},
    {PG_TIME, "time", AS(RP_TIME), 0, false},
    {PG_TIMESTAMP, "timestamp", AS(RP_TIMESTAMP), 0, false},
    {PG_TIMESTAMPTZ, "timestamptz", AS(RP_TIMESTAMPTZ), 0, false},
    {PG_INTERVAL, "interval", AS(RP_INTERVAL), 0, false},
    {PG_UUID, "uuid", AS(RP_UUID), 0, false},
    {1005, "int2[]", AS(RP_ARRAY), RP_INTEGER, false},
    {1007, "int4[]", AS(RP_ARRAY), RP_INTEGER, false},
    {1016, "int8[]", AS(RP_ARRAY), RP_INTEGER, false},
    {1009, "text[]", AS(RP_ARRAY), RP_TEXT, false},
    {1014, "bpchar[]", AS(RP_ARRAY), RP_TEXT, false},
    {1015, "varchar[]", AS(RP_ARRAY), RP_TEXT, false},
    {142, "xml", 0, 0, true},
    {600, "point", 0, 0, true},
    {650, "cidr", 0, 0, true},
    {790, "money", 0, 0, true},
    {829, "macaddr", 0, 0, true},
    {869, "inet", 0, 0, true},
    {1231, "numeric[]", 0, 0, true},
    {1266, "timetz", 0, 0, true},
    {1560, "bit", 0, 0, true},
    {1562, "varbit", 0, 0, true},
    {3614, "tsvector", 0, 0, true},
    {3904, "int4range", 0, 0, true},
};

const pg_type *pg_find_type(unsigned number) {
    for (size_t i = 0; i < sizeof pg_types / sizeof *pg_types; i++)
        if (pg_types[i].number == number) return &pg_types[i];
    return NULL;
}

unsigned pg_parameter_type(const rp_column *column) {
    switch (column->type) {
    case RP_INTEGER: return column->bits == 16 ? PG_INT2 : column->bits == 64 ? PG_INT8 : PG_INT4;
    case RP_DECIMAL: return PG_NUMERIC;
    case RP_FLOAT32: return PG_FLOAT4;
    case RP_FLOAT64: return PG_FLOAT8;
    case RP_BOOLEAN: return PG_BOOL;
    case RP_BINARY: return PG_BYTEA;
    case RP_DATE: return PG_DATE;
    case RP_TIME: return PG_TIME;
    case RP_TIMESTAMP: return PG_TIMESTAMP;
    case RP_TIMESTAMPTZ: return PG_TIMESTAMPTZ;
    case RP_INTERVAL: return PG_INTERVAL;
    case RP_UUID: return PG_UUID;
    default: return 0;
    }
}
