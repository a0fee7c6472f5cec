package databasesql

import (
	"context"
	"database/sql"
	"errors"

	"rowpath/core"
)

// Binder is a natural value as the driver takes it.
type Binder func(value any) (any, error)

// runs is a pool, a connection that one has lent, or a transaction.
type runs interface {
	QueryContext(until context.Context, query string, arguments ...any) (*sql.Rows, error)
	QueryRowContext(until context.Context, query string, arguments ...any) *sql.Row
	ExecContext(until context.Context, query string, arguments ...any) (sql.Result, error)
	PrepareContext(until context.Context, query string) (*sql.Stmt, error)
}

// Session is a pool of one connection, or a connection that a pool has lent.
type Session interface {
	runs
	BeginTx(until context.Context, options *sql.TxOptions) (*sql.Tx, error)
}

// statement is a phase's statement in one statement mode; within is nil outside of a transaction.
type statement interface {
	query(session Session, within *sql.Tx, row int) (*sql.Rows, error)
	execute(session Session, within *sql.Tx, row int) error
	Close() error
}

// arguments are the parameters of each row; what the driver does not take as it is becomes so inside the clock.
type arguments struct {
	rows  [][]any
	bind  Binder
	plain bool
}

// newArguments finds out, once, whether the driver takes all values as they are.
func newArguments(rows [][]any, bind Binder) (arguments, error) {
	made := arguments{rows, bind, true}
	for _, row := range rows {
		for _, value := range row {
			bound, err := bind(value)
			if err != nil {
				return made, err
			}
			made.plain = made.plain && isPlain(value, bound)
		}
	}
	return made, nil
}

func isPlain(value, bound any) bool {
	switch value.(type) {
	case nil, bool, int64, float64, string:
		return value == bound
	case []byte:
		_, same := bound.([]byte)
		return same
	default:
		return false
	}
}

func (a *arguments) of(row int) []any {
	if len(a.rows) == 0 {
		return nil
	}
	if a.plain {
		return a.rows[row]
	}
	bound := make([]any, len(a.rows[row]))
	for at, value := range a.rows[row] {
		bound[at], _ = a.bind(value) // which newArguments has done before
	}
	return bound
}

// kept is a statement that is prepared once.
type kept struct {
	arguments
	statement *sql.Stmt
}

func newKept(session Session, query string, rows [][]any, bind Binder) (*kept, error) {
	given, err := newArguments(rows, bind)
	if err != nil {
		return nil, err
	}
	prepared, err := session.PrepareContext(ever, query)
	return &kept{given, prepared}, err
}

func (k *kept) in(within *sql.Tx) *sql.Stmt {
	if within == nil {
		return k.statement
	}
	return within.Stmt(k.statement)
}

func (k *kept) query(_ Session, within *sql.Tx, row int) (*sql.Rows, error) {
	return k.in(within).Query(k.of(row)...)
}

func (k *kept) execute(_ Session, within *sql.Tx, row int) error {
	_, err := k.in(within).Exec(k.of(row)...)
	return err
}

func (k *kept) Close() error { return k.statement.Close() }

// bound is a statement with parameters, handed to the driver each time.
type bound struct {
	sql string
	arguments
}

func (b *bound) query(session Session, within *sql.Tx, row int) (*sql.Rows, error) {
	return on(session, within).QueryContext(ever, b.sql, b.of(row)...)
}

func (b *bound) execute(session Session, within *sql.Tx, row int) error {
	_, err := on(session, within).ExecContext(ever, b.sql, b.of(row)...)
	return err
}

func (b *bound) Close() error { return nil }

// text is statements with the values inside.
type text []string

func (t text) query(session Session, within *sql.Tx, row int) (*sql.Rows, error) {
	return on(session, within).QueryContext(ever, t[row])
}

func (t text) execute(session Session, within *sql.Tx, row int) error {
	_, err := on(session, within).ExecContext(ever, t[row])
	return err
}

func (t text) Close() error { return nil }

// ofLoan is a statement that is prepared on each loan of a connection: it ends with the loan.
type ofLoan struct {
	sql string
	arguments
}

func newOfLoan(query string, rows [][]any, bind Binder) (*ofLoan, error) {
	given, err := newArguments(rows, bind)
	return &ofLoan{query, given}, err
}

// prepared does something with the statement, which it prepares for that.
func (l *ofLoan) prepared(on runs, do func(*kept) error) error {
	made, err := on.PrepareContext(ever, l.sql)
	if err != nil {
		return err
	}
	return errors.Join(do(&kept{l.arguments, made}), made.Close())
}

func on(session Session, within *sql.Tx) runs {
	if within == nil {
		return session
	}
	return within
}

// operation executes a statement and takes its rows.
type operation struct {
	adapter   *Adapter
	statement statement
	loan      *ofLoan // instead of the statement, where it is prepared on each loan
	row       *core.Row
	queries   bool
}

func (o *operation) Run(row int, counters *core.Counters) error { return o.within(nil, row, counters) }

func (o *operation) Close() error {
	if o.loan != nil {
		return nil
	}
	return o.statement.Close()
}

func (o *operation) within(transaction *sql.Tx, row int, counters *core.Counters) error {
	if o.loan != nil {
		return o.loan.prepared(on(o.adapter.session, transaction), func(kept *kept) error { return o.do(kept, nil, row, counters) })
	}
	return o.do(o.statement, transaction, row, counters)
}

func (o *operation) do(statement statement, transaction *sql.Tx, row int, counters *core.Counters) error {
	if !o.queries {
		err := statement.execute(o.adapter.session, transaction, row)
		counters.Executed()
		return err
	}
	rows, err := statement.query(o.adapter.session, transaction, row)
	if err != nil {
		return err
	}
	counters.Executed()
	return take(o.row, rows, counters)
}

func take(row *core.Row, rows *sql.Rows, counters *core.Counters) error {
	if counters.Proving() {
		names, err := rows.Columns()
		if err = errors.Join(err, counters.Expect(len(names))); err != nil {
			if len(names) == 0 && !rows.Next() && rows.Err() != nil { // some drivers know only now that the server refused
				err = rows.Err()
			}
			return errors.Join(err, rows.Close())
		}
	}
	if err := core.Take(row, rows, counters); err != nil {
		return errors.Join(err, rows.Close())
	}
	return rows.Close()
}

// inTransaction is an operation done as often as stated between the beginning of a transaction and its commit.
type inTransaction struct {
	*operation
	each int
}

func (t inTransaction) Run(row int, counters *core.Counters) error {
	return Transaction(t.adapter.session, func(begun *sql.Tx) error {
		for at := row * t.each; at < (row+1)*t.each; at++ {
			if err := t.within(begun, at, counters); err != nil {
				return err
			}
		}
		return nil
	})
}

// Transaction does something between BEGIN and COMMIT; after an error it rolls back.
func Transaction(session Session, do func(*sql.Tx) error) error {
	begun, err := session.BeginTx(ever, nil)
	if err != nil {
		return err
	}
	if err := do(begun); err != nil {
		return errors.Join(err, begun.Rollback())
	}
	return begun.Commit()
}
