// Nothing, awaited: what the loop, the clock and a promise cost; with the options of null.js it blocks the event loop.

import { Adapter } from "../core/adapter.js";
import { Operation } from "../core/operation.js";
import { workOf } from "./null.js";

export default class NullPromise extends Adapter {
  prepare() {
    const work = workOf(this.options);
    return new Operation({ execute: async () => work() });
  }

  transaction() {
    return null;
  }
}
