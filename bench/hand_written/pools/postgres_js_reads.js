// The pool that Postgres.js is, as its documentation reserves a connection; none is closed for its age.

import postgres from "postgres";
import { own, readKeys, readSettings, serve } from "./conversation.js";

const settings = await readSettings();
const { host, port, user, password, database, sql: text } = settings;
const keys = readKeys(settings.keys);
const pool = postgres({ host, port: Number(port), user, password, database, max: 1, max_lifetime: null });

const held = settings.hold === "on" ? await pool.reserve() : null;

await serve(async (operations) => {
  let touch = 0;
  for (let i = 0; i < operations; i++) {
    const begin = performance.now();
    const sql = held ?? (await pool.reserve());
    const borrowed = performance.now();
    const rows = await sql.unsafe(text, [keys[i % keys.length]], { prepare: true }).values();
    for (const [key, data] of rows) touch += key.length + data.length;
    const worked = performance.now();
    if (!held) sql.release();
    own.ns += (performance.now() - worked + borrowed - begin) * 1e6;
  }
  return touch;
});
held?.release();
await pool.end();
