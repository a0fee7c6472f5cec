package databasesql

import (
	"context"
	"database/sql"
	"errors"

	"rowpath/core"
	"rowpath/families/sqltext"
)

// Columns is of a dialect whose driver hands over results as columns, on a connection of its own type.
type Columns interface{ Columns(phase *core.Phase) Taker }

// Taker executes a query on the driver's own connection and takes the result's columns.
type Taker interface {
	core.Columnar
	Take(connection any, query string, parameters []any, counters *core.Counters) error
}

// columnar is a query whose result comes as columns, through the pool's connection.
type columnar struct {
	Taker
	db            *sql.DB
	statement     func(row int) (string, []any)
	inTransaction bool
}

func (a *Adapter) columnar(taker Taker, phase *core.Phase, rows [][]any) (core.Operation, error) {
	made := &columnar{Taker: taker, db: a.db, inTransaction: phase.InTransaction()}
	switch mode := a.options.Get("statement", "prepared"); mode {
	case "bound":
		given, err := newArguments(rows, a.Bind)
		query := a.SQL(phase)
		made.statement = func(row int) (string, []any) { return query, given.of(row) }
		return made, err
	case "text":
		texts, err := sqltext.Texts(phase.SQL, phase.ParameterColumns, rows, a.Literal)
		made.statement = func(row int) (string, []any) { return texts[row], nil }
		return made, err
	default:
		return nil, core.Unsupported("columns do not come of statements that are %s", mode)
	}
}

func (c *columnar) Close() error { return nil }

func (c *columnar) Run(row int, counters *core.Counters) (err error) {
	connection, err := c.db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	query, parameters := c.statement(row)
	take := func() error {
		return connection.Raw(func(own any) error { return c.Take(own, query, parameters, counters) })
	}
	if !c.inTransaction {
		return take()
	}
	begun, err := connection.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	if err := take(); err != nil {
		return errors.Join(err, begun.Rollback())
	}
	return begun.Commit()
}
