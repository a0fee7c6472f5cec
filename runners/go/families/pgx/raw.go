package pgx

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"rowpath/core"
	"rowpath/families/sqltext"
)

// raw takes a column's bytes as the server sent them: of types that pgx has no destination for, and where the usual
// destination did not take a value.
type raw struct {
	column core.Column
	field  *pgconn.FieldDescription // nil: of a type that pgx does not know, whose values it requests as text
	types  *pgtype.Map
	value  pgtype.UndecodedBytes
}

// Raw is such a slot.
func Raw(column core.Column, field *pgconn.FieldDescription, types *pgtype.Map) core.Slot {
	return &raw{column: column, field: field, types: types}
}

// Misfit puts a raw slot in the place of the one that did not take a value, and has the operation begin again: pgx ends
// a result with an error of Scan. Any other error it returns.
func Misfit(row *core.Row, rows pgx.Rows, types *pgtype.Map, thrown error, counters *core.Counters) error {
	var misfit pgx.ScanArgError
	if !errors.As(thrown, &misfit) {
		return thrown
	}
	at := misfit.ColumnIndex
	if _, done := row.Slots()[at].(*raw); done || at >= len(rows.FieldDescriptions()) {
		return thrown
	}
	field := rows.FieldDescriptions()[at]
	row.Replace(at, Raw(row.Columns()[at], &field, types))
	return counters.Restart()
}

func (r *raw) Destination() any { return &r.value }
func (r *raw) Touch() int64     { return core.TouchValue(&r.column, r.Value()) }
func (r *raw) Delivers() string { return "pgtype.UndecodedBytes" }
func (r *raw) Converted() bool  { return true }

func (r *raw) Value() any {
	switch {
	case r.value == nil:
		return nil
	case r.field == nil || r.field.Format == pgx.TextFormatCode:
		return sqltext.Read(&r.column, string(r.value))
	}
	return decoded(&r.column, r.types, r.field, r.value)
}

// decoded is a value in the binary format as pgx decodes it without knowing what it is for.
func decoded(column *core.Column, types *pgtype.Map, field *pgconn.FieldDescription, value []byte) any {
	if column.Type == "array" {
		var elements pgtype.Array[any]
		if err := types.Scan(field.DataTypeOID, field.Format, value, &elements); err == nil {
			for at, each := range elements.Elements {
				elements.Elements[at] = natural(each)
			}
			return shaped(elements.Elements, elements.Dims)
		}
	}
	if field.DataTypeOID == pgtype.QCharOID { // "char", a number to pgx
		return string(value)
	}
	if known, ok := types.TypeForOID(field.DataTypeOID); ok {
		if found, err := known.Codec.DecodeValue(types, field.DataTypeOID, field.Format, value); err == nil {
			return natural(found)
		}
	}
	return value
}
