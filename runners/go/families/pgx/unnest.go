package pgx

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"rowpath/core"
	"rowpath/families/postgresql"
	"rowpath/families/sqltext"
)

// Unnest is the INSERT … SELECT * FROM unnest($1::int4[], …) of a phase, with the types that the server knows.
func Unnest(ctx context.Context, connection *pgx.Conn, phase *core.Phase) (string, error) {
	described, err := connection.Prepare(ctx, "", sqltext.Numbered(phase))
	if err != nil {
		return "", err
	}
	_, columns := postgresql.Names(phase)
	arrays := make([]string, len(columns))
	for at, column := range phase.ParameterColumns {
		known, found := connection.TypeMap().TypeForOID(described.ParamOIDs[at])
		if !found || column.Type == "array" { // unnest takes arrays of arrays apart
			return "", core.Unsupported("column %s: bulk=unnest has no array of it", column.Name)
		}
		arrays[at] = fmt.Sprintf("$%d::%s[]", at+1, known.Name)
	}
	names, values := strings.Join(columns, ", "), strings.Join(arrays, ", ")
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT * FROM unnest(%s)", phase.Table, names, values), nil
}

// Arrays are the columns of bound rows as a program has them: slices of one type, of pointers where there are NULLs.
func Arrays(rows [][]any, width int) []any {
	arrays := make([]any, width)
	for at := range arrays {
		switch first(rows, at).(type) {
		case int64:
			arrays[at] = sliceOf[int64](rows, at)
		case float64:
			arrays[at] = sliceOf[float64](rows, at)
		case bool:
			arrays[at] = sliceOf[bool](rows, at)
		case string:
			arrays[at] = sliceOf[string](rows, at)
		case []byte:
			arrays[at] = sliceOf[[]byte](rows, at)
		case time.Time:
			arrays[at] = sliceOf[time.Time](rows, at)
		case pgtype.Date:
			arrays[at] = sliceOf[pgtype.Date](rows, at)
		case pgtype.Time:
			arrays[at] = sliceOf[pgtype.Time](rows, at)
		case pgtype.Interval:
			arrays[at] = sliceOf[pgtype.Interval](rows, at)
		case pgtype.Numeric:
			arrays[at] = sliceOf[pgtype.Numeric](rows, at)
		case pgtype.UUID:
			arrays[at] = sliceOf[pgtype.UUID](rows, at)
		default:
			arrays[at] = make([]*string, len(rows)) // nothing but NULL
		}
	}
	return arrays
}

// first is the column's first value that is not NULL.
func first(rows [][]any, at int) any {
	if row := slices.IndexFunc(rows, func(row []any) bool { return row[at] != nil }); row >= 0 {
		return rows[row][at]
	}
	return nil
}

func sliceOf[T any](rows [][]any, at int) any {
	values, nulls := make([]T, len(rows)), false
	for row := range rows {
		if rows[row][at] == nil {
			nulls = true
			continue
		}
		values[row] = rows[row][at].(T)
	}
	if !nulls {
		return values
	}
	pointers := make([]*T, len(rows))
	for row := range rows {
		if rows[row][at] != nil {
			pointers[row] = &values[row]
		}
	}
	return pointers
}
