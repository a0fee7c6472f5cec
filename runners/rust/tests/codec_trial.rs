//! Answers, line by line, for tests/runners/protocol/test_codec.py: `hash HEX` with the XXH64 of the bytes; `value TYPE
//! BITS NULLABLE HEX` with the bytes, digest and touch of the value decoded from the codec's bytes; `date TEXT`, `time
//! TEXT`, `timestamp TEXT`, `instant TEXT` with what is made of the text.
use rowpath::core::trial::answer;
use std::io::stdin;

fn main() {
    for line in stdin().lines().map_while(Result::ok) {
        println!("{}", answer(&line));
    }
}
