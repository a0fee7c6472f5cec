package core

import (
	"syscall"
	"unsafe"
)

// NowNs is CLOCK_MONOTONIC; time.Now would read a second clock each time.
//
//go:linkname NowNs runtime.nanotime
func NowNs() int64

// noLoopThread is the `loop_tid` of a loop that has no thread of its own: Go moves a goroutine to another at any time.
const noLoopThread = 0

// processCPUNs is the CPU time of all the process's threads: a goroutine has no clock.
func processCPUNs() int64 {
	const processCPU = 2 // CLOCK_PROCESS_CPUTIME_ID
	var spec syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, processCPU, uintptr(unsafe.Pointer(&spec)), 0)
	return spec.Nano()
}

// clockReadNs is the cost of one clock read: the least of several rounds.
func clockReadNs() float64 {
	const rounds, reads = 20, 5000
	least := 1e9
	for range rounds {
		start := NowNs()
		last := start
		for range reads {
			last = NowNs()
		}
		least = min(least, float64(last-start)/reads)
	}
	return least
}
