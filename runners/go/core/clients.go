package core

import (
	"errors"
	"strconv"
)

// clients are a path's clients: one connection each, and a goroutine each where there is more than one.
type clients struct {
	adapters  []Adapter
	options   Options
	work      []chan func() // nil with a single client, which runs on the loop's own goroutine
	connectNs int64         // of the first one
}

func openClients(make_ func() Adapter, options Options) (*clients, error) {
	count := max(int(options.Number("clients")), 1)
	if how := options.Get("concurrency", "goroutines"); count > 1 && how != "goroutines" {
		return nil, Unsupported("the Go runner has no concurrency %s", how)
	}
	opened := &clients{options: options}
	for client := range count {
		adapter := make_()
		start := NowNs()
		if err := adapter.Open(options); err != nil {
			return nil, errors.Join(failureOf(err, "connect", adapter), opened.close())
		}
		if client == 0 {
			opened.connectNs = NowNs() - start
		}
		opened.adapters = append(opened.adapters, adapter)
	}
	if count > 1 {
		opened.start()
	}
	return opened, nil
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

func (c *clients) prepare(phase *Phase, rows [][]any) (*preparedPhase, error) {
	if c.work != nil && (phase.Kind == "load" || phase.Kind == "connect") {
		return nil, Unsupported("only one client can do the kind %s", phase.Kind)
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
		start := NowNs()
		operation, err := adapter.Prepare(phase, rows)
		if err != nil {
			return nil, errors.Join(failureOf(err, "sql", adapter), prepared.close())
		}
		if len(prepared.samplers) == 0 {
			prepared.prepareNs = NowNs() - start
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
}

func (c *clients) close() error {
	var all error
	for _, work := range c.work {
		close(work)
	}
	for _, adapter := range c.adapters {
		all = errors.Join(all, adapter.Close())
	}
	return all
}
