// Answers, line by line, for tests/runners/protocol/test_codec.py: `hash HEX` with the XXH64 of the bytes; `value TYPE
// BITS NULLABLE HEX` with the bytes, digest and touch of the value decoded from the codec's bytes; `date TEXT`, `time
// TEXT`, `timestamp TEXT`, `instant TEXT` with what is made of the text.
package main

import (
	"bufio"
	"fmt"
	"os"

	"rowpath/core"
)

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	for input.Scan() {
		fmt.Println(core.Trial(input.Text()))
	}
}
