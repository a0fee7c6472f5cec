// No engine at all: the loop with nothing in it, or with a burn or a stall of known length.
package main

import (
	"time"

	"rowpath/core"
)

func main() { core.Main("null", func() core.Adapter { return &null{} }) }

type null struct {
	core.Base
	burnNs, stallNs, stallEvery int64
}

func (n *null) Open(options core.Options) error {
	n.burnNs = options.Number("burn_ns")
	n.stallNs = options.Number("stall_ns")
	n.stallEvery = max(options.Number("stall_every"), 1)
	return nil
}

func (n *null) Prepare(phase *core.Phase, _ [][]any) (core.Operation, error) {
	if phase.Kind != "null" {
		return nil, core.Unsupported("the null engine has no operation of kind %s", phase.Kind)
	}
	if n.burnNs == 0 && n.stallNs == 0 {
		return core.Function(func(int, *core.Counters) error { return nil }), nil
	}
	count := int64(0)
	return core.Function(func(int, *core.Counters) error {
		n.burn()
		if count++; n.stallNs > 0 && count%n.stallEvery == 0 {
			time.Sleep(time.Duration(n.stallNs))
		}
		return nil
	}), nil
}

func (n *null) burn() {
	for end := core.NowNs() + n.burnNs; n.burnNs > 0 && core.NowNs() < end; {
	}
}

func (n *null) Facts(facts *core.Facts) error {
	facts.DriverVersion = "none"
	return nil
}
