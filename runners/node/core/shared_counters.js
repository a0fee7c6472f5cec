// A client's slot in the shared counters (runners/PROTOCOL.md, `client-groups`).

import { Failure } from "./failure.js";
import { mapShared } from "./native.js";

const HEAD = 16;
const COUNTS = 7296;
export const [WAITS, WORKS, DONE, GAVE_UP] = [1, 2, 3, 4];

/** One client's words: `control` (its group's), `head`, three histograms, and counts by row, or null. */
export class Slot {
  constructor({ sharedCounters: file, control, slot, acknowledged, rows }) {
    const memory = mapShared(file);
    const kept = acknowledged ? slot + acknowledged : 0;
    if (Math.max(control + 16, slot + 8 * (HEAD + 3 * COUNTS), kept + 8 * rows) > memory.byteLength) {
      throw new Failure("internal", `the shared counters' ${memory.byteLength} bytes end before the slot at ${slot}`);
    }
    const words = (at, count) => new BigUint64Array(memory, at, count);
    const histogram = (kind) => words(slot + 8 * (HEAD + kind * COUNTS), COUNTS);
    this.control = words(control, 2);
    this.head = words(slot, HEAD);
    [this.service, this.latency, this.lateness] = [0, 1, 2].map(histogram);
    this.acknowledged = kept ? new Uint32Array(memory, kept, 2 * rows) : null;
  }
}

/** Where a value below 2^53 is counted in a histogram. */
export function bucketOf(value) {
  const high = Math.floor(value / 2 ** 32);
  const bits = high ? 64 - Math.clz32(high) : 32 - Math.clz32(value >>> 0);
  const shift = bits > 8 ? bits - 8 : 0;
  return shift * 128 + Math.floor(value / 2 ** shift);
}
