// The clients of one `open`, each with a connection of its own; they go through a sample at once.

import { clock } from "./clock.js";
import { collectedSince } from "./collector.js";
import { Unsupported } from "./failure.js";
import { onLoan } from "./pool.js";
import { PreparedPhase, preparedSampler } from "./prepared_phase.js";
import { touchText } from "./touch.js";

const SEVERAL = ["query", "execute", "null"];

/**
 * What clients as tasks and clients as threads have in common; `adapter`, the first client's, is connected. With a pool
 * none of them has a connection of its own.
 */
export class Clients {
  constructor(adapter) {
    this.adapter = adapter;
    this.others = [];
    this.pool = null;
  }

  /** Does something that is not measured on the first client's connection, or on one that the pool lends. */
  onFirst(work) {
    return this.pool ? onLoan(this.pool, this.adapter, () => work(this.adapter)) : work(this.adapter);
  }

  /** What the connection's settings lack. */
  get facts() {
    const { pool, count } = this;
    return pool ? { clients: count, pool_in_use: pool.inUse, pool_open: pool.open } : { clients: count };
  }

  get count() {
    return 1 + this.others.length;
  }

  /** The phase prepared on every connection. */
  async prepare(phase, parameters, spec, slice) {
    if ((this.others.length || this.pool) && !SEVERAL.includes(phase.kind)) {
      const what = this.pool ? "a pool is" : "several clients at once are";
      throw new Unsupported(`${what} for queries and single statements, not for ${phase.kind}`);
    }
    const sampler = await preparedSampler(phase, parameters, this.adapter, this.pool);
    const prepared = new PreparedPhase(phase, parameters, sampler, this.count);
    await this.prepareOthers(prepared, spec, slice);
    return prepared;
  }

  /** The first failure and the reply's other fields of one sample. */
  async sample(prepared, request) {
    const shares = prepared.shares(request);
    const sinceMs = performance.now();
    const started = clock();
    const { turns, beganNs, collected } = this.others.length
      ? await this.atOnce(prepared, shares)
      : { turns: [await prepared.sampler.sample(shares[0])] };
    const windowNs = clock() - started;
    prepared.ended(turns);
    const reply = { ...summed(turns, prepared.phase.columns.length), window_ns: windowNs };
    if (turns.length > 1) {
      reply.ns = Math.max(...turns.map((turn) => turn.endedNs)) - beganNs;
      reply.clients = turns.map(fieldsOf);
    }
    const here = await collectedSince(sinceMs);
    for (const each of [here, ...(collected ?? [])]) {
      for (const [name, value] of Object.entries(each)) reply[name] = (reply[name] ?? 0) + value;
    }
    return { ...reply, failure: turns.find((turn) => turn.failure)?.failure ?? null };
  }

  /** Closes every connection, the first one last, also after one that fails; the first failure is thrown. */
  async close() {
    const failures = [];
    for (const each of this.pool ? [this.pool] : [...this.others, this.adapter]) {
      try {
        await each.close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length) throw failures[0];
  }
}

/** One client's own object of the reply. */
function fieldsOf(turn) {
  return {
    first: turn.first,
    operations: turn.operations,
    failed: turn.failed,
    lead_in_operations: turn.led,
    rows: turn.rows,
    ns: turn.ns,
    cpu_ns: turn.cpuNs,
    min_ns: turn.lowNs,
    max_ns: turn.highNs,
  };
}

/** The reply's fields that are sums, extremes, or the first client's. */
function summed(turns, columns) {
  const total = (name) => turns.reduce((sum, turn) => sum + turn[name], 0);
  const busy = turns.filter((turn) => turn.operations + turn.failed);
  return {
    ns: turns[0].ns,
    operations: total("operations"),
    failed: total("failed"),
    rows: total("rows"),
    values: total("rows") * columns,
    touch: touchText(turns.reduce((sum, turn) => sum + turn.total, 0n)),
    first: turns[0].first,
    lead_in_operations: total("led"),
    window_cpu_ns: total("windowCpuNs"),
    cpu_ns: total("cpuNs"),
    min_ns: Math.min(...busy.map((turn) => turn.lowNs)),
    max_ns: Math.max(...busy.map((turn) => turn.highNs)),
    execute_ns: total("executeNs"),
    first_row_ns: total("firstRowNs"),
    connect_ns: total("connectNs"),
    borrow_ns: total("borrowNs"),
    return_ns: total("returnNs"),
  };
}
