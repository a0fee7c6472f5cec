// Time in V8's garbage collector, by thread. Nothing is called while nothing is collected.

import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate as turn } from "node:timers/promises";

const entries = [];
const keep = (found) => entries.push(...found);
const observer = new PerformanceObserver((list) => keep(list.getEntries()));
observer.observe({ entryTypes: ["gc"] });

/** This thread's collections from `sinceMs` (of performance.now()) on: their time and their number. */
export async function collectedSince(sinceMs) {
  await turn(); // Node reports a collection in the turn after it
  keep(observer.takeRecords());
  const found = entries.splice(0).filter((entry) => entry.startTime >= sinceMs);
  return {
    collector_ns: Math.round(1e6 * found.reduce((sum, each) => sum + each.duration, 0)),
    collections: found.length,
  };
}
