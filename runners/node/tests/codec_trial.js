// Answers, line by line, for tests/runners/protocol/test_codec.py: `hash HEX` with the XXH64 of the bytes; `value HEX
// COLUMN` (a column as JSON) with the bytes, digest and touch of the value decoded from the codec's bytes; `text TYPE
// TEXT` with the bytes of what the converter of the type makes of the text; `decimal TEXT` with its plain notation;
// `bucket N`.

import { createInterface } from "node:readline";
import { Decoder, plainDecimal } from "../core/codec.js";
import { Column } from "../core/column.js";
import { Digest, hash } from "../core/digest.js";
import { Operation } from "../core/operation.js";
import { Sampler } from "../core/sampler.js";
import { bucketOf } from "../core/shared_counters.js";
import { touchText } from "../core/touch.js";
import { FROM_TEXT } from "../families/text/values.js";

async function answerOf(column, raw, converters = []) {
  const operation = new Operation({ execute: () => [[raw]], rows: "here", converters });
  const sampler = new Sampler("query", [column], operation);
  const digest = new Digest([column], 1);
  digest.add([raw !== null && converters[0] ? converters[0](raw) : raw]);
  const verified = await sampler.verify(0, 1, 1);
  const { total } = await sampler.byCount(0, 0, 1);
  return `${digest.bytes.written().toString("hex")} ${verified.digest} ${verified.touch} ${touchText(total)}`;
}

const ANSWERS = {
  hash: (rest) => touchText(hash(Buffer.from(rest, "hex"))),
  value(rest) {
    const [hex, spec] = [rest.slice(0, rest.indexOf(" ")), rest.slice(rest.indexOf(" ") + 1)];
    const column = new Column({ name: "value", ...JSON.parse(spec) });
    return answerOf(column, new Decoder(Buffer.from(hex, "hex")).value(column));
  },
  text(rest) {
    const [type] = rest.split(" ", 1);
    const column = new Column({ name: "value", type, bits: 64 });
    return answerOf(column, rest.slice(type.length + 1), [FROM_TEXT[type]]);
  },
  decimal: plainDecimal,
  bucket: (rest) => String(bucketOf(Number(rest))),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [kind] = line.split(" ", 1);
  try {
    console.log(await ANSWERS[kind](line.slice(kind.length + 1)));
  } catch (error) {
    console.log(`error ${error.kind ?? error.name}: ${error.message}`);
  }
}
