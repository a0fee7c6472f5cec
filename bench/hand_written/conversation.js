// What a small program needs around its loop; the conversation is that of common.h.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

export async function readSettings() {
  const settings = {};
  for (let line; (line = (await lines.next()).value); ) {
    const at = line.indexOf("=");
    settings[line.slice(0, at)] = line.slice(at + 1);
  }
  return settings;
}

/** The keys, a line each; null without a file. */
export function readKeys(file) {
  return file ? readFileSync(file, "utf8").trimEnd().split("\n") : null;
}

const two = (text, at) => (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;

/** `2000-11-07 01:02:03.456789`: seconds since 1970, and microseconds; a Date has no microseconds. */
export function parsed(text) {
  const year = two(text, 0) * 100 + two(text, 2);
  const ms = Date.UTC(year, two(text, 5) - 1, two(text, 8), two(text, 11), two(text, 14), two(text, 17));
  let microseconds = 0;
  for (let at = 20, unit = 100_000; at < text.length; at++, unit /= 10) {
    microseconds += (text.charCodeAt(at) - 48) * unit;
  }
  return { seconds: ms / 1000, microseconds };
}

/** What operations time themselves is added to `ns`. */
export const own = { ns: 0 };

/** Does as many operations as each line says; `run` gives the sum over all values, or a promise of it. */
export async function serve(run) {
  console.log("ready");
  for await (const line of lines) {
    own.ns = 0;
    const begin = process.hrtime.bigint();
    const given = run(Number(line));
    const touch = given instanceof Promise ? await given : given;
    console.log(`${process.hrtime.bigint() - begin} ${touch} ${Math.round(own.ns)}`);
  }
}
