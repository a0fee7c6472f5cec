// How long the event loop was blocked at most, while tasks of client groups are at work.

import { clock } from "./clock.js";
import { WORKS } from "./shared_counters.js";

const EVERY_MS = 10;
const BLOCKED = 14; // the slot's word
const AT_WORK = BigInt(WORKS);

/**
 * A timer every 10 ms; how much later it runs than it should is how long the loop was blocked then.
 *
 * A block of b ms shows as b - 10 to b ms, as it may begin up to 10 ms before the timer is due; timers have whole
 * milliseconds, so that a loop which nothing blocks shows up to about 2 ms. It is written into the slot of every client
 * that works then.
 */
export class LoopWatch {
  constructor(heads) {
    this.heads = heads;
    this.longestNs = heads.map(() => 0);
    this.#sleep();
  }

  /** A client's own last look, just before it is done. */
  last(client) {
    this.#note(client, clock() - this.dueNs);
  }

  stop() {
    clearTimeout(this.timer);
  }

  #sleep() {
    this.dueNs = clock() + EVERY_MS * 1e6;
    this.timer = setTimeout(() => {
      const lateNs = clock() - this.dueNs;
      for (const client of this.heads.keys()) this.#note(client, lateNs);
      this.#sleep();
    }, EVERY_MS);
  }

  #note(client, lateNs) {
    const head = this.heads[client];
    if (lateNs <= this.longestNs[client] || head[0] !== AT_WORK) return;
    this.longestNs[client] = lateNs;
    head[BLOCKED] = BigInt(lateNs);
  }
}
