// `node core/main.js --adapter DRIVER [--source FILE]`: keep replies apart from prints, end with stdin.

import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { loadAdapter } from "./adapters.js";
import { dieWithParent, duplicate, duplicateOnto, exitAtOnce, nameThread } from "./native.js";
import { LIMIT_BYTES, Session } from "./session.js";

const USAGE = "usage: node core/main.js --adapter DRIVER [--source FILE]\n";

function given(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? "" : process.argv[at + 1];
}

/** The lines of a stream; the end of the stream ends the process, also in the middle of a sample. */
async function* linesOf(stream) {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("end", () => exitAtOnce(0));
  for await (const chunk of stream) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    if (rest.length > 2 * LIMIT_BYTES) rest = rest.slice(0, LIMIT_BYTES + 1); // too long to be a request: it is skipped
    yield* lines;
  }
}

function requestOf(line) {
  try {
    const request = JSON.parse(line);
    if (request && typeof request === "object" && "id" in request) return request;
  } catch {}
  process.stderr.write("skipped a line that is not a request\n");
  return null;
}

async function main() {
  const driver = given("--adapter");
  if (!driver) {
    process.stderr.write(USAGE);
    process.exit(2);
  }
  dieWithParent();
  nameThread("rowpath-loop");
  const replies = duplicate(1);
  duplicateOnto(2, 1);
  const source = given("--source");
  const watch = new Worker(new URL("./stdin_watch.js", import.meta.url));
  watch.unref();
  const session = new Session(driver, await loadAdapter(driver, source), source);
  for await (const line of linesOf(process.stdin)) {
    const request = requestOf(line);
    if (!request) continue;
    const reply = { id: request.id, ...(await session.answer(request)) };
    writeSync(replies, `${JSON.stringify(reply)}\n`);
    if (request.type === "bye") exitAtOnce(0);
  }
  exitAtOnce(0);
}

await main();
