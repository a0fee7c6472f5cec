package pgx

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rowpath/core"
)

const (
	header  = 4 // what a length or a precision is counted from in a type modifier
	ofTypes = `SELECT t.typname, n.nspname, t.typtype::text, format_type(t.oid, $2)
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = $1`
)

type kind struct {
	name string
	bits int
}

var kinds = map[string]kind{
	"bool": {name: "boolean"}, "int2": {"integer", 16}, "int4": {"integer", 32}, "int8": {"integer", 64},
	"float4": {name: "float32"}, "float8": {name: "float64"}, "text": {name: "text"}, "name": {name: "text"},
	"unknown": {name: "text"}, "json": {name: "json"}, "jsonb": {name: "json"}, "bytea": {name: "binary"},
	"date": {name: "date"}, "time": {name: "time"}, "timestamp": {name: "timestamp"},
	"timestamptz": {name: "timestamptz"}, "interval": {name: "interval"}, "uuid": {name: "uuid"},
	"_int2": {"array", 16}, "_int4": {"array", 32}, "_int8": {"array", 64}, "bpchar": {name: "char"},
	"varchar": {name: "varchar"}, "numeric": {name: "decimal"},
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
	var name, schema, variety string
	made := core.DescribedColumn{Column: core.Column{Name: field.Name, Type: "opaque", Bits: 32, Nullable: true}}
	found := connection.QueryRow(context.Background(), ofTypes, field.DataTypeOID, field.TypeModifier)
	if err := found.Scan(&name, &schema, &variety, &made.EngineType); err != nil {
		return made, err
	}
	known, ok := kinds[name]
	switch {
	case variety == "e":
		made.Type = "text"
	case schema != "pg_catalog" || !ok:
		return made, nil
	default:
		made.Type, made.Bits = known.name, max(known.bits, 32)
		if known.bits == 16 {
			made.Bits = 16
		}
	}
	size(&made.Column, int(field.TypeModifier)-header)
	return made, nil
}

// size reads a type's modifier: a length, or 16 bits of precision above 11 of scale.
func size(column *core.Column, modifier int) {
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
