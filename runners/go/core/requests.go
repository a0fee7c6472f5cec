package core

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

type prepareRequest struct {
	Phase      Phase `json:"phase"`
	Parameters *struct {
		File  string `json:"file"`
		First int64  `json:"first"`
		Count int64  `json:"count"`
	} `json:"parameters"`
}

func (s *session) prepare(asked *prepareRequest) (any, error) {
	phase := &asked.Phase
	if err := errors.Join(check(phase.Columns, 0), check(phase.ParameterColumns, 0)); err != nil {
		return nil, err
	}
	var rows [][]any
	if slice := asked.Parameters; slice != nil {
		var err error
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
	prepared, err := s.clients.prepare(phase, rows)
	if err != nil {
		return nil, err
	}
	s.phases[phase.Name] = prepared
	return object{"prepare_ns": prepared.prepareNs, "parameters": len(rows)}, nil
}

func (s *session) sample(asked *sampleRequest) (any, error) {
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

func (s *session) verify(asked *verifyRequest) (any, error) {
	prepared, err := s.prepared(asked.Phase)
	if err != nil {
		return nil, err
	}
	count := or(asked.Count, 1)
	encoder, err := s.proven(prepared, asked, count)
	if err != nil {
		return nil, err
	}
	delivers, err := s.delivers(prepared)
	if err != nil {
		return nil, err
	}
	delivered, converted := []string{}, []string{}
	for at, column := range prepared.phase.Columns {
		name, fromText := delivers(at)
		delivered = append(delivered, name)
		if fromText {
			converted = append(converted, column.Name)
		}
	}
	counters := &prepared.samplers[0].counters
	return object{
		"digest": encoder.Digest(), "rows": counters.Rows, "touch": hex(counters.Touch), "operations": count,
		"delivered": delivered, "converted": converted, "order": encoder.Order(), "columns": encoder.Columns(),
	}, nil
}

// proven does the operations with a digest: once more where a value came that made an operation change its slots.
func (s *session) proven(prepared *preparedPhase, asked *verifyRequest, count int64) (encoder *Encoder, err error) {
	for {
		encoder = NewEncoder(prepared.phase.Columns, or(asked.MaxRows, 200_000))
		err = kept(asked.Keep, encoder, func() error {
			return prepared.samplers[0].verify(asked.First, count, encoder)
		})
		if !errors.Is(err, Again) {
			return encoder, err
		}
	}
}

// delivers is what the driver hands over in each column, and whether the adapter converts text.
func (s *session) delivers(prepared *preparedPhase) (func(column int) (string, bool), error) {
	if own, ok := prepared.samplers[0].operation.(Columnar); ok {
		return own.Delivers, nil
	}
	slots, err := s.clients.first().Slots(prepared.phase.Columns)
	return func(column int) (string, bool) { return slots[column].Delivers(), slots[column].Converted() }, err
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
	rows := bufio.NewWriter(file)
	encoder.Keep(rows)
	return errors.Join(do(), rows.Flush(), file.Close())
}

func (s *session) beginGroups(asked *groupsRequest) (any, error) {
	groups, err := newClientGroups(asked, len(s.clients.adapters), s.prepared)
	if err != nil {
		return nil, err
	}
	s.groups = groups
	return object{"clients": groups.clients}, nil
}

func (s *session) endGroups(*struct{}) (any, error) {
	if s.groups == nil {
		return nil, Fail("internal", "no groups of clients are at work")
	}
	reply := object{"client_groups": s.groups.end()}
	s.groups = nil
	return reply, nil
}

type runRequest struct {
	Statements   []string `json:"statements"`
	IgnoreErrors bool     `json:"ignore_errors"`
}

func (s *session) run(asked *runRequest) (any, error) {
	ns := []int64{}
	for _, statement := range asked.Statements {
		start := NowNs()
		err := s.clients.onFirst(func(first Adapter) error { return first.Run(statement) })
		if err != nil && !asked.IgnoreErrors {
			return nil, err
		}
		ns = append(ns, NowNs()-start)
	}
	return object{"ns": ns}, nil
}

type loadRequest struct {
	Phase        string
	First, Count int64
}

func (s *session) load(asked *loadRequest) (any, error) {
	prepared, err := s.prepared(asked.Phase)
	if err != nil {
		return nil, err
	}
	start := NowNs()
	rows := prepared.rows[asked.First : asked.First+asked.Count]
	if err := s.clients.onFirst(func(first Adapter) error { return first.Load(prepared.phase, rows) }); err != nil {
		return nil, err
	}
	return object{"rows": asked.Count, "ns": NowNs() - start}, nil
}

func (s *session) interrupt(asked *Interruption) (any, error) {
	var outcome Outcome
	err := s.clients.onFirst(func(first Adapter) (err error) {
		outcome, err = first.Interrupt(*asked)
		return err
	})
	return outcome, err
}

type describeRequest struct {
	SQL string `json:"sql"`
}

func (s *session) describe(asked *describeRequest) (any, error) {
	var columns []DescribedColumn
	err := s.clients.onFirst(func(first Adapter) (err error) {
		columns, err = first.Describe(asked.SQL)
		return err
	})
	return object{"columns": columns}, err
}

func (s *session) facts(*struct{}) (any, error) {
	facts := &Facts{Libraries: map[string]string{}, Settings: map[string]string{}}
	facts.Settings["gomaxprocs"] = strconv.Itoa(runtime.GOMAXPROCS(0))
	facts.Settings["gogc"] = environment("GOGC", "100")
	facts.Settings["gomemlimit"] = environment("GOMEMLIMIT", "off")
	s.clients.facts(facts.Settings)
	if err := s.clients.onFirst(func(first Adapter) error { return first.Facts(facts) }); err != nil {
		return nil, err
	}
	facts.Runtime = fmt.Sprintf("%s %s/%s, compiler %s, GOMAXPROCS=%s, GOGC=%s", runtime.Version(), runtime.GOOS,
		runtime.GOARCH, runtime.Compiler, facts.Settings["gomaxprocs"], facts.Settings["gogc"])
	return facts, nil
}

func or(value *int64, otherwise int64) int64 {
	if value == nil {
		return otherwise
	}
	return *value
}

func environment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
