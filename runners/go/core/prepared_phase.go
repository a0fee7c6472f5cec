package core

import "errors"

// preparedPhase is a phase made ready on every connection, and where its clients go on.
type preparedPhase struct {
	phase      *Phase
	rows       [][]any
	samplers   []*sampler
	operations int64 // before positions wrap
	prepareNs  int64
	next       int64
}

// spread puts client c of N at first + ⌊c·count/N⌋.
func (p *preparedPhase) spread(first, count int64) {
	for client, sampler := range p.samplers {
		sampler.seek(first + p.bound(client, count))
	}
}

// share puts several clients where a sample begins: how many operations each does, 0 for as many as the time allows.
func (p *preparedPhase) share(operations, first int64) []int64 {
	shares := make([]int64, len(p.samplers))
	if operations == 0 {
		if first >= 0 {
			p.spread(first, p.operations)
		}
		return shares
	}
	if first < 0 {
		first = p.next
	}
	p.spread(first, operations)
	p.next = first + operations
	for client := range shares {
		shares[client] = p.bound(client+1, operations) - p.bound(client, operations)
		if shares[client] == 0 {
			shares[client] = noPart
		}
	}
	return shares
}

func (p *preparedPhase) bound(client int, count int64) int64 {
	return int64(client) * count / int64(len(p.samplers))
}

func (p *preparedPhase) close() error {
	var all error
	for _, sampler := range p.samplers {
		all = errors.Join(all, sampler.operation.Close())
	}
	return all
}
