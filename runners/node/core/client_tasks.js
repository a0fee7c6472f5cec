// Clients of an asynchronous driver: tasks on the one event loop.

import { Clients } from "./clients.js";
import { clock } from "./clock.js";
import { GroupClient } from "./group_client.js";
import { LoopWatch } from "./loop_watch.js";
import { threadCpuNs } from "./native.js";
import { preparedSampler } from "./prepared_phase.js";

/** A place where so many tasks meet; `arrive` is fulfilled for all once the last has come, which calls `note`. */
function meeting(count, note) {
  let missing = count;
  let meet;
  const met = new Promise((resolve) => {
    meet = resolve;
  });
  return () => {
    missing--;
    if (!missing) {
      note();
      meet();
    }
    return met;
  };
}

/** Several clients, each a task; all on the main thread's event loop. */
export class ClientTasks extends Clients {
  /** Opens so many more connections; with a pool none. */
  async openOthers(count) {
    for (let i = 0; i < count; i++) {
      const other = new this.adapter.constructor(this.adapter.options);
      if (!this.pool) await other.connect();
      this.others.push(other);
    }
  }

  async prepareOthers(prepared) {
    const { phase, parameters } = prepared;
    prepared.samplers = [prepared.sampler];
    for (const other of this.others) prepared.samplers.push(await preparedSampler(phase, parameters, other, this.pool));
  }

  async atOnce(prepared, shares) {
    const start = {};
    const cpu = threadCpuNs();
    const meet = meeting(shares.length, () => Object.assign(start, { ns: clock(), cpuNs: threadCpuNs() }));
    const turns = await Promise.all(prepared.samplers.map((sampler, i) => sampler.sample(shares[i], meet)));
    const now = threadCpuNs();
    // The thread is everyone's: what one task takes of it is not known, and the first one's figures are those of all.
    for (const turn of turns) Object.assign(turn, { cpuNs: 0, windowCpuNs: 0 });
    const shown = turns.map((turn) => ({ ...turn }));
    Object.assign(shown[0], { windowCpuNs: now - cpu, cpuNs: now - start.cpuNs });
    return { turns: shown, beganNs: start.ns };
  }

  /** Lets clients wait for their group's begin; gives a function that lets them work. `parts`: by connection, or null. */
  async gather(parts) {
    const adapters = [this.adapter, ...this.others];
    const clients = parts.map(
      (part, i) => part && new GroupClient(part.prepared.samplers[i], part.assignment, adapters[i]),
    );
    return async () => {
      const cpu = threadCpuNs();
      const present = clients.filter(Boolean);
      const watch = new LoopWatch(present.map((client) => client.slot.head));
      for (const [i, client] of present.entries()) client.lastLook = () => watch.last(i);
      const done = await Promise.all(clients.map((client) => client?.work())).finally(() => watch.stop());
      const busy = done.filter(Boolean);
      for (const each of busy) each.cpuNs = 0;
      if (busy.length) busy[0].cpuNs = threadCpuNs() - cpu; // the thread is everyone's
      return done;
    };
  }
}
