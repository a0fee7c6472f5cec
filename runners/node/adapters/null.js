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

export default class Null extends Adapter {
  static concurrency = "threads";

  prepare() {
    const [burnNs, stallNs, every] = ["burn_ns", "stall_ns", "stall_every"].map((name) =>
      Number(this.options[name] ?? 0),
    );
    if (stallNs && every) return new Operation({ execute: stalling(burnNs, stallNs, every), rows: "here" });
    return new Operation({ execute: burnNs ? burning(burnNs) : () => {}, rows: "here" });
  }

  transaction() {
    return null;
  }
}
