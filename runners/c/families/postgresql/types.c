/* PostgreSQL's types: their names, and what a placeholder is declared as. */
#include "postgresql.h"

static const struct {
    unsigned number;
    const char *name;
} pg_types[] = {
    {PG_BOOL, "bool"},
    {PG_BYTEA, "bytea"},
    {18, "char"},
    {19, "name"},
    {PG_INT8, "int8"},
    {PG_INT2, "int2"},
    {PG_INT4, "int4"},
    {25, "text"},
    {PG_OID, "oid"},
    {PG_XID, "xid"},
    {PG_CID, "cid"},
    {114, "json"},
    {142, "xml"},
    {600, "point"},
    {650, "cidr"},
    {PG_FLOAT4, "float4"},
    {PG_FLOAT8, "float8"},
    {705, "unknown"},
    {790, "money"},
    {829, "macaddr"},
    {869, "inet"},
    {1000, "bool[]"},
    {1001, "bytea[]"},
    {1005, "int2[]"},
    {1007, "int4[]"},
    {1009, "text[]"},
    {1014, "bpchar[]"},
    {1015, "varchar[]"},
    {1016, "int8[]"},
    {1021, "float4[]"},
    {1022, "float8[]"},
    {1042, "bpchar"},
    {1043, "varchar"},
    {PG_DATE, "date"},
    {PG_TIME, "time"},
    {PG_TIMESTAMP, "timestamp"},
    {1115, "timestamp[]"},
    {1182, "date[]"},
    {1183, "time[]"},
    {PG_TIMESTAMPTZ, "timestamptz"},
    {1185, "timestamptz[]"},
    {PG_INTERVAL, "interval"},
    {1187, "interval[]"},
    {1231, "numeric[]"},
    {PG_TIMETZ, "timetz"},
    {PG_BIT, "bit"},
    {PG_VARBIT, "varbit"},
    {PG_NUMERIC, "numeric"},
    {PG_UUID, "uuid"},
    {2951, "uuid[]"},
    {3614, "tsvector"},
    {PG_JSONB, "jsonb"},
    {3904, "int4range"},
    {PG_XID8, "xid8"},
};

const char *pg_type_name(unsigned number) {
    for (size_t i = 0; i < sizeof pg_types / sizeof *pg_types; i++)
        if (pg_types[i].number == number) return pg_types[i].name;
    return NULL;
}

unsigned pg_parameter_type(const rp_column *column) {
    switch (column->type) {
    case RP_INTEGER:
        return column->bits == 16 ? PG_INT2 : column->bits == 64 ? PG_INT8 : column->bits == 128 ? PG_NUMERIC : PG_INT4;
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
