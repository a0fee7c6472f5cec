// PostgreSQL's arrays as text: of any dimension, with lower bounds where they are not 1.

import { fromText } from "../text/values.js";

const BOUNDS = /^((?:\[-?\d+:-?\d+\])+)=/;

/** One array, from its brace at `at` on: its elements, and where it ends. */
function arrayAt(text, at, element) {
  const found = [];
  let i = at + 1;
  while (text[i] !== "}") {
    if (i >= text.length) throw new SyntaxError("an array without its end");
    if (text[i] === "{") {
      const [inner, end] = arrayAt(text, i, element);
      found.push(inner);
      i = end;
    } else if (text[i] === '"') {
      const end = quoteEnd(text, i + 1);
      found.push(element(text.slice(i + 1, end).replace(/\\(.)/gs, "$1")));
      i = end + 1;
    } else {
      const begin = i;
      while (i < text.length && text[i] !== "," && text[i] !== "}") i++;
      const word = text.slice(begin, i);
      found.push(word === "NULL" ? null : element(word));
    }
    if (text[i] === ",") i++;
  }
  return [found, i + 1];
}

function quoteEnd(text, from) {
  let i = from;
  for (; text[i] !== '"'; i++) {
    if (i >= text.length) throw new SyntaxError("a quote without its end");
    if (text[i] === "\\") i++;
  }
  return i;
}

function withBounds(array, [lower, ...others]) {
  for (const each of array) if (others.length && Array.isArray(each)) withBounds(each, others);
  return lower === 1 ? array : Object.assign(array, { lower });
}

const ELEMENTS = {
  float32: Number,
  float64: Number,
  boolean: (text) => text === "t",
  binary: (text) => (text.startsWith("\\x") ? Buffer.from(text.slice(2), "hex") : text),
};

function arrayOf(text, element) {
  const [prefix = "", bounds = ""] = BOUNDS.exec(text) ?? [];
  const lowers = [...bounds.matchAll(/\[(-?\d+):/g)].map(([, lower]) => Number(lower));
  const [array, end] = arrayAt(text, prefix.length, element);
  if (text[prefix.length] !== "{" || end !== text.length) throw new SyntaxError("no array");
  return lowers.length ? withBounds(array, lowers) : array;
}

/** A converter of arrays whose elements `convert` takes, or are the text itself; text that is no array stays text. */
export function arrayConverter(column, convert) {
  const element = convert ?? ELEMENTS[column.fields[0].type] ?? String;
  return fromText((value) => {
    if (typeof value !== "string") return value;
    try {
      return arrayOf(value, element);
    } catch {
      return value;
    }
  });
}
