// Package databasesql is the pool that is part of database/sql, as sql.Conn lends its connections.
//
// A statement that is prepared on a lent connection ends with the loan, and one that is prepared on the pool borrows by
// itself. So statement=prepared is PrepareContext on each loan, as a program has it that takes a connection.
package databasesql

import (
	"database/sql"
	"database/sql/driver"
	"errors"

	"rowpath/core"
)

// Name is the coordinate `pool`.
const Name = "database-sql"

// Pool is a sql.DB whose connections are lent one by one.
type Pool struct {
	db       *sql.DB
	pings    bool
	patience *core.Patience
}

// Over is the pool of a driver's sql.DB; no connection that it has is closed for being idle.
//
// validation=borrow is PingContext: what a pool of database/sql asks by itself is the driver's, without a round trip.
func Over(db *sql.DB, options core.Options) *Pool {
	size := max(int(options.Number("pool_size")), 1)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	pings := options.Get("validation", "none") == "borrow" && options.Get("profile", "tuned") != "shipped"
	return &Pool{db, pings, core.NewPatience()}
}

func (p *Pool) Borrow() (any, error) {
	patience := p.patience.Now()
	lent, err := p.db.Conn(patience)
	if err != nil {
		return nil, err
	}
	if p.pings {
		if err := lent.PingContext(patience); err != nil {
			return nil, errors.Join(err, Returned(lent))
		}
	}
	return lent, nil
}

func (p *Pool) Return(lent any) error { return Returned(lent.(*sql.Conn)) }

// Returned gives a connection back; one that was lost is closed already.
func Returned(lent *sql.Conn) error {
	if err := lent.Close(); !errors.Is(err, sql.ErrConnDone) && !errors.Is(err, driver.ErrBadConn) {
		return err
	}
	return nil
}

func (p *Pool) Counts() (inUse, open int) {
	counts := p.db.Stats()
	return counts.InUse, counts.OpenConnections
}

func (p *Pool) Close() error {
	p.patience.End()
	return p.db.Close()
}
