// How long the event loop was blocked at most, while tasks of client groups are at work.

import { clock } from "./clock.js";

const EVERY_MS = 10;
const BLOCKED = 14; // the slot's word

/**
 * A timer every 10 ms; how much later it runs than it should is how long the loop was blocked then.
 *
 * A block of b ms shows as b - 10 to b ms, as it may begin up to 10 ms before the timer is due; timers have whole
 * milliseconds, so that a loop which nothing blocks shows up to about 2 ms. It is written into the slot of every client.
 */
export class LoopWatch {
  constructor(heads) {
    this.heads = heads;
    this.longestNs = 0;
    this.#sleep();
  }

  /** Looks a last time, and no more. */
  stop() {
    clearTimeout(this.timer);
    this.#look();
  }

  #sleep() {
    this.dueNs = clock() + EVERY_MS * 1e6;
    this.timer = setTimeout(() => {
      this.#look();
      this.#sleep();
    }, EVERY_MS);
  }

  #look() {
    const lateNs = clock() - this.dueNs;
    if (lateNs <= this.longestNs) return;
    this.longestNs = lateNs;
    for (const head of this.heads) head[BLOCKED] = BigInt(lateNs);
  }
}
