// The adapters of this runner, by the driver's name.

import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Failure } from "./failure.js";

/** The class of an adapter, from the file `source` or by the driver's name. */
export async function loadAdapter(driver, source = "") {
  const ours = new URL(`../adapters/${driver.replaceAll("-", "_")}.js`, import.meta.url);
  const file = source ? pathToFileURL(source) : ours;
  if (!existsSync(file)) throw new Failure("unsupported", `this runner has no adapter '${driver}'`);
  return (await import(file)).default;
}
