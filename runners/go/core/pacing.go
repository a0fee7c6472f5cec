package core

import "math"

// pacing is when the operations of one client are due, and how it waits; of a closed loop none is ever due.
type pacing struct {
	open, poisson       bool
	distanceNs, firstNs float64
	state               uint64
	drawnNs             float64
	drawn               int64
	pauseNs             int64 // closed loop: between two operations
	spinNs              int64 // open loop: for so long before an operation is due the client does not sleep
}

func newPacing(group *groupRequest, client int) (*pacing, error) {
	made := &pacing{open: group.Pacing != "closed", poisson: group.Pacing == "poisson"}
	if !made.open {
		made.pauseNs = group.PauseNs
		return made, nil
	}
	if !made.poisson && group.Pacing != "fixed" {
		return nil, Unsupported("the Go runner has no pacing %s", group.Pacing)
	}
	if !(group.RatePerS > 0) {
		return nil, Fail("internal", "%s pacing at a rate of %g a second", group.Pacing, group.RatePerS)
	}
	made.distanceNs = float64(group.Clients) / group.RatePerS * 1e9
	made.firstNs = made.distanceNs * float64(client) / float64(group.Clients)
	made.state = uint64(group.Seed) + uint64(client)
	made.spinNs = group.SpinNs
	return made, nil
}

// next is when the next operation is due, in ns after the begin; each call goes one operation on.
func (p *pacing) next() int64 {
	if !p.poisson {
		p.drawn++
		return int64(p.firstNs + float64(p.drawn-1)*p.distanceNs)
	}
	p.drawnNs -= math.Log(1-float64(p.draw()>>11)*0x1p-53) * p.distanceNs
	return int64(p.drawnNs)
}

// draw is SplitMix64 (Steele, Lea, Flood 2014).
func (p *pacing) draw() uint64 {
	p.state += 0x9E3779B97F4A7C15
	mixed := (p.state ^ p.state>>30) * 0xBF58476D1CE4E5B9
	mixed = (mixed ^ mixed>>27) * 0x94D049BB133111EB
	return mixed ^ mixed>>31
}
