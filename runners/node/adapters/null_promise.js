// Nothing, awaited: what the loop, the clock and a promise cost.

import { Adapter } from "../core/adapter.js";
import { Operation } from "../core/operation.js";

export default class NullPromise extends Adapter {
  prepare() {
    return new Operation({ execute: async () => {} });
  }

  transaction() {
    return null;
  }
}
