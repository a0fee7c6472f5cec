// A server's database through a driver that gives promises: results whole, rows as arrays, timestamps as text.

import { parsed, readKeys, readSettings, serve } from "./conversation.js";

const asIs = (value) => value;
const TIMESTAMP = 1114; // PostgreSQL's number of the type

/** For each driver: what executes the query with its parameters, where its rows are, and what hangs up. */
const OPEN = {
  pg: async (server, text) => {
    const { default: pg } = await import("pg");
    const parser = (type, format) => (type === TIMESTAMP ? asIs : pg.types.getTypeParser(type, format));
    const types = { getTypeParser: parser };
    const client = new pg.Client(server);
    await client.connect();
    const execute = (values) => client.query({ name: "query", text, values, rowMode: "array", types });
    return { execute, rowsOf: (result) => result.rows, hangUp: () => client.end() };
  },
  "postgres-js": async (server, text) => {
    const { default: postgres } = await import("postgres");
    const timestamp = { to: TIMESTAMP, from: [TIMESTAMP], serialize: asIs, parse: asIs };
    const sql = postgres({ ...server, max: 1, types: { timestamp } });
    const execute = (values) => sql.unsafe(text, values, { prepare: true }).values();
    return { execute, rowsOf: asIs, hangUp: () => sql.end() };
  },
  mysql2: async (server, text) => {
    const { default: mysql } = await import("mysql2/promise");
    const connection = await mysql.createConnection({ ...server, rowsAsArray: true, dateStrings: true });
    const execute = (values) => connection.execute(text, values);
    return { execute, rowsOf: ([rows]) => rows, hangUp: () => connection.end() };
  },
  mariadb: async (server, text) => {
    const { default: mariadb } = await import("mariadb");
    const connection = await mariadb.createConnection({ ...server, rowsAsArray: true, dateStrings: true });
    const query = await connection.prepare(text);
    return { execute: (values) => query.execute(values), rowsOf: asIs, hangUp: () => connection.end() };
  },
};

async function keyed({ execute, rowsOf }, keys, operations) {
  let touch = 0;
  for (let i = 0; i < operations; i++) {
    for (const [key, data] of rowsOf(await execute([keys[i % keys.length]]))) touch += key.length + data.length;
  }
  return touch;
}

async function scan({ execute, rowsOf }, operations) {
  let touch = 0;
  for (let i = 0; i < operations; i++) {
    for (const [kind, file, browser, at, size, user, place] of rowsOf(await execute([]))) {
      touch += kind.length + file.length + browser.length + (parsed(at).seconds % 60) + size + (user ?? 1) + place;
    }
  }
  return touch;
}

const settings = await readSettings();
const { host, port, user, password, database } = settings;
const server = { host, port: Number(port), user, password, database };
const driver = await OPEN[process.argv[2]](server, settings.sql);
const keys = readKeys(settings.keys);
await serve((operations) => (keys ? keyed(driver, keys, operations) : scan(driver, operations)));
await driver.hangUp();
