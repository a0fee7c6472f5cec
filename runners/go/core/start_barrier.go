package core

import "sync"

// startBarrier holds the clients of a sample between their lead-ins and their blocks.
type startBarrier struct {
	coming   sync.WaitGroup
	open     chan struct{}
	openedNs int64
}

func newStartBarrier(clients int) *startBarrier {
	barrier := &startBarrier{open: make(chan struct{})}
	barrier.coming.Add(clients)
	return barrier
}

// join waits, as a client, until all have come; when the blocks began, for all the same.
func (b *startBarrier) join() int64 {
	b.coming.Done()
	<-b.open
	return b.openedNs
}

// release lets all go on once they have come.
func (b *startBarrier) release() {
	b.coming.Wait()
	b.openedNs = NowNs()
	close(b.open)
}
