package core

import "runtime/metrics"

const (
	collectorTotal = "/cpu/classes/gc/total:cpu-seconds"
	collectorIdle  = "/cpu/classes/gc/mark/idle:cpu-seconds"
	collectorTimes = "/gc/cycles/total:gc-cycles"
)

// collector is what the garbage collector has done so far: its CPU time but for what it did while nothing else ran.
//
// The runtime brings the time up to date at the end of each collection.
type collector struct {
	ns    int64
	times uint64
}

var collectorSamples = []metrics.Sample{{Name: collectorTotal}, {Name: collectorIdle}, {Name: collectorTimes}}

func collectorNow() collector {
	metrics.Read(collectorSamples)
	seconds := collectorSamples[0].Value.Float64() - collectorSamples[1].Value.Float64()
	return collector{int64(seconds * 1e9), collectorSamples[2].Value.Uint64()}
}
