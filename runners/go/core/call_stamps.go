package core

import (
	"context"
	"math"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const (
	stampsVariable = "ROWPATH_CALL_STAMPS"

	stampSent       = 1
	stampReceived   = 2
	stampClock      = 4
	stampConnection = 5
)

// callStamps is the file that runners/c/tools/call_stamps.c describes. Go calls the kernel without the C library, so a
// driver's connections stamp themselves: what Go's scheduler does between a call and the kernel is inside the stamp.
type callStamps struct {
	on, count    uint64
	room, clocks uint64
	unused       [4]uint64
}

type callStamp struct {
	enterNs, exitNs  uint64
	thread, process  uint32
	descriptor, kind uint16
	result           int32
}

var (
	stamps     = mapCallStamps()
	stampedPid = uint32(os.Getpid())
	dialed     atomic.Uint32
)

// mapCallStamps is nil where nothing is to be stamped.
func mapCallStamps() *callStamps {
	file, err := os.OpenFile(os.Getenv(stampsVariable), os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() < int64(unsafe.Sizeof(callStamps{})) {
		return nil
	}
	const access = syscall.PROT_READ | syscall.PROT_WRITE
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), access, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return (*callStamps)(unsafe.Pointer(unsafe.SliceData(data)))
}

func (s *callStamps) keep(kind, descriptor uint16, enterNs, exitNs, result int64) {
	at := atomic.AddUint64(&s.count, 1) - 1
	if at >= s.room {
		return
	}
	kept := (*callStamp)(unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(*s)+uintptr(at)*unsafe.Sizeof(callStamp{})))
	// A goroutine has no thread of its own: the process stands for it.
	*kept = callStamp{
		uint64(enterNs), uint64(exitNs), stampedPid, stampedPid, descriptor, kind, int32(min(result, math.MaxInt32)),
	}
}

// stampLoop keeps the loop's reading of the clock between two operations; it is inside the clock, so it stays small
// enough to be compiled in line.
func stampLoop(now int64) {
	if stamps != nil {
		stamps.keepClock(now)
	}
}

func (s *callStamps) keepClock(now int64) {
	if atomic.LoadUint64(&s.on) != 0 && s.clocks != 0 {
		s.keep(stampClock, 0, now, now, 0)
	}
}

// DialContext connects as net.Dialer does; where calls are stamped, those of the connection are.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil || stamps == nil {
		return connection, err
	}
	return &stampedConnection{Conn: connection, number: uint16(dialed.Add(1))}, nil
}

type stampedConnection struct {
	net.Conn
	number uint16 // stands for the descriptor
	named  bool
}

// begin is when a call begins, 0 where it is not stamped.
func (c *stampedConnection) begin() int64 {
	if atomic.LoadUint64(&stamps.on) == 0 {
		return 0
	}
	if !c.named {
		c.named = true
		var here, there int64 // 0: a unix socket
		if address, is := c.LocalAddr().(*net.TCPAddr); is {
			here, there = int64(address.Port), int64(c.RemoteAddr().(*net.TCPAddr).Port)
		}
		stamps.keep(stampConnection, c.number, here, there, 0)
	}
	return NowNs()
}

func (c *stampedConnection) end(kind uint16, enterNs int64, count int) {
	if enterNs != 0 {
		stamps.keep(kind, c.number, enterNs, NowNs(), int64(count))
	}
}

func (c *stampedConnection) Read(into []byte) (int, error) {
	enterNs := c.begin()
	count, err := c.Conn.Read(into)
	c.end(stampReceived, enterNs, count)
	return count, err
}

func (c *stampedConnection) Write(data []byte) (int, error) {
	enterNs := c.begin()
	count, err := c.Conn.Write(data)
	c.end(stampSent, enterNs, count)
	return count, err
}

// SyscallConn is for a driver that looks at its connection before it takes it again.
func (c *stampedConnection) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
}
