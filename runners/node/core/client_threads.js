// Clients of a driver that blocks: each other client is a thread with an isolate of its own.

import { Worker } from "node:worker_threads";
import { StartBarrier } from "./start_barrier.js";
import { Clients } from "./clients.js";
import { Failure } from "./failure.js";
import { GroupClient } from "./group_client.js";

/** A client in a thread of its own. */
class ThreadClient {
  constructor(driver, source) {
    this.worker = new Worker(new URL("./client_thread.js", import.meta.url), { workerData: { driver, source } });
    this.worker.on("message", ({ error, result }) => this.#ended(error, result));
    this.worker.on("error", (error) => this.#ended({ kind: "internal", code: error.name, text: error.message }));
    this.waiting = [];
  }

  /** What the thread makes of a request; one that it refuses is a Failure. */
  ask(request) {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.worker.postMessage(request);
    });
  }

  /** Connects; a thread that cannot is ended. */
  async open(options) {
    try {
      await this.ask({ type: "open", options });
    } catch (error) {
      await this.worker.terminate();
      throw error;
    }
  }

  async close() {
    try {
      await this.ask({ type: "close" });
    } finally {
      await this.worker.terminate();
    }
  }

  #ended(error, result) {
    const { resolve, reject } = this.waiting.shift();
    if (error) reject(new Failure(error.kind, error.text, error.code));
    else resolve(result);
  }
}

/** Several clients; the first one's thread is the main thread, the others' wait outside samples. */
export class ClientThreads extends Clients {
  constructor(adapter, driver, source) {
    super(adapter);
    this.place = [driver, source];
  }

  async openOthers(count) {
    for (let i = 0; i < count; i++) {
      const other = new ThreadClient(...this.place);
      await other.open(this.adapter.options);
      this.others.push(other);
    }
  }

  async prepareOthers(_prepared, spec, slice) {
    for (const other of this.others) await other.ask({ type: "prepare", spec, slice });
  }

  async atOnce(prepared, shares) {
    const barrier = new StartBarrier(shares.length);
    const phase = prepared.phase.name;
    const others = this.others.map((other, i) =>
      other.ask({ type: "sample", phase, share: shares[i + 1], barrier: barrier.memory }),
    );
    const first = await prepared.sampler.sample(shares[0], () => barrier.wait());
    const done = await Promise.all(others);
    const turns = [first, ...done.map((each) => ({ ...each.turn, failure: each.failure && asFailure(each.failure) }))];
    return { turns, beganNs: barrier.metNs, collected: done.map((each) => each.collected) };
  }

  /** Lets clients wait for their group's begin; gives a function that lets them work. `parts`: by connection, or null. */
  async gather([first, ...rest]) {
    const client = first && new GroupClient(first.prepared.sampler, first.assignment, this.adapter);
    const busy = this.others.map((other, i) => rest[i] && other);
    await Promise.all(
      busy.map((thread, i) => thread?.ask({ type: "gather", phase: rest[i].phase, assignment: rest[i].assignment })),
    );
    return () => Promise.all([client?.work(), ...busy.map((thread) => thread?.ask({ type: "work" }))]);
  }
}

function asFailure({ kind, text, code }) {
  return new Failure(kind, text, code);
}
