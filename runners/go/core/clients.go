package core

import (
	"errors"
	"strconv"
)

// clients are a path's clients: one connection each or a pool for all, and a goroutine each where there is more than one.
type clients struct {
	adapters  []Adapter
	pool      Pool // nil: each adapter has a connection of its own
	options   Options
	work      []chan func() // nil with a single client, which runs on the loop's own goroutine
	connectNs int64         // of the first one; of a pool: of all
}

func openClients(make_ func() Adapter, options Options) (*clients, error) {
	count := max(int(options.Number("clients")), 1)
	if how := options.Get("concurrency", "goroutines"); count > 1 && how != "goroutines" {
		return nil, Unsupported("the Go runner has no concurrency %s", how)
	}
	opened := &clients{options: options}
	if err := opened.connect(make_, count); err != nil {
		return nil, errors.Join(err, opened.close())
	}
	if count > 1 {
		opened.start()
	}
	return opened, nil
}

// connect opens a connection for each client, or the pool that they share, all of its connections.
func (c *clients) connect(make_ func() Adapter, count int) error {
	pool, err := poolOf(make_(), c.options)
	if err != nil {
		return err
	}
	c.pool = pool
	for client := range count {
		adapter := make_()
		if pool != nil {
			adapter.(Pooled).Share(c.options, pool)
		} else {
			start := NowNs()
			if err := adapter.Open(c.options); err != nil {
				return failureOf(err, "connect", adapter)
			}
			if client == 0 {
				c.connectNs = NowNs() - start
			}
		}
		c.adapters = append(c.adapters, adapter)
	}
	if pool == nil {
		return nil
	}
	if c.connectNs, err = fill(pool, max(int(c.options.Number("pool_size")), 1)); err != nil {
		return failureOf(err, "connect", c.adapters[0])
	}
	return nil
}

func (c *clients) start() {
	for range c.adapters {
		work := make(chan func())
		c.work = append(c.work, work)
		go func() {
			for do := range work {
				do()
			}
		}()
	}
}

// first is the adapter of the client that also does what is not measured.
func (c *clients) first() Adapter { return c.adapters[0] }

// onFirst does something that is not measured on the first client's connection, or on one that a pool lends.
func (c *clients) onFirst(do func(Adapter) error) error {
	return c.on(c.first(), func() error { return do(c.first()) })
}

func (c *clients) on(adapter Adapter, do func() error) error {
	if c.pool == nil {
		return do()
	}
	return onLoan(c.pool, adapter, do)
}

func (c *clients) prepare(phase *Phase, rows [][]any) (*preparedPhase, error) {
	if phase.Kind == "load" || phase.Kind == "connect" {
		switch {
		case c.work != nil:
			return nil, Unsupported("only one client can do the kind %s", phase.Kind)
		case c.pool != nil:
			return nil, Unsupported("a pool is for queries and single statements, not for the kind %s", phase.Kind)
		}
	}
	operations, err := phase.operations(len(rows))
	if err != nil {
		return nil, err
	}
	if phase.Pipeline, err = pipelineOf(c.options, phase, len(rows)); err != nil {
		return nil, err
	}
	prepared := &preparedPhase{phase: phase, rows: rows, operations: int64(operations)}
	for _, adapter := range c.adapters {
		operation, tookNs, err := c.prepareOn(adapter, phase, rows)
		if err != nil {
			return nil, errors.Join(failureOf(err, "sql", adapter), prepared.close())
		}
		if len(prepared.samplers) == 0 {
			prepared.prepareNs = tookNs
		}
		made := &sampler{phase: phase, operation: operation, adapter: adapter, wrap: prepared.operations}
		prepared.samplers = append(prepared.samplers, made)
		if err := made.pipelines(); err != nil {
			return nil, errors.Join(err, prepared.close())
		}
	}
	if c.work != nil {
		prepared.spread(0, prepared.operations)
	}
	return prepared, nil
}

func (c *clients) prepareOn(adapter Adapter, phase *Phase, rows [][]any) (operation Operation, tookNs int64, err error) {
	err = c.on(adapter, func() (err error) {
		start := NowNs()
		operation, err = adapter.Prepare(phase, rows)
		tookNs = NowNs() - start
		return err
	})
	if c.pool != nil && err == nil {
		operation = &pooledOperation{operation, c.pool, adapter.(Pooled)}
	}
	return operation, tookNs, err
}

type sampleRequest struct {
	Phase      string `json:"phase"`
	LeadInNs   int64  `json:"lead_in_ns"`
	DurationNs int64  `json:"duration_ns"`
	Operations int64  `json:"operations"`
	First      *int64 `json:"first"`
}

func (r *sampleRequest) first() int64 {
	if r.First == nil {
		return -1
	}
	return *r.First
}

func (c *clients) sample(prepared *preparedPhase, asked *sampleRequest) *sampleReply {
	before := collectorNow()
	var reply *sampleReply
	if c.work == nil {
		only := prepared.samplers[0]
		if asked.first() >= 0 {
			only.seek(asked.first())
		}
		done := only.sample(nil, asked.LeadInNs, asked.DurationNs, asked.Operations)
		reply = replyOf(prepared.phase, []part{done})
	} else {
		reply = c.together(prepared, asked)
	}
	after := collectorNow()
	reply.CollectorNs, reply.Collections = after.ns-before.ns, int64(after.times-before.times)
	return reply
}

// together is a sample of several clients; the CPU time is the process's, of no single client.
func (c *clients) together(prepared *preparedPhase, asked *sampleRequest) *sampleReply {
	wanted := prepared.share(asked.Operations, asked.first())
	barrier := newStartBarrier(len(c.adapters))
	parts := make([]part, len(c.adapters))
	done := make(chan struct{})
	windowCPU, window := processCPUNs(), NowNs()
	for client, sampler := range prepared.samplers {
		c.work[client] <- func() {
			parts[client] = sampler.sample(barrier, asked.LeadInNs, asked.DurationNs, wanted[client])
			done <- struct{}{}
		}
	}
	barrier.coming.Wait()
	cpu := processCPUNs()
	barrier.release()
	for range parts {
		<-done
	}
	cpuAfter, windowNs := processCPUNs(), NowNs()-window
	for client := range parts {
		parts[client].CPUNs = 0
	}
	reply := replyOf(prepared.phase, parts)
	reply.WindowNs, reply.WindowCPUNs, reply.CPUNs = windowNs, cpuAfter-windowCPU, cpuAfter-cpu
	return reply
}

// facts are what the connection's settings lack: how the clients run, and which CPU time is reported.
func (c *clients) facts(settings map[string]string) {
	settings["clients"] = strconv.Itoa(len(c.adapters))
	if c.work != nil {
		settings["concurrency"] = "goroutines"
		settings["cpu_of_clients"] = "all threads of the process, together: a goroutine has none of its own"
	}
	if c.pool != nil {
		inUse, open := c.pool.Counts()
		settings["pool_in_use"], settings["pool_open"] = strconv.Itoa(inUse), strconv.Itoa(open)
	}
}

func (c *clients) close() error {
	var all error
	for _, work := range c.work {
		close(work)
	}
	if c.pool != nil {
		return c.pool.Close()
	}
	for _, adapter := range c.adapters {
		all = errors.Join(all, adapter.Close())
	}
	return all
}
