// Cancel and statement timeout: whether a driver stops a long statement when asked to; never measured.

import { setTimeout as sleepMs } from "node:timers/promises";
import { Adapter as Base } from "./adapter.js";
import { clock } from "./clock.js";
import { printable, Unsupported } from "./failure.js";

const FIRST_QUERY_MS = 10_000;
const CLOSE_MS = 1_000;
const STILL = Symbol("still running");

/** What a promise comes to within that time: `{ error }`, `{}`, or STILL. */
function within(ms, promise) {
  const limit = new AbortController();
  const late = sleepMs(Math.max(ms, 0), STILL, { signal: limit.signal }).catch(() => STILL);
  const settled = promise.then(
    () => ({}),
    (error) => ({ error }),
  );
  return Promise.race([settled, late]).finally(() => limit.abort());
}

/** The reply to `interrupt`, tried on a connection of its own. Unsupported when the driver has no such thing. */
export async function tryInterruption(Adapter, options, behaviour, sql, afterMs, mostMs) {
  if (!["cancel", "timeout"].includes(behaviour)) throw new Unsupported(`unknown behaviour '${behaviour}'`);
  if (Adapter.lacks[behaviour]) throw new Unsupported(Adapter.lacks[behaviour]);
  const probed = new Adapter({ ...options, profile: "tuned", clients: "1" });
  const method = behaviour === "cancel" ? "cancel" : "setTimeout";
  if (Adapter.prototype[method] === Base.prototype[method]) probed[method](); // its Unsupported has the reason
  await probed.connect();
  try {
    return await tried(probed, behaviour, sql, afterMs, mostMs);
  } finally {
    await within(CLOSE_MS, Promise.resolve(probed.close()));
  }
}

async function tried(probed, behaviour, sql, afterMs, mostMs) {
  if (behaviour === "timeout") await probed.setTimeout(afterMs);
  const started = clock();
  const query = Promise.resolve(probed.run(sql));
  query.catch(() => {});
  let outcome = STILL;
  if (behaviour === "cancel") {
    outcome = await within(afterMs, query);
    if (outcome === STILL) await probed.cancel();
  }
  if (outcome === STILL) outcome = await within(mostMs - (clock() - started) / 1e6, query);
  const tookNs = clock() - started;
  if (outcome === STILL) {
    await Promise.resolve(probed.cancel()).catch(() => {}); // what is given up should not go on working
    const text = `the query was still running after ${mostMs} ms`;
    return { honoured: false, took_ns: tookNs, usable: false, text };
  }
  const { error } = outcome;
  if (error && tookNs < afterMs * 500_000) throw error;
  const first = await within(FIRST_QUERY_MS, Promise.resolve(probed.run("SELECT 1")));
  const text = error ? printable(`${error.name}: ${error.message}`) : "the query ended by itself";
  return { honoured: Boolean(error), took_ns: tookNs, usable: first !== STILL && !first.error, text };
}
