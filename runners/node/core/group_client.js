// One client of a group: the operation again and again, each written down before the next begins.
//
// The timed loop stands twice, for speed: here, and without the writing in sampler.js. Both are generated, so that
// nothing is decided inside the clock. It is asynchronous for every driver: a synchronous one lets the event loop turn
// between two operations every 5 ms, so that the controller's requests are heard.

import { failureOf } from "./failure.js";
import { wakePunctually } from "./native.js";
import { SCHEDULES, waiting } from "./pacing.js";
import { bucketOf, DONE, GAVE_UP, Slot, WAITS, WORKS } from "./shared_counters.js";

const FAILURES_LIMIT = 100;
const AFTER_FAILURE_NS = 10_000_000;
const TURN_NS = 5_000_000;

const CLIENT = ({ operation, mend, count, pace, withdraw, record, acknowledge, doubt }) => `
return async function work() {
  const zero = await begun();
  if (!zero) { head[0] = ${DONE}n; return {}; }
  let index = first, operations = 0, failed = 0, inARow = 0, rows = 0, sum = 0, total = 0n;
  let served = 0, late = 0, lost = 0, then = 0, due = 0, idle = false, now = 0, state = ${DONE}n;
  let executing = 0, fetching = 0, borrowed = 0, worked = 0, borrowing = 0, returning = 0;
  head[0] = ${WORKS}n;
  const dueTimes = schedule && schedule(zero);
  const cpu = threadCpuNs();
  const started = clock();
  let turned = started;
  for (;;) {
    ${pace}
    if (clock() - turned > ${TURN_NS}) { await turn(); turned = clock(); }
    const rowsBefore = rows, sumBefore = sum, totalBefore = total;
    now = clock();
    const end = control[1];
    if (end && Number(end) <= now) { ${withdraw} break; }
    head[4] = BigInt(now);
    try {
      ${operation}
      then = clock();
      ${count}
      inARow = 0;
      ${acknowledge}
      const took = then - now;
      served += took;
      service[bucketOf(took)] += 1n;
      ${record}
      head[6] = BigInt(served);
      head[9] = BigInt(rows);
      operations++;
      head[1] = BigInt(operations);
    } catch (error) {
      ${mend}
      then = clock();
      rows = rowsBefore; sum = sumBefore; total = totalBefore;
      failed++;
      inARow++;
      lost += then - now;
      note(error);
      ${doubt}
      head[8] = BigInt(lost);
      head[2] = BigInt(failed);
    }
    head[11] = BigInt(then);
    index = index === last ? first : index + 1;
    head[3] = BigInt(index);
    head[4] = 0n;
    if (operations + failed === limit) break;
    if (inARow) {
      if (inARow === ${FAILURES_LIMIT}) { state = ${GAVE_UP}n; break; }
      if (!(await until(then + ${AFTER_FAILURE_NS}, 0))) break;
    }
  }
  lastLook();
  head[0] = state;
  return { operations, failed, rows, total: total + BigInt(sum), begunNs: started, endedNs: then, cpuNs: threadCpuNs() - cpu };
};`;

const LOANS = "head[12] = BigInt(borrowing); head[13] = BigInt(returning);";
const CLOSED = { pace: "", withdraw: "", record: "" };
const PAUSED = { ...CLOSED, pace: "if (then && !(await until(then + pauseNs, 0))) break;" };
const OPEN = {
  pace: `due = dueTimes.next().value;
    head[5] = BigInt(due);
    idle = clock() < due;
    if (idle && !(await until(due, spinNs))) break;
    head[10] = BigInt(operations + failed + 1);`,
  withdraw: "head[10] = BigInt(operations + failed);",
  record: `late += then - due;
      latency[bucketOf(then - due)] += 1n;
      if (idle) lateness[bucketOf(now - due)] += 1n;
      head[7] = BigInt(late);`,
};

/** `[first, length]` of the parameter rows that are the client's own. */
function regionOf({ client, clients, parameters }) {
  if (parameters < clients) return [client % Math.max(parameters, 1), 1];
  const bound = (number) => Math.floor((number * parameters) / clients);
  return [bound(client), bound(client + 1) - bound(client)];
}

/** One client of a group, on its connection; from now on it waits for the group's begin. */
export class GroupClient {
  constructor(sampler, assignment, adapter) {
    this.assignment = assignment;
    this.adapter = adapter;
    this.failures = new Map();
    this.region = regionOf(assignment);
    const slot = new Slot({ ...assignment, rows: Math.max(assignment.parameters, 1) });
    this.slot = slot;
    this.loop = this.#made(sampler, slot);
    slot.head[3] = BigInt(this.region[0]);
    slot.head[0] = BigInt(WAITS);
  }

  /** Until the group's end, or until its operations are done: what it did. */
  async work() {
    const { pacing, pauseNs } = this.assignment;
    const [first, own] = this.region;
    if (pacing !== "closed" || pauseNs) wakePunctually(true);
    const done = await this.loop();
    wakePunctually(false);
    const nothing = { operations: 0, failed: 0, rows: 0, total: 0n, begunNs: 0, endedNs: 0, cpuNs: 0 };
    return { ...nothing, ...done, first, rowsOfItsOwn: own, failures: [...this.failures.values()] };
  }

  #made(sampler, slot) {
    const { assignment } = this;
    const { pacing, pauseNs, spinNs, operations: limit, parameters } = assignment;
    const [first, own] = this.region;
    const pieces = pacing !== "closed" ? OPEN : pauseNs ? PAUSED : CLOSED;
    const kept = slot.acknowledged !== null;
    const source = CLIENT({
      ...pieces,
      operation: sampler.codeWithoutStamps,
      mend: sampler.mend,
      count: sampler.count && `${sampler.count} ${LOANS}`,
      acknowledge: kept ? "acknowledged[index]++;" : "",
      doubt: kept ? `acknowledged[${Math.max(parameters, 1)} + index]++;` : "",
    });
    const schedule = pacing === "closed" ? null : (zeroNs) => SCHEDULES[pacing](assignment, zeroNs);
    const place = { first, last: first + own - 1, limit, pauseNs, spinNs, schedule, bucketOf };
    const note = (error) => this.#note(error);
    const lastLook = () => this.lastLook?.();
    return sampler.made(source, { ...slot, ...place, ...waiting(slot.control, !sampler.async), note, lastLook });
  }

  #note(error) {
    const failure = failureOf(error, this.adapter, "sample");
    const key = `${failure.kind} ${failure.code}`;
    if (!this.failures.has(key)) this.failures.set(key, { ...failure, count: 0 });
    this.failures.get(key).count++;
  }
}
