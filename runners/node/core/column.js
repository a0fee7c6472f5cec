// A column as the protocol describes it.

import { Unsupported } from "./failure.js";

const TYPES = new Set(
  (
    "integer decimal float32 float64 boolean char varchar text json binary date time timestamp timestamptz interval " +
    "uuid array opaque"
  ).split(" "),
);

/** One column; Unsupported for a type that the codec lacks. */
export class Column {
  constructor(spec) {
    this.name = spec.name;
    this.type = spec.type;
    this.length = spec.length ?? 0;
    this.precision = spec.precision ?? 0;
    this.scale = spec.scale ?? 0;
    this.bits = spec.bits ?? 32;
    this.nullable = spec.nullable ?? false;
    if (!TYPES.has(this.type)) throw new Unsupported(`column ${this.name}: no type ${this.type} here`);
  }
}
