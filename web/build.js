// Writes the page's plot library, and the licences of everything inside it, into the Python package.
import { build } from "esbuild";
import { readFile, readdir, writeFile } from "node:fs/promises";

const assets = new URL("../src/rowpath/report/assets/", import.meta.url);

const result = await build({
  entryPoints: ["plot.entry.js"],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "Plot",
  target: "es2020",
  charset: "ascii", // the page may be read in any encoding
  legalComments: "none", // NOTICE holds them
  metafile: true,
  outfile: new URL("plot.js", assets).pathname,
});

const packages = new Set();
for (const output of Object.values(result.metafile.outputs)) {
  for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
    const match = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
    if (match && bytesInOutput > 0) packages.add(match[1]);
  }
}

const parts = ["plot.js is a bundle of the following packages, built by web/build.js."];
for (const name of [...packages].sort()) {
  const folder = new URL(`node_modules/${name}/`, import.meta.url);
  const { version, license } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? await readFile(new URL(file, folder), "utf8") : "";
  if (!text) throw new Error(`${name} has no licence file`);
  parts.push(`${name} ${version} (${license})\n\n${text.trim()}`);
}
await writeFile(new URL("NOTICE", assets), parts.join(`\n\n${"-".repeat(80)}\n\n`) + "\n");
console.log(`${packages.size} packages: ${[...packages].sort().join(" ")}`);
