package core

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
)

const (
	protocolMajor = 2
	codec         = 1
	runnerName    = "rowpath-go 1.0"
	longestShown  = 100
)

var (
	requirements      = []string{"touch", "digest", "load", "clients", "interrupt", "describe", "client-groups"}
	notWhileGroupsRun = []string{"client-groups", "sample", "verify", "prepare", "close"}
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
	return s.serve(kind, line)
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

func (s *session) serve(kind string, line []byte) (any, error) {
	switch kind {
	case "hello":
		return s.hello(line)
	case "open":
		return s.open(line)
	case "prepare":
		return s.prepare(line)
	case "sample":
		return s.sample(line)
	case "verify":
		return s.verify(line)
	case "client-groups":
		return s.beginGroups(line)
	case "client-groups-end":
		return s.endGroups()
	case "run":
		return s.run(line)
	case "load":
		return s.load(line)
	case "interrupt":
		return s.interrupt(line)
	case "describe":
		return s.describe(line)
	case "facts":
		return s.facts()
	case "close":
		return s.close()
	case "bye":
		return s.bye()
	default:
		return nil, Unsupported("the Go runner does not know requests of type %s", kind)
	}
}

// parse reads a request's fields.
func parse[T any](line []byte) (*T, error) {
	asked := new(T)
	if err := json.Unmarshal(line, asked); err != nil {
		return nil, Fail("internal", "a request that does not fit: %s", err)
	}
	return asked, nil
}

type helloRequest struct {
	Protocol []int    `json:"protocol"`
	Codec    *int     `json:"codec"`
	Requires []string `json:"requires"`
	Adapter  string   `json:"adapter"`
}

func (s *session) hello(line []byte) (any, error) {
	asked, err := parse[helloRequest](line)
	if err != nil {
		return nil, err
	}
	if len(asked.Protocol) == 0 || asked.Protocol[0] != protocolMajor {
		return nil, Unsupported("the Go runner speaks protocol 2, not %v", asked.Protocol)
	}
	if asked.Codec != nil && *asked.Codec != codec {
		return nil, Unsupported("the Go runner has codec 1, not %d", *asked.Codec)
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
		"protocol": []int{2, 1}, "codec": codec, "language": "go", "runner": runnerName, "adapter": s.driver,
		"pid": os.Getpid(), "loop_tid": loopThread, "clock_read_ns": clockReadNs(),
	}, nil
}

func (s *session) open(line []byte) (any, error) {
	asked, err := parse[struct {
		Options Options `json:"options"`
	}](line)
	if err != nil {
		return nil, err
	}
	if s.clients != nil {
		return nil, Fail("internal", "a connection is open already")
	}
	opened, err := openClients(s.make, asked.Options)
	if err != nil {
		return nil, err
	}
	s.clients = opened
	pid, err := opened.first().ServerPid()
	if err != nil {
		return nil, err
	}
	reply := object{"connect_ns": opened.connectNs, "server_pid": nil}
	if pid != 0 {
		reply["server_pid"] = pid
	}
	return reply, nil
}

type prepareRequest struct {
	Phase      Phase `json:"phase"`
	Parameters *struct {
		File  string `json:"file"`
		First int64  `json:"first"`
		Count int64  `json:"count"`
	} `json:"parameters"`
}

func (s *session) prepare(line []byte) (any, error) {
	asked, err := parse[prepareRequest](line)
	if err != nil {
		return nil, err
	}
	opened, err := s.opened()
	if err != nil {
		return nil, err
	}
	phase := &asked.Phase
	if err := errors.Join(check(phase.Columns), check(phase.ParameterColumns)); err != nil {
		return nil, err
	}
	var rows [][]any
	if slice := asked.Parameters; slice != nil {
		if rows, err = readRows(slice.File, phase.ParameterColumns, slice.First, slice.Count); err != nil {
			return nil, err
		}
	}
	if old := s.phases[phase.Name]; old != nil {
		delete(s.phases, phase.Name)
		if err := old.close(); err != nil {
			return nil, err
		}
	}
	prepared, err := opened.prepare(phase, rows)
	if err != nil {
		return nil, err
	}
	s.phases[phase.Name] = prepared
	return object{"prepare_ns": prepared.prepareNs, "parameters": len(rows)}, nil
}

func (s *session) sample(line []byte) (any, error) {
	asked, err := parse[sampleRequest](line)
	if err != nil {
		return nil, err
	}
	prepared, err := s.prepared(asked.Phase)
	if err != nil {
		return nil, err
	}
	return s.clients.sample(prepared, asked), nil
}

type verifyRequest struct {
	Phase   string `json:"phase"`
	First   int64  `json:"first"`
	Count   *int64 `json:"count"`
	MaxRows *int64 `json:"max_rows"`
	Keep    string `json:"keep"`
}

func (s *session) verify(line []byte) (any, error) {
	asked, err := parse[verifyRequest](line)
	if err != nil {
		return nil, err
	}
	prepared, err := s.prepared(asked.Phase)
	if err != nil {
		return nil, err
	}
	slots, err := s.clients.first().Slots(prepared.phase.Columns)
	if err != nil {
		return nil, err
	}
	encoder := NewEncoder(prepared.phase.Columns, or(asked.MaxRows, 100_000))
	count := or(asked.Count, 1)
	if err := kept(asked.Keep, encoder, func() error {
		return prepared.samplers[0].verify(asked.First, count, encoder)
	}); err != nil {
		return nil, err
	}
	delivered, converted := []string{}, []string{}
	for at, slot := range slots {
		delivered = append(delivered, slot.Delivers())
		if slot.Converted() {
			converted = append(converted, prepared.phase.Columns[at].Name)
		}
	}
	counters := &prepared.samplers[0].counters
	return object{
		"digest": encoder.Digest(), "rows": counters.Rows, "touch": hex(counters.Touch), "operations": count,
		"delivered": delivered, "converted": converted,
	}, nil
}

// kept has the digest's rows kept in a file while do runs, where one is named.
func kept(name string, encoder *Encoder, do func() error) error {
	if name == "" {
		return do()
	}
	file, err := os.Create(name)
	if err != nil {
		return Fail("internal", "rows cannot be kept: %s", err)
	}
	encoder.kept = bufio.NewWriter(file)
	return errors.Join(do(), encoder.kept.Flush(), file.Close())
}

func (s *session) beginGroups(line []byte) (any, error) {
	asked, err := parse[groupsRequest](line)
	if err != nil {
		return nil, err
	}
	opened, err := s.opened()
	if err != nil {
		return nil, err
	}
	groups, err := newClientGroups(asked, len(opened.adapters), s.prepared)
	if err != nil {
		return nil, err
	}
	s.groups = groups
	return object{"clients": groups.clients}, nil
}

func (s *session) endGroups() (any, error) {
	if s.groups == nil {
		return nil, Fail("internal", "no groups of clients are at work")
	}
	reply := object{"client_groups": s.groups.end()}
	s.groups = nil
	return reply, nil
}

func (s *session) run(line []byte) (any, error) {
	asked, err := parse[struct {
		Statements   []string `json:"statements"`
		IgnoreErrors bool     `json:"ignore_errors"`
	}](line)
	if err != nil {
		return nil, err
	}
	opened, err := s.opened()
	if err != nil {
		return nil, err
	}
	ns := []int64{}
	for _, statement := range asked.Statements {
		start := NowNs()
		if err := opened.first().Run(statement); err != nil && !asked.IgnoreErrors {
			return nil, err
		}
		ns = append(ns, NowNs()-start)
	}
	return object{"ns": ns}, nil
}

func (s *session) load(line []byte) (any, error) {
	asked, err := parse[struct {
		Phase        string
		First, Count int64
	}](line)
	if err != nil {
		return nil, err
	}
	prepared, err := s.prepared(asked.Phase)
	if err != nil {
		return nil, err
	}
	start := NowNs()
	rows := prepared.rows[asked.First : asked.First+asked.Count]
	if err := s.clients.first().Load(prepared.phase, rows); err != nil {
		return nil, err
	}
	return object{"rows": asked.Count, "ns": NowNs() - start}, nil
}

func (s *session) interrupt(line []byte) (any, error) {
	asked, err := parse[Interruption](line)
	if err != nil {
		return nil, err
	}
	opened, err := s.opened()
	if err != nil {
		return nil, err
	}
	return opened.first().Interrupt(*asked)
}

func (s *session) describe(line []byte) (any, error) {
	asked, err := parse[struct {
		SQL string `json:"sql"`
	}](line)
	if err != nil {
		return nil, err
	}
	opened, err := s.opened()
	if err != nil {
		return nil, err
	}
	columns, err := opened.first().Describe(asked.SQL)
	return object{"columns": columns}, err
}

func (s *session) facts() (any, error) {
	opened, err := s.opened()
	if err != nil {
		return nil, err
	}
	facts := &Facts{Libraries: map[string]string{}, Settings: map[string]string{}}
	facts.Settings["gomaxprocs"] = strconv.Itoa(runtime.GOMAXPROCS(0))
	facts.Settings["gogc"] = environment("GOGC", "100")
	facts.Settings["gomemlimit"] = environment("GOMEMLIMIT", "off")
	opened.facts(facts.Settings)
	if err := opened.first().Facts(facts); err != nil {
		return nil, err
	}
	facts.Runtime = fmt.Sprintf("%s %s/%s, compiler %s, GOMAXPROCS=%s, GOGC=%s", runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.Compiler, facts.Settings["gomaxprocs"], facts.Settings["gogc"])
	return facts, nil
}

func (s *session) close() (any, error) {
	start := NowNs()
	closing, err := s.opened()
	if err != nil {
		return nil, err
	}
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

func (s *session) bye() (any, error) {
	if s.clients != nil && s.groups == nil { // else their connections are in use: they go with us
		return s.close()
	}
	return object{}, nil
}

func (s *session) opened() (*clients, error) {
	if s.clients == nil {
		return nil, Fail("internal", "no connection is open")
	}
	return s.clients, nil
}

func (s *session) prepared(name string) (*preparedPhase, error) {
	if prepared := s.phases[name]; prepared != nil {
		return prepared, nil
	}
	return nil, Fail("internal", "the phase %s is not prepared", shortened(name))
}

func or(given *int64, otherwise int64) int64 {
	if given == nil {
		return otherwise
	}
	return *given
}

func environment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func shortened(text string) string {
	if len(text) > longestShown {
		return text[:longestShown] + "…"
	}
	return text
}
