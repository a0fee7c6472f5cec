package core

import "fmt"

// part is what one client did in a sample; First is not wrapped.
type part struct {
	First            int64 `json:"first"`
	Operations       int64 `json:"operations"`
	Failed           int64 `json:"failed"`
	LeadInOperations int64 `json:"lead_in_operations"`
	Rows             int64 `json:"rows"`
	Ns               int64 `json:"ns"`
	CPUNs            int64 `json:"cpu_ns"`
	MinNs            int64 `json:"min_ns"`
	MaxNs            int64 `json:"max_ns"`

	leadInOperations                 int64
	touch                            int64
	failure                          *Failure
	executeNs, firstRowNs, connectNs int64
	borrowNs, returnNs               int64
	windowNs, windowCPUNs            int64
}

type sampleReply struct {
	part
	Values      int64    `json:"values"`
	Touch       string   `json:"touch"`
	Failure     *Failure `json:"failure"`
	WindowNs    int64    `json:"window_ns"`
	WindowCPUNs int64    `json:"window_cpu_ns"`
	ExecuteNs   int64    `json:"execute_ns"`
	FirstRowNs  int64    `json:"first_row_ns"`
	ConnectNs   int64    `json:"connect_ns"`
	BorrowNs    int64    `json:"borrow_ns,omitempty"`
	ReturnNs    int64    `json:"return_ns,omitempty"`
	CollectorNs int64    `json:"collector_ns"`
	Collections int64    `json:"collections"`
	Clients     []part   `json:"clients,omitempty"`
}

// replyOf is the reply to `sample`, from what each client did.
func replyOf(phase *Phase, parts []part) *sampleReply {
	total := parts[0]
	for _, one := range parts[1:] {
		total.add(one)
	}
	reply := &sampleReply{part: total}
	reply.Values = total.Rows * int64(len(phase.Columns))
	reply.Touch = hex(total.touch)
	reply.Failure = total.failure
	reply.WindowNs, reply.WindowCPUNs = total.windowNs, total.windowCPUNs
	reply.ExecuteNs, reply.FirstRowNs, reply.ConnectNs = total.executeNs, total.firstRowNs, total.connectNs
	reply.BorrowNs, reply.ReturnNs = total.borrowNs, total.returnNs
	if len(parts) > 1 {
		reply.Clients = parts
	}
	return reply
}

func (p *part) add(other part) {
	p.Operations += other.Operations
	p.Failed += other.Failed
	p.LeadInOperations += other.LeadInOperations
	p.Rows += other.Rows
	p.touch += other.touch
	p.executeNs += other.executeNs
	p.firstRowNs += other.firstRowNs
	p.borrowNs += other.borrowNs
	p.returnNs += other.returnNs
	p.Ns = max(p.Ns, other.Ns)
	p.MaxNs = max(p.MaxNs, other.MaxNs)
	if p.MinNs == 0 || (other.MinNs > 0 && other.MinNs < p.MinNs) {
		p.MinNs = other.MinNs
	}
	if p.failure == nil {
		p.failure = other.failure
	}
}

func hex(value int64) string { return fmt.Sprintf("%016x", uint64(value)) }
