package core

import (
	"os"
	"syscall"
)

const controlBytes = 16

// sharedCounters are memory in which each client counts its operations for the controller (PROTOCOL.md).
type sharedCounters struct{ data []byte }

func mapShared(name string) (*sharedCounters, error) {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, Fail("internal", "the shared counters: %s", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, Fail("internal", "the shared counters: %s", err)
	}
	const access = syscall.PROT_READ | syscall.PROT_WRITE
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), access, syscall.MAP_SHARED)
	if err != nil {
		return nil, Fail("internal", "the shared counters of %d bytes: %s", info.Size(), err)
	}
	return &sharedCounters{data}, nil
}

// slot is one client's; acknowledged is the offset within it of counts for each row, or 0.
func (s *sharedCounters) slot(control, at, slotBytes, acknowledged int64, rows int) (*slot, error) {
	needed := int64(slotBytesLeast)
	if acknowledged > 0 {
		needed = acknowledged + 8*int64(rows)
	}
	if slotBytes < needed {
		return nil, Fail("internal", "a slot of %d bytes, %d needed", slotBytes, needed)
	}
	if control < 0 || at < 0 || control+controlBytes > int64(len(s.data)) || at+needed > int64(len(s.data)) {
		return nil, Fail("internal", "the shared counters end at %d, not %d", len(s.data), at+needed)
	}
	return newSlot(s.data[control:control+controlBytes], s.data[at:at+needed], acknowledged, rows), nil
}
