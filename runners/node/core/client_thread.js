// The program of a client's thread: what client_threads.js asks it for.

import { parentPort, workerData } from "node:worker_threads";
import { loadAdapter } from "./adapters.js";
import { StartBarrier } from "./start_barrier.js";
import { readParameters } from "./decoder.js";
import { collectedSince } from "./collector.js";
import { failureOf } from "./failure.js";
import { GroupClient } from "./group_client.js";
import { Phase } from "./phase.js";
import { preparedSampler } from "./prepared_phase.js";

const Adapter = await loadAdapter(workerData.driver, workerData.source);
const samplers = new Map();
let adapter;
let groupClient;

const HANDLERS = {
  async open({ options }) {
    adapter = new Adapter(options);
    await adapter.connect();
  },

  async prepare({ spec, slice }) {
    const phase = new Phase(spec);
    const parameters = slice ? readParameters(slice, phase.parameterColumns) : null;
    samplers.set(phase.name, await preparedSampler(phase, parameters, adapter));
  },

  async sample({ phase, share, barrier }) {
    const sinceMs = performance.now();
    const { failure, ...turn } = await samplers.get(phase).sample(share, () => new StartBarrier(0, barrier).wait());
    const collected = await collectedSince(sinceMs);
    return { turn, failure: failure && failureOf(failure, adapter, "sample"), collected };
  },

  gather({ phase, assignment }) {
    groupClient = new GroupClient(samplers.get(phase), assignment, adapter);
  },

  work() {
    return groupClient.work();
  },

  async close() {
    await adapter.close();
  },
};

parentPort.on("message", async (request) => {
  try {
    parentPort.postMessage({ result: await HANDLERS[request.type](request) });
  } catch (error) {
    parentPort.postMessage({ error: failureOf(error, adapter, request.type) });
  }
});
