package core

import (
	"slices"
	"sync"
)

const mostFailuresTold = 16

type groupRequest struct {
	Name         string  `json:"name"`
	Phase        string  `json:"phase"`
	FirstClient  int     `json:"first_client"`
	Clients      int     `json:"clients"`
	Pacing       string  `json:"pacing"`
	Dispatch     string  `json:"dispatch"`
	RatePerS     float64 `json:"rate_per_s"`
	Seed         int64   `json:"seed"`
	Operations   int64   `json:"operations"`
	PauseNs      int64   `json:"pause_ns"`
	SpinNs       int64   `json:"spin_ns"`
	Control      int64   `json:"control"`
	Slots        int64   `json:"slots"`
	SlotBytes    int64   `json:"slot_bytes"`
	Acknowledged int64   `json:"acknowledged"`
}

type groupsRequest struct {
	SharedCounters string         `json:"shared_counters"`
	ClientGroups   []groupRequest `json:"client_groups"`
}

// clientGroups are several groups at work at once, a goroutine for each client.
type clientGroups struct {
	groups  []group
	clients int
	ended   sync.WaitGroup
	cpuNs   int64
}

type group struct {
	name    string
	phase   *Phase
	clients []*groupClient
}

// newClientGroups has all clients wait for their groups' begin.
func newClientGroups(asked *groupsRequest, connections int, phases func(string) (*preparedPhase, error)) (*clientGroups, error) {
	shared, err := mapShared(asked.SharedCounters)
	if err != nil {
		return nil, err
	}
	made := &clientGroups{cpuNs: processCPUNs()}
	taken := make([]bool, connections)
	for at := range asked.ClientGroups {
		one := &asked.ClientGroups[at]
		if err := take(taken, one.FirstClient, one.Clients); err != nil {
			return nil, err
		}
		prepared, err := phases(one.Phase)
		if err != nil {
			return nil, err
		}
		if prepared.phase.Pipeline > 0 {
			return nil, Unsupported("a group's clients send no pipelines")
		}
		if one.Dispatch == "shared" {
			return nil, Unsupported("clients have no shared dispatch here")
		}
		grouped, err := newGroup(one, prepared, shared)
		if err != nil {
			return nil, err
		}
		made.groups = append(made.groups, grouped)
	}
	made.start()
	return made, nil
}

func (g *clientGroups) start() {
	var coming sync.WaitGroup
	for _, group := range g.groups {
		for _, client := range group.clients {
			g.clients++
			coming.Add(1)
			g.ended.Go(func() { client.run(&coming) })
		}
	}
	coming.Wait()
}

func take(taken []bool, first, clients int) error {
	for client := first; client < first+clients; client++ {
		if client < 0 || client >= len(taken) || taken[client] {
			return Fail("internal", "client %d is not there, or in two groups at once", client)
		}
		taken[client] = true
	}
	return nil
}

func newGroup(asked *groupRequest, prepared *preparedPhase, shared *sharedCounters) (group, error) {
	made := group{name: asked.Name, phase: prepared.phase}
	if kind := prepared.phase.Kind; !slices.Contains([]string{"query", "execute", "null"}, kind) {
		return made, Unsupported("no group does operations of kind %s", kind)
	}
	for client := range asked.Clients {
		one, err := newGroupClient(asked, client, prepared, shared)
		if err != nil {
			return made, err
		}
		made.clients = append(made.clients, one)
	}
	return made, nil
}

type groupReply struct {
	Name       string            `json:"name"`
	Operations int64             `json:"operations"`
	Failed     int64             `json:"failed"`
	Failures   []*countedFailure `json:"failures"`
	Rows       int64             `json:"rows"`
	Values     int64             `json:"values"`
	Touch      string            `json:"touch"`
	BegunNs    int64             `json:"begun_ns"`
	EndedNs    int64             `json:"ended_ns"`
	CPUNs      int64             `json:"cpu_ns"`
	Clients    []groupClientTold `json:"clients"`
}

type groupClientTold struct {
	First        int   `json:"first"`
	RowsOfItsOwn int   `json:"rows_of_its_own"`
	Operations   int64 `json:"operations"`
	Failed       int64 `json:"failed"`
}

type countedFailure struct {
	Failure
	Count int64 `json:"count"`
}

// end waits until every client is done: what each group did. Each has the CPU time of the threads that all share.
func (g *clientGroups) end() []*groupReply {
	g.ended.Wait()
	var replies []*groupReply
	for _, each := range g.groups {
		reply := each.total()
		reply.CPUNs = processCPUNs() - g.cpuNs
		replies = append(replies, reply)
	}
	return replies
}

func (g *group) total() *groupReply {
	reply := &groupReply{Name: g.name, Failures: []*countedFailure{}, Clients: []groupClientTold{}}
	var touch int64
	for _, client := range g.clients {
		touch += client.counters.Touch
		reply.add(client)
	}
	reply.Values = reply.Rows * int64(len(g.phase.Columns))
	reply.Touch = hex(touch)
	slices.SortStableFunc(reply.Failures, func(a, b *countedFailure) int { return int(b.Count - a.Count) })
	reply.Failures = reply.Failures[:min(len(reply.Failures), mostFailuresTold)]
	return reply
}

func (r *groupReply) add(client *groupClient) {
	r.Operations += client.operations
	r.Failed += client.failed
	r.Rows += client.counters.Rows
	if client.begunNs > 0 && (r.BegunNs == 0 || client.begunNs < r.BegunNs) {
		r.BegunNs = client.begunNs
	}
	r.EndedNs = max(r.EndedNs, client.endedNs)
	r.Clients = append(r.Clients, groupClientTold{client.first, client.rowsOfItsOwn, client.operations, client.failed})
	for _, failure := range client.failures {
		r.Failures = counted(r.Failures, failure.Failure, failure.Count)
	}
}

// counted adds failures of one kind and code to those known.
func counted(known []*countedFailure, failure Failure, count int64) []*countedFailure {
	for _, each := range known {
		if each.Kind == failure.Kind && each.Code == failure.Code {
			each.Count += count
			return known
		}
	}
	return append(known, &countedFailure{failure, count})
}
