package core

// Counters are what the operations of a sample delivered; only the loop's goroutine touches them.
type Counters struct {
	Rows      int64
	Touch     int64
	ConnectNs int64 // kind connect: time to connect and log in

	encoder    *Encoder // nil outside of verify
	stamps     bool
	startNs    int64
	executeNs  int64
	firstRowNs int64
	askedNs    int64 // when a pool was asked for a connection
	borrowNs   int64 // until it came
	returnNs   int64 // until it was given back
	workedNs   int64 // when the work on a borrowed connection ended; 0: none is to be returned
	before     delivered
}

type delivered struct{ rows, touch, connectNs, executeNs, firstRowNs, borrowNs int64 }

// Executed is to be called as soon as the driver's execute has returned.
func (c *Counters) Executed() {
	if c.stamps {
		c.executeNs += NowNs() - c.startNs
	}
}

func (c *Counters) firstRow() {
	if c.stamps {
		c.firstRowNs += NowNs() - c.startNs
	}
}

// Proving is whether rows are encoded, untimed.
func (c *Counters) Proving() bool { return c.encoder != nil }

// Expect refuses a result with more or fewer columns than declared.
func (c *Counters) Expect(came int) error {
	if c.encoder != nil && came != len(c.encoder.columns) {
		return Fail("verify", "%d columns came where %d are declared", came, len(c.encoder.columns))
	}
	return nil
}

// Restart has an operation executed again from its beginning, because it changed its slots; Again where rows of it are
// in a digest already.
func (c *Counters) Restart() error {
	if c.encoder != nil {
		return Again
	}
	borrowNs := c.borrowNs // the loan goes on
	c.undo()
	c.borrowNs = borrowNs
	return nil
}

func (c *Counters) begin(startNs int64) {
	c.startNs = startNs
	c.before = delivered{c.Rows, c.Touch, c.ConnectNs, c.executeNs, c.firstRowNs, c.borrowNs}
}

// asks: a pool is about to be asked for a connection.
func (c *Counters) asks() { c.askedNs = NowNs() }

// borrowed: it has lent one.
func (c *Counters) borrowed() { c.borrowNs += NowNs() - c.askedNs }

// worked: the connection is about to be returned.
func (c *Counters) worked() { c.workedNs = NowNs() }

// ended: the successful operation is over, and its connection was returned.
func (c *Counters) ended(nowNs int64) {
	if c.workedNs > 0 {
		c.returnNs += nowNs - c.workedNs
		c.workedNs = 0
	}
}

// undo forgets the operation under way: a failed one is never part of a result.
func (c *Counters) undo() {
	b := c.before
	c.Rows, c.Touch, c.ConnectNs, c.executeNs, c.firstRowNs = b.rows, b.touch, b.connectNs, b.executeNs, b.firstRowNs
	c.borrowNs, c.workedNs = b.borrowNs, 0
}

func (c *Counters) reset() {
	c.Rows, c.Touch, c.ConnectNs, c.executeNs, c.firstRowNs = 0, 0, 0, 0, 0
	c.borrowNs, c.returnNs, c.workedNs = 0, 0, 0
}
