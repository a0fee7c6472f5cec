// A column as the protocol describes it.

import { Unsupported } from "./failure.js";

const TYPES = new Set(
  (
    "integer decimal float32 float64 boolean char varchar text json binary bits date time timetz timestamp " +
    "timestamptz interval uuid array struct map rows any opaque"
  ).split(" "),
);

/** One column; Unsupported for a type that the codec lacks. `within`: the column that it is a field of. */
export class Column {
  constructor(spec, within = null) {
    this.name = spec.name ?? "";
    this.type = spec.type;
    this.length = spec.length ?? 0;
    this.precision = spec.precision ?? 0;
    this.scale = spec.scale ?? 0;
    this.bits = spec.bits ?? 32;
    this.nullable = spec.nullable ?? false;
    this.unitNs = within ? within.unitNs : BigInt(spec.unit_ns ?? 1);
    this.rounded = within ? within.rounded : (spec.rounded ?? false);
    this.bounds = within ? within.bounds : (spec.bounds ?? true);
    if (!TYPES.has(this.type)) throw new Unsupported(`column ${this.name}: no type ${this.type} here`);
    this.fields = (spec.fields ?? []).map((field) => new Column(field, this));
    if (this.type === "array" && !this.fields.length)
      this.fields = [new Column({ type: "integer", bits: this.bits, nullable: true }, this)];
  }
}
