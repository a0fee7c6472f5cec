package core

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

const (
	waits  = 1
	works  = 2
	done   = 3
	gaveUp = 4

	histogramWords = 7296
	serviceAt      = 16
	latencyAt      = serviceAt + histogramWords
	latenessAt     = latencyAt + histogramWords
	slotBytesLeast = 8 * (latenessAt + histogramWords)
)

// slot is one client's slot in the shared counters, and its group's control words.
//
// Every store is atomic, in the order of the program: so it is read once this process was killed.
type slot struct {
	control      []uint64
	words        []uint64
	acknowledged []uint32 // nil: none are kept
	doubted      []uint32
}

func newSlot(control, data []byte, acknowledged int64, rows int) *slot {
	made := &slot{control: words(control), words: words(data)}
	if acknowledged > 0 && rows > 0 {
		counts := unsafe.Slice((*uint32)(unsafe.Pointer(&data[acknowledged])), 2*rows)
		made.acknowledged, made.doubted = counts[:rows], counts[rows:]
	}
	return made
}

func words(data []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(&data[0])), len(data)/8)
}

// begins is when the group begins; 0: not known yet.
func (s *slot) begins() int64 { return int64(atomic.LoadUint64(&s.control[0])) }

// ended is whether no operation begins at this instant any longer.
func (s *slot) ended(now int64) bool {
	end := int64(atomic.LoadUint64(&s.control[1]))
	return end != 0 && now >= end
}

func (s *slot) put(word int, value int64) { atomic.StoreUint64(&s.words[word], uint64(value)) }

func (s *slot) state(state int64)       { s.put(0, state) }
func (s *slot) next(row int)            { s.put(3, int64(row)) }
func (s *slot) begin(begunNs int64)     { s.put(4, begunNs) }
func (s *slot) due(dueNs int64)         { s.put(5, dueNs) }
func (s *slot) arrivals(arrivals int64) { s.put(10, arrivals) }

// acknowledge: the operation under way succeeded.
func (s *slot) acknowledge(row int) {
	if s.acknowledged != nil {
		atomic.StoreUint32(&s.acknowledged[row], s.acknowledged[row]+1)
	}
}

// doubt: the operation under way failed; it may or may not have been done.
func (s *slot) doubt(row int) {
	if s.doubted != nil {
		atomic.StoreUint32(&s.doubted[row], s.doubted[row]+1)
	}
}

func (s *slot) service(ns, sumNs int64) {
	s.record(serviceAt, ns)
	s.put(6, sumNs)
}

func (s *slot) latency(ns, sumNs int64) {
	s.record(latencyAt, ns)
	s.put(7, sumNs)
}

func (s *slot) lateness(ns int64) { s.record(latenessAt, ns) }

// loans are the sums over the successful operations' borrowing and returning.
func (s *slot) loans(borrowNs, returnNs int64) {
	if borrowNs > 0 {
		s.put(12, borrowNs)
		s.put(13, returnNs)
	}
}

// succeeded is the last thing written of a successful operation but rest.
func (s *slot) succeeded(operations, rows int64) {
	s.put(9, rows)
	s.put(1, operations)
}

// failed is the last thing written of a failed operation but rest.
func (s *slot) failed(failed, sumNs int64) {
	s.put(8, sumNs)
	s.put(2, failed)
}

// rest: no operation is under way.
func (s *slot) rest(nextRow int, endedNs int64) {
	s.put(11, endedNs)
	s.next(nextRow)
	s.begin(0)
}

func (s *slot) record(histogram int, ns int64) {
	bucket := max(bits.Len64(uint64(ns))-8, 0)
	at := &s.words[histogram+bucket*128+int(ns>>bucket)]
	atomic.StoreUint64(at, *at+1)
}
