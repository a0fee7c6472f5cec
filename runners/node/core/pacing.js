// When operations of an open loop are due, and how a client waits for that.

import { setImmediate as turn, setTimeout as sleepMs } from "node:timers/promises";
import { clock } from "./clock.js";
import { sleepNs } from "./native.js";

const NS = 1e9;
const MS = 1e6;
const LOOK_NS = 10 * MS;

/** Equal distances: the instants, as CLOCK_MONOTONIC, of one of the group's clients. */
function* fixed({ client, clients, ratePerS }, zeroNs) {
  for (let number = client; ; number += clients) yield zeroNs + Math.floor((number * NS) / ratePerS);
}

/** Exponentially distributed distances, drawn from SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
function* poisson({ client, clients, ratePerS, seed }, zeroNs) {
  const wrap = (value) => BigInt.asUintN(64, value);
  const meanNs = (NS * clients) / ratePerS;
  let state = BigInt(seed) + BigInt(client);
  let passedNs = 0;
  for (;;) {
    state = wrap(state + 0x9e3779b97f4a7c15n);
    let mixed = wrap((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = wrap((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    passedNs -= Math.log1p(-Number((mixed ^ (mixed >> 31n)) >> 11n) / 2 ** 53) * meanNs;
    yield zeroNs + Math.floor(passedNs);
  }
}

export const SCHEDULES = { fixed, poisson };

/** Sleeps for at most so long, as exactly as the loop lets it: timers have milliseconds, so the rest is turns. */
async function sleepAsTask(ns) {
  const ms = Math.floor(ns / MS) - 1;
  if (ms >= 1) await sleepMs(ms);
  else await turn();
}

/** Sleeps for at most so long; the event loop turns once, for the controller's requests. */
async function sleepInThread(ns) {
  sleepNs(ns);
  await turn();
}

/** How one client waits: `until(instantNs, spinNs)`, false when the end is set to that or before; `begun()`. */
export function waiting(control, synchronous) {
  const sleep = synchronous ? sleepInThread : sleepAsTask;
  const ended = (instantNs) => {
    const end = Number(control[1]);
    return end > 0 && end <= instantNs;
  };
  const until = async (instantNs, spinNs) => {
    for (let leftNs = instantNs - spinNs - clock(); leftNs > 0; leftNs = instantNs - spinNs - clock()) {
      await sleep(Math.min(leftNs, LOOK_NS));
      if (ended(instantNs)) return false;
    }
    while (clock() < instantNs) if (!synchronous) await turn();
    return true;
  };
  /** The schedule's zero; 0 of a group that ends before it has begun. */
  const begun = async () => {
    while (!control[0]) {
      if (ended(clock())) return 0;
      await sleepMs(1);
    }
    const zeroNs = Number(control[0]);
    return (await until(zeroNs, 0)) ? zeroNs : 0;
  };
  return { until, begun, turn };
}
