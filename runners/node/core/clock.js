// The clock: nanoseconds of CLOCK_MONOTONIC as a number, exact for a machine that is up for less than 104 days.

const { hrtime } = process; // its array is no allocation once V8 has compiled the loop around it

/** Now. */
export function clock() {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1e9 + nanoseconds;
}

/** The cost of one read of the clock: the least of some rounds. */
export function clockReadNs() {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 50; round++) {
    const started = clock();
    for (let read = 0; read < 1000; read++) clock();
    least = Math.min(least, (clock() - started) / 1000);
  }
  return Math.round(least * 10) / 10;
}
