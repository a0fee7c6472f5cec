// SQLite through better-sqlite3: results whole, rows as arrays; a timestamp is kept as text.

import Database from "better-sqlite3";
import { parsed, readKeys, readSettings, serve } from "./conversation.js";

function keyed(query, keys, operations) {
  let touch = 0;
  for (let i = 0; i < operations; i++) {
    for (const [key, data] of query.all(keys[i % keys.length])) touch += key.length + data.length;
  }
  return touch;
}

function scan(query, operations) {
  let touch = 0;
  for (let i = 0; i < operations; i++) {
    for (const [kind, file, browser, at, size, user, place] of query.all()) {
      touch += kind.length + file.length + browser.length + (parsed(at).seconds % 60) + size + (user ?? 1) + place;
    }
  }
  return touch;
}

const settings = await readSettings();
const database = new Database(settings.path);
const query = database.prepare(settings.sql).raw();
const keys = readKeys(settings.keys);
await serve((operations) => (keys ? keyed(query, keys, operations) : scan(query, operations)));
database.close();
