// lib/pq: PostgreSQL through database/sql; values in text, or (binary_parameters) some of them in binary.
package main

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"time"

	"github.com/lib/pq"

	"rowpath/core"
	"rowpath/families/databasesql"
	"rowpath/families/postgresql"
)

func main() {
	texts := []string{"decimal", "interval", "uuid", "array"}
	core.Main("pq", func() core.Adapter { return databasesql.Over(dialect{postgresql.Dialect{Texts: texts}}) })
}

type dialect struct{ postgresql.Dialect }

func (dialect) Connect(options core.Options) (*sql.DB, error) {
	words, own, err := postgresql.ConnectionString(options)
	if err != nil {
		return nil, err
	}
	if options.Get("format", "text") == "binary" {
		words += " binary_parameters=yes"
	}
	connector, err := pq.NewConnector(words)
	if err != nil {
		return nil, err
	}
	if own != nil {
		connector.Dialer(dialer{own})
	}
	return sql.OpenDB(connector), nil
}

// dialer is core.Dialer in the form that lib/pq takes.
type dialer struct{ *core.Dialer }

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d dialer) DialTimeout(network, address string, most time.Duration) (net.Conn, error) {
	until, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	return d.DialContext(until, network, address)
}

func (dialect) Code(thrown error) (code, kind string) {
	var own *pq.Error
	if errors.As(thrown, &own) {
		return string(own.Code), postgresql.Kind(string(own.Code))
	}
	return "", ""
}

func (dialect) Facts(ask func(string) (string, error), facts *core.Facts) error {
	facts.DriverVersion = core.ModuleVersion("github.com/lib/pq")
	return postgresql.Facts(ask, facts)
}

// Bulk is COPY, value by value through a statement, as lib/pq has it.
func (dialect) Bulk(
	way string, db *sql.DB, phase *core.Phase, rows [][]any, bind databasesql.Binder,
) (core.Operation, error) {
	if way != "copy" {
		return nil, core.Unsupported("lib/pq has no bulk way %s", way)
	}
	table, columns := postgresql.Names(phase)
	return core.Function(func(row int, counters *core.Counters) error {
		err := databasesql.Transaction(db, func(begun *sql.Tx) error {
			first := row * phase.RowsPerOperation
			return copyIn(begun, pq.CopyIn(table, columns...), rows[first:first+phase.RowsPerOperation], bind)
		})
		counters.Executed()
		return err
	}), nil
}

func copyIn(begun *sql.Tx, command string, rows [][]any, bind databasesql.Binder) error {
	statement, err := begun.Prepare(command)
	if err != nil {
		return err
	}
	given := make([]any, 0, 16)
	for _, row := range rows {
		given = given[:0]
		for _, value := range row {
			bound, err := bind(value)
			if err != nil {
				return errors.Join(err, statement.Close())
			}
			given = append(given, bound)
		}
		if _, err := statement.Exec(given...); err != nil {
			return errors.Join(err, statement.Close())
		}
	}
	if _, err := statement.Exec(); err != nil {
		return errors.Join(err, statement.Close())
	}
	return statement.Close()
}
