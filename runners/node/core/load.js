// Storing rows: the operations of kind `load`, and the engines' own loading, which is never measured.

import { Misfit, Unsupported } from "./failure.js";
import { Sampler } from "./sampler.js";

function batchesOf(rows, size) {
  const count = Math.floor(rows.length / size);
  if (!count) throw new Misfit(`${rows.length} rows make no operation of ${size}`);
  return Array.from({ length: count }, (_, i) => rows.slice(i * size, (i + 1) * size));
}

/** `{ operation, transaction }` of a phase of kind `load`: operation i stores rows [i·n, (i+1)·n) in one transaction. */
export async function loadOperation(adapter, phase, rows, bulk) {
  const size = phase.rowsPerOperation;
  if (phase.way === "bulk") {
    if (!adapter.bulkWays.includes(bulk)) {
      const known = adapter.bulkWays.join(", ") || "none at all";
      throw new Unsupported(`this driver has no bulk way '${bulk}' here; it has ${known}`);
    }
    const operation = await adapter.bulk(phase, bulk);
    operation.args = batchesOf(rows, size);
    return { operation, transaction: null };
  }
  const single = await adapter.prepare(phase.with({ kind: "execute" }), rows);
  return { operation: single.batches(batchesOf(single.args, size)), transaction: adapter.transaction(phase) };
}

/** Stores these rows by a phase of kind `execute`, in one transaction, the driver's quickest way. */
export async function store(adapter, phase, rows) {
  if (!rows.length) return;
  const bulk = phase.table && adapter.bulkWays.length ? adapter.bulkWays[0] : "";
  const way = bulk ? "bulk" : "transaction";
  const whole = phase.with({ kind: "load", columns: [], transaction: true, rowsPerOperation: rows.length, way });
  const { operation, transaction } = await loadOperation(adapter, whole, rows, bulk);
  const { failure } = await new Sampler("load", [], operation, false, transaction).byCount(0, 0, 1);
  if (failure) throw failure;
}
