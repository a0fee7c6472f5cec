package core

import (
	"os"
	"syscall"
	"unsafe"
)

// NowNs is CLOCK_MONOTONIC; time.Now would read a second clock each time.
//
//go:linkname NowNs runtime.nanotime
func NowNs() int64

const processCPU = 2 // CLOCK_PROCESS_CPUTIME_ID

// loopCPU is the CPU clock of the process's first thread (the kernel's MAKE_THREAD_CPUCLOCK).
//
// A goroutine has no clock. A single client's stays on that thread where it has one core: nothing else runs.
var loopCPU = uintptr(^loopThread<<3 | 6)

var loopThread = os.Getpid()

func loopCPUNs() int64 { return cpuNs(loopCPU) }

// processCPUNs is the CPU time of all the process's threads.
func processCPUNs() int64 { return cpuNs(processCPU) }

func cpuNs(clock uintptr) int64 {
	var spec syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&spec)), 0)
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
