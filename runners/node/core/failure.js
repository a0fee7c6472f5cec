// Errors of any kind, as the protocol has them.

const OURS = [TypeError, RangeError, ReferenceError, SyntaxError];
const ERRNO = /^E[A-Z]{3,}$/;
const TEXT_LIMIT = 2000;

/** A request that cannot be served, or an error of another thread: `kind` and `code` are the protocol's. */
export class Failure extends Error {
  constructor(kind, text, code = "") {
    super(text);
    this.kind = kind;
    this.code = code;
  }
}

/** A point of the lattice that does not exist here; the text is the reason, for people. */
export class Unsupported extends Failure {
  constructor(text) {
    super("unsupported", text);
  }
}

/** A value that its column cannot have. */
export class Misfit extends Failure {
  constructor(text) {
    super("verify", text);
  }
}

/** The text without control characters. */
export function printable(text) {
  return String(text).replace(/\p{C}/gu, " ").slice(0, TEXT_LIMIT);
}

function kindOf(error, adapter, request) {
  if (!adapter) return "internal";
  if (request === "open" || ERRNO.test(error.code ?? "")) return "connect"; // of any class: some drivers throw a TypeError
  if (OURS.some((each) => error.constructor === each)) return "internal";
  return "sql";
}

/** The protocol's kind, code and text of an error that this request met; `adapter` is null before `open`. */
export function failureOf(error, adapter, request) {
  if (error instanceof Failure) return { kind: error.kind, code: error.code, text: printable(error.message) };
  const kind = kindOf(error, adapter, request);
  const text = error.message || error.errors?.map((each) => each.message).join("; ") || String(error);
  if (kind === "internal") return { kind, code: error.name ?? "", text: printable(`${error.name}: ${text}`) };
  return { kind, code: String(adapter.code(error)), text: printable(text) };
}
