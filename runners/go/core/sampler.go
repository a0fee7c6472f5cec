package core

const (
	mostFailures = 100
	noPart       = -1 // wanted operations of a client that has no part in a sample
)

// sampler is the loop of one client in one phase, with its clock and its position.
type sampler struct {
	_         [64]byte // no two clients write into one cache line
	phase     *Phase
	operation Operation
	adapter   Adapter
	wrap      int64 // operations before positions wrap
	position  int64
	row       int
	counters  Counters

	operations int64
	failed     int64
	minNs      int64
	maxNs      int64
	failure    *Failure
	pipelined  Pipelined // nil: operations are done one by one
	sent       []int     // the parameter rows of the pipeline under way
	_          [64]byte
}

// sample does lead-in and block. With a barrier all clients' blocks begin when it opens and last as long: waiting for a
// core after that is a client's own time.
func (s *sampler) sample(barrier *startBarrier, leadInNs, durationNs, wanted int64) part {
	s.counters.encoder = nil
	s.counters.stamps = s.phase.Stamps && s.phase.Kind != "load" // has many executes
	windowCPU, window := processCPUNs(), NowNs()
	s.reset()
	if leadInNs > 0 {
		s.block(window, leadInNs, 0)
	}
	done := part{leadInOperations: s.operations, First: s.position}
	s.reset()
	var begun int64
	if barrier != nil {
		begun = barrier.join()
	}
	cpu, start := processCPUNs(), NowNs()
	stampLoop(start)
	if barrier == nil {
		begun = start
	}
	end := start
	if wanted != noPart {
		end = s.block(start, durationNs-(start-begun), wanted)
	}
	cpuAfter := processCPUNs()
	s.fill(&done)
	done.Ns, done.CPUNs = end-begun, cpuAfter-cpu
	done.windowNs, done.windowCPUNs = end-window, cpuAfter-windowCPU
	return done
}

func (s *sampler) fill(done *part) {
	done.Operations, done.Failed, done.failure = s.operations, s.failed, s.failure
	done.Rows, done.touch = s.counters.Rows, s.counters.Touch
	done.executeNs, done.firstRowNs = s.counters.executeNs, s.counters.firstRowNs
	done.connectNs = s.counters.ConnectNs
	done.borrowNs, done.returnNs = s.counters.borrowNs, s.counters.returnNs
	done.LeadInOperations = done.leadInOperations
	done.MaxNs = s.maxNs
	if s.maxNs > 0 {
		done.MinNs = s.minNs
	}
}

// verify does the operations [first, first + count) with a digest; the first failure is returned.
func (s *sampler) verify(first, count int64, encoder *Encoder) error {
	resume := s.position
	s.seek(first)
	s.reset()
	s.counters.stamps, s.counters.encoder = false, encoder
	defer func() {
		s.counters.encoder = nil
		s.seek(resume)
	}()
	if s.pipelined != nil {
		return s.verifyPipelines(count)
	}
	for range count {
		s.counters.begin(0)
		if err := s.operation.Run(s.row, &s.counters); err != nil {
			return err
		}
		s.seek(s.position + 1)
	}
	return nil
}

// seek goes to a position, not wrapped.
func (s *sampler) seek(to int64) {
	s.position, s.row = to, int(to%s.wrap)
}

func (s *sampler) reset() {
	s.operations, s.failed, s.failure = 0, 0, nil
	s.minNs, s.maxNs = 1<<62, 0
	s.counters.reset()
}

// block runs until the duration has passed, or the wanted number when that is not 0; the last stamp.
func (s *sampler) block(start, durationNs, wanted int64) int64 {
	now := start
	for {
		if s.pipelined != nil {
			now = s.pipeline(now, wanted)
		} else {
			now = s.step(now)
		}
		over := now-start >= durationNs
		if wanted > 0 {
			over = s.operations+s.failed >= wanted
		}
		if over || s.failed >= mostFailures {
			return now
		}
	}
}

func (s *sampler) step(start int64) int64 {
	s.counters.begin(start)
	if err := s.operation.Run(s.row, &s.counters); err != nil {
		s.fail(err)
	} else {
		s.operations++
	}
	s.position++
	if s.row++; int64(s.row) == s.wrap {
		s.row = 0
	}
	end := NowNs()
	s.counters.ended(end)
	stampLoop(end)
	s.minNs = min(s.minNs, end-start)
	s.maxNs = max(s.maxNs, end-start)
	return end
}

func (s *sampler) fail(thrown error) {
	s.counters.undo()
	s.failed++
	if s.failure == nil {
		s.failure = failureOf(thrown, "sql", s.adapter)
	}
}
