package pgx

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rowpath/core"
)

const (
	header  = 4 // what a length or a precision is counted from in a type modifier
	ofTypes = `SELECT t.typname, n.nspname, t.typtype::text, coalesce(e.oid, 0), t.typbasetype, t.typtypmod,
format_type(t.oid, $2)
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND e.typarray = t.oid WHERE t.oid = $1`
)

var kinds = map[string]core.Column{
	"bool": {Type: "boolean"}, "int2": {Type: "integer", Bits: 16}, "int4": {Type: "integer"},
	"int8": {Type: "integer", Bits: 64}, "oid": {Type: "integer", Bits: 64}, "xid": {Type: "integer", Bits: 64},
	"cid": {Type: "integer", Bits: 64}, "xid8": {Type: "integer", Bits: 128}, "float4": {Type: "float32"},
	"float8": {Type: "float64"}, "text": {Type: "text"}, "name": {Type: "text"}, "char": {Type: "text"},
	"unknown": {Type: "text"}, "json": {Type: "json"}, "jsonb": {Type: "json"}, "bytea": {Type: "binary"},
	"bit": {Type: "bits"}, "varbit": {Type: "bits"}, "date": {Type: "date"}, "time": {Type: "time"},
	"timetz": {Type: "timetz"}, "timestamp": {Type: "timestamp"}, "timestamptz": {Type: "timestamptz"},
	"interval": {Type: "interval"}, "uuid": {Type: "uuid"}, "bpchar": {Type: "char"}, "varchar": {Type: "varchar"},
	"numeric": {Type: "decimal"},
}

// Describe is the columns of a query, which is prepared and not executed (PostgreSQL's manual, RowDescription).
func Describe(connection *pgx.Conn, sql string) ([]core.DescribedColumn, error) {
	prepared, err := connection.Prepare(context.Background(), "", sql)
	if err != nil {
		return nil, err
	}
	columns := make([]core.DescribedColumn, len(prepared.Fields))
	for at, field := range prepared.Fields {
		if columns[at], err = column(connection, field); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

func column(connection *pgx.Conn, field pgconn.FieldDescription) (core.DescribedColumn, error) {
	made, spelt, err := typed(connection, field.DataTypeOID, field.TypeModifier)
	made.Name = field.Name
	return core.DescribedColumn{Column: made, EngineType: spelt}, err
}

// typed is the declaration of a type, and how the server spells it.
func typed(connection *pgx.Conn, oid uint32, modifier int32) (made core.Column, spelt string, err error) {
	made = core.Column{Type: "opaque", Nullable: true}
	var name, schema, variety string
	var element, base uint32
	var baseModifier int32
	found := connection.QueryRow(context.Background(), ofTypes, oid, modifier)
	err = found.Scan(&name, &schema, &variety, &element, &base, &baseModifier, &spelt)
	if err != nil {
		return made, spelt, err
	}
	known, ok := kinds[name]
	switch {
	case variety == "e":
		made.Type = "text"
	case variety == "d":
		made, _, err = typed(connection, base, baseModifier)
	case element != 0: // of an array; int2vector, which has elements too, is none
		var one core.Column
		if one, _, err = typed(connection, element, modifier); err == nil && one.Type != "opaque" {
			one.Name = ""
			made.Type, made.Fields = "array", []core.Column{one}
		}
	case schema == "pg_catalog" && ok:
		made.Type, made.Bits = known.Type, known.Bits
		size(&made, int(modifier))
	}
	return made, spelt, err
}

// size reads a type's modifier: a length, or 16 bits of precision above 11 of scale.
func size(column *core.Column, modifier int) {
	if column.Type == "bits" { // counted from nothing
		column.Length = max(modifier, 0)
	}
	modifier -= header
	switch {
	case modifier < 0:
	case column.Type == "char" || column.Type == "varchar":
		column.Length = modifier
	case column.Type == "decimal":
		column.Precision = modifier >> 16 & 0xFFFF
		column.Scale = (modifier&0x7FF ^ 1024) - 1024
		if column.Scale < 0 {
			column.Precision, column.Scale = column.Precision-column.Scale, 0
		} else {
			column.Precision = max(column.Precision, column.Scale)
		}
	}
}
