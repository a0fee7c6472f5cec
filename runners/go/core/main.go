// Package core is what every Go runner is made of: protocol, loop, clock, touch and digest (runners/PROTOCOL.md).
package core

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"
)

// Main serves requests until `bye` or the end of stdin, which ends the process at once.
func Main(driver string, make_ func() Adapter) {
	if len(os.Args) != 3 || os.Args[1] != "--adapter" || os.Args[2] != driver {
		fmt.Fprintln(os.Stderr, "usage: RUNNER --adapter", driver)
		os.Exit(2)
	}
	session := &session{driver: driver, make: make_, replies: privateStdout(), phases: map[string]*preparedPhase{}}
	go watch()
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil || session.answer(line) {
			os.Exit(0)
		}
	}
}

// watch ends the process when the controller has closed stdin, in the middle of a sample too.
//
// It reads nothing: the loop's goroutine does so itself.
func watch() {
	type pollfd struct {
		fd              int32
		events, revents int16
	}
	const hungUp = 0x10 // POLLHUP
	stdin := pollfd{}
	for stdin.revents&hungUp == 0 {
		at := uintptr(unsafe.Pointer(&stdin))
		if count, _, err := syscall.Syscall6(syscall.SYS_PPOLL, at, 1, 0, 0, 0, 0); err != syscall.EINTR && count != 1 {
			return // no pipe
		}
	}
	os.Exit(0)
}

// privateStdout keeps stdout for replies; whatever else writes to descriptor 1 lands on stderr.
func privateStdout() *os.File {
	replies, err := syscall.Dup(1)
	if err == nil {
		syscall.CloseOnExec(replies)
		err = syscall.Dup3(2, 1, 0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no private stdout:", err)
		os.Exit(1)
	}
	return os.NewFile(uintptr(replies), "replies")
}

// ModuleVersion is the version of a module that the runner was built with.
func ModuleVersion(path string) string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == path {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return "unknown"
}
