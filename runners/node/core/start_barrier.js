// Where the threads of several clients meet.

import { clock } from "./clock.js";

/** For `count` threads; others take part by its `memory`. */
export class StartBarrier {
  constructor(count, memory = new SharedArrayBuffer(16)) {
    this.memory = memory;
    this.missing = new Int32Array(memory, 0, 2);
    this.met = new Float64Array(memory, 8, 1);
    if (count) this.missing[0] = count;
  }

  /** When the last one came. */
  get metNs() {
    return this.met[0];
  }

  /** Blocks until all have come. */
  wait() {
    if (Atomics.sub(this.missing, 0, 1) === 1) {
      this.met[0] = clock();
      Atomics.store(this.missing, 1, 1);
      Atomics.notify(this.missing, 1);
    } else {
      Atomics.wait(this.missing, 1, 0);
    }
  }
}
