package core

// Adapter is one driver. A path with several clients has one adapter for each.
type Adapter interface {
	// Open connects; what it took is measured by the core.
	Open(options Options) error
	// Prepare is the operation of a phase on the open connection; rows are its parameters.
	Prepare(phase *Phase, rows [][]any) (Operation, error)
	// Slots are where the driver leaves each column's value.
	Slots(columns []Column) ([]Slot, error)
	// Run executes one statement, committed.
	Run(statement string) error
	// Load executes the phase's statement with these rows in one transaction, the driver's quick way.
	Load(phase *Phase, rows [][]any) error
	// Interrupt has a long statement stopped in the driver's own way.
	Interrupt(asked Interruption) (Outcome, error)
	// Describe is the columns that a query delivers.
	Describe(sql string) ([]DescribedColumn, error)
	// ServerPid is the process that serves this connection; 0 for none.
	ServerPid() (int64, error)
	// Facts are read from the live connection.
	Facts(facts *Facts) error
	// Code is the driver's own code of an error, and the protocol's kind where the driver knows it.
	Code(thrown error) (code, kind string)
	// Close closes what Open opened.
	Close() error
}

// Operation is one phase, ready to be run.
type Operation interface {
	// Run does one operation and adds what it delivered; row is the parameter row, 0 without parameters.
	Run(row int, counters *Counters) error
	// Close frees what the phase holds on the connection.
	Close() error
}

// Pipelined is an operation that can be sent many times before the first answer is read.
type Pipelined interface {
	Operation
	// RunPipeline does one operation for each of these parameter rows; ended is called once for each, in their order.
	RunPipeline(rows []int, counters *Counters, ended func(error))
}

// Slot is where a driver leaves the values of one column, row after row.
type Slot interface {
	// Destination is what the driver's Scan takes.
	Destination() any
	// Touch is what the value adds to the touch sum.
	Touch() int64
	// Value is the value in a form that the encoder knows; nil for NULL.
	Value() any
	// Delivers is the type that the driver hands over.
	Delivers() string
	// Converted is whether the adapter converts text.
	Converted() bool
}

// Facts is the reply to `facts`.
type Facts struct {
	DriverVersion string            `json:"driver_version"`
	EngineVersion string            `json:"engine_version"`
	Build         string            `json:"build"`
	Libraries     map[string]string `json:"libraries"`
	Settings      map[string]string `json:"settings"`
	Runtime       string            `json:"runtime"`
}

// Answers is ask by its answer only; the first error stays in err, and nothing is asked after it.
func Answers(ask func(query string) (string, error), err *error) func(query string) string {
	return func(query string) (answer string) {
		if *err == nil {
			answer, *err = ask(query)
		}
		return answer
	}
}

// Base refuses what an adapter does not override.
type Base struct{}

func (Base) Slots([]Column) ([]Slot, error) { return nil, nil }
func (Base) Run(string) error {
	return Unsupported("this path has no engine that executes statements")
}
func (Base) Load(*Phase, [][]any) error { return Unsupported("this path cannot load rows") }
func (Base) Interrupt(Interruption) (Outcome, error) {
	return Outcome{}, Unsupported("this path has no statements that could be stopped")
}
func (Base) Describe(string) ([]DescribedColumn, error) {
	return nil, Unsupported("this path has no queries that could be described")
}
func (Base) ServerPid() (int64, error)      { return 0, nil }
func (Base) Facts(*Facts) error             { return nil }
func (Base) Code(error) (code, kind string) { return "", "" }
func (Base) Close() error                   { return nil }
