package core

import (
	"fmt"
	"sync"
	"time"
)

const (
	afterFailureNs = 10_000_000
	lookNs         = 10_000_000
	lookForBeginNs = 1_000_000
)

// groupClient is one client of a group, from waiting for the begin to the last operation.
type groupClient struct {
	_              [64]byte // no two clients write into one cache line
	operation      Operation
	adapter        Adapter
	slot           *slot
	pacing         *pacing
	wanted         int64 // 0: until the end
	counters       Counters
	row            int
	dueNs          int64
	failuresInARow int
	over           bool

	serviceNs, latencyNs, failedNs int64

	// What it did; to be read by others once it has ended.
	failures            []*countedFailure
	first, rowsOfItsOwn int
	operations, failed  int64
	begunNs, endedNs    int64 // 0: never
	_                   [64]byte
}

func newGroupClient(asked *groupRequest, client int, prepared *preparedPhase, shared *sharedCounters) (*groupClient, error) {
	rows := int(prepared.operations)
	at := asked.Slots + int64(client)*asked.SlotBytes
	slot, err := shared.slot(asked.Control, at, asked.SlotBytes, asked.Acknowledged, rows)
	if err != nil {
		return nil, err
	}
	pacing, err := newPacing(asked, client)
	if err != nil {
		return nil, err
	}
	sampler := prepared.samplers[asked.FirstClient+client]
	made := &groupClient{
		operation: sampler.operation, adapter: sampler.adapter, slot: slot, pacing: pacing, wanted: asked.Operations,
		first: client % rows, rowsOfItsOwn: 1,
	}
	if rows >= asked.Clients {
		made.first = client * rows / asked.Clients
		made.rowsOfItsOwn = (client+1)*rows/asked.Clients - made.first
	}
	made.row = made.first
	return made, nil
}

func (c *groupClient) run(coming *sync.WaitGroup) {
	c.slot.next(c.row)
	c.slot.state(waits)
	coming.Done()
	defer func() {
		if broken := recover(); broken != nil { // ours or the driver's: the others go on
			c.fail(Fail("internal", "%s", fmt.Sprint(broken)))
			c.slot.failed(c.failed, c.failedNs)
			c.failuresInARow = mostFailures
		}
		if c.failuresInARow < mostFailures {
			c.slot.state(done)
		} else {
			c.slot.state(gaveUp)
		}
	}()
	c.work()
}

func (c *groupClient) work() {
	zero := c.slot.begins()
	for zero == 0 && !c.slot.ended(NowNs()) {
		time.Sleep(lookForBeginNs)
		zero = c.slot.begins()
	}
	now := NowNs()
	if zero != 0 {
		now = c.until(zero, c.pacing.spinNs)
	}
	if c.slot.ended(now) {
		return
	}
	c.begunNs = now
	c.plan(zero)
	c.slot.state(works)
	for !c.over {
		now = c.turn(now, zero)
	}
}

// plan draws when the next operation is due.
func (c *groupClient) plan(zero int64) {
	if c.pacing.open {
		c.dueNs = zero + c.pacing.next()
		c.slot.due(c.dueNs)
	}
}

// turn is one operation with the wait before it; when it ended.
func (c *groupClient) turn(now, zero int64) int64 {
	idle := c.pacing.open && now < c.dueNs
	begun := now
	if idle {
		begun = c.until(c.dueNs, c.pacing.spinNs)
	}
	if c.slot.ended(begun) || c.slot.ended(c.dueNs) {
		c.over = true
		return begun
	}
	if c.pacing.open {
		c.slot.arrivals(c.operations + c.failed + 1)
	}
	c.slot.begin(begun)
	c.counters.begin(begun)
	thrown := c.operation.Run(c.row, &c.counters)
	ended := NowNs()
	if thrown == nil {
		c.succeed(begun, ended, idle)
	} else {
		c.slot.doubt(c.row)
		c.fail(thrown)
		c.failedNs += ended - begun
		c.slot.failed(c.failed, c.failedNs)
	}
	c.endedNs = ended
	return c.goOn(thrown != nil, ended, zero)
}

// goOn rests after an operation: when the next may begin.
func (c *groupClient) goOn(failed bool, ended, zero int64) int64 {
	if c.row++; c.row == c.first+c.rowsOfItsOwn {
		c.row = c.first
	}
	c.plan(zero)
	c.slot.rest(c.row, ended)
	c.over = c.operations+c.failed == c.wanted || c.failuresInARow == mostFailures
	pause := c.pacing.pauseNs
	if failed {
		pause = max(pause, afterFailureNs)
	}
	if c.over || pause == 0 {
		return ended
	}
	return c.until(ended+pause, 0)
}

func (c *groupClient) succeed(begun, ended int64, idle bool) {
	c.slot.acknowledge(c.row)
	c.counters.ended(ended)
	c.slot.loans(c.counters.borrowNs, c.counters.returnNs)
	c.serviceNs += ended - begun
	c.slot.service(ended-begun, c.serviceNs)
	if c.pacing.open {
		c.latencyNs += ended - c.dueNs
		c.slot.latency(ended-c.dueNs, c.latencyNs)
		if idle {
			c.slot.lateness(begun - c.dueNs)
		}
	}
	c.failuresInARow = 0
	c.operations++
	c.slot.succeeded(c.operations, c.counters.Rows)
}

func (c *groupClient) fail(thrown error) {
	c.counters.undo()
	c.failed++
	c.failuresInARow++
	c.failures = counted(c.failures, *failureOf(thrown, "sql", c.adapter), 1)
}

// until sleeps until so long before an instant, then spins; the instant it is, or the end.
func (c *groupClient) until(instant, spinning int64) int64 {
	now := NowNs()
	for now < instant && !c.slot.ended(now) {
		if left := instant - now - spinning; left > 0 {
			time.Sleep(time.Duration(min(left, lookNs)))
		}
		now = NowNs()
	}
	return now
}
