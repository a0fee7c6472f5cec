package core

import (
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const tcpUserTimeout = 18 // linux/tcp.h

// Dialer is a net.Dialer whose connections may be stamped.
type Dialer struct{ net.Dialer }

// DriverSettings are those of `driver_settings`, but for net.Dialer's: Go's drivers leave TCP to it, as their
// documentation says. The dialer is nil where the driver's own will do.
func (o Options) DriverSettings() (own map[string]string, dialer *Dialer, err error) {
	own, dialer = map[string]string{}, &Dialer{}
	alive := &dialer.KeepAliveConfig
	text := o.Get("driver_settings", "")
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		var err error
		switch name {
		case "KeepAliveConfig.Idle":
			alive.Idle, err = time.ParseDuration(value)
		case "KeepAliveConfig.Interval":
			alive.Interval, err = time.ParseDuration(value)
		case "KeepAliveConfig.Count":
			alive.Count, err = strconv.Atoi(value)
		case "Control.TCP_USER_TIMEOUT":
			var milliseconds int
			milliseconds, err = strconv.Atoi(value)
			dialer.Control = withUserTimeout(milliseconds)
		default:
			own[name] = value
		}
		if err != nil {
			return nil, nil, Unsupported("setting '%s': %v", name, err)
		}
	}
	alive.Enable = *alive != net.KeepAliveConfig{}
	if stamps == nil && !alive.Enable && dialer.Control == nil {
		dialer = nil
	}
	return own, dialer, nil
}

// withUserTimeout ends a connection whose bytes are not acknowledged: keepalive begins only where none are on their way.
func withUserTimeout(milliseconds int) func(network, address string, raw syscall.RawConn) error {
	return func(network, _ string, raw syscall.RawConn) (err error) {
		if !strings.HasPrefix(network, "tcp") {
			return nil
		}
		refused := raw.Control(func(descriptor uintptr) {
			err = syscall.SetsockoptInt(int(descriptor), syscall.IPPROTO_TCP, tcpUserTimeout, milliseconds)
		})
		if refused != nil {
			return refused
		}
		return err
	}
}
