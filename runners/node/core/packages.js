// What is known of the packages that are installed beside the runner.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The version of an installed package. */
export function versionOf(name) {
  const folders = createRequire(import.meta.url).resolve.paths(name);
  const file = folders.map((folder) => join(folder, name, "package.json")).find(existsSync);
  return JSON.parse(readFileSync(file, "utf8")).version;
}
