package databasesql

import (
	"database/sql"
	"errors"

	"rowpath/core"
)

// Binder is a natural value as the driver takes it.
type Binder func(value any) (any, error)

// runs is a pool or a transaction.
type runs interface {
	Query(query string, arguments ...any) (*sql.Rows, error)
	Exec(query string, arguments ...any) (sql.Result, error)
}

// statement is a phase's statement in one statement mode; within is nil outside of a transaction.
type statement interface {
	query(db *sql.DB, within *sql.Tx, row int) (*sql.Rows, error)
	execute(db *sql.DB, within *sql.Tx, row int) error
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

func newKept(db *sql.DB, query string, rows [][]any, bind Binder) (*kept, error) {
	given, err := newArguments(rows, bind)
	if err != nil {
		return nil, err
	}
	prepared, err := db.Prepare(query)
	return &kept{given, prepared}, err
}

func (k *kept) in(within *sql.Tx) *sql.Stmt {
	if within == nil {
		return k.statement
	}
	return within.Stmt(k.statement)
}

func (k *kept) query(_ *sql.DB, within *sql.Tx, row int) (*sql.Rows, error) {
	return k.in(within).Query(k.of(row)...)
}

func (k *kept) execute(_ *sql.DB, within *sql.Tx, row int) error {
	_, err := k.in(within).Exec(k.of(row)...)
	return err
}

func (k *kept) Close() error { return k.statement.Close() }

// bound is a statement with parameters, handed to the driver each time.
type bound struct {
	sql string
	arguments
}

func (b *bound) query(db *sql.DB, within *sql.Tx, row int) (*sql.Rows, error) {
	return on(db, within).Query(b.sql, b.of(row)...)
}

func (b *bound) execute(db *sql.DB, within *sql.Tx, row int) error {
	_, err := on(db, within).Exec(b.sql, b.of(row)...)
	return err
}

func (b *bound) Close() error { return nil }

// text is statements with the values inside.
type text []string

func (t text) query(db *sql.DB, within *sql.Tx, row int) (*sql.Rows, error) {
	return on(db, within).Query(t[row])
}

func (t text) execute(db *sql.DB, within *sql.Tx, row int) error {
	_, err := on(db, within).Exec(t[row])
	return err
}

func (t text) Close() error { return nil }

func on(db *sql.DB, within *sql.Tx) runs {
	if within == nil {
		return db
	}
	return within
}

// operation executes a statement and takes its rows.
type operation struct {
	db        *sql.DB
	statement statement
	row       *core.Row
	queries   bool
}

func (o *operation) Run(row int, counters *core.Counters) error { return o.within(nil, row, counters) }

func (o *operation) Close() error { return o.statement.Close() }

func (o *operation) within(transaction *sql.Tx, row int, counters *core.Counters) error {
	if !o.queries {
		err := o.statement.execute(o.db, transaction, row)
		counters.Executed()
		return err
	}
	rows, err := o.statement.query(o.db, transaction, row)
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
	return Transaction(t.db, func(begun *sql.Tx) error {
		for at := row * t.each; at < (row+1)*t.each; at++ {
			if err := t.within(begun, at, counters); err != nil {
				return err
			}
		}
		return nil
	})
}

// Transaction does something between BEGIN and COMMIT; after an error it rolls back.
func Transaction(db *sql.DB, do func(*sql.Tx) error) error {
	begun, err := db.Begin()
	if err != nil {
		return err
	}
	if err := do(begun); err != nil {
		return errors.Join(err, begun.Rollback())
	}
	return begun.Commit()
}
