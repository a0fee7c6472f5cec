package pgx

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

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

// Arrays are the columns of bound rows: slices of one type where there is no NULL.
func Arrays(rows [][]any, width int) []any {
	arrays := make([]any, width)
	for at := range arrays {
		switch rows[0][at].(type) {
		case int64:
			arrays[at] = sliceOf[int64](rows, at)
		case float64:
			arrays[at] = sliceOf[float64](rows, at)
		case string:
			arrays[at] = sliceOf[string](rows, at)
		case time.Time:
			arrays[at] = sliceOf[time.Time](rows, at)
		default:
			arrays[at] = mixed(rows, at)
		}
	}
	return arrays
}

func sliceOf[T any](rows [][]any, at int) any {
	made := make([]T, len(rows))
	for row := range rows {
		value, ok := rows[row][at].(T)
		if !ok {
			return mixed(rows, at)
		}
		made[row] = value
	}
	return made
}

func mixed(rows [][]any, at int) []any {
	made := make([]any, len(rows))
	for row := range rows {
		made[row] = rows[row][at]
	}
	return made
}
