// What Node's TLS checks of a server's certificate, and what it shows of the client's own.

import { readFileSync } from "node:fs";
import { checkServerIdentity } from "node:tls";

/** The options of `tls.connect` for a connection that is encrypted at least. */
export function certificates({ tls, host, tls_ca: ca, tls_cert: cert, tls_key: key }) {
  const own = cert ? { cert: readFileSync(cert), key: readFileSync(key) } : {};
  if (!tls.startsWith("verify-")) return { rejectUnauthorized: false, ...own };
  // By itself Node would check the name "localhost" of a host that drivers do not pass on, such as an address.
  const isFor = tls === "verify-full" ? (_, shown) => checkServerIdentity(host, shown) : () => undefined;
  return { ca: readFileSync(ca), rejectUnauthorized: true, checkServerIdentity: isFor, ...own };
}
