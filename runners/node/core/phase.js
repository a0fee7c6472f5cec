// A phase as the controller sends it.

import { Column } from "./column.js";

const columns = (specs) => (specs ?? []).map((spec) => new Column(spec));

/** Whether an operation has rows to take: a query's may be without columns. */
export function deliversRows({ kind, columns }) {
  return kind === "query" || columns.length > 0;
}

/** The phase of a `prepare` request. */
export class Phase {
  constructor(spec) {
    this.name = spec.name;
    this.kind = spec.kind;
    this.way = spec.way ?? "";
    this.rowsPerOperation = spec.rows_per_operation ?? 1;
    this.sql = spec.sql ?? "";
    this.table = spec.table ?? "";
    this.transaction = spec.transaction === "transaction" || spec.kind === "load";
    this.stamps = spec.stamps ?? false;
    this.columns = columns(spec.columns);
    this.parameterColumns = columns(spec.parameter_columns);
  }

  /** The same with some fields changed. */
  with(changed) {
    return Object.assign(Object.create(Phase.prototype), this, changed);
  }
}
