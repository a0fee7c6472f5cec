// duckdb-go: DuckDB's library, linked into the program, through database/sql or as Arrow record batches.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/url"

	"github.com/duckdb/duckdb-go/v2"

	"rowpath/core"
	"rowpath/families/arrow"
	"rowpath/families/databasesql"
	family "rowpath/families/duckdb"
)

func main() {
	core.Main("duckdb-go", func() core.Adapter { return &adapter{Adapter: databasesql.Over(dialect{})} })
}

// adapter has JSON fetched as text.
type adapter struct {
	*databasesql.Adapter
	columnar bool // Arrow has it as text anyway
}

func (a *adapter) Open(options core.Options) error {
	a.columnar = options.Get("fetch", "row") == "columnar"
	return a.Adapter.Open(options)
}

func (a *adapter) Prepare(phase *core.Phase, rows [][]any) (core.Operation, error) {
	if phase.Kind == "query" && !a.columnar {
		phase = family.WithJSONAsText(phase)
	}
	return a.Adapter.Prepare(phase, rows)
}

type dialect struct{ family.Dialect }

func (dialect) Connect(options core.Options) (*sql.DB, error) {
	path, err := options.Need("path")
	if err != nil {
		return nil, err
	}
	settings := url.Values{"threads": {options.Get("threads", "1")}}
	if options.Get("read_only", "no") == "yes" {
		settings.Set("access_mode", "READ_ONLY")
	}
	connector, err := duckdb.NewConnector(path+"?"+settings.Encode(), func(fresh driver.ExecerContext) error {
		_, err := fresh.ExecContext(context.Background(), "SET TimeZone = 'UTC'", nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func (dialect) Columns(phase *core.Phase) databasesql.Taker {
	return taker{arrow.ResultOf(phase.Columns, family.OfArrow)}
}

type taker struct{ *arrow.Result }

func (t taker) Take(connection any, query string, parameters []any, counters *core.Counters) error {
	own, err := duckdb.NewArrowFromConn(connection.(driver.Conn))
	if err != nil {
		return err
	}
	reader, err := own.QueryContext(context.Background(), query, parameters...)
	if err != nil {
		return err
	}
	counters.Executed()
	return t.Result.Take(reader, counters)
}
