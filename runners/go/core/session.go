package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
)

const (
	protocolMajor = 3
	codec         = 2
	runnerName    = "rowpath-go 1.0"
	longestShown  = 100
)

var (
	requirements      = []string{"touch", "digest", "load", "clients", "interrupt", "describe", "client-groups"}
	notWhileGroupsRun = []string{"client-groups", "sample", "verify", "prepare", "close"}
	onConnection      = []string{"prepare", "client-groups", "run", "interrupt", "describe", "facts", "close"}
)

type object = map[string]any

// session serves requests one after the other, on the goroutine that runs the loop.
type session struct {
	driver  string
	make    func() Adapter
	replies *os.File
	phases  map[string]*preparedPhase
	clients *clients
	groups  *clientGroups
}

// answer serves one line; whether it was `bye`.
func (s *session) answer(line []byte) bool {
	var head struct {
		ID   json.RawMessage `json:"id"`
		Type any             `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		fmt.Fprintln(os.Stderr, "not a request:", err)
		return false
	}
	kind := shortened(fmt.Sprint(head.Type))
	reply, err := s.guarded(kind, line)
	text := []byte("{}")
	if err == nil {
		text, err = json.Marshal(reply)
	}
	if err != nil {
		text, _ = json.Marshal(object{"error": s.failure(err, kind)})
	}
	s.write(head.ID, text)
	return kind == "bye"
}

// guarded serves a request; a panic, ours or a driver's, is an error.
func (s *session) guarded(kind string, line []byte) (reply any, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", broken, debug.Stack())
			err = Fail("internal", "%s", fmt.Sprint(broken))
		}
	}()
	if s.groups != nil && slices.Contains(notWhileGroupsRun, kind) {
		return nil, Fail("internal", "groups of clients are at work: no %s meanwhile", kind)
	}
	if s.clients == nil && slices.Contains(onConnection, kind) {
		return nil, Fail("internal", "no connection is open")
	}
	serve, known := served[kind]
	if !known {
		return nil, Unsupported("the Go runner does not know requests of type %s", kind)
	}
	return serve(s, line)
}

func (s *session) failure(err error, kind string) *Failure {
	var adapter Adapter
	if s.clients != nil {
		adapter = s.clients.first()
	}
	if kind == "open" {
		return failureOf(err, "connect", adapter)
	}
	return failureOf(err, "sql", adapter)
}

// write sends a reply: its id, then its fields.
func (s *session) write(id json.RawMessage, fields []byte) {
	if id == nil {
		id = json.RawMessage("null")
	}
	line := append([]byte(`{"id":`), id...)
	if len(fields) > 2 {
		line = append(line, ',')
	}
	line = append(append(line, fields[1:]...), '\n')
	if _, err := s.replies.Write(line); err != nil {
		fmt.Fprintln(os.Stderr, "the replies cannot be written:", err)
		os.Exit(1)
	}
}

// served is what serves each type of request.
var served = map[string]func(s *session, line []byte) (any, error){
	"hello":             given((*session).hello),
	"open":              given((*session).open),
	"prepare":           given((*session).prepare),
	"sample":            given((*session).sample),
	"verify":            given((*session).verify),
	"client-groups":     given((*session).beginGroups),
	"client-groups-end": given((*session).endGroups),
	"run":               given((*session).run),
	"load":              given((*session).load),
	"interrupt":         given((*session).interrupt),
	"describe":          given((*session).describe),
	"facts":             given((*session).facts),
	"close":             given((*session).close),
	"bye":               given((*session).bye),
}

// given reads a request's fields and serves it.
func given[T any](serve func(*session, *T) (any, error)) func(*session, []byte) (any, error) {
	return func(s *session, line []byte) (any, error) {
		asked := new(T)
		if err := json.Unmarshal(line, asked); err != nil {
			return nil, Fail("internal", "a request that does not fit: %s", err)
		}
		return serve(s, asked)
	}
}

type helloRequest struct {
	Protocol []int    `json:"protocol"`
	Codec    *int     `json:"codec"`
	Requires []string `json:"requires"`
	Adapter  string   `json:"adapter"`
}

func (s *session) hello(asked *helloRequest) (any, error) {
	if len(asked.Protocol) == 0 || asked.Protocol[0] != protocolMajor {
		return nil, Unsupported("the Go runner speaks protocol 3, not %v", asked.Protocol)
	}
	if asked.Codec != nil && *asked.Codec != codec {
		return nil, Unsupported("the Go runner has codec 2, not %d", *asked.Codec)
	}
	for _, name := range asked.Requires {
		if !slices.Contains(requirements, name) {
			return nil, Unsupported("the Go runner does not know the requirement %s", shortened(name))
		}
	}
	if asked.Adapter != s.driver {
		return nil, Unsupported("this runner hosts %s, not %s", s.driver, shortened(asked.Adapter))
	}
	return object{
		"protocol": []int{protocolMajor, 0}, "codec": codec, "language": "go", "runner": runnerName, "adapter": s.driver,
		"pid": os.Getpid(), "loop_tid": noLoopThread, "clock_read_ns": clockReadNs(),
	}, nil
}

type openRequest struct {
	Options Options `json:"options"`
}

func (s *session) open(asked *openRequest) (any, error) {
	if s.clients != nil {
		return nil, Fail("internal", "a connection is open already")
	}
	opened, err := openClients(s.make, asked.Options)
	if err != nil {
		return nil, err
	}
	var pid int64
	err = opened.onFirst(func(first Adapter) (err error) {
		pid, err = first.ServerPid()
		return err
	})
	if err != nil {
		return nil, errors.Join(failureOf(err, "connect", opened.first()), opened.close())
	}
	s.clients = opened
	reply := object{"connect_ns": opened.connectNs, "server_pid": nil}
	if pid != 0 {
		reply["server_pid"] = pid
	}
	return reply, nil
}

func (s *session) close(*struct{}) (any, error) {
	start := NowNs()
	closing := s.clients
	s.clients = nil
	var all error
	for _, phase := range s.phases {
		all = errors.Join(all, phase.close())
	}
	clear(s.phases)
	if err := errors.Join(all, closing.close()); err != nil {
		return nil, err
	}
	return object{"close_ns": NowNs() - start}, nil
}

func (s *session) bye(*struct{}) (any, error) {
	if s.clients != nil && s.groups == nil { // else their connections are in use: they go with us
		return s.close(nil)
	}
	return object{}, nil
}

func (s *session) prepared(name string) (*preparedPhase, error) {
	if prepared := s.phases[name]; prepared != nil {
		return prepared, nil
	}
	return nil, Fail("internal", "the phase %s is not prepared", shortened(name))
}

func shortened(text string) string {
	if len(text) > longestShown {
		return text[:longestShown] + "…"
	}
	return text
}
