package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/big"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"rowpath/core"
	"rowpath/families/databasesql"
)

// Bulk is DuckDB's appender, which takes values without SQL, and commits them together when it is closed.
func (Dialect) Bulk(
	way string, db *sql.DB, phase *core.Phase, rows [][]any, bind databasesql.Binder,
) (core.Operation, error) {
	if way != "appender" {
		return nil, core.Unsupported("duckdb-go has no bulk way %s", way)
	}
	var names []string
	for _, column := range phase.ParameterColumns {
		if column.Type == "json" {
			return nil, core.Unsupported("column %s: the appender writes JSON again, in a form of its own", column.Name)
		}
		names = append(names, column.Name)
	}
	return core.Function(func(row int, counters *core.Counters) error {
		connection, err := db.Conn(context.Background())
		if err != nil {
			return err
		}
		first := row * phase.RowsPerOperation
		err = connection.Raw(func(own any) error {
			appender, err := duckdb.NewAppenderWithColumns(own.(driver.Conn), "", "", phase.Table, names)
			if err != nil {
				return err
			}
			return appended(appender, phase.ParameterColumns, rows[first:first+phase.RowsPerOperation], bind)
		})
		counters.Executed()
		return errors.Join(err, connection.Close())
	}), nil
}

func appended(appender *duckdb.Appender, columns []core.Column, rows [][]any, bind databasesql.Binder) error {
	values := make([]driver.Value, len(columns))
	for _, row := range rows {
		for at, value := range row {
			var err error
			if values[at], err = appendable(columns[at], value, bind); err != nil {
				return errors.Join(err, appender.Clear(), appender.Close())
			}
		}
		if err := appender.AppendRow(values...); err != nil {
			return errors.Join(err, appender.Clear(), appender.Close())
		}
	}
	return appender.Close()
}

// appendable is a value in the type that the appender takes for the column.
func appendable(column core.Column, value any, bind databasesql.Binder) (driver.Value, error) {
	switch value := value.(type) {
	case core.Decimal:
		if !value.IsNumber() {
			return nil, core.Unsupported("column %s: DuckDB has no decimal %s", column.Name, value)
		}
		return scaled(value, column), nil
	case core.UUID:
		return duckdb.UUID(value), nil
	case core.Infinite:
		return nil, core.Unsupported("column %s: the appender takes no infinite %s", column.Name, column.Type)
	case []any:
		list := make([]any, len(value))
		for at, each := range value {
			var err error
			if list[at], err = appendable(column, each, bind); err != nil {
				return nil, err
			}
		}
		return list, nil
	case []*int64:
		list := make([]any, len(value))
		for at, each := range value {
			if each != nil {
				list[at] = *each
			}
		}
		return list, nil
	case time.Time:
		return value, nil
	}
	return bind(value)
}

// scaled is a decimal with as many digits after the point as its column has.
func scaled(value core.Decimal, column core.Column) duckdb.Decimal {
	unscaled := value.Big
	if unscaled == nil {
		unscaled = big.NewInt(value.Small)
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(column.Scale)-int64(value.Scale)), nil)
	return duckdb.Decimal{
		Width: uint8(column.Precision), Scale: uint8(column.Scale), Value: power.Mul(power, unscaled),
	}
}
