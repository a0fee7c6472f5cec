// The pool of node-postgres, as its documentation checks a client out; no client is closed for being idle.

import pg from "pg";
import { own, readKeys, readSettings, serve } from "./conversation.js";

const settings = await readSettings();
const { host, port, user, password, database, sql: text } = settings;
const keys = readKeys(settings.keys);
const limits = { max: 1, idleTimeoutMillis: 0, connectionTimeoutMillis: 30_000 };
const pool = new pg.Pool({ host, port: Number(port), user, password, database, ...limits });

const held = settings.hold === "on" ? await pool.connect() : null;

await serve(async (operations) => {
  let touch = 0;
  for (let i = 0; i < operations; i++) {
    const begin = performance.now();
    const client = held ?? (await pool.connect());
    const borrowed = performance.now();
    const { rows } = await client.query({ name: "query", text, values: [keys[i % keys.length]], rowMode: "array" });
    for (const [key, data] of rows) touch += key.length + data.length;
    const worked = performance.now();
    if (!held) client.release();
    own.ns += (performance.now() - worked + borrowed - begin) * 1e6;
  }
  return touch;
});
held?.release();
await pool.end();
