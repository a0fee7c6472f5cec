// Pipelines: the loop of a phase whose operations are sent many at a time, before the first answer is taken.

import { Unsupported } from "./failure.js";
import { deliversRows } from "./phase.js";
import { FAILURES_LIMIT, Sampler } from "./sampler.js";

const BLOCK = ({ rows, size, limited, done }) => `
return async function block(position, durationNs, limit) {
  let operations = 0, failed = 0, failure = null, rows = 0, sum = 0, total = 0n, low = Infinity, high = 0;
  const cpu = threadCpuNs();
  const started = clock();
  let now = started;
  const end = now + durationNs;
  for (;;) {
    const sent = ${limited ? `Math.min(${size}, limit - operations - failed)` : size};
    const answers = await answersTo(position, sent);
    for (const answer of answers) {
      try {
        if (answer.reason !== undefined) throw answer.reason;
        ${rows}
        operations++;
      } catch (error) {
        failed++;
        failure ??= error;
      }
    }
    position += sent;
    const then = clock();
    const took = (then - now) / sent;
    now = then;
    if (took < low) low = took;
    if (took > high) high = took;
    if (${done} || failed >= ${FAILURES_LIMIT}) break;
  }
  return {
    operations, failed, failure, rows, total: total + BigInt(sum), ns: now - started, cpuNs: threadCpuNs() - cpu,
    lowNs: Math.floor(low), highNs: Math.floor(high), executeNs: 0, firstRowNs: 0, connectNs: 0, endedNs: now,
    borrowNs: 0, returnNs: 0,
  };
};`;

/** How many operations of the phase are sent at once; 0: each by itself. */
export function pipelineSize(options, phase, parameters, transaction) {
  const size = Number(options.pipeline);
  const single = ["query", "execute"].includes(phase.kind) && !transaction && !phase.stamps;
  if (!(size > 0) || (single && !parameters)) return 0; // one statement has nothing to be sent beside it
  if (!single) throw new Unsupported("a pipeline has single statements in autocommit, without stamps");
  return size;
}

/** The loop of one phase in pipelines of `size` operations, the last one shorter where a sample ends in it. */
export class PipelineSampler extends Sampler {
  constructor(phase, operation, size) {
    if (!operation.pipelines) throw new Unsupported("this driver has no pipeline for that");
    super(phase.kind, phase.columns, operation);
    this.size = size;
    this.delivers = deliversRows(phase);
    const rows = deliversRows(phase) ? `for (const row of answer.value) { ${this.take()} }` : "";
    const { args, execute } = operation;
    const answersTo = (position, sent) => {
      const promises = [];
      for (let i = 0; i < sent; i++) promises.push(execute(args[(position + i) % args.length]));
      return Promise.allSettled(promises);
    };
    this.answersTo = answersTo;
    this.byTime = this.made(BLOCK({ rows, size, done: "now >= end" }), { answersTo });
    const counted = { rows, size, limited: true, done: "operations + failed >= limit" };
    this.byCount = this.made(BLOCK(counted), { answersTo });
  }

  async *answers(first, count) {
    for (let done = 0; done < count; done += this.size) {
      for (const answer of await this.answersTo(first + done, Math.min(this.size, count - done))) {
        if (answer.reason !== undefined) throw answer.reason;
        yield this.delivers ? answer.value : [];
      }
    }
  }
}
