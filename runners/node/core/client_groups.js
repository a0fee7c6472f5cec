// Client groups at work at once: the requests `client-groups` and `client-groups-end`, and what is between.

import { Failure, Unsupported } from "./failure.js";
import { PipelineSampler } from "./pipeline.js";
import { SCHEDULES } from "./pacing.js";
import { touchText } from "./touch.js";

const KINDS = ["query", "execute", "null"];
const MOST_FAILURES = 16;

const internal = (text) => new Failure("internal", text);

/** The groups of one request. Failure for what cannot be. */
export class ClientGroups {
  constructor(clients, phases, request) {
    this.clients = clients;
    this.phases = phases;
    this.requested = request.client_groups;
    this.parts = new Array(clients.count).fill(null);
    for (const group of this.requested) this.#assign(group, request.shared_counters);
    this.count = this.parts.filter(Boolean).length;
  }

  /** Fulfilled once all clients are there and wait; they work from then on. */
  async gather() {
    const work = await this.clients.gather(this.parts);
    this.done = work();
    this.done.catch(() => {}); // it is the reply to client-groups-end
  }

  /** What each group did, as the protocol's objects. Errors: what kept a client from going on. */
  async totals() {
    const done = await this.done;
    return this.requested.map((group) => {
      const { columns } = this.phases.get(group.phase).phase;
      return {
        name: group.name,
        ...summed(done.slice(group.first_client, group.first_client + group.clients), columns),
      };
    });
  }

  #assign(group, sharedCounters) {
    const { name, first_client: first, clients, pacing } = group;
    const prepared = this.phases.get(group.phase);
    if (!prepared) throw internal(`phase '${group.phase}' is not prepared`);
    const { kind } = prepared.phase;
    if (prepared.sampler instanceof PipelineSampler) throw new Unsupported("a group's clients send no pipelines");
    if (!KINDS.includes(kind)) throw new Unsupported(`groups are for ${KINDS.join(", ")}, not for ${kind}`);
    if (group.dispatch === "shared") throw new Unsupported("clients have no shared dispatch here");
    if (pacing !== "closed" && !(pacing in SCHEDULES && group.rate_per_s > 0)) {
      throw internal(`group ${name}: ${pacing} at ${group.rate_per_s} a second`);
    }
    if (first < 0 || clients < 1 || first + clients > this.parts.length) {
      throw internal(`group ${name}: of ${this.parts.length} clients not ${clients} from ${first}`);
    }
    for (let client = 0; client < clients; client++) {
      if (this.parts[first + client]) throw internal(`client ${first + client} is in two groups`);
      const assignment = assignmentOf(group, client, sharedCounters, prepared.parameters?.length ?? 0);
      this.parts[first + client] = { phase: group.phase, prepared, assignment };
    }
  }
}

/** A client's part in a group. */
function assignmentOf(group, client, sharedCounters, parameters) {
  return {
    sharedCounters,
    pacing: group.pacing,
    ratePerS: group.rate_per_s ?? 0,
    seed: group.seed ?? 0,
    operations: group.operations ?? 0,
    pauseNs: group.pause_ns ?? 0,
    spinNs: group.spin_ns ?? 0,
    control: group.control,
    slot: group.slots + client * group.slot_bytes,
    acknowledged: group.acknowledged ?? 0,
    client,
    clients: group.clients,
    parameters,
  };
}

/** One group's object, of what its clients did. */
function summed(done, columns) {
  const total = (name) => done.reduce((sum, each) => sum + each[name], 0);
  const failures = new Map();
  for (const each of done.flatMap((client) => client.failures)) {
    const key = `${each.kind} ${each.code}`;
    failures.set(key, { ...each, count: each.count + (failures.get(key)?.count ?? 0) });
  }
  const begun = done.map((each) => each.begunNs).filter(Boolean);
  return {
    operations: total("operations"),
    failed: total("failed"),
    failures: [...failures.values()].sort((one, other) => other.count - one.count).slice(0, MOST_FAILURES),
    rows: total("rows"),
    values: total("rows") * columns.length,
    touch: touchText(done.reduce((sum, each) => sum + each.total, 0n)),
    begun_ns: begun.length ? Math.min(...begun) : 0,
    ended_ns: Math.max(...done.map((each) => each.endedNs)),
    cpu_ns: total("cpuNs"),
    clients: done.map(({ first, rowsOfItsOwn, operations, failed }) => ({
      first,
      rows_of_its_own: rowsOfItsOwn,
      operations,
      failed,
    })),
  };
}
