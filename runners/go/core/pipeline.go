package core

// pipelineOf is how many operations of a phase are sent before the first answer is read; 0: each by itself.
func pipelineOf(options Options, phase *Phase, parameters int) (int, error) {
	size := int(options.Number("pipeline"))
	single := (phase.Kind == "query" || phase.Kind == "execute") && !phase.InTransaction() && !phase.Stamps
	switch {
	case size < 1 || (single && parameters == 0): // one statement has nothing to be sent beside it
		return 0, nil
	case !single:
		return 0, Unsupported("a pipeline has single statements in autocommit, without stamps")
	}
	return size, nil
}

// pipelines makes the sampler send pipelines where its phase has them.
func (s *sampler) pipelines() error {
	if s.phase.Pipeline == 0 {
		return nil
	}
	pipelined, can := s.operation.(Pipelined)
	if !can {
		return Unsupported("this driver has no pipeline for that")
	}
	s.pipelined, s.sent = pipelined, make([]int, 0, s.phase.Pipeline)
	return nil
}

// pipeline does the operations of one; the last stamp.
func (s *sampler) pipeline(start, wanted int64) int64 {
	count := int64(s.phase.Pipeline)
	if wanted > 0 {
		count = min(count, wanted-s.operations-s.failed)
	}
	s.send(count, func(err error) {
		if err != nil {
			s.fail(err)
		} else {
			s.operations++
		}
	})
	end := NowNs()
	stampLoop(end)
	s.minNs = min(s.minNs, (end-start)/count)
	s.maxNs = max(s.maxNs, (end-start)/count)
	return end
}

// send does so many operations from the position on; ended is called for each, in their order.
func (s *sampler) send(count int64, ended func(error)) {
	s.sent = s.sent[:0]
	for range count {
		s.sent = append(s.sent, s.row)
		s.position++
		if s.row++; int64(s.row) == s.wrap {
			s.row = 0
		}
	}
	s.counters.begin(0)
	s.pipelined.RunPipeline(s.sent, &s.counters, func(err error) {
		ended(err)
		s.counters.begin(0)
	})
}

func (s *sampler) verifyPipelines(count int64) (first error) {
	for left := count; left > 0 && first == nil; left -= int64(s.phase.Pipeline) {
		s.send(min(left, int64(s.phase.Pipeline)), func(err error) {
			if first == nil {
				first = err
			}
		})
	}
	return first
}
