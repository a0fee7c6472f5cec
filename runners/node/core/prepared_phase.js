// A phase made ready on every connection, and where its clients go on.

import { Unsupported } from "./failure.js";
import { loadOperation } from "./load.js";
import { PipelineSampler, pipelineSize } from "./pipeline.js";
import { loansOf } from "./pool.js";
import { Sampler } from "./sampler.js";

/** One phase: where each of `clients` clients goes on. */
export class PreparedPhase {
  constructor(phase, parameters, sampler, clients) {
    this.phase = phase;
    this.parameters = parameters;
    this.sampler = sampler;
    const wrap = Math.floor((parameters?.length ?? 0) / (phase.kind === "load" ? phase.rowsPerOperation : 1));
    this.starts = Array.from({ length: clients }, (_, client) => Math.floor((client * wrap) / clients));
    this.positions = [...this.starts];
    this.next = 0;
  }

  /** What each client is to do in a sample, as the protocol divides it; `limit` is null when it goes by time. */
  shares({ first, lead_in_ns: leadInNs, duration_ns: durationNs, operations }) {
    const count = this.starts.length;
    const begin = first < 0 ? this.next : first;
    if (operations) {
      const bound = (client) => Math.floor((client * operations) / count);
      return this.starts.map((_, c) => ({
        position: begin + bound(c),
        leadInNs,
        durationNs: 0,
        limit: bound(c + 1) - bound(c),
      }));
    }
    const positions = first < 0 ? this.positions : this.starts.map((start) => first + start);
    return positions.map((position) => ({ position, leadInNs, durationNs, limit: null }));
  }

  /** Goes on from here the next time. */
  ended(turns) {
    this.positions = turns.map((turn) => turn.first + turn.operations + turn.failed);
    this.next = Math.max(...this.positions);
  }
}

/** The sampler of a phase on one connection, or on those that a pool lends. */
export async function preparedSampler(phase, parameters, adapter, pool = null) {
  const ready =
    phase.kind === "load"
      ? await loadOperation(adapter, phase, parameters ?? [], adapter.options.bulk ?? "none")
      : { operation: await adapter.prepare(phase, parameters), transaction: adapter.transaction(phase) };
  const size = pipelineSize(adapter.options, phase, parameters, ready.transaction);
  if (size && pool) throw new Unsupported("a pool lends a connection for one operation, not for a pipeline");
  if (size) return new PipelineSampler(phase, ready.operation, size);
  const loans = pool && loansOf(pool, adapter);
  return new Sampler(phase.kind, phase.columns, ready.operation, phase.stamps, ready.transaction, loans);
}
