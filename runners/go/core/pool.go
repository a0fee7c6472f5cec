package core

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

const patienceS = 30 // until no connection came

// Pool lends the connections that all clients of a path share.
type Pool interface {
	// Borrow waits until a connection is free.
	Borrow() (lent any, err error)
	// Return gives it back, whatever became of what was done on it.
	Return(lent any) error
	// Counts are how many connections are lent at this moment, and how many are open.
	Counts() (inUse, open int)
	// Close closes the pool and its connections.
	Close() error
}

// Pooled is an adapter that works on connections that a pool lends; it is not opened.
type Pooled interface {
	Adapter
	// OpenPool is the pool that the options name; nothing is connected yet.
	OpenPool(options Options) (Pool, error)
	// Share has this adapter work on connections of a pool.
	Share(options Options, pool Pool)
	// Seat is the connection on which everything is done until the next one.
	Seat(lent any)
}

// Patience is how long borrowers wait: 30 s, or up to a second more. All share a context, for one each would cost as much
// as a pool.
type Patience struct {
	latest atomic.Pointer[context.Context]
	ticks  *time.Ticker
	over   chan struct{}
}

// NewPatience begins; End ends it.
func NewPatience() *Patience {
	p := &Patience{ticks: time.NewTicker(time.Second), over: make(chan struct{})}
	p.renew()
	go func() {
		for {
			select {
			case <-p.ticks.C:
				p.renew()
			case <-p.over:
				return
			}
		}
	}()
	return p
}

// Now is the context of a borrower that begins to wait.
func (p *Patience) Now() context.Context { return *p.latest.Load() }

// End is to be called once.
func (p *Patience) End() {
	p.ticks.Stop()
	close(p.over)
}

func (p *Patience) renew() {
	fresh, end := context.WithTimeout(context.Background(), (patienceS+1)*time.Second)
	context.AfterFunc(fresh, end)
	p.latest.Store(&fresh)
}

// poolOf is the pool that a path names; nil where it names none.
func poolOf(adapter Adapter, options Options) (Pool, error) {
	name := options.Get("pool", "none")
	if name == "none" {
		return nil, nil
	}
	pooled, ok := adapter.(Pooled)
	if !ok {
		return nil, Unsupported("this driver has no pool %s", name)
	}
	if how := options.Get("validation", "none"); !slices.Contains([]string{"none", "borrow"}, how) {
		return nil, Unsupported("the Go runner has no validation %s", how)
	}
	return pooled.OpenPool(options)
}

// fill opens so many connections: what that took.
func fill(pool Pool, size int) (tookNs int64, err error) {
	lent := make([]any, 0, size)
	start := NowNs()
	for len(lent) < size && err == nil {
		var one any
		if one, err = pool.Borrow(); err == nil {
			lent = append(lent, one)
		}
	}
	tookNs = NowNs() - start
	for _, one := range lent {
		err = errors.Join(err, pool.Return(one))
	}
	return tookNs, err
}

// unlent is the failure of who got no connection.
func unlent(thrown error, adapter Adapter) error {
	failure := failureOf(thrown, "connect", adapter)
	failure.Kind = "connect"
	return failure
}

// onLoan does something on a borrowed connection, untimed.
func onLoan(pool Pool, adapter Adapter, do func() error) error {
	lent, err := pool.Borrow()
	if err != nil {
		return unlent(err, adapter)
	}
	adapter.(Pooled).Seat(lent)
	return errors.Join(do(), pool.Return(lent))
}

// pooledOperation borrows a connection, does an operation on it, and returns it.
type pooledOperation struct {
	Operation
	pool    Pool
	adapter Pooled
}

// Run stamps when the connection came and when the work on it ended.
func (p *pooledOperation) Run(row int, counters *Counters) (err error) {
	counters.asks()
	lent, err := p.pool.Borrow()
	if err != nil {
		return unlent(err, p.adapter)
	}
	counters.borrowed()
	defer func() { // after a panic too
		counters.worked()
		if refused := p.pool.Return(lent); refused != nil {
			err = errors.Join(err, refused)
		}
	}()
	p.adapter.Seat(lent)
	return p.Operation.Run(row, counters)
}
