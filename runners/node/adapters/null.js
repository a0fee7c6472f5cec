// Nothing: what the loop and the clock cost; `burn_ns`, and `stall_ns` every `stall_every` operations, on request.

import { Adapter } from "../core/adapter.js";
import { clock } from "../core/clock.js";
import { sleepNs } from "../core/native.js";
import { Operation } from "../core/operation.js";

function burning(burnNs) {
  return () => {
    const end = clock() + burnNs;
    while (clock() < end);
  };
}

function stalling(burnNs, stallNs, every) {
  const burn = burning(burnNs);
  let done = 0;
  return () => {
    burn();
    if (++done % every === 0) sleepNs(stallNs);
  };
}

/** What one operation does, with these options. */
export function workOf(options) {
  const [burnNs, stallNs, every] = ["burn_ns", "stall_ns", "stall_every"].map((name) => Number(options[name] ?? 0));
  if (stallNs && every) return stalling(burnNs, stallNs, every);
  return burnNs ? burning(burnNs) : () => {};
}

export default class Null extends Adapter {
  static concurrency = "threads";

  prepare() {
    return new Operation({ execute: workOf(this.options), rows: "here" });
  }

  transaction() {
    return null;
  }
}
