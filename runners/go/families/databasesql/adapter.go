package databasesql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"rowpath/core"
	"rowpath/families/sqltext"
	pool "rowpath/pools/databasesql"
)

// Dialect is what a driver of database/sql has of its own.
type Dialect interface {
	// Connect is the driver's pool, not connected yet.
	Connect(options core.Options) (*sql.DB, error)
	// SQL is the statement with the driver's placeholders.
	SQL(phase *core.Phase) string
	// Slot is where a column's values are left.
	Slot(column core.Column) core.Slot
	// Natural is a value that its slot did not take in a form that the encoder knows.
	Natural(column *core.Column, value any) any
	// Bind is a parameter as the driver takes it, of a natural value.
	Bind(value any) (any, error)
	// Literal is a value inside SQL.
	Literal(value any) (string, error)
	// Code is the driver's own code of an error, and the protocol's kind where it is known.
	Code(thrown error) (code, kind string)
	// Facts are read from the live connection.
	Facts(ask func(query string) (string, error), facts *core.Facts) error
}

// AsItIs is what a dialect has whose driver takes question marks.
type AsItIs struct{}

func (AsItIs) SQL(phase *core.Phase) string { return phase.SQL }

// PidQuery is of a dialect whose server has a process for each connection.
type PidQuery interface{ PidQuery() string }

// Copies is of a dialect with a bulk way of its own.
type Copies interface {
	Bulk(way string, db *sql.DB, phase *core.Phase, rows [][]any, bind Binder) (core.Operation, error)
}

// Describes is of a dialect that has a query described by a statement that does not execute it.
type Describes interface {
	// Describing is that statement, each of whose rows begins with a column's name and type.
	Describing(query string) string
	// Described is a column by its type as the engine spells it.
	Described(name, kind string) core.DescribedColumn
}

var ever = context.Background()

// Adapter is a path through database/sql: a pool of one connection for each client, as programs in Go have it, or one
// pool for all.
type Adapter struct {
	core.Base
	Dialect
	options core.Options
	db      *sql.DB // nil where the clients share a pool
	session Session
}

// Over is an adapter of that dialect.
func Over(dialect Dialect) *Adapter { return &Adapter{Dialect: dialect} }

func (a *Adapter) Facts(facts *core.Facts) error {
	facts.Settings["autocommit"] = "on" // database/sql has no other
	return a.Dialect.Facts(a.ask, facts)
}

func (a *Adapter) Code(thrown error) (code, kind string) {
	code, kind = a.Dialect.Code(thrown)
	if kind == "" && code == "" && Lost(thrown) {
		kind = "connect"
	}
	return code, kind
}

// Lost is whether the connection is gone.
func Lost(thrown error) bool {
	var network *net.OpError
	return errors.Is(thrown, driver.ErrBadConn) || errors.Is(thrown, io.EOF) || errors.Is(thrown, io.ErrUnexpectedEOF) ||
		errors.As(thrown, &network)
}

// Open connects.
func (a *Adapter) Open(options core.Options) (err error) {
	a.options = options
	if a.db, err = a.connected(); err == nil {
		a.session = a.db
	}
	return err
}

// OpenPool is the driver's pool with more than one connection.
func (a *Adapter) OpenPool(options core.Options) (core.Pool, error) {
	if name := options.Get("pool", "none"); name != pool.Name {
		return nil, core.Unsupported("the drivers of database/sql have no pool %s", name)
	}
	db, err := a.Connect(options)
	if err != nil {
		return nil, err
	}
	return pool.Over(db, options), nil
}

// Share keeps what the path is.
func (a *Adapter) Share(options core.Options, _ core.Pool) { a.options = options }

// Seat takes a lent connection.
func (a *Adapter) Seat(lent any) { a.session = lent.(*sql.Conn) }

func (a *Adapter) connected() (*sql.DB, error) {
	db, err := a.Connect(a.options)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Slots are database/sql's destinations.
func (a *Adapter) Slots(columns []core.Column) ([]core.Slot, error) {
	slots := make([]core.Slot, len(columns))
	for at, column := range columns {
		slots[at] = a.Slot(column)
	}
	return slots, nil
}

// Prepare makes a phase ready in the path's statement mode.
func (a *Adapter) Prepare(phase *core.Phase, rows [][]any) (core.Operation, error) {
	if own, ok := a.Dialect.(Columns); ok && phase.Kind == "query" && a.options.Get("fetch", "row") == "columnar" {
		return a.columnar(own.Columns(phase), phase, rows)
	}
	slots, err := a.Slots(phase.Columns)
	if err != nil {
		return nil, err
	}
	row := core.NewRow(phase.Columns, slots, a.Natural)
	switch {
	case phase.Kind == "connect":
		return a.connecting(phase, row), nil
	case phase.Kind == "load" && phase.Way == "bulk":
		return a.bulk(phase, rows)
	case phase.Kind == "null":
		return nil, core.Unsupported("this path has no operation of kind null")
	}
	one := &operation{adapter: a, row: row, queries: phase.Kind == "query"}
	if a.db == nil && a.options.Get("statement", "prepared") == "prepared" {
		one.loan, err = newOfLoan(a.SQL(phase), rows, a.Bind)
	} else {
		one.statement, err = a.statement(phase, rows)
	}
	if err != nil {
		return nil, err
	}
	if phase.Kind == "load" {
		return inTransaction{one, phase.RowsPerOperation}, nil
	}
	if phase.InTransaction() {
		return inTransaction{one, 1}, nil
	}
	return one, nil
}

func (a *Adapter) connecting(phase *core.Phase, row *core.Row) core.Operation {
	return core.Function(func(_ int, counters *core.Counters) error {
		start := core.NowNs()
		db, err := a.connected()
		if err != nil {
			return err
		}
		counters.ConnectNs += core.NowNs() - start
		rows, err := db.Query(phase.SQL)
		if err == nil {
			err = take(row, rows, counters)
		}
		return errors.Join(err, db.Close())
	})
}

func (a *Adapter) bulk(phase *core.Phase, rows [][]any) (core.Operation, error) {
	way := a.options.Get("bulk", "none")
	if own, ok := a.Dialect.(Copies); ok && way != "none" {
		return own.Bulk(way, a.db, phase, rows, a.Bind)
	}
	return nil, core.Unsupported("this path has no bulk way %s", way)
}

// Run executes one statement.
func (a *Adapter) Run(statement string) error {
	_, err := a.session.ExecContext(ever, statement)
	return err
}

// Load executes the phase's statement with these rows in one transaction, prepared once.
func (a *Adapter) Load(phase *core.Phase, rows [][]any) error {
	kept, err := newKept(a.session, a.SQL(phase), rows, a.Bind)
	if err != nil {
		return err
	}
	one := &operation{adapter: a, statement: kept}
	return errors.Join(inTransaction{one, len(rows)}.Run(0, &core.Counters{}), kept.Close())
}

// Interrupt cancels the query's context, or gives it a deadline; the same connection is tried afterwards.
func (a *Adapter) Interrupt(asked core.Interruption) (core.Outcome, error) {
	if a.db == nil {
		return core.Outcome{}, core.Unsupported("statements are stopped on a connection that is no pool's")
	}
	connection, err := a.db.Conn(ever)
	if err != nil {
		return core.Outcome{}, err
	}
	drain := func(until context.Context) error {
		rows, err := connection.QueryContext(until, asked.SQL)
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		return errors.Join(rows.Err(), rows.Close())
	}
	ended, err := asked.Stop(drain, func() bool {
		var one int
		return connection.QueryRowContext(ever, "SELECT 1").Scan(&one) == nil
	})
	if ended.Text != "the statement went on" {
		err = errors.Join(err, pool.Returned(connection))
	}
	return ended, err
}

// Describe is the columns of a query, in the engine's own words.
func (a *Adapter) Describe(query string) ([]core.DescribedColumn, error) {
	own, ok := a.Dialect.(Describes)
	if !ok {
		return a.Base.Describe(query)
	}
	rows, err := a.session.QueryContext(ever, own.Describing(query))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	var name, kind string
	destinations := []any{&name, &kind}
	for range len(names) - len(destinations) {
		destinations = append(destinations, new(any))
	}
	var columns []core.DescribedColumn
	for rows.Next() {
		if err := rows.Scan(destinations...); err != nil {
			return nil, err
		}
		columns = append(columns, own.Described(name, kind))
	}
	return columns, errors.Join(err, rows.Err())
}

// Raw does something on the driver's own connection.
func (a *Adapter) Raw(do func(connection any) error) error {
	connection, err := a.db.Conn(ever)
	if err != nil {
		return err
	}
	return errors.Join(connection.Raw(do), connection.Close())
}

// ServerPid is the process that serves the connection.
func (a *Adapter) ServerPid() (pid int64, err error) {
	if own, ok := a.Dialect.(PidQuery); ok {
		err = a.session.QueryRowContext(ever, own.PidQuery()).Scan(&pid)
	}
	return pid, err
}

// ask gives the last value of a query's first row.
func (a *Adapter) ask(query string) (answer string, err error) {
	rows, err := a.session.QueryContext(ever, query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		return "", errors.Join(err, rows.Err(), sql.ErrNoRows)
	}
	values := make([]any, len(names))
	for i := range values {
		values[i] = new(any)
	}
	values[len(values)-1] = &answer
	return answer, rows.Scan(values...)
}

// Close closes the pool.
func (a *Adapter) Close() error { return a.db.Close() }

func (a *Adapter) statement(phase *core.Phase, rows [][]any) (statement, error) {
	switch mode := a.options.Get("statement", "prepared"); mode {
	case "prepared":
		return newKept(a.db, a.SQL(phase), rows, a.Bind)
	case "bound":
		given, err := newArguments(rows, a.Bind)
		return &bound{a.SQL(phase), given}, err
	case "text":
		texts, err := sqltext.Texts(phase.SQL, phase.ParameterColumns, rows, a.Literal)
		return text(texts), err
	default:
		return nil, core.Unsupported("the Go runner has no statement mode %s", mode)
	}
}
