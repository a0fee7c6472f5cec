// Package pgxpool is pgx's own pool. Its connections keep prepared statements by themselves, by their text.
package pgxpool

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"rowpath/core"
)

// Name is the coordinate `pool`.
const Name = "pgxpool"

const lasting = 1000 * time.Hour // longer than any measurement

// Pool is a pgxpool.Pool.
type Pool struct {
	*pgxpool.Pool
	patience *core.Patience
}

// Over is the pool of connections as that configuration has them.
//
// By itself it pings a connection that was idle for more than a second; ShouldPing is its setting for that.
func Over(connection *pgx.ConnConfig, options core.Options) (*Pool, error) {
	config, err := pgxpool.ParseConfig(connection.ConnString())
	if err != nil {
		return nil, err
	}
	config.ConnConfig = connection
	config.MaxConns = int32(max(options.Number("pool_size"), 1))
	if options.Get("profile", "tuned") != "shipped" {
		config.MinConns, config.MaxConnLifetime, config.MaxConnIdleTime = config.MaxConns, lasting, lasting
		pings := options.Get("validation", "none") == "borrow"
		config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return pings }
	}
	made, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &Pool{made, core.NewPatience()}, nil
}

func (p *Pool) Borrow() (any, error) {
	lent, err := p.Acquire(p.patience.Now())
	if err != nil {
		return nil, err
	}
	return lent, nil
}

func (p *Pool) Return(lent any) error {
	lent.(*pgxpool.Conn).Release()
	return nil
}

func (p *Pool) Counts() (inUse, open int) {
	counts := p.Stat()
	return int(counts.AcquiredConns()), int(counts.TotalConns())
}

func (p *Pool) Close() error {
	p.patience.End()
	p.Pool.Close()
	return nil
}

// Connection is the driver's own of what was lent.
func Connection(lent any) *pgx.Conn { return lent.(*pgxpool.Conn).Conn() }
